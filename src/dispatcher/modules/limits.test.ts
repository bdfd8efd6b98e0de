/** What the shipped modules answer at their limits: long lists, calls without a path, what they were told before. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sha256 } from '../lazy-builtins.ts'
import { findPlan } from '../rules/plan-file.ts'
import { planLimitBytes } from '../rules/plan-graph.ts'
import { type TestInput, testContext } from '../setup/testing.ts'
import type { HookAction, HookModule, Json } from '../types.ts'
import { hook as graph } from './graph-pretooluse.ts'
import { hook as activation } from './memory-activation.ts'
import { hook as journal } from './memory-journal.ts'
import { hook as planExec } from './plan-graph-exec.ts'
import { hook as planContract } from './plan-subagent-contract.ts'
import { hook as rlm } from './rlm-work.ts'
import { hook as session } from './session.ts'
import { hook as synth } from './stop-synth.ts'

const sessionRoot = '.ai/tmp/a3f0c812'

function repository(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'module-limits-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const put = (file: string, content: unknown) => {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const ask = async (hook: HookModule, given: Partial<TestInput> = {}) => {
    const input = { event: 'PreToolUse' as const, ...given, module: hook.name }
    return ((await hook.handle(input.event, testContext(root, input))) ?? {}) as HookAction
  }
  return { root, put, ask }
}
const call = (tool_name: string, tool_input: Json = {}) => ({ input: { tool_name, tool_input } })
const many = (count: number) => Array.from({ length: count }, (_, at) => `src/${at + 10}.ts`)
const after = (tool_input: Json, more: Json = {}) => ({
  event: 'PostToolUse' as const,
  input: { tool_name: 'create_file', tool_input, ...more },
})

test('the log keeps fifty paths of a call, the journal twenty; an error in the middle of a result is none', async (t) => {
  const { ask } = repository(t)
  const outcome = async (hook: HookModule, input: Partial<TestInput>) =>
    (await ask(hook, input)).emitEvents![0]!.data as Json
  const files = { files: many(60) }
  assert.deepEqual((await outcome(session, after(files)))['touchedPaths'], many(50))
  assert.deepEqual((await outcome(journal, after(files)))['paths'], many(20))
  const success = async (tool_response: string) => (await outcome(session, after({}, { tool_response })))['success']
  assert.deepEqual(
    [await success('Error: no'), await success('ERROR'), await success('no Error: here'), await success('an ERROR')],
    [false, false, true, true],
  )
})

test('a prompt without words begins no new work', async (t) => {
  const { ask } = repository(t)
  const state = { core: { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 1, phase: 'EXECUTING' } }
  const { statePatch } = await ask(session, {
    event: 'UserPromptSubmit',
    state,
    config: { newWorkPattern: 'undefined' },
  })
  assert.equal((statePatch?.['core'] as Json | undefined)?.['workId'], undefined)
  const prompted = {
    event: 'UserPromptSubmit',
    state,
    config: { newWorkPattern: '' },
    input: { prompt: 'go' },
  } as const
  assert.equal((await ask(session, prompted)).statePatch, undefined)
})

test('a policy for subagents: all paths must be exempt, and a call without a path is not; known again, it is not told again', async (t) => {
  const { ask, put } = repository(t)
  put('.ai/hooks/rlm-policy.json', {
    requireSubagent: [{ toolName: 'create_file', mode: 'deny', exemptPatterns: ['src/**'] }],
  })
  const decision = async (tool_input: Json, state: Json = {}) =>
    (await ask(rlm, { ...call('create_file', tool_input), state })).decision
  assert.deepEqual(
    [await decision({ files: ['src/a', 'src/b'] }), await decision({ files: ['src/a', 'docs/b'] }), await decision({})],
    ['allow', 'deny', 'deny'],
  )
  const { statePatch } = await ask(rlm, call('read_file'))
  assert.deepEqual(Object.keys(statePatch!['rlm'] as Json).sort(), ['lastPolicyHash', 'policyLoaded', 'policyStamp'])
  const again = await ask(rlm, { ...call('read_file'), state: statePatch! })
  assert.deepEqual(again, { decision: 'allow', warnings: [], emitEvents: [] })
})

test('a policy for subagents: a phase skips the part that it names, and a subagent is at work once it has started', async (t) => {
  const { ask, put } = repository(t)
  const policy = (phaseOverrides: Json) =>
    put('.ai/hooks/rlm-policy.json', {
      requireSubagent: [{ toolName: 'grep_search', mode: 'ask', reason: 'elsewhere' }],
      broadDiscovery: { mode: 'ask', rules: [{ toolName: 'grep_search', check: 'no_scope', reason: 'too broad' }] },
      phaseOverrides,
    })
  const warned = async (state: Json = {}) => (await ask(rlm, { ...call('grep_search'), state })).warnings
  policy({})
  assert.deepEqual(await warned(), ['elsewhere', 'too broad'])
  policy({ UNINITIALIZED: {}, PLANNING: { requireSubagent: 'skip', broadDiscovery: 'skip' } })
  assert.deepEqual(await warned(), ['elsewhere', 'too broad'])
  policy({ UNINITIALIZED: { requireSubagent: 'skip' } })
  assert.deepEqual(await warned(), ['too broad'])
  policy({ UNINITIALIZED: { broadDiscovery: 'skip', requireSubagent: 'enforce' } })
  assert.deepEqual(await warned(), ['elsewhere'])
  const agents = (agent: Json) => warned({ agents: { x: { aid: 'a01', ...agent } } })
  assert.deepEqual(
    [await agents({}), await agents({ startedTs: 1 }), await agents({ startedTs: 1, stoppedTs: 2 })],
    [['elsewhere'], [], ['elsewhere']],
  )
})

test('a subagent has a folder of the name of its type up to 32 letters; what it left is hashed up to a mebibyte', async (t) => {
  const { ask, put } = repository(t)
  const folderOf = async (agent_type: string) => {
    const { emitEvents } = await ask(rlm, { event: 'SubagentStart', input: { agent_id: 'x', agent_type } })
    return String((emitEvents![0]!.data as Json)['artifactRoot'])
  }
  const [fits, long] = ['a'.repeat(32), 'a'.repeat(33)]
  const folder = await folderOf(fits)
  assert.ok(folder.includes(`/${fits}/`), folder)
  assert.equal((await folderOf(long)).includes(long), false)
  for (const [name, size] of [
    ['b', 1024 * 1024],
    ['a', 1024 * 1024 + 1],
  ] as const)
    put(join(folder, name), 'x'.repeat(size))
  const { registerArtifacts } = await ask(rlm, { event: 'SubagentStop', input: { agent_id: 'x', agent_type: fits } })
  assert.deepEqual(
    registerArtifacts!.map(({ ref, hash }) => [ref.slice(-2), hash !== undefined]),
    [
      ['/a', false],
      ['/b', true],
    ],
  )
})

test('follow-ups: what is excluded is a path, words are compared with words, only firings are counted', async (t) => {
  const { ask, put } = repository(t)
  const rule = (trigger: Json, more: Json = {}) => ({
    id: 'r',
    trigger: { event: 'PostToolUse', toolName: 'create_file', ...trigger },
    followup: { action: 'warn', message: 'look' },
    ...more,
  })
  const warned = async (each: Json, input: Json = {}, state: Json = {}) => {
    put('.ai/hooks/followup-rules.json', { rules: [each] })
    return (await ask(activation, { ...after(input), state })).warnings ?? []
  }
  const when = (field: string, op: string, value: unknown) => rule({ conditions: [{ field, op, value }] })
  const excluded = rule({ excludePathPatterns: ['src/**'] })
  assert.deepEqual(
    [
      await warned(excluded, { filePath: 'src/a' }),
      await warned(excluded, { filePath: 'docs/a' }),
      await warned(excluded),
      await warned(when('toolInput.n', 'contains', '1'), { n: '1' }),
      await warned(when('toolInput.n', 'contains', 1), { n: '1' }),
      await warned(when('toolInput.n', 'contains', '1'), { n: 1 }),
      await warned(when('toolInput.n', 'matches', '1'), { n: '1' }),
      await warned(when('toolInput.n', 'matches', 1), { n: '1' }),
      await warned(when('toolInput.n', 'matches', '1'), { n: 1 }),
    ],
    [[], ['look'], ['look'], ['look'], [], [], ['look'], [], []],
  )
  assert.deepEqual(
    [
      await warned(when('toolInput.n', 'neq', 1), { n: 1 }),
      await warned(when('toolInput.n', 'neq', 1), { n: '1' }),
      await warned(when('toolInput.n', 'neq', 1)),
      await warned(when('toolInput.n', 'eq', 1), { n: '1' }),
      await warned(when('toolInput.n', 'exists', 0), { n: null }),
      await warned(when('toolInput.n', 'exists', 0), { n: 0 }),
      await warned(when('toolInput.n', 'notExists', 0), { n: null }),
      await warned(when('toolInput.n', 'notExists', 0), { n: 0 }),
    ],
    [[], ['look'], ['look'], [], [], ['look'], ['look'], []],
  )
  const asks = (id: string) => ({
    ...{ id, multiMatch: true, trigger: { event: 'PreToolUse' }, followup: { action: 'ask', message: id } },
  })
  put('.ai/hooks/followup-rules.json', { rules: [asks('first'), asks('second')] })
  assert.equal((await ask(activation, call('read_file'))).denyReason, 'first')
  const once = rule({}, { cooldown: { perSession: 1 } })
  const log = (record: Json) =>
    put(`${sessionRoot}/events.jsonl`, `${JSON.stringify({ ts: 1, workId: 'w001', ...record })}\n`)
  const firing = 'MEMORY_FOLLOWUP_TRIGGER'
  const seen: unknown[] = []
  for (const record of [
    { kind: firing, data: { ruleId: 'r' } },
    { kind: 'OTHER', data: { ruleId: 'r', after: firing } },
    { kind: firing, data: { ruleId: 'other' } },
    { kind: firing },
  ]) {
    log(record)
    seen.push(await warned(once))
  }
  assert.deepEqual(seen, [[], ['look'], ['look'], ['look']])
  t.mock.timers.enable({ apis: ['Date'], now: 9000 })
  const everySecond = rule({}, { cooldown: { intervalMs: 1000 } })
  const firedAt = (lastFiredTs: number) => ({ memory: { pendingFollowups: { r: { lastFiredTs } } } })
  assert.deepEqual(
    [await warned(everySecond, {}, firedAt(8001)), await warned(everySecond, {}, firedAt(8000))],
    [[], ['look']],
  )
  put('.ai/hooks/followup-rules.json', {
    rules: [rule({}, { followup: { action: 'enqueue_tool', message: 'still' } })],
  })
  const pending = { memory: { pendingFollowups: { r: { rule: 'r', status: 'pending', triggeredAt: 2 } } } }
  const { additionalContext } = await ask(activation, { ...call('read_file'), state: pending })
  assert.deepEqual(additionalContext, [{ key: 'followup-r', value: 'still' }])
})

test('rules for follow-ups that cannot be read are reported once', async (t) => {
  const { ask, put } = repository(t)
  for (const broken of ['{', '[]', '{"rules":{}}']) {
    put('.ai/hooks/followup-rules.json', broken)
    const { warnings, statePatch } = await ask(activation, call('read_file'))
    assert.equal(warnings!.length, 1)
    assert.deepEqual(await ask(activation, { ...call('read_file'), state: statePatch! }), {})
  }
})

test('the journal: what its own patterns find, what is empty is no anchor, and the last time is the latest', async (t) => {
  const { root, ask, put } = repository(t)
  const anchors = async (prompt: string, config: Json = {}) =>
    ((await ask(journal, { event: 'UserPromptSubmit', input: { prompt }, config })).emitEvents![0]!.data as Json)[
      'anchors'
    ]
  const files = ['src', 'app', 'lib', 'shared', 'core'].map((name) => `${name}/a.ts`)
  const ends = ['ts', 'html', 'css', 'scss', 'json'].map((end) => `src/b.${end}`)
  const parts = ['Component', 'Service', 'Module', 'Directive', 'Pipe', 'Guard', 'Interceptor', 'Store']
  const named = [...files, ...ends, ...parts.map((part) => `Home${part}`), 'adp-x', 'sdf-y']
  assert.deepEqual(await anchors(named.slice(0, 10).join(' ')), named.slice(0, 10))
  assert.deepEqual(await anchors(named.slice(10).join(' ')), named.slice(10))
  assert.deepEqual(await anchors('docs/a.ts src/a.py homeService Homeservice ad-x src/'), [])
  assert.deepEqual(await anchors('ab', { anchorPatterns: ['x*', 'b'] }), ['b'])
  const record = (ts: number) => JSON.stringify({ ts, kind: 'MEMORY_MATCH', data: { anchors: ['x'] } })
  put(`${sessionRoot}/events.jsonl`, `${[5, 9, 7].map(record).join('\n')}\n`)
  await ask(journal, { event: 'Stop' })
  const written = JSON.parse(readFileSync(join(root, sessionRoot, 'memory-journal/output/candidates.json'), 'utf8'))
  assert.deepEqual(written.candidates, [
    {
      ...{ id: sha256('anchor x', 8), kind: 'anchor', key: 'x', count: 3, tools: [], paths: [] },
      ...{ firstTs: 5, lastTs: 9, sample: 'x' },
    },
  ])
})

test('a plan is reported once; twenty of its nodes are named', async (t) => {
  const { ask, put } = repository(t)
  const planPath = `${sessionRoot}/planGraph-exec/output/planGraph.json`
  const nodes = Array.from({ length: 21 }, (_, at) => ({ id: `n${at}`, description: 'x', tool: 'create_file' }))
  put(planPath, { nodes })
  const edit = call('create_file', { filePath: 'src/a' })
  const first = await ask(planExec, edit)
  assert.deepEqual(first.emitEvents![0]!.data, { matched: 21, nodeIds: nodes.slice(0, 20).map(({ id }) => id) })
  assert.deepEqual(
    [first.emitEvents![1]!.kind, Object.keys(first.statePatch!).sort()],
    ['PHASE_TRANSITION', ['core', 'plan']],
  )
  const again = await ask(planExec, { ...edit, state: { plan: first.statePatch!['plan'] } })
  assert.deepEqual(again, { decision: 'allow', emitEvents: [first.emitEvents![0]] })
  put(planPath, { nodes: [] })
  const bad = await ask(planExec, edit)
  assert.equal(bad.warnings!.length, 1)
  const told = await ask(planExec, { ...edit, state: { plan: bad.statePatch!['plan'] } })
  assert.deepEqual(told, { decision: 'allow' })
  put(planPath, { nodes: [{ id: 'a', description: 'x', tool: 'file_search', scope: 'src' }] })
  const { updatedInput } = await ask(planExec, call('file_search', { query: '*/a.ts' }))
  assert.deepEqual(updatedInput, { query: 'src/**/*/a.ts' })
})

