/** A round of modules: what is decided, by whom, and what of it is written to the log, whole. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { askModules } from './ask-modules.ts'
import { contextFor } from './context.ts'
import { turnStderrIntoTrace } from './host/stdio-guard.ts'
import { sha256 } from './lazy-builtins.ts'
import type { Seat } from './load-modules.ts'
import { emit, logLine, patchState, type Run, register, warn } from './run.ts'
import { commit } from './session/commit.ts'
import { type TestInput, testRun } from './setup/testing.ts'
import { summarise } from './summary.ts'
import type { Context, HookAction, Json } from './types.ts'

const read = { tool_name: 'read_file', tool_input: { filePath: 'a', password: 'x' }, tool_use_id: 'u1' }

function begin(t: TestContext, input: Partial<TestInput> & { manifest?: Json; budgetMs?: number } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'round-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const { manifest, budgetMs = 60_000, ...rest } = input
  const run = testRun(root, { module: 'one', event: 'PreToolUse', input: read, ...rest })
  Object.assign(run, { manifest: { ...run.manifest, ...manifest }, budgetMs })
  return { root, run }
}
type Handle = (ctx: Context) => unknown
const seat = (name: string, handle: Handle, more: Partial<Seat> & { settled?: unknown } = {}): Seat => {
  const { settled, ...given } = more
  const module = {
    name,
    supports: new Set(['PreToolUse']),
    priority: 1,
    hotPathSafe: true,
    critical: false,
    handle: (_: string, ctx: Context) => handle(ctx),
    settled,
  }
  return { name, priority: 1, critical: false, own: false, module: module as never, ...given }
}
const says = (name: string, action: HookAction, more: Partial<Seat> = {}) => seat(name, () => action, more)

/** What differs from run to run is a word. */
function facts(run: Run, root = '') {
  const {
    decision,
    decidedBy,
    reason,
    approved,
    inputMetadata,
    updatedInput,
    block,
    stop,
    budgetExceeded,
    context,
    warnings,
    ran,
  } = run
  const plain = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(root || '<none>', '<repo>')
        .replace(/"ts":\d{10,}/g, '"ts":"<time>"')
        .replace(/held the thread for \d+ ms/g, 'held the thread')
        .replace(/"pid":\d+/g, '"pid":"<pid>"')
        .replace(/"elapsedMs":\d+/g, '"elapsedMs":"<ms>"')
        .replace(/"stackHash":"[0-9a-f]{8}"/g, '"stackHash":"<hash>"'),
    )
  const lines = [...run.lines].map(([file, texts]) => [
    relative(root, file),
    texts.map((text) => plain(JSON.parse(text))),
  ])
  const core = run.session.state.core
  const rest = { approved, inputMetadata, updatedInput, block, stop, budgetExceeded, context, warnings, ran, core }
  return plain({ decision, decidedBy, reason, ...rest, awaited: [...run.awaited], events: run.events, lines })
}
const round = async (t: TestContext, seats: Seat[], input: Parameters<typeof begin>[1] = {}) => {
  const { root, run } = begin(t, input)
  await askModules(run, seats)
  return facts(run, root)
}
const lines = [
  (value: Record<string, unknown>) =>
    Object.entries(value)
      .map(([name, facts]) => `${name}: ${JSON.stringify(facts)}`)
      .join('\n'),
]
const fails = (message: string) => () => {
  throw new Error(message)
}

