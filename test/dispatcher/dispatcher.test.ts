/** What the dispatcher's contract promises, shown through the installed program alone. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { defaultFiles } from '../../src/dispatcher/defaults.ts'
import { checkSchema } from '../../src/dispatcher/setup/check-schema.ts'
import { schemas } from '../../src/dispatcher/setup/schemas.ts'
import { type EventName, eventNames, type Json } from '../../src/dispatcher/types.ts'
import { sampled } from '../support/campaign-size.ts'
import { type Firing, filesUnder, makeRepo, moduleBody, payload, readFile, sid } from '../support/dispatcher.ts'

const extras: Record<EventName, Record<string, unknown>> = {
  SessionStart: { source: 'new' },
  UserPromptSubmit: { prompt: 'look at src/app/home.service.ts' },
  PreToolUse: readFile,
  PostToolUse: { ...readFile, tool_response: 'ok' },
  PreCompact: { trigger: 'auto' },
  SubagentStart: { agent_id: 'x1', agent_type: 'Plan' },
  SubagentStop: { agent_id: 'x1', agent_type: 'Plan', stop_hook_active: true },
  Stop: { stop_hook_active: false },
}

test('invariant 1: exactly one JSON object on stdout per invocation, on every event', async () => {
  const repo = makeRepo()
  for (const name of eventNames) {
    const { code, stdout, stderr, output } = await repo.fire(name, extras[name])
    assert.deepEqual([code, stderr, stdout.split('\n').length], [0, '', 2], name)
    assert.deepEqual(checkSchema(schemas['hook-output']!, output), [], name)
    assert.equal(output.hookSpecificOutput?.['hookEventName'], name === 'PreCompact' ? undefined : name)
  }
  for (const record of repo.events()) assert.deepEqual(checkSchema(schemas['event-record']!, record), [], record.kind)
  for (const record of repo.lines('registry.jsonl'))
    assert.deepEqual(checkSchema(schemas['artifact-record']!, record), [])
  assert.deepEqual(checkSchema(schemas['state']!, repo.state()), [])
})

test('invariant 2: no module writes to stdout or stderr, in whichever way it tries', async () => {
  const repo = makeRepo()
  repo.addModule(
    'loud',
    `{ name: 'loud', supports: new Set(['PreToolUse']), priority: 5, hotPathSafe: true, critical: false, async handle() {
      console.log('by console'); console.error('by console.error'); process.stdout.write('by stream'); process.stderr.write('by stderr')
      const fs = await import('node:fs'); fs.writeSync(1, 'by fd 1'); fs.writeSync(2, 'by fd 2'); fs.writeFileSync('/dev/stdout', 'by /dev/stdout')
      fs.writeSync(fs.openSync('/proc/self/fd/1', 'w'), 'by open'); await fs.promises.appendFile('/dev/fd/1', 'by promise')
      const { execSync, spawnSync } = await import('node:child_process')
      execSync('echo by-exec >&2'); spawnSync('echo', ['by-child'], { stdio: 'inherit' })
      return { decision: 'allow' } } }`,
  )
  const { stdout, stderr, output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual([stderr, stdout.split('\n').length, output.decision], ['', 2, 'allow'])
  const printed = repo.trace()
  for (const text of [
    'by console',
    'by console.error',
    'by stream',
    'by stderr',
    'by fd 1',
    'by fd 2',
    'by /dev/stdout',
    'by open',
    'by promise',
    'by-exec',
    'by-child',
  ])
    assert.ok(printed.includes(text), `${text} is in the trace log`)
})

test('invariant 3: state patches are idempotent; an array in one is left out and told', async () => {
  const repo = makeRepo()
  repo.addModule('lists', moduleBody('lists', `return { statePatch: { mine: { list: [1], pointer: 'p' } } }`))
  await repo.fire('PreToolUse', readFile)
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual(repo.state()['mine'], { pointer: 'p' })
  assert.ok(output.warnings?.some((text) => text.includes('mine.list')))
  assert.equal(repo.events('STATE_PATCH').filter((event) => event.producer === 'lists').length, 1)
})

test('invariant 4: the event log is append-only', async () => {
  const repo = makeRepo()
  let before = ''
  for (const name of eventNames) {
    await repo.fire(name, extras[name])
    const after = repo.read('events.jsonl')
    assert.ok(after.startsWith(before), name)
    before = after
  }
})

test('invariant 5: the PreToolUse budget is hard: what never answers is cut off, and the call goes on', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  repo.setBudgets(300)
  repo.addModule('hangs', moduleBody('hangs', 'await new Promise(() => {})'))
  repo.addModule('after', moduleBody('after', `return { decision: 'deny', denyReason: 'too late' }`), { priority: 60 })
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual([output.decision, output._debug?.['budgetExceeded']], ['allow', true])
  assert.deepEqual(
    repo.events('BUDGET_EXCEEDED').map((event) => event.data?.['module']),
    ['hangs'],
  )
})

test('§12.2: an event that exceeds its budget blocks the work, and the next prompt unblocks it', async () => {
  const repo = makeRepo(['session'])
  repo.setBudgets(300)
  repo.addModule('hangs', moduleBody('hangs', 'await new Promise(() => {})'))
  const phase = () => repo.state().core['phase']
  await repo.fire('PreToolUse', readFile)
  assert.equal(phase(), 'BLOCKED')
  assert.deepEqual(
    repo.events('PHASE_TRANSITION').map(({ data }) => data),
    [{ from: 'UNINITIALIZED', to: 'BLOCKED', trigger: 'budget cap' }],
  )
  repo.setBudgets(60_000)
  repo.edit('dispatch.manifest.json', (manifest) =>
    Object.assign((manifest['modules'] as Json)['hangs'] as Json, { enabled: false }),
  )
  await repo.fire('UserPromptSubmit', { prompt: 'go on' })
  assert.equal(phase(), 'PLANNING')
})

test('§12.2: a policy violation blocks the work', async () => {
  const repo = makeRepo(['session'])
  repo.addModule('no', moduleBody('no', `return { decision: 'deny', denyReason: 'no' }`))
  await repo.fire('UserPromptSubmit', { prompt: 'go' })
  await repo.fire('PreToolUse', readFile)
  const { core } = JSON.parse(repo.read('state.json')) as { core: Json }
  assert.deepEqual([core['phase'], core['prevPhase']], ['BLOCKED', 'PLANNING'])
})

test('a manifest without modules says so with every event', async () => {
  const repo = makeRepo(['session'])
  repo.edit('dispatch.manifest.json', (manifest) => {
    manifest['modules'] = {}
  })
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual(output.warnings, ['dispatch.manifest.json enables no module, so nothing is checked'])
})

test('§11: PostToolUse and Stop ask for the graph database again when the last answer is old', async () => {
  for (const name of ['PostToolUse', 'Stop'] as const) {
    const repo = makeRepo(['session'])
    await repo.fire('SessionStart', {})
    const checked = () => JSON.parse(repo.read('state.json')).cap.neo4j.lastCheckTs as number
    const first = checked()
    await repo.fire(name, readFile)
    assert.equal(checked(), first, 'an answer of the last five minutes stands')
    const state = JSON.parse(repo.read('state.json'))
    state.cap.neo4j.lastCheckTs = first - 6 * 60_000
    repo.put(`.ai/tmp/${sid}/state.json`, state)
    await repo.fire(name, readFile)
    assert.ok(checked() >= first)
  }
})

test('memory-journal takes a prompt of 80 KB within the budget of the contract, ten times over', async () => {
  const repo = makeRepo(['session', 'memory-journal'])
  repo.setBudgets(10_000)
  const prompt = `${'src/app/'.repeat(10_000)}${'Aa'.repeat(5_000)} src/a.ts`
  const { output } = await repo.fire('UserPromptSubmit', { prompt })
  assert.equal(output._debug?.['budgetExceeded'], false)
  assert.equal(repo.events('MEMORY_MATCH').length, 1)
})

test('a module that holds the thread is cut off too: a critical one denies, another is passed over', async () => {
  // one that waits holds the thread as well as one that counts, and leaves the core to others
  const holds = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
  for (const critical of [false, true]) {
    const repo = makeRepo(['session', 'graph-pretooluse'])
    repo.setBudgets(1000)
    repo.addModule('loops', moduleBody('loops', holds), { priority: 1, critical })
    const search = { tool_name: 'grep_search', tool_input: { query: 'x' } }
    const { output } = await repo.fire('PreToolUse', search)
    assert.deepEqual([output.decision, output._debug?.['budgetExceeded']], [critical ? 'deny' : 'ask', true])
    assert.match(output.warnings!.join(), /module loops failed: held the thread for \d+ ms/)
  }
})

test('the budgets of an installation are those of the contract', () => {
  const { budgets } = defaultFiles(['session'])['dispatch.manifest.json'] as { budgets: Record<EventName, number> }
  assert.deepEqual(
    eventNames.map((name) => `${name} ${budgets[name]}`).join(', '),
    'SessionStart 5000, UserPromptSubmit 1000, PreToolUse 300, PostToolUse 500, PreCompact 1000, Stop 5000, SubagentStart 1000, SubagentStop 1000',
  )
})

test('a critical module is asked even when the budget is spent, and its silence is a deny', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  repo.setBudgets(300)
  repo.addModule('hangs', moduleBody('hangs', 'await new Promise(() => {})'), { priority: 1 })
  const search = { tool_name: 'grep_search', tool_input: { query: 'x' } }
  assert.equal((await repo.fire('PreToolUse', search)).output.decision, 'ask')
  repo.addModule('guard', moduleBody('guard', 'await new Promise(() => {})'), { priority: 2, critical: true })
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual([output.decision, output.hookSpecificOutput?.['permissionDecision']], ['deny', 'deny'])
})

test('invariant 6: one rewrite owner per channel', async () => {
  const repo = makeRepo()
  repo.addModule(
    'meddler',
    moduleBody('meddler', `return { updatedInput: { query: 'mine' }, inputMetadata: { _hookMine: 1 } }`),
  )
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual(Object.keys(output['updatedInput'] as object), [
    '_hookSessionId',
    '_hookWorkId',
    '_hookTurnId',
    '_hookArtifactRoot',
  ])
  assert.equal(output.warnings?.filter((text) => text.startsWith('meddler does not own')).length, 2)
  repo.edit('dispatch.manifest.json', (manifest) => (manifest['rewriteOwner'] = { updatedInput: 'meddler' }))
  const owned = (await repo.fire('PreToolUse', readFile)).output
  assert.equal((owned['updatedInput'] as Record<string, unknown>)['query'], 'mine')
  assert.deepEqual(owned.hookSpecificOutput?.['updatedInput'], { filePath: 'src/a.ts', query: 'mine' })
})

test('invariant 7: non-critical modules cannot block tool execution by failing', async () => {
  const repo = makeRepo(['session'])
  repo.addModule('throws', moduleBody('throws', `throw new Error('boom')`))
  repo.addModule('nonsense', moduleBody('nonsense', `return { decision: 'perhaps' }`))
  repo.addModule('exits', moduleBody('exits', 'process.exit(3)'))
  repo.addModule('broken', 'this is not JavaScript')
  const { output, code } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual([output.decision, code], ['allow', 0])
  const failed = repo.events('ERROR_MODULE')
  assert.deepEqual(failed.map((event) => event.error?.module).sort(), ['broken', 'exits', 'nonsense', 'throws'])
  assert.match(failed.find((event) => event.producer === 'throws')!.error!.stackHash!, /^[0-9a-f]{8}$/)
})

test('invariant 8: Neo4j is never asked on PreToolUse', async () => {
  const repo = makeRepo()
  repo.put(
    'node_modules/neo4j-driver/index.js',
    `require('fs').appendFileSync(${JSON.stringify(join(repo.root, 'asked'))}, process.argv[2] + '\\n')
    exports.auth = { basic: () => ({}) }
    exports.driver = () => ({ getServerInfo: async () => ({ agent: 'Neo4j/5.26' }), close: async () => {} })`,
  )
  const env = { NEO4J_URI: 'bolt://127.0.0.1:7687' }
  await repo.fire('PreToolUse', readFile, { env })
  await repo.fire('SessionStart', {}, { env })
  await repo.fire('SessionStart', {}, { env })
  await repo.fire('PreToolUse', readFile, { env })
  assert.equal(readFileSync(join(repo.root, 'asked'), 'utf8'), 'SessionStart\n')
  const { neo4j } = repo.state()['cap'] as { neo4j: Record<string, unknown> }
  assert.deepEqual([neo4j['enabled'], neo4j['reachable'], neo4j['schemaVersion']], [true, true, 'Neo4j/5.26'])
})

test('invariant 9: short ids only', async () => {
  const repo = makeRepo()
  const seen: string[] = []
  repo.addModule(
    'ids',
    moduleBody('ids', 'return { metrics: { ids: JSON.stringify(ctx.ids) } }', ['PreToolUse', 'SubagentStart']),
  )
  await repo.fire('PreToolUse', readFile)
  await repo.fire('SubagentStart', { agent_id: 'one', agent_type: 'Explore' })
  await repo.fire('SubagentStart', { agent_id: 'two', agent_type: 'Explore' })
  await repo.fire('SubagentStart', { agent_id: 'one', agent_type: 'Explore' })
  for (const event of repo.events('METRICS')) {
    const ids = JSON.parse(String(event.data?.['ids']))
    assert.match(ids.sessionId, /^[0-9a-f]{8}$/)
    assert.match(ids.workId, /^w\d{3}$/)
    assert.match(ids.hookRunId, /^(PreToolUse|SubagentStart)-0-\d{13}$/)
    seen.push(ids.agentId)
  }
  assert.deepEqual(seen, ['u00', 'a01', 'a02', 'a01'])
})

test('invariant 10: nothing escapes the session root, whatever ids the host sends', async () => {
  const repo = makeRepo()
  const nasty = [
    '../../../etc',
    '/etc/passwd',
    'C:\\x',
    '..',
    '',
    '\u0000',
    'a'.repeat(5000),
    '__proto__',
    'ABCDEF12-x',
    '12345678/../x',
  ]
  for (const [index, id] of nasty.entries()) {
    // each is a process: by default every id reaches one of them, and each of them some ids
    const fires = [
      () => repo.fire('SubagentStart', { session_id: id, agent_id: id, agent_type: id }),
      () => repo.fire('SubagentStop', { session_id: id, agent_id: id, agent_type: id, stop_hook_active: true }),
      () => repo.fire('Stop', { session_id: id }),
    ]
    for (const fire of sampled(fires, 3, index)) await fire()
  }
  const outside = filesUnder(join(repo.root, '.ai/tmp')).filter((file) => !/^[0-9a-f]{8}\//.test(file))
  assert.deepEqual(outside, ['dispatch.log'])
  assert.deepEqual(
    filesUnder(repo.root).filter((file) => !file.startsWith('.ai/')),
    [],
  )
})

test('ctx has the shape its schema says, and the state in it cannot be changed', async () => {
  const repo = makeRepo()
  repo.addModule(
    'looks',
    moduleBody(
      'looks',
      `'use strict'; let thrown = false; try { ctx.state.core.phase = 'COMPLETE' } catch { thrown = true }
      return { metrics: { ctx: JSON.stringify({ ...ctx, event: { ...ctx.event, paths: ctx.event.paths } }), thrown, root: ctx.paths.featureOutput('looks'), rel: ctx.paths.repoRelative(ctx.paths.stateFile) } }`,
    ),
  )
  await repo.fire('PreToolUse', readFile)
  const { data } = repo.events('METRICS')[0]!
  assert.deepEqual(checkSchema(schemas['ctx']!, JSON.parse(String(data?.['ctx']))), [])
  assert.deepEqual([data?.['thrown'], data?.['rel']], [true, `.ai/tmp/${sid}/state.json`])
  assert.equal(repo.state().core['phase'], 'UNINITIALIZED')
})

test('modules run in order of priority, the manifest over the module, and hotPathSafe counts on PreToolUse alone', async () => {
  const repo = makeRepo(['session'])
  const both: EventName[] = ['PreToolUse', 'PostToolUse']
  repo.addModule('later', moduleBody('later', 'return {}', both), { priority: 90 })
  repo.addModule('sooner', moduleBody('sooner', 'return {}', both), { priority: 1 })
  repo.addModule('slow', moduleBody('slow', 'return {}', both), { priority: 2, hotPathSafe: false })
  const ran = async (name: EventName) => (await repo.fire(name, readFile)).output._debug?.['modulesRan']
  assert.deepEqual(await ran('PreToolUse'), ['session', 'sooner', 'later'])
  assert.deepEqual(await ran('PostToolUse'), ['session', 'sooner', 'slow', 'later'])
})

test('the first deny ends the round, and so does the first ask', async () => {
  for (const decision of ['deny', 'ask']) {
    const repo = makeRepo(['session'])
    repo.addModule('first', moduleBody('first', `return { decision: '${decision}', denyReason: 'because' }`), {
      priority: 1,
    })
    repo.addModule('second', moduleBody('second', 'return {}'), { priority: 2 })
    const { output } = await repo.fire('PreToolUse', readFile)
    assert.deepEqual(
      [output.decision, output['denyReason'], output._debug?.['modulesRan'], output.hookSpecificOutput],
      [
        decision,
        'because',
        ['session', 'first'],
        { hookEventName: 'PreToolUse', permissionDecision: decision, permissionDecisionReason: 'because' },
      ],
    )
    const [record] = repo.events('TOOL_DECISION')
    assert.deepEqual([record?.decision, record?.reason, record?.data?.['decidedBy']], [decision, 'because', 'first'])
  }
})

test('an allow is no approval: VS Code still asks its user, unless the manifest says otherwise', async () => {
  const repo = makeRepo(['session'])
  assert.deepEqual((await repo.fire('PreToolUse', readFile)).output.hookSpecificOutput, {
    hookEventName: 'PreToolUse',
  })
  repo.edit('dispatch.manifest.json', (manifest) => (manifest['autoApprove'] = true))
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual(output.hookSpecificOutput, { hookEventName: 'PreToolUse', permissionDecision: 'allow' })
})

test('each dialect gets the object its host reads', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  const search = { tool_name: 'Grep', tool_input: { pattern: 'x' } }
  const claude = (await repo.fire('PreToolUse', { ...search, permission_mode: 'default' })).output
  const reason = 'this search covers the whole repository; set glob to the part that matters'
  assert.deepEqual(claude, {
    systemMessage: reason,
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason: reason },
  })
  assert.deepEqual((await repo.fire('Stop', {}, { args: ['claude'] })).output, {})
  const cli = (await repo.fire('PreToolUse', search)).output
  assert.deepEqual([cli['permissionDecision'], cli['permissionDecisionReason'], cli.decision], ['ask', reason, 'ask'])
  const start = async (firing: Firing, more = {}) =>
    (await repo.fire('SessionStart', more, firing)).output['additionalContext']
  assert.equal(typeof (await start({ args: ['copilot-cli'] })), 'string')
  const copilot = { COPILOT_CLI: '1', CLAUDE_PROJECT_DIR: repo.root }
  assert.equal(typeof (await start({ env: copilot })), 'string')
  assert.equal(typeof (await start({ env: copilot, args: ['claude'] })), 'string', 'it reads Claude Code’s file too')
  const inside = await start({ env: copilot, args: ['claude'] }, { permission_mode: 'default' })
  assert.equal(inside, undefined, 'Claude Code, started from a shell of Copilot’s')
})

test('a prompt counts the turn up, moves the phase, and is kept only as a hash', async () => {
  const repo = makeRepo(['session'])
  await repo.fire('SessionStart')
  assert.equal(repo.state().core['phase'], 'UNINITIALIZED')
  await repo.fire('UserPromptSubmit', { prompt: 'my secret plan', transcript_path: '/t' })
  await repo.fire('UserPromptSubmit', { prompt: 'more' })
  const { core } = repo.state()
  assert.deepEqual(
    [core['lastTurnId'], core['phase'], core['hostSessionId']],
    [2, 'PLANNING', payload('Stop')['session_id']],
  )
  const [first] = repo.lines('p.jsonl')
  assert.deepEqual(
    [first?.['turnId'], first?.['isHuman'], first?.['charCount'], first?.['text']],
    [1, true, 14, undefined],
  )
  assert.ok(!repo.read('events.jsonl').includes('secret'))
  assert.deepEqual(
    repo.events('PHASE_TRANSITION').map((event) => event.data),
    [{ from: 'UNINITIALIZED', to: 'PLANNING', trigger: 'first prompt' }],
  )
})

test('a session that starts again keeps its turn and phase', async () => {
  const repo = makeRepo(['session'])
  await repo.fire('SessionStart')
  await repo.fire('UserPromptSubmit', { prompt: 'x' })
  await repo.fire('SessionStart')
  assert.deepEqual([repo.state().core['lastTurnId'], repo.state().core['phase']], [1, 'PLANNING'])
  assert.deepEqual([repo.events('SESSION_INIT').length, repo.events('SESSION_RESUME').length], [1, 1])
})

test('phases are enforced when the manifest says so, by the phase before the call, which a refused call leaves alone', async () => {
  const repo = makeRepo(['session'])
  repo.edit('dispatch.manifest.json', (manifest) => (manifest['enforcePhases'] = true))
  await repo.fire('UserPromptSubmit', { prompt: 'x' })
  const write = { tool_name: 'create_file', tool_input: { filePath: 'a' } }
  assert.equal((await repo.fire('PreToolUse', write)).output.decision, 'deny')
  assert.equal((await repo.fire('PreToolUse', readFile)).output.decision, 'allow')
  assert.equal(repo.state().core['phase'], 'PLANNING')
  repo.edit(
    'dispatch.manifest.json',
    (manifest) => (manifest['phasePolicy'] = { PLANNING: { allowTools: [], mode: 'warn' } }),
  )
  const warned = (await repo.fire('PreToolUse', write)).output
  assert.equal(warned.decision, 'allow')
  assert.match(String(warned['systemMessage']), /create_file is not allowed in phase PLANNING/)
})

test('an input is written down without its secrets and cut to size', async () => {
  const repo = makeRepo(['session'])
  await repo.fire('PreToolUse', {
    tool_name: 'x',
    tool_input: {
      api_key: 'sk-1',
      nested: { Token: 'sk-2', long: 'y'.repeat(5000) },
      list: Array.from({ length: 100 }, (_, n) => n),
    },
  })
  const [record] = repo.events('TOOL_DECISION')
  const input = record?.data?.['toolInput'] as Record<string, unknown>
  assert.deepEqual(
    [input['api_key'], (input['nested'] as Record<string, unknown>)['Token']],
    ['[redacted]', '[redacted]'],
  )
  assert.ok(!repo.read('events.jsonl').includes('sk-'))
  assert.ok(JSON.stringify(input).length < 4096)
})

test('old sessions are collected when one starts; the busy, the new and the foreign stay', async () => {
  const repo = makeRepo(['session'])
  const tmp = join(repo.root, '.ai/tmp')
  const age = (name: string, hours: number, file = 'state.json') => {
    repo.put(`.ai/tmp/${name}/${file}`, '{}')
    const at = Date.now() / 1000 - hours * 3600
    utimesSync(join(tmp, name, file), at, at)
  }
  age('00000001', 24 * 8)
  age('00000002', 24 * 6)
  age('00000003', 24 * 30, 'note.txt')
  age('not-a-session', 24 * 30)
  await repo.fire('SessionStart')
  const kept = () =>
    ['00000001', '00000002', '00000003', 'not-a-session', sid].filter((name) =>
      statSync(join(tmp, name), { throwIfNoEntry: false }),
    )
  assert.deepEqual(kept(), ['00000002', '00000003', 'not-a-session', sid])
  repo.edit('dispatch.manifest.json', (manifest) => (manifest['gc'] = { maxSessions: 1 }))
  age('00000004', 0.5)
  await repo.fire('SessionStart')
  assert.deepEqual([kept().includes('00000002'), statSync(join(tmp, '00000004')).isDirectory()], [false, true])
})

test('state.json that is lost or broken is rebuilt from the log', async () => {
  const repo = makeRepo(['session'])
  await repo.fire('SessionStart')
  for (const prompt of ['a', 'b', 'c']) await repo.fire('UserPromptSubmit', { prompt })
  for (const broken of ['', '{"core":', '[]', '{"core":{"sessionId":"ffffffff"}}']) {
    writeFileSync(join(repo.root, '.ai/tmp', sid, 'state.json'), broken)
    await repo.fire('PreToolUse', readFile)
    const { core } = repo.state()
    assert.deepEqual(
      [core['lastTurnId'], core['phase'], core['hostSessionId']],
      [3, 'PLANNING', payload('Stop')['session_id']],
      broken,
    )
  }
})

test('a policy that says what nobody understands is reported once, and applied as far as it can be', async () => {
  const repo = makeRepo(['session', 'rlm-work'])
  const rules = [{ toolName: 'read_file', mode: 'Deny' }, { tool: 'x' }]
  repo.put('.ai/hooks/rlm-policy.json', { version: 1, requireSubagent: rules })
  const { output } = await repo.fire('PreToolUse', readFile)
  const told = (text: string) => text.startsWith('rlm-policy.json: ')
  assert.deepEqual(output.warnings?.filter(told), [
    'rlm-policy.json: requireSubagent[0].mode must be one of deny, ask, warn, allow',
    'rlm-policy.json: requireSubagent[1] lacks toolName',
    'rlm-policy.json: requireSubagent[1].tool is not known',
  ])
  assert.equal(repo.events('POLICY_INVALID').length, 3)
  assert.equal((await repo.fire('PreToolUse', readFile)).output.warnings?.some(told), false)
})

test('a pipe in the place of a file that is written to is not waited for', async () => {
  const repo = makeRepo()
  repo.addModule('asks', moduleBody('asks', `ctx.log('warn', 'x'); return { decision: 'ask', denyReason: 'sure?' }`))
  await repo.fire('PreToolUse', readFile)
  const written = filesUnder(join(repo.root, '.ai/tmp')).filter((path) => /(events\.jsonl|\.log)$/.test(path))
  assert.ok(written.length > 2)
  for (const path of written) {
    rmSync(join(repo.root, '.ai/tmp', path))
    execFileSync('mkfifo', [join(repo.root, '.ai/tmp', path)])
    assert.equal((await repo.fire('PreToolUse', readFile)).output.decision, 'ask', path)
  }
})

test('two hosts whose ids begin alike do not share a session', async () => {
  const repo = makeRepo(['session'])
  await repo.fire('SessionStart')
  await repo.fire('SessionStart', { session_id: `${sid}-another` })
  const sessions = filesUnder(join(repo.root, '.ai/tmp')).filter((file) => file.endsWith('state.json'))
  assert.equal(sessions.length, 2)
})

test('an edited module file counts at once, and a shipped one is not imported', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  repo.put(
    '.ai/hooks/features/graph-pretooluse/hook.mjs',
    `export default ${moduleBody('graph-pretooluse', `return { decision: 'deny', denyReason: 'mine' }`)}`,
  )
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual([output.decision, output['denyReason']], ['deny', 'mine'])
})

test('what a module logs goes to its own debug.log, whatever it is', async () => {
  const repo = makeRepo(['session'])
  repo.addModule(
    'logs',
    moduleBody(
      'logs',
      `const a = {}; a.a = a; ctx.log('info', 'one', { x: 1 }); ctx.log('warn', 'two', a); ctx.log('debug', 'three', 1n)`,
    ),
  )
  await repo.fire('PreToolUse', readFile)
  const logged = repo.lines('logs/logs/debug.log').map(({ level, message, data }) => [level, message, data])
  assert.deepEqual(logged, [
    ['info', 'one', { x: 1 }],
    ['warn', 'two', '[object Object]'],
    ['debug', 'three', '1'],
  ])
})

test('§7: a warning of a module is in the event log and in its own debug.log', async () => {
  const repo = makeRepo(['session'])
  repo.addModule('warns', moduleBody('warns', `return { warnings: ['mind the gap'] }`))
  await repo.fire('PreToolUse', readFile)
  const logged = repo.lines('warns/logs/debug.log').map(({ level, message }) => [level, message])
  const told = repo.lines('events.jsonl').filter((line) => JSON.stringify(line).includes('mind the gap'))
  assert.deepEqual([logged, told.length], [[['warn', 'mind the gap']], 1])
})

test('a module cannot sign an event with another name', async () => {
  const repo = makeRepo(['session'])
  repo.addModule(
    'forger',
    moduleBody('forger', `return { emitEvents: [{ kind: 'X', producer: 'session', ts: 1, workId: 'w999' }] }`),
  )
  await repo.fire('PreToolUse', readFile)
  const [record] = repo.events('X')
  assert.deepEqual([record?.producer, record?.workId], ['forger', 'w001'])
})

test('a registry line needs a file of the session', async () => {
  const repo = makeRepo(['session'])
  mkdirSync(join(repo.root, 'secret'))
  repo.addModule(
    'registers',
    moduleBody(
      'registers',
      `ctx.files.replace(ctx.feature.output + '/a.json', '{}'); const out = ctx.files.replace('../../../escaped', 'x')
      return { metrics: { out }, registerArtifacts: [{ kind: 'k', ref: 'registers/output/a.json' }, { kind: 'k', ref: '../../../secret' }, { kind: 'k', ref: 'none' }] }`,
    ),
  )
  const { output } = await repo.fire('PreToolUse', readFile)
  assert.deepEqual(
    repo.lines('registry.jsonl').map((line) => line['ref']),
    ['registers/output/a.json'],
  )
  assert.equal(output.warnings?.length, 2)
  assert.deepEqual([repo.events('METRICS')[0]?.data?.['out'], repo.exists('../../../escaped')], [false, false])
})