test('a plan that a subagent hands in: twenty nodes are tags, its other files lie in its folder', async (t) => {
  const { ask, put } = repository(t)
  const folder = `${sessionRoot}/plan-subagent-contract/output/sa/Plan/u00`
  const nodes = Array.from({ length: 21 }, (_, at) => ({ id: `n${at}`, description: 'x', tool: '*' }))
  put(`${folder}/planGraph.json`, { nodes })
  put(`${folder}/manifest.json`, {
    outputs: [{ path: 'planGraph.json' }, { path: '../beside.md' }, { path: 'none' }, { path: 'a/../../beside.md' }],
  })
  put(`${folder}/../beside.md`, 'x')
  const input = { agent_id: 'x', agent_type: 'Plan' }
  const { warnings, registerArtifacts } = await ask(planContract, { event: 'SubagentStop', input })
  assert.deepEqual(
    registerArtifacts![0]!.tags,
    nodes.slice(0, 20).map(({ id }) => id),
  )
  assert.deepEqual(
    warnings,
    [1, 2, 3].map((at) => `manifest.json: outputs[${at}].path is not a file of this subagent`),
  )
  const told = async (neo4j: Json) => {
    const given = { event: 'SubagentStart', input, state: { cap: { neo4j } } } as const
    return (await ask(planContract, given)).additionalContext![0]!.value.replace(/.*(?=The graph)/s, '')
  }
  assert.deepEqual(
    [await told({ enabled: true, reachable: false }), await told({ enabled: true, reachable: true })],
    ['The graph database is not available.', 'The graph database is reachable.'],
  )
})