test('rounds of PreToolUse', async (t) => {
  const deny: HookAction = { decision: 'deny', denyReason: 'no' }
  const all: HookAction = {
    ...{ decision: 'allow', warnings: ['w'], additionalContext: [{ key: 'k', value: 'v', more: 1 } as never] },
    ...{
      statePatch: { mine: { x: 1, list: [1] } },
      emitEvents: [{ kind: 'MINE', data: { a: 1 } }],
      metrics: { ms: 1 },
    },
    ...{ stop: { reason: 'enough' }, block: { reason: 'not here' }, registerArtifacts: [{ kind: 'x', ref: 'none' }] },
  }
  const phase = (mode: string, allowTools: unknown = ['create_file']) => ({
    manifest: { enforcePhases: true, phasePolicy: { UNINITIALIZED: { mode, allowTools } } },
  })
  const settled = (action: unknown) => ({ settled: () => action })
  const owner = { manifest: { rewriteOwner: { inputMetadata: 'one', updatedInput: 'one' } } }
  const rewrite: HookAction = { inputMetadata: { _hookA: 1, other: 2, _hookB: {} }, updatedInput: { filePath: 'b' } }
  const rounds: Record<string, [Seat[], Parameters<typeof begin>[1]?]> = {
    nobody: [[]],
    'one that says nothing': [[seat('one', () => undefined)]],
    'one that says everything': [[says('one', all)]],
    'a denial ends it': [[says('one', deny), says('two', { warnings: ['not asked'] })]],
    'a question ends it': [[says('one', { decision: 'ask', warnings: ['a', 'b'] }), says('two', deny)]],
    'a denial without a reason': [[says('one', { decision: 'deny' })]],
    'a rewrite by its owner': [[says('one', rewrite), says('two', {})], owner],
    'a rewrite by another': [[says('two', rewrite)], owner],
    'a second rewrite': [[says('one', { updatedInput: { a: 1 } }), says('one', { updatedInput: { a: 2 } })], owner],
    'one that throws': [[seat('one', fails(`broke ${'x'.repeat(600)}`)), says('two', {})]],
    'a critical one that throws': [[seat('one', fails('broke'), { critical: true }), says('two', {})]],
    'one that rejects': [[seat('one', async () => fails('late')())]],
    'one that is not there': [
      [{ ...seat('one', () => undefined), module: undefined, failure: new Error('cannot be read') }],
    ],
    'a critical one that is not there': [
      [
        {
          ...seat('one', () => undefined, { critical: true }),
          module: undefined,
          failure: new Error('cannot be read'),
        },
      ],
    ],
    'one that returns a text': [[seat('one', () => 'yes')]],
    'one with a bad field and a denial': [[seat('one', () => ({ decision: 'deny', denyReason: 'no', odd: 1 }))]],
    'one with a bad field': [[seat('one', () => ({ decision: 'allow', odd: 1 }))]],
    'one with a forged event': [[says('one', { emitEvents: [{ kind: 'TOOL_DECISION' }, { kind: 'STATE_PATCH' }] })]],
    'one that never answers': [[seat('one', () => new Promise(() => {})), says('two', deny)], { budgetMs: 250 }],
    'a critical one that never answers': [
      [seat('one', () => new Promise(() => {}), { critical: true })],
      { budgetMs: 250 },
    ],
    'a critical one after the budget is spent': [
      [seat('one', () => new Promise(() => {})), says('two', deny), says('three', {}, { critical: true })],
      { budgetMs: 250 },
    ],
    'one of one’s own that holds the thread': [
      [
        seat(
          'one',
          () => {
            for (;;);
          },
          { own: true },
        ),
      ],
      { budgetMs: 250 },
    ],
    'one of one’s own that throws': [[seat('one', fails('broke'), { own: true })]],
    'a phase that denies': [[], phase('deny')],
    'a phase that denies, by all': [[], phase('deny', '*')],
    'a phase that warns': [[], phase('warn')],
    'a phase that allows': [[], phase('allow')],
    'a phase that allows the tool': [[], phase('deny', ['create_file', 'read_file'])],
    'a phase after a question': [[says('one', { decision: 'ask', denyReason: 'q' })], phase('deny')],
    'a phase that is not enforced': [[], { manifest: { ...phase('deny').manifest, enforcePhases: false } }],
    'a call without a name': [[], { ...phase('deny'), input: {} }],
    'one that settles': [
      [
        seat('one', () => undefined, settled({ statePatch: { mine: { y: 1 } }, emitEvents: [{ kind: 'SETTLED' }] })),
        seat('two', () => deny, settled(undefined)),
      ],
    ],
    'one that fails to settle': [[seat('one', () => undefined, { settled: fails('too late'), critical: true })]],
    'an unnamed secret': [
      [],
      {
        input: { ...read, tool_name: 'x'.repeat(300), tool_use_id: 'y'.repeat(300) },
        module: 'session',
        config: { redactKeys: ['filePath'] },
      },
    ],
  }
  const seen: Json = {}
  for (const [name, [seats, input]] of Object.entries(rounds)) seen[name] = await round(t, seats, input)
  t.assert.snapshot(seen, { serializers: lines as never })
  const unseen = begin(t)
  unseen.run.unseen = true
  await askModules(unseen.run, [])
  assert.deepEqual(
    [unseen.run.decision, unseen.run.decidedBy, unseen.run.reason],
    ['ask', 'dispatcher', 'the call could not be read, so no guard has checked it'],
  )
})