test('a command runs in the folder that the call names, else where the host is', async (t) => {
  const { root, ask, put } = repository(t)
  const node = { id: 'f', description: 'x', tool: 'create_file', scope: 'old/**', status: 'forbidden', reason: 'no' }
  put(`${sessionRoot}/planGraph-exec/output/planGraph.json`, { nodes: [node] })
  const decisions = async (command: string, named: string | undefined, host: string | undefined) => {
    const tool_input = { command, ...(named !== undefined && { cwd: join(root, named) }) }
    const input = { tool_name: 'run_in_terminal', tool_input, ...(host !== undefined && { cwd: join(root, host) }) }
    return [(await ask(graph, { input })).decision, (await ask(planExec, { input })).decision]
  }
  const read = 'grep -r x .'
  assert.deepEqual(
    [
      await decisions(read, undefined, undefined),
      await decisions(read, 'old', '.'),
      await decisions(read, '.', 'old'),
      await decisions(read, undefined, 'old'),
    ],
    [
      ['ask', 'allow'],
      ['allow', 'ask'],
      ['ask', 'allow'],
      ['allow', 'ask'],
    ],
  )
})

test('of several nodes that hold a search to their scopes the first is named', async (t) => {
  const { ask, put } = repository(t)
  const node = (id: string) => ({ id, description: 'x', tool: 'semantic_search', scope: `${id}/**` })
  put(`${sessionRoot}/planGraph-exec/output/planGraph.json`, { nodes: [node('a'), node('b')] })
  const { denyReason, emitEvents } = await ask(planExec, call('semantic_search', { query: 'x' }))
  const reason = "semantic_search cannot be held to the plan's scope (a/**, b/**)"
  assert.deepEqual([denyReason, emitEvents![0]!.data], [reason, { nodeId: 'a' }])
})

test('a forbidden scope is reached by a file that is not there yet, and by any part of a word', async (t) => {
  const { ask, put } = repository(t)
  const forbidden = {
    id: 'f',
    description: 'x',
    tool: 'create_file',
    scope: 'old/**',
    status: 'forbidden',
    reason: 'no',
  }
  put(`${sessionRoot}/planGraph-exec/output/planGraph.json`, { nodes: [forbidden] })
  const reached = async (tool: string, input: Json) => {
    const { decision, denyReason } = await ask(planExec, call(tool, input))
    return `${decision}: ${denyReason?.replace(/, which.*/, '')}`
  }
  assert.equal(await reached('replace_string_in_file', { filePath: 'old/new.ts' }), 'ask: this reaches old/new.ts')
  for (const word of ['old/x', '"a=old/x"', '"a<old/x"', '"a>old/x"', '"a&old/x"'])
    assert.equal(await reached('run_in_terminal', { command: `tool ${word}` }), 'ask: this reaches old/x', word)
  assert.equal(await reached('run_in_terminal', { command: 'tool "a;old/x"' }), 'allow: undefined')
  put(`${sessionRoot}/planGraph-exec/output/planGraph.json`, {
    nodes: [{ id: 'n', description: 'x', tool: 'list_dir', scope: 'src/app/**' }],
  })
  const listed = async (path: string) => (await ask(planExec, call('list_dir', { path }))).decision
  assert.deepEqual(
    [await listed('src'), await listed('src/app'), await listed('src/app/x'), await listed('sr'), await listed('docs')],
    ['allow', 'allow', 'allow', 'ask', 'ask'],
  )
})