test('a critical module is awaited until it has answered; one that is waited for fails by an error of the process', async (t) => {
  const { run } = begin(t)
  const awaited: string[][] = []
  const looks = (name: string, critical = true) => seat(name, () => void awaited.push([...run.awaited]), { critical })
  const crashes = seat('four', () => {
    setImmediate(() => run.crash?.(Object.assign(new Error('thrown elsewhere'), { stack: undefined })))
    return new Promise(() => {})
  })
  await askModules(run, [looks('one'), looks('two'), looks('three', false), crashes, looks('five', false)])
  assert.deepEqual(awaited, [['one', 'two'], ['two'], [], []])
  assert.deepEqual([run.crash, run.warnings], [undefined, ['module four failed: thrown elsewhere']])
  const { error } = run.events.find(({ kind }) => kind === 'ERROR_MODULE')!
  assert.deepEqual(error, { module: 'four', message: 'thrown elsewhere', stackHash: sha256('thrown elsewhere', 8) })
  const { run: denied } = begin(t)
  await askModules(denied, [says('one', { decision: 'deny' }, { critical: true }), looks('two')])
  assert.deepEqual([denied.decidedBy, [...denied.awaited]], ['one', []])
})

test('the budget is spent when more than it has passed; a critical module that comes late has 50 ms', async (t) => {
  let now = 1
  t.mock.method(process, 'hrtime', () => [now / 1000, 0])
  const takes = (name: string, ms: number) =>
    seat(name, () => {
      now += ms
    })
  const { run } = begin(t, { budgetMs: 500 })
  const holds = () => {
    for (;;);
  }
  await askModules(run, [
    takes('one', 500),
    takes('two', 1),
    takes('three', 1),
    seat('four', holds, { critical: true, own: true }),
  ])
  assert.deepEqual([run.ran, run.warnings], [['one', 'two', 'four'], ['module four failed: held the thread for 50 ms']])
  const { kind, data, producer } = run.events[0]!
  assert.deepEqual(
    [kind, producer, data],
    ['BUDGET_EXCEEDED', 'dispatcher', { module: 'three', elapsedMs: 501, budgetMs: 500, pid: process.pid }],
  )
})

test('who stops first is heard, and an error is known by where it was thrown', async (t) => {
  const stop = (reason: string) => says(reason, { stop: { reason } })
  assert.equal((await round(t, [stop('first'), stop('second')])).stop, 'first')
  const { run } = begin(t)
  const thrown = Object.assign(new Error('broke'), { stack: 'at one place' })
  const fail = (error: unknown) =>
    seat('one', () => {
      throw error
    })
  await askModules(run, [fail(thrown), fail(Object.assign(new Error('broke'), { stack: undefined }))])
  const hashes = run.events.filter(({ kind }) => kind === 'ERROR_MODULE').map(({ error }) => error?.stackHash)
  assert.deepEqual(hashes, [sha256('at one place', 8), sha256('broke', 8)])
})

test('the phase before the call decides, whatever a module makes of it', async (t) => {
  const core = { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 0, phase: 'PLANNING' }
  const begins = says('one', { statePatch: { core: { phase: 'EXECUTING' } } })
  const asked = { manifest: { enforcePhases: true }, state: { core }, input: { ...read, tool_name: 'create_file' } }
  const { decision, decidedBy, reason, core: now } = await round(t, [begins], asked)
  assert.deepEqual(
    [decision, decidedBy, reason, now.phase],
    [
      ...['deny', 'phase-policy', 'create_file is not allowed in phase PLANNING (dispatch.manifest.json, phasePolicy)'],
      'EXECUTING',
    ],
  )
})