test('a plan file: a mebibyte is read; looks, work and what is in its place decide whether it is news', (t) => {
  const { root, put } = repository(t)
  const file = `${sessionRoot}/planGraph-exec/output/planGraph.json`
  const find = (plan: Json = {}, workId = 'w001') => {
    const core = { sessionId: 'a3f0c812', workId, lastTurnId: 0, phase: 'PLANNING' }
    const state = { core, plan }
    return findPlan(testContext(root, { module: 'planGraph-exec', event: 'PreToolUse', state }), 'planGraph.json')
  }
  const text = JSON.stringify({ workId: 'w001', nodes: [{ id: 'a', description: 'x', tool: '*' }] })
  put(file, text.padEnd(planLimitBytes))
  assert.equal(find()!.check.ok, true)
  put(file, text.padEnd(planLimitBytes + 1))
  assert.deepEqual(find()!.check, {
    ok: false,
    problems: [{ code: 'PG_TOO_LARGE', message: 'the plan is over 1 MiB' }],
  })
  put(file, text)
  const { pointer, hash, isNews } = find()!
  assert.deepEqual([hash, isNews, find(pointer)!.isNews], [sha256(text, 16), true, false])
  // what looks as it did is not hashed again, and each part of the look counts
  const stale = { ...pointer, hash: 'kept' }
  assert.equal(find(stale)!.hash, 'kept')
  for (const other of [{ size: 1 }, { mtime: 1 }, { currentPath: 'x' }])
    assert.deepEqual([find({ ...stale, ...other })!.hash, find({ ...stale, ...other })!.isNews], [hash, true])
  assert.deepEqual([find(pointer, 'w002')!.hash, find(pointer, 'w002')!.isNews], [hash, true])
  rmSync(join(root, file))
  mkdirSync(join(root, file))
  assert.equal(find(), undefined)
})