test('events that are not in the log yet are seen as they come, also once the call is decided', async (t) => {
  const seen: string[][] = []
  const look = (ctx: Context) => void seen.push(ctx.pendingEvents.map(({ kind }) => kind))
  const emits = (kind: string) => (ctx: Context) => {
    look(ctx)
    return { emitEvents: [{ kind }] }
  }
  await round(t, [seat('first', emits('A'), { settled: look }), seat('second', emits('B'))])
  assert.deepEqual(seen, [[], ['A'], ['A', 'B']])
})

test('a call that could not be read is asked about, unless a module denied it', async (t) => {
  const decided = async (seats: Seat[]) => {
    const { run } = begin(t)
    run.unseen = true
    await askModules(run, seats)
    return [run.decision, run.decidedBy, run.reason]
  }
  assert.deepEqual(
    [await decided([]), await decided([says('one', { decision: 'deny', denyReason: 'no' })])],
    [
      ['ask', 'dispatcher', 'the call could not be read, so no guard has checked it'],
      ['deny', 'one', 'no'],
    ],
  )
})

test('a work that the budget blocks has in the log what it was blocked in', async (t) => {
  const core = { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 0, phase: 'EXECUTING' }
  const { run } = begin(t, { event: 'PostToolUse', state: { core } })
  run.budgetExceeded = true
  await askModules(run, [says('session', {}, { critical: true })])
  assert.deepEqual(
    run.events.map(({ kind, producer, data }) => ({ kind, producer, data })),
    [
      ...[
        {
          kind: 'STATE_PATCH',
          producer: 'dispatcher',
          data: { patch: { core: { phase: 'BLOCKED', prevPhase: 'EXECUTING' } } },
        },
      ],
      ...[
        {
          ...{ kind: 'PHASE_TRANSITION', producer: 'dispatcher' },
          data: { from: 'EXECUTING', to: 'BLOCKED', trigger: 'budget cap' },
        },
      ],
    ],
  )
})

test('a context freezes the first twenty thousand objects of what a module sees', (t) => {
  const list = (length: number) => Array.from({ length }, () => ({}))
  const frozen = (length: number) => {
    const items = list(length)
    contextFor(begin(t, { config: { items } as unknown as Json }).run, 'one')
    return items.filter(Object.isFrozen).length
  }
  // the configuration and the list are two of them
  assert.deepEqual([frozen(19_998), frozen(20_010)], [19_998, 19_998])
})

test('the time of the last event never goes back', (t) => {
  const later = Date.now() + 3_600_000
  const { run } = begin(t, { event: 'Stop' })
  const { core } = run.session.snapshot
  Object.assign(run.session, { snapshot: { core: { ...core, lastActiveTs: later } } })
  commit(run)
  assert.equal(JSON.parse(readFileSync(run.session.paths.stateFile, 'utf8')).core.lastActiveTs, later)
})

test('rounds of other events: who may block, and when the budget blocks the work', async (t) => {
  const block = says('one', { block: { reason: 'wait' }, decision: 'deny', denyReason: 'no', updatedInput: {} })
  const seen: Json = {}
  for (const event of [
    'SessionStart',
    'UserPromptSubmit',
    'PostToolUse',
    'PreCompact',
    'Stop',
    'SubagentStop',
  ] as const)
    seen[`${event} blocks`] =
      (await round(t, [block, says('two', { block: { reason: 'second' }, stop: { reason: 's' } })], { event })).block ??
      null
  for (const event of ['Stop', 'SubagentStop'] as const)
    seen[`${event} blocks again`] =
      (await round(t, [block], { event, input: { stop_hook_active: true } })).block ?? null
  seen['a critical one that throws'] = await round(
    t,
    [seat('one', fails('broke'), { critical: true }), says('two', {})],
    { event: 'Stop' },
  )
  const slow = [says('session', {}), seat('slow', () => new Promise(() => {}))]
  const state = (phase: string) => ({ core: { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 0, phase } })
  const over = async (input: Parameters<typeof begin>[1], seats = slow) => {
    const { core, events } = await round(t, seats, { event: 'PostToolUse', budgetMs: 250, ...input })
    return [core.phase, core.prevPhase ?? null, events.filter(({ kind }: Json) => kind === 'PHASE_TRANSITION')]
  }
  const rounds: Record<string, ReturnType<typeof over>> = {
    'in PLANNING': over({ state: state('PLANNING') }),
    'in BLOCKED': over({ state: state('BLOCKED') }),
    'in COMPLETE': over({ state: state('COMPLETE') }),
    'on SessionStart': over({ event: 'SessionStart' }),
    'on UserPromptSubmit': over({ event: 'UserPromptSubmit' }),
    'where nobody keeps the phase': over({}, slow.slice(1)),
    'switched off': over({ module: 'session', config: { blockOnBudget: false } }),
  }
  for (const [name, waited] of Object.entries(rounds)) seen[`over budget ${name}`] = await waited
  t.assert.snapshot(seen, { serializers: lines as never })
})

test('stamps are plain values, nothing among them', async (t) => {
  const { run } = begin(t, { manifest: { rewriteOwner: { inputMetadata: 'one' } } })
  const plain = { _hookA: null, _hookB: false, _hookC: 0, _hookD: '' }
  await askModules(run, [says('one', { inputMetadata: { ...plain, _hookE: [], _hookF: {} } })])
  const left = ['_hookE', '_hookF'].map((key) => `stamp ${key} is left out: stamps are plain values under _hook… keys`)
  assert.deepEqual([run.inputMetadata, run.warnings], [plain, left])
})

test('where no call is decided, nobody decides one, rewrites it or ends the round', async (t) => {
  const call: HookAction = { updatedInput: { filePath: 'b' }, inputMetadata: { _hookA: 1 } }
  const manifest = { rewriteOwner: { inputMetadata: 'one', updatedInput: 'one' } }
  const untouched = { decision: 'allow', decidedBy: 'dispatcher', reason: '', approved: false, inputMetadata: {} }
  for (const decision of ['deny', 'ask', 'allow'] as const) {
    const { run } = begin(t, { event: 'PostToolUse', manifest })
    await askModules(run, [says('one', { ...call, decision }), says('two', {})])
    const { decidedBy, reason, approved, inputMetadata, updatedInput, warnings, ran } = run
    assert.deepEqual(
      { decision: run.decision, decidedBy, reason, approved, inputMetadata, updatedInput, warnings, ran },
      { ...untouched, updatedInput: undefined, warnings: [], ran: ['one', 'two'] },
    )
  }
})