test('the summary: times that are missing, a plan without refusals, backslashes, and drafts of others', async (t) => {
  const { root, ask, put } = repository(t)
  const output = join(root, sessionRoot, 'stop-synth/output')
  const log = (...records: Json[]) =>
    put(`${sessionRoot}/events.jsonl`, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const stop = (state: Json = {}) => ask(synth, { event: 'Stop', state })
  log({ ts: 600_000, kind: 'A' }, { ts: 660_000, kind: 'B' }, { kind: 'C' })
  await stop()
  assert.match(readFileSync(join(output, 'summary.md'), 'utf8'), /^\| minutes \| 1 \|$/m)
  assert.equal(existsSync(join(output, 'adr')), false)
  log({ ts: 1, kind: 'PLAN_GRAPH_DENY', toolName: 'a\\b', reason: 'c|d' })
  const { registerArtifacts } = await stop()
  const [, adr] = registerArtifacts!
  assert.deepEqual(adr!.ref, 'stop-synth/output/adr/adr-a3f0c812-w001.md')
  const text = readFileSync(join(root, sessionRoot, adr!.ref), 'utf8')
  assert.match(text, /^- PLAN_GRAPH_DENY a\\\\b c\\\|d$/m)
  const named = async (synthState: Json = {}) => (await stop({ synth: synthState })).registerArtifacts![1]!.ref
  const mine = { adrRef: adr!.ref, adrHash: sha256(text, 16) }
  assert.equal(await named(mine), adr!.ref)
  assert.equal(await named({ ...mine, adrRef: 'another.md' }), adr!.ref.replace('.md', '-2.md'))
  for (let n = 2; n <= 99; n++) put(join(sessionRoot, adr!.ref.replace('.md', `-${n}.md`)), 'edited')
  assert.equal(await named(), adr!.ref.replace('.md', '-100.md'))
  assert.deepEqual((await stop()).warnings, ['the decision record could not be written'])
})