test('what is written: events, lines and warnings, and what cannot be written', (t) => {
  const { root, run } = begin(t)
  emit(run, 'dispatcher', { kind: 'STATE_PATCH' })
  warn(run, 'dispatcher', 'by us')
  warn(run, 'one', `long ${'x'.repeat(1200)}`)
  logLine(run, 'one', 'info', 'plain')
  logLine(run, 'one', 'info', 'with data', { a: 1 })
  const cycle: Json = {}
  cycle['self'] = cycle
  logLine(run, 'one', 'error', 'a cycle', cycle)
  patchState(run, 'one', { core: { phase: 'PLANNING' }, deep: { list: [1] } })
  patchState(run, 'one', { core: { phase: 'PLANNING' } })
  patchState(run, 'one', { core: { workId: 'w002', lastTurnId: 3 } })
  const { sessionRoot } = run.session.paths
  writeFileSync(join(sessionRoot, 'made.txt'), 'x')
  for (const ref of ['made.txt', 'none.txt', '../../../x', 'a/../made.txt', join(sessionRoot, 'made.txt')])
    register(run, 'one', { kind: 'file', ref })
  const context = contextFor(run, 'one')
  context.files.append('mine.jsonl', { a: 1 })
  context.files.append('mine.jsonl', { a: 2 })
  context.files.append('../mine.jsonl', { a: 3 })
  assert.equal(run.warnings.at(-1), '../mine.jsonl lies outside the session; nothing is written there')
  assert.equal(context.files.folder('.'), false)
  context.log('debug', 'from a module', 1)
  assert.deepEqual(
    [
      ...[
        context.files.replace('deep/a.txt', 'text'),
        context.files.replace('../a.txt', 'text'),
        context.files.replace('.', 'text'),
      ],
      ...[context.files.folder('some/folder'), context.files.folder('/else'), context.files.folder('made.txt')],
    ],
    [true, false, false, true, false, false],
  )
  assert.equal(readFileSync(join(sessionRoot, 'deep/a.txt'), 'utf8'), 'text')
  assert.deepEqual([context.event, context.event.toolInput, context.state.core, context.config].map(Object.isFrozen), [
    true,
    true,
    true,
    true,
  ])
  Object.assign(run.config, { two: { a: 1 } })
  assert.deepEqual([contextFor(run, 'two').config, contextFor(run, 'three').config], [{ a: 1 }, {}])
  const { ids, feature, cap, timers, manifest, isNewSession } = context
  t.assert.snapshot(facts(run, root))
  assert.deepEqual(
    { ids, feature, cap, manifest, isNewSession, budgetMs: timers.budgetMs, elapsed: timers.elapsed() >= 0 },
    {
      ids: { sessionId: 'a3f0c812', workId: 'w002', agentId: 'u00', turnId: 3, hookRunId: 'PreToolUse-0-0' },
      feature: {
        root: join(sessionRoot, 'one'),
        logs: join(sessionRoot, 'one/logs'),
        output: join(sessionRoot, 'one/output'),
      },
      cap: { neo4j: { enabled: false, reachable: false } },
      manifest: { enforcePhases: false },
      isNewSession: false,
      budgetMs: 60_000,
      elapsed: true,
    },
  )
  register(run, 'one', { kind: 'file', ref: 'n'.repeat(300) })
  assert.equal(run.warnings.at(-1), `artifact ${'n'.repeat(200)} is not a file of this session; it is not registered`)
  run.events.push({
    ts: 1,
    event: 'PreToolUse',
    producer: 'one',
    kind: 'ODD',
    hookRunId: 'h',
    turnId: 1,
    workId: 'w002',
    data: cycle,
  })
  commit(run)
  const written = readFileSync(join(sessionRoot, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(written.length, run.events.length)
  const { error, ...odd } = written.at(-1)
  assert.deepEqual(odd, {
    ts: 1,
    event: 'PreToolUse',
    producer: 'one',
    kind: 'ERROR_MODULE',
    hookRunId: 'h',
    turnId: 1,
    workId: 'w002',
  })
  assert.deepEqual([error.module, error.message.startsWith('event ODD: Converting circular')], ['one', true])
  const { lastActiveTs, lastEventOffset, ...core } = JSON.parse(
    readFileSync(join(sessionRoot, 'state.json'), 'utf8'),
  ).core
  assert.deepEqual(
    [core, lastActiveTs > 1e12, lastEventOffset > 100],
    [{ sessionId: 'a3f0c812', workId: 'w002', lastTurnId: 3, phase: 'PLANNING' }, true, true],
  )
  assert.equal(readFileSync(join(sessionRoot, 'mine.jsonl'), 'utf8'), '{"a":1}\n{"a":2}\n')
})

test('each array in a patch is named, and the rest is taken in', (t) => {
  const { run } = begin(t)
  patchState(run, 'one', { mine: { a: [], b: 1, c: { d: [1] } }, e: [] })
  const words = ['mine.a', 'mine.c.d', 'e'].map((at) => `state.${at} is an array; state holds none, it is left out`)
  assert.deepEqual([run.warnings, run.session.state['mine']], [words, { b: 1, c: {} }])
})

test('whatever a module logs beside its words is in the line, also where it is nothing much', (t) => {
  const { run } = begin(t)
  const { log } = contextFor(run, 'one')
  for (const data of [0, false, '', null, [], undefined]) log('info', 'words', data)
  const lines = [...run.lines.values()].flat().map((line) => {
    const { ts, ...rest } = JSON.parse(line)
    assert.equal(typeof ts, 'number')
    return rest
  })
  const line = { level: 'info', message: 'words', hookRunId: 'PreToolUse-0-0' }
  assert.deepEqual(lines, [...[0, false, '', null, []].map((data) => ({ ...line, data })), line])
})

test('on PreToolUse a snapshot is taken when the state changed, the log has grown or the state was broken', (t) => {
  const taken = (change: (run: Run) => void, event: 'PreToolUse' | 'Stop' = 'PreToolUse') => {
    const { run } = begin(t, { event })
    change(run)
    commit(run)
    try {
      return readFileSync(run.session.paths.stateFile, 'utf8') !== ''
    } catch {
      return false
    }
  }
  const set = (more: Json) => (run: Run) => void Object.assign(run.session, more)
  assert.deepEqual(
    [
      ...[taken(() => {}), taken(() => {}, 'Stop'), taken((run) => patchState(run, 'one', { a: 1 }))],
      ...[
        taken(set({ unseenBytes: 32 * 1024 })),
        taken(set({ unseenBytes: 32 * 1024 + 1 })),
        taken(set({ problems: ['x'] })),
      ],
    ],
    [false, true, true, false, true, true],
  )
})

test('what cannot be written down is named in the trace', (t) => {
  const { root, run } = begin(t, { event: 'Stop' })
  const { sessionRoot, stateFile, workRoot } = run.session.paths
  const traceFile = join(root, 'dispatch.log')
  turnStderrIntoTrace(traceFile)
  const traced = () =>
    readFileSync(traceFile, 'utf8')
      .trimEnd()
      .replace(/^\d{13} \d+ /gm, '')
      .split('\n')
  mkdirSync(stateFile, { recursive: true })
  emit(run, 'dispatcher', { kind: 'X' })
  run.lines.set(join(stateFile, '..', 'events.jsonl', 'below'), ['{}'])
  commit(run)
  rmSync(sessionRoot, { recursive: true })
  mkdirSync(workRoot, { recursive: true })
  writeFileSync(sessionRoot, 'a file in the way')
  run.lines.clear()
  commit(run)
  assert.deepEqual(traced(), [
    `${sessionRoot}/events.jsonl/below could not be written`,
    'state.json could not be written',
    "Stop-0-0: events.jsonl could not be written; this run's events are lost",
    'Stop-0-0: state.json is busy or not writable; the next run reads it from the log',
  ])
})

test('a call’s input is cut down for the log', () => {
  const deep = { a: { b: { c: { d: { e: 1 } } } } }
  const long = 'x'.repeat(201)
  const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, n]))
  const table: [unknown, unknown, unknown?][] = [
    [undefined, undefined],
    [
      { a: 'x'.repeat(200), b: long },
      { a: 'x'.repeat(200), b: `${'x'.repeat(100)}… (201 characters)` },
    ],
    [deep, { a: { b: { c: { d: '{…}' } } } }],
    [{ a: { b: { c: { d: [1, 2] } } } }, { a: { b: { c: { d: '[2 items]' } } } }],
    [{ list: Array(20).fill(1) }, { list: Array(20).fill(1) }],
    [twenty, twenty],
    [{ list: Array(22).fill(1) }, { list: [...Array(20).fill(1), '… 2 more'] }],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, n])), { ...twenty, '…': '1 more' }],
    [{ [long]: null }, { ['x'.repeat(200)]: null }],
    [
      { apiKey: 1, 'API-Key': 2, 'a.p.i_k-e-y': 3, password: { deep: 1 }, path: 'p' },
      { apiKey: '[redacted]', 'API-Key': '[redacted]', 'a.p.i_k-e-y': '[redacted]', password: '[redacted]', path: 'p' },
    ],
    [{ Mine: 1, password: 2 }, { Mine: '[redacted]', password: 2 }, ['mine', 3]],
    [{ password: 2 }, { password: 2 }, []],
    [{ password: 2 }, { password: '[redacted]' }, 'password'],
  ]
  for (const [input, expected, keys] of table) assert.deepEqual(summarise(input as Json, keys), expected)
  const large = summarise(
    Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, ['x'.repeat(200), 'y'.repeat(200)]])),
    [],
  )
  assert.match(String(large), /^\{"k0":.{4040,}… \(\d{4} characters\)$/)
  assert.equal(String(large).indexOf('…'), 4056)
})
