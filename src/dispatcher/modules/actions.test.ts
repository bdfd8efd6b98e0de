/** What the shipped modules answer, record and write, whole: each scenario's answer is kept beside this file. */
import assert from 'node:assert/strict'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { contextFor } from '../context.ts'
import { commit } from '../session/commit.ts'
import { type TestInput, testRun } from '../setup/testing.ts'
import type { HookModule, Json, Outcome } from '../types.ts'
import { hook as guard } from './graph-pretooluse.ts'
import { hook as activation } from './memory-activation.ts'
import { hook as journal } from './memory-journal.ts'
import { hook as planExec } from './plan-graph-exec.ts'
import { hook as planContract } from './plan-subagent-contract.ts'
import { hook as rlm } from './rlm-work.ts'
import { hook as session } from './session.ts'
import { toolHook } from './session-tool.ts'
import { hook as synth } from './stop-synth.ts'

const sessionRoot = '.ai/tmp/a3f0c812'
type Input = Omit<TestInput, 'module' | 'event'> & { event?: TestInput['event']; isNew?: boolean; outcome?: Outcome }

function repository(t: TestContext, files: Record<string, unknown> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'actions-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const put = (file: string, content: unknown) => {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  for (const [file, content] of Object.entries(files)) put(file, content)
  /** Without what differs from run to run: the folder, times and stamps of files. */
  const plain = (value: unknown): unknown =>
    value === undefined
      ? 'nothing'
      : JSON.parse(
          JSON.stringify(value)
            .replaceAll(root, '<repo>')
            .replace(
              /"(ts|mtime|lastCheckTs|lastMatchTs|triggeredAt|lastFiredTs|generatedTs)":\d{10,}/g,
              '"$1":"<time>"',
            )
            .replace(/"(\w*[sS]tamp)":"\d+-\d+"/g, '"$1":"<stamp>"'),
        )
  const ask = async (hook: HookModule, { isNew = false, outcome, ...input }: Input = {}) => {
    const event = input.event ?? 'PreToolUse'
    const run = testRun(root, { ...input, event, module: hook.name })
    Object.assign(run.session, { isNew })
    const context = contextFor(run, hook.name)
    const action = outcome ? hook.settled!(context, outcome) : await hook.handle(event, context)
    const lines = Object.fromEntries(
      [...run.lines].map(([file, texts]) => [relative(root, file), texts.map((text) => JSON.parse(text))]),
    )
    commit(run)
    return plain({
      action: action ?? 'nothing',
      ...(run.lines.size > 0 && { lines }),
      ...(run.warnings.length > 0 && { warned: run.warnings }),
    })
  }
  const filesIn = (folder: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .sort()
        .filter((file) => statSync(join(root, folder, file)).isFile())
        .map((file) => [file, readFileSync(join(root, folder, file), 'utf8')]),
    )
  return { root, put, ask, plain, filesIn }
}
/** A line per scenario. */
const kept = (t: TestContext, seen: Json): void =>
  t.assert.snapshot(seen, {
    serializers: [
      (value) =>
        Object.entries(value)
          .map(([name, answer]) => `${name}: ${JSON.stringify(answer)}`)
          .join('\n'),
    ],
  })

const call = (tool_name: string, tool_input: Json = {}, more: Json = {}) => ({
  input: { tool_name, tool_input, ...more },
})
const at = (phase: string, more: Json = {}) => ({
  core: { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 4, phase, ...more },
})

test('graph-pretooluse', async (t) => {
  const { root, ask } = repository(t)
  const bounded = { query: 'x', includePattern: 'src/**' }
  const calls: Record<string, Input> = {
    'no tool': {},
    'whole repository': call('grep_search', { query: 'x' }),
    'whole repository, by the name of another host': call('Grep', { pattern: 'x', path: root }),
    'a folder of it': call('Grep', { pattern: 'x', path: 'src' }),
    'the folder above': call('Grep', { pattern: 'x', path: '..' }),
    'a folder elsewhere': call('Grep', { pattern: 'x', path: `${root}-other` }),
    'by type': call('Grep', { pattern: 'x', type: 'ts' }),
    'ignored files': call('grep_search', { ...bounded, includeIgnoredFiles: true }),
    'too many results': call('grep_search', { ...bounded, maxResults: 501 }),
    'more than the limit set': { ...call('grep_search', { ...bounded, maxResults: 11 }), config: { maxResults: 10 } },
    'as many as the limit set': { ...call('grep_search', { ...bounded, maxResults: 10 }), config: { maxResults: 10 } },
    'every file': call('file_search', { query: ' **/* ' }),
    'every file of a folder': call('Glob', { pattern: '**/*', path: 'src' }),
    'every file of all': call('Glob', { pattern: '**/*', path: '.' }),
    'no pattern': call('file_search', {}),
    'a command': call('run_in_terminal', { command: `grep -r x . ${'y'.repeat(200)}` }),
    'a command in a folder': call('run_in_terminal', { command: 'grep -r x .', cwd: join(root, 'src') }),
    'a command where the host is': call('Bash', { command: 'grep -r x .' }, { cwd: join(root, 'src') }),
    'a plan will bound it': {
      ...call('grep_search'),
      config: { deferGuard: true },
      state: { plan: { status: 'accepted' } },
    },
    'no plan will bound it': {
      ...call('grep_search'),
      config: { deferGuard: true },
      state: { plan: { status: 'none' } },
    },
    'a plan that is not waited for': { ...call('grep_search'), state: { plan: { status: 'accepted' } } },
    'one rule off, the next counts': {
      ...call('grep_search', { includeIgnoredFiles: true }),
      config: { rules: { 'grep-no-include': 'off', 'grep-ignored-files': 'warn' } },
    },
    denied: { ...call('grep_search'), config: { rules: { 'grep-no-include': 'deny' } } },
    'an unknown mode asks': { ...call('grep_search'), config: { rules: { 'grep-no-include': 'maybe' } } },
  }
  const seen: Json = {}
  for (const [name, input] of Object.entries(calls)) seen[name] = await ask(guard, input)
  kept(t, seen)
})

test('session', async (t) => {
  const { ask, put, root } = repository(t)
  const post = (more: Json): Input => ({ event: 'PostToolUse', input: { tool_name: 'create_file', ...more } })
  const prompt = (text: string, more: Partial<Input> = {}): Input => ({
    event: 'UserPromptSubmit',
    input: { prompt: text },
    ...more,
  })
  const stop = (state: Json, config: Json = {}): Input => ({ event: 'Stop', state, config })
  const checked = { cap: { neo4j: { enabled: false, reachable: false, lastCheckTs: Date.now() } } }
  const calls: Record<string, Input> = {
    'a new session': { event: 'SessionStart', isNew: true },
    'a session again': { event: 'SessionStart', state: at('EXECUTING') },
    'a session that begins with a call': { ...call('read_file'), isNew: true },
    'a session that begins with a prompt': prompt('hello', { isNew: true }),
    'a session that ends at once': { event: 'Stop', isNew: true },
    'a call': call('read_file', {}),
    'the first prompt': prompt('hello'),
    'a prompt by a user': {
      event: 'UserPromptSubmit',
      input: { prompt: 'hi', transcript_path: '/t' },
      state: at('PLANNING'),
    },
    'no prompt': { event: 'UserPromptSubmit', state: at('EXECUTING') },
    'a prompt kept as it is': prompt('secret', { config: { promptAudit: 'raw' }, state: at('EXECUTING') }),
    'a prompt not kept': prompt('secret', { config: { promptAudit: 'off' }, state: at('EXECUTING') }),
    'a prompt unblocks': prompt('go', { state: at('BLOCKED', { prevPhase: 'EXECUTING' }) }),
    'a prompt unblocks what had not begun': prompt('go', { state: at('BLOCKED', { prevPhase: 'UNINITIALIZED' }) }),
    'a prompt unblocks without a phase before': prompt('go', { state: at('BLOCKED') }),
    'a prompt that does not unblock': prompt('go', { state: at('BLOCKED'), config: { promptUnblocks: false } }),
    'new work after the last': prompt('go', { state: at('COMPLETE') }),
    'new work when asked': prompt('new: go', {
      state: at('EXECUTING', { workId: 'w009' }),
      config: { newWorkPattern: '^new:' },
    }),
    'new work after the last, asked for too': prompt('new: go', {
      state: at('COMPLETE'),
      config: { newWorkPattern: '^new:' },
    }),
    'no new work when not asked': prompt('go', { state: at('EXECUTING'), config: { newWorkPattern: '^new:' } }),
    'no more work': prompt('go', { state: at('COMPLETE', { workId: 'w999' }) }),
    'the last work': prompt('go', { state: at('COMPLETE', { workId: 'w998' }) }),
    'a bad pattern': prompt('go', { config: { newWorkPattern: '(' } }),
    'a call that worked': post({ tool_response: 'fine', tool_use_id: 'u'.repeat(300), tool_input: { filePath: 'a' } }),
    'a call that failed': post({ tool_response: `Error: ${'x'.repeat(300)}` }),
    'a call that failed, in capitals': post({ tool_response: 'ERROR no' }),
    'a call that failed, as the host says': post({ tool_error: 'broken', tool_response: 'fine' }),
    'a call without a name': { event: 'PostToolUse', state: checked },
    'before compaction': { event: 'PreCompact', state: at('EXECUTING') },
    'a stop': stop({ ...at('EXECUTING'), ...checked }),
    'a stop whose accepted plan is gone': stop({ ...at('EXECUTING'), ...checked, plan: { status: 'accepted' } }),
    'a stop that completes': stop({ ...at('EXECUTING'), ...checked }, { completeOnStop: true }),
    'a stop while planning that completes': stop(at('PLANNING'), { completeOnStop: true }),
    'a stop that is blocked': stop({ ...at('BLOCKED'), ...checked }, { completeOnStop: true }),
    'a subagent': { event: 'SubagentStart' },
    'a subagent ends': { event: 'SubagentStop' },
  }
  const seen: Json = {}
  for (const [name, input] of Object.entries(calls)) {
    seen[name] = await ask(session, input)
    rmSync(join(root, sessionRoot), { recursive: true, force: true })
  }
  const plan = (status: string) =>
    put(`${sessionRoot}/planGraph-exec/output/planGraph.json`, {
      nodes: [{ id: 'a', description: 'a', tool: '*', status }],
    })
  const accepted = { ...at('EXECUTING'), ...checked, plan: { status: 'accepted' } }
  plan('complete')
  seen['a stop with a finished plan'] = await ask(session, stop(accepted))
  seen['a stop with a plan that is not accepted'] = await ask(session, stop({ ...accepted, plan: { status: 'none' } }))
  plan('pending')
  seen['a stop with an open plan'] = await ask(session, stop(accepted, { completeOnStop: true }))
  kept(t, seen)
})

test('session, once a call is decided', async (t) => {
  const { ask, put } = repository(t)
  const edit = call('create_file', { filePath: 'a' })
  const allow = { decision: 'allow', decidedBy: 'dispatcher' } as const
  const deny = { decision: 'deny', decidedBy: 'rlm-work' } as const
  const calls: Record<string, Input> = {
    'the first change': { ...edit, state: at('PLANNING'), outcome: allow },
    'a look': { ...call('read_file'), state: at('PLANNING'), outcome: allow },
    'a change of one’s own kind': {
      ...call('read_file'),
      state: at('PLANNING'),
      outcome: allow,
      config: { mutatingTools: ['read_file', 1] },
    },
    'a change that is not one': { ...edit, state: at('PLANNING'), outcome: allow, config: { mutatingTools: [] } },
    'a change by plan': { ...edit, state: { ...at('PLANNING'), plan: { status: 'accepted' } }, outcome: allow },
    'a change, phases by hand': {
      ...edit,
      state: at('PLANNING'),
      outcome: allow,
      config: { implicitExecuting: false },
    },
    'a change while executing': { ...edit, state: at('EXECUTING'), outcome: allow },
    'a denial': { ...edit, state: at('EXECUTING'), outcome: deny },
    'a question': { ...edit, state: at('EXECUTING'), outcome: { ...deny, decision: 'ask' } },
    'a denial by the phase': { ...edit, state: at('EXECUTING'), outcome: { ...deny, decidedBy: 'phase-policy' } },
    'a denial that does not count': { ...edit, state: at('EXECUTING'), outcome: deny, config: { blockAfterDenies: 0 } },
    'a denial when complete': { ...edit, state: at('COMPLETE'), outcome: deny },
    'a denial when blocked': { ...edit, state: at('BLOCKED'), outcome: deny },
    'the first of two denials': { ...edit, state: at('EXECUTING'), outcome: deny, config: { blockAfterDenies: 2 } },
  }
  const seen: Json = {}
  for (const [name, input] of Object.entries(calls)) seen[name] = await ask(session, input)
  const denied = { kind: 'TOOL_DECISION', turnId: 4, workId: 'w001', decision: 'deny' }
  const second: Input = { ...edit, state: at('EXECUTING'), outcome: deny, config: { blockAfterDenies: 2 } }
  for (const [name, record] of Object.entries({
    'the second of two denials': denied,
    'after one of another turn': { ...denied, turnId: 3 },
    'after one of other work': { ...denied, workId: 'w000' },
    'after a question': { ...denied, decision: 'ask' },
  })) {
    put(`${sessionRoot}/events.jsonl`, `${JSON.stringify(record)}\n`)
    seen[name] = await ask(session, second)
  }
  kept(t, seen)
  const traits = ({ name, priority, hotPathSafe, critical }: HookModule) => [name, priority, hotPathSafe, critical]
  assert.deepEqual([traits(toolHook), [...toolHook.supports]], [traits(session), ['PreToolUse']])
  assert.deepEqual(await ask(toolHook, call('read_file')), await ask(session, call('read_file')))
  assert.deepEqual(
    await ask(toolHook, { ...call('read_file'), isNew: true }),
    await ask(session, { ...call('read_file'), isNew: true }),
  )
})

const node = (id: string, more: Json = {}): Json => ({
  id,
  description: `do ${id}`,
  tool: 'replace_string_in_file',
  ...more,
})
const plan: Json = {
  version: 1,
  nodes: [
    node('legacy', { status: 'forbidden', reason: 'frozen', tool: 'create_file', scope: 'legacy/**' }),
    node('look', {
      tools: ['grep_search', 'file_search', 'list_dir', 'semantic_search'],
      tool: undefined,
      kind: 'explore',
      scope: ['src/app', 'src/lib/**'],
      status: 'complete',
    }),
    node('change', { scope: 'src/app/**', dependencies: ['look'] }),
    node('test', { kind: 'validate', tool: 'runTests', validates: ['change'], dependencies: ['change'] }),
  ],
}
const planPath = `${sessionRoot}/planGraph-exec/output/planGraph.json`

test('planGraph-exec', async (t) => {
  const { root, ask, put } = repository(t)
  const seen: Json = {}
  seen['no tool'] = await ask(planExec)
  seen['no plan'] = await ask(planExec, call('read_file'))
  seen['no plan, told before'] = await ask(planExec, {
    ...call('read_file'),
    state: { plan: { warnedMissing: 'w001' } },
  })
  put(planPath, plan)
  put('legacy/a.ts', 'x')
  symlinkSync(join(root, 'legacy'), join(root, 'linked'))
  const known: Json = { plan: (((await ask(planExec, call('read_file'))) as Json)['action'] as Json)['statePatch'] }
  seen['a plan that is new'] = known
  const edit = call('replace_string_in_file', { filePath: 'src/app/a.ts' })
  for (const phase of ['UNINITIALIZED', 'PLANNING', 'EXECUTING', 'COMPLETE', 'BLOCKED'])
    seen[`a plan that is new, in ${phase}`] = await ask(planExec, { ...edit, state: at(phase) })
  seen['a plan that mends'] = await ask(planExec, {
    ...edit,
    state: { ...at('BLOCKED'), plan: { status: 'rejected' } },
  })
  const calls: Record<string, Input> = {
    'a planned change': edit,
    'a forbidden one': call('create_file', { filePath: 'legacy/b.ts' }),
    'a forbidden one by a link': call('create_file', { filePath: 'linked/a.ts' }),
    'a forbidden one by a command': call('run_in_terminal', { command: 'cp x --to=legacy/b' }),
    'a forbidden one by a redirect': call('run_in_terminal', { command: 'echo x >legacy/b' }),
    'a forbidden one by a redirect without a space': call('run_in_terminal', { command: 'echo x>legacy/b' }),
    'a forbidden one at the end of a chain': call('run_in_terminal', { command: 'dd --with=of=legacy/b' }),
    'a forbidden folder by a command': call('run_in_terminal', { command: 'rm -r legacy' }),
    'a forbidden folder from where it runs': call('run_in_terminal', { command: 'rm a.ts', cwd: join(root, 'legacy') }),
    'another command': call('run_in_terminal', { command: 'ls src -legacy' }),
    'too early': call('runTests'),
    'too early, denied': { ...call('runTests'), config: { unmetDependencies: 'deny' } },
    'too early, let be': { ...call('runTests'), config: { unmetDependencies: 'allow' } },
    'a search': call('grep_search', { query: 'x' }),
    'a search of another host': call('Grep', { pattern: 'x' }),
    'a search inside': call('grep_search', { query: 'x', includePattern: 'src/app/home/*.ts' }),
    'a search elsewhere': call('grep_search', { query: 'x', includePattern: 'docs/**' }),
    'a search in a folder inside': call('Grep', { pattern: 'x', path: 'src/app' }),
    'a search in a folder elsewhere': call('Grep', { pattern: 'x', path: 'docs' }),
    'a search in two folders': call('Grep', { pattern: 'x', path: 'src/app', files: ['docs/a'] }),
    'a search for files': call('file_search', { query: '*.ts' }),
    'a search for files below': call('file_search', { query: 'src/**/*.ts' }),
    'a search for files from here': call('file_search', { query: './**/a.ts' }),
    'a search for all files': call('file_search', {}),
    'a folder': call('list_dir', { path: 'src/app' }),
    'a folder above': call('list_dir', { path: 'src' }),
    'a folder elsewhere': call('list_dir', { path: 'docs' }),
    'a search that has no bounds': call('semantic_search', { query: 'x' }),
    'an unplanned look': call('read_file', { filePath: 'docs/a' }),
    'an unplanned change': call('create_file', { filePath: 'docs/a' }),
  }
  for (const [name, input] of Object.entries(calls)) seen[name] = await ask(planExec, input)
  for (const policy of ['ask', 'deny']) {
    put(planPath, { ...plan, defaultPolicy: policy })
    seen[`an unplanned change, ${policy}`] = await ask(planExec, call('create_file', { filePath: 'docs/a' }))
    seen[`an unplanned look, ${policy}`] = await ask(planExec, call('read_file', { filePath: 'docs/a' }))
  }
  put(planPath, { nodes: [node('a', { tool: 'grep_search' }), node('b', { tool: 'grep_search', scope: 'src' })] })
  seen['a search that one node lets free'] = await ask(planExec, call('grep_search', { query: 'x' }))
  for (const query of ['a.ts', './**', 'src/*.ts', 'legacy/*.ts']) {
    const forbids = { status: 'denied', reason: 'no', tool: 'file_search', scope: ['other', 'legacy'] }
    put(planPath, { nodes: [node('x', forbids)] })
    seen[`a search for ${query} where one is forbidden`] = await ask(planExec, call('file_search', { query }))
  }
  put(planPath, {
    nodes: [node('x', { status: 'denied', reason: 'no', tool: 'create_file', scope: ['other', 'legacy'] })],
  })
  seen['one of two forbidden folders'] = await ask(planExec, call('run_in_terminal', { command: 'rm legacy/a.ts' }))
  put(planPath, { nodes: [node('b', { tool: 'grep_search', scope: 'src' })] })
  seen['a search with one scope'] = await ask(planExec, call('grep_search', { query: 'x' }))
  put(planPath, { nodes: [] })
  for (const phase of ['EXECUTING', 'COMPLETE', 'BLOCKED'])
    seen[`a bad plan, in ${phase}`] = await ask(planExec, { ...edit, state: at(phase) })
  const bad = (seen['a bad plan, in EXECUTING'] as { action: { statePatch: Json } }).action.statePatch
  seen['a bad plan, told before'] = bad
  rmSync(join(root, planPath))
  symlinkSync('/proc/self/mem', join(root, planPath)) // a file whose first byte cannot be read
  const { action } = (await ask(planExec, { ...edit, state: at('COMPLETE') })) as { action: { warnings: string[] } }
  assert.deepEqual(action.warnings, ['the plan is rejected: PG_UNREADABLE (EIO: i/o error, read)'])
  rmSync(join(root, planPath))
  put(planPath, { nodes: [] })
  put(`${sessionRoot}/planGraph-exec/output/other.json`, plan)
  seen['a plan of another name'] = await ask(planExec, { ...edit, config: { planGraphFile: 'other.json' } })
  seen['a plan where the state points'] = await ask(planExec, {
    ...edit,
    state: { plan: { currentPath: 'planGraph-exec/output/other.json' } },
  })
  put('outside.json', plan)
  seen['a plan outside the session'] = await ask(planExec, {
    ...edit,
    state: { plan: { currentPath: '../../../outside.json' } },
  })
  kept(t, seen)
})

test('plan-subagent-contract', async (t) => {
  const { ask, put, root } = repository(t)
  const seen: Json = {}
  const agent = (more: Partial<Input> = {}, type = 'Plan'): Input => ({
    input: { agent_id: 'p', agent_type: type },
    ...more,
  })
  const start = (more: Partial<Input> = {}, type?: string) =>
    ask(planContract, { event: 'SubagentStart', ...agent(more, type) })
  const stop = (more: Partial<Input> = {}, type?: string) =>
    ask(planContract, { event: 'SubagentStop', ...agent(more, type) })
  seen['told'] = await start()
  seen['told, with a graph database'] = await start(
    { state: { cap: { neo4j: { enabled: true, reachable: true } } } },
    'PLANNER',
  )
  seen['told, another way'] = await start(
    { config: { subagentDir: 'sub', agentTypeDir: 'P', planAgentTypes: ['Mine', 1], requiredOutputs: ['a.md', 2] } },
    'mine',
  )
  seen['another agent'] = await start({}, 'Explore')
  seen['another agent ends'] = await stop({}, 'Explore')
  for (const phase of ['PLANNING', 'COMPLETE', 'BLOCKED'])
    seen[`no plan, in ${phase}`] = await stop({ state: at(phase) })
  seen['no plan, sent back once'] = await stop({ input: { agent_id: 'p', agent_type: 'Plan', stop_hook_active: true } })
  seen['no plan, not sent back'] = await stop({ config: { retryInvalidPlan: false } })
  const folder = `${sessionRoot}/plan-subagent-contract/output/sa/Plan/u00`
  put(`${folder}/planGraph.json`, { nodes: [node('a', { dependencies: ['a'] })] })
  seen['a bad plan'] = await stop({ state: at('PLANNING') })
  put(`${folder}/planGraph.json`, plan)
  for (const phase of ['UNINITIALIZED', 'PLANNING', 'EXECUTING', 'COMPLETE', 'BLOCKED'])
    seen[`a good plan, in ${phase}`] = await stop({ state: at(phase) })
  seen['a good plan that mends'] = await stop({ state: { ...at('BLOCKED'), plan: { status: 'rejected' } } })
  seen['a good plan, and more is wanted'] = await stop({ config: { requiredOutputs: ['planGraph.json', 'notes.md'] } })
  const manifests: Record<string, unknown> = {
    good: { version: 1, outputs: [{ path: 'planGraph.json', kind: 'plan' }] },
    'without a version': { outputs: [] },
    'of another version': { version: 2, outputs: [] },
    'without outputs': { version: 1 },
    'that is a list': [],
    'that is no JSON': '{',
    'that names other files': { outputs: [{ path: '../x' }, { path: 'none' }, {}, 'x'] },
  }
  for (const [name, content] of Object.entries(manifests)) {
    put(`${folder}/manifest.json`, content)
    seen[`a manifest ${name}`] = await stop({ state: at('EXECUTING') })
  }
  rmSync(join(root, folder, 'manifest.json'))
  mkdirSync(join(root, folder, 'manifest.json'))
  const unread = (await stop({ state: at('EXECUTING') })) as { action: { warnings: string[] } }
  assert.match(unread.action.warnings[0]!, /^manifest\.json: ./)
  rmSync(join(root, sessionRoot), { recursive: true })
  put(`${sessionRoot}/plan-subagent-contract`, 'a file in the way')
  seen['nowhere to go'] = await start()
  kept(t, seen)
})

test('rlm-work', async (t) => {
  const { ask, put, root } = repository(t)
  const seen: Json = {}
  const edit = call('create_file', { filePath: 'src/a' })
  const policy = (content: unknown) => put('.ai/hooks/rlm-policy.json', content)
  seen['no policy'] = await ask(rlm, edit)
  seen['no policy, told before'] = await ask(rlm, { ...edit, state: { rlm: { policyLoaded: false } } })
  for (const [name, content] of Object.entries({ 'that is no JSON': '{', 'that is a list': '[]' })) {
    policy(content)
    seen[`a policy ${name}`] = await ask(rlm, edit)
  }
  const rule = (more: Json) => ({ requireSubagent: [{ toolName: 'create_file', ...more }] })
  const policies: Record<string, unknown> = {
    empty: {},
    'that names no tool': { requireSubagent: [{ mode: 'deny' }] },
    'that lists what is no rule': { requireSubagent: [null, 'x', { toolName: 'create_file' }] },
    'that warns by default': rule({}),
    'that asks by default': { defaultMode: 'ask', ...rule({}) },
    'that denies': rule({ mode: 'deny', reason: 'not here' }),
    'that allows': rule({ mode: 'allow' }),
    'that exempts': rule({ mode: 'deny', exemptPatterns: ['src/**', 1] }),
    'that exempts others': rule({ mode: 'deny', exemptPatterns: ['docs/**'] }),
    'that skips a phase': { ...rule({ mode: 'deny' }), phaseOverrides: { UNINITIALIZED: { requireSubagent: 'skip' } } },
    'that skips another phase': {
      ...rule({ mode: 'deny' }),
      phaseOverrides: { PLANNING: { requireSubagent: 'skip' } },
    },
  }
  for (const [name, content] of Object.entries(policies)) {
    policy(content)
    seen[`a policy ${name}`] = await ask(rlm, edit)
  }
  policy(rule({ mode: 'ask' }))
  seen['without a path'] = await ask(rlm, call('create_file'))
  seen['while a subagent works'] = await ask(rlm, { ...edit, state: { agents: { x: { aid: 'a01', startedTs: 1 } } } })
  seen['after a subagent'] = await ask(rlm, {
    ...edit,
    state: { agents: { x: { aid: 'a01', startedTs: 1, stoppedTs: 2 } } },
  })
  const broad = (mode: string | undefined, ...rules: Json[]) => ({ broadDiscovery: { mode, rules } })
  const search = (check: string, more: Json = {}) => ({ toolName: '*', check, ...more })
  const searches: [string, unknown, Input][] = [
    ['no pattern', broad('deny', search('no_include_pattern')), call('grep_search', { query: 'x' })],
    ['a pattern', broad('deny', search('no_include_pattern')), call('grep_search', { includePattern: 'a' })],
    ['every file', broad('ask', search('wildcard_query')), call('file_search', { query: '**' })],
    ['some files', broad('ask', search('wildcard_query')), call('file_search', { query: '*.ts' })],
    ['no query', broad('ask', search('wildcard_query')), call('file_search')],
    ['501 results', broad(undefined, search('max_results_high')), call('grep_search', { maxResults: 501 })],
    ['500 results', broad(undefined, search('max_results_high')), call('grep_search', { maxResults: 500 })],
    [
      '11 results',
      broad('warn', search('max_results_high', { threshold: 10, reason: 'too many' })),
      call('grep_search', { maxResults: 11 }),
    ],
    ['no scope', broad('warn', search('no_scope')), call('Grep', { pattern: 'x' })],
    ['a scope', broad('warn', search('no_scope')), call('Grep', { pattern: 'x', path: 'src' })],
    ['an unknown check', broad('deny', search('none')), call('grep_search')],
    ['a rule without a tool', broad('deny', { check: 'no_scope' }), call('grep_search')],
    ['another tool', broad('deny', { toolName: 'file_search', check: 'no_scope' }), call('grep_search')],
    ['all allowed', broad('allow', search('no_scope')), call('grep_search')],
    [
      'skipped',
      { ...broad('deny', search('no_scope')), phaseOverrides: { UNINITIALIZED: { broadDiscovery: 'skip' } } },
      call('grep_search'),
    ],
    [
      'both',
      { requireSubagent: [{ toolName: 'grep_search', mode: 'ask' }], ...broad('deny', search('no_scope')) },
      call('grep_search'),
    ],
  ]
  for (const [name, content, input] of searches) {
    policy(content)
    seen[`a search with ${name}`] = await ask(rlm, input)
  }
  const agent = (event: 'SubagentStart' | 'SubagentStop', type?: string, more: Partial<Input> = {}) =>
    ask(rlm, { event, input: { agent_id: 'x', ...(type && { agent_type: type }) }, ...more })
  seen['a subagent'] = await agent('SubagentStart', 'Explore')
  seen['a subagent without a type'] = await agent('SubagentStart', undefined, { config: { subagentDir: 'sub' } })
  seen['a subagent with a long type'] = await agent('SubagentStart', 'x'.repeat(33))
  seen['a subagent that was asked for'] = await agent('SubagentStart', 'Explore', {
    state: {
      ...at('EXECUTING'),
      rlm: { pendingSubagentFlags: { create_file: true } },
      plan: { currentPath: 'p.json' },
      cap: { neo4j: { enabled: true, reachable: true } },
    },
  })
  seen['a subagent that left nothing'] = await agent('SubagentStop', 'None')
  const left = `${sessionRoot}/rlm-work/output/sa/Explore/u00`
  for (const file of ['b.txt', 'a.txt', '1/2/c.txt', '1/2/3/d.txt']) put(`${left}/${file}`, file)
  put(`${left}/large.txt`, 'x'.repeat(1024 * 1024 + 1))
  symlinkSync('/etc', join(root, left, 'link'))
  seen['a subagent that left files'] = await agent('SubagentStop', 'Explore')
  for (let n = 0; n < 120; n++) put(`${left}/many/${n}`, '')
  const many = (await agent('SubagentStop', 'Explore')) as { action: { registerArtifacts: unknown[] } }
  assert.equal(many.action.registerArtifacts.length, 100)
  kept(t, seen)
})

test('memory-journal', async (t) => {
  const { ask, put, root, plain } = repository(t)
  const seen: Json = {}
  const prompt = (text: string, more: Partial<Input> = {}) =>
    ask(journal, { event: 'UserPromptSubmit', input: { prompt: text }, ...more })
  seen['no prompt'] = await prompt('')
  seen['the first prompt'] = await prompt('Fix HomeService in src/app/home.service.ts and adp-button, HomeService')
  seen['the second prompt'] = await prompt('again', { state: at('EXECUTING') })
  seen['the third prompt'] = await prompt('again', { state: { memory: { registeredFor: 'w001' } } })
  seen['a prompt by a user'] = await ask(journal, {
    event: 'UserPromptSubmit',
    input: { prompt: 'x', transcript_path: '/t' },
  })
  seen['anchors of one’s own'] = await prompt('TICKET-1 HomeService', {
    config: { anchorPatterns: ['TICKET-\\d', '(', 1], experienceFile: 'mine.jsonl' },
  })
  const many = (await prompt(Array.from({ length: 30 }, (_, n) => `A${n}Service`).join(' '))) as {
    action: { emitEvents: { data: { anchors: string[] } }[] }
  }
  assert.equal(many.action.emitEvents[0]!.data.anchors.length, 20)
  const outcome = (more: Json) =>
    ask(journal, { event: 'PostToolUse', input: { tool_name: 'create_file', tool_input: { filePath: 'a' }, ...more } })
  seen['a call that worked'] = await outcome({ tool_response: 'ok' })
  seen['a call that failed'] = await outcome({ tool_error: `no ${'x'.repeat(400)}` })
  seen['a call without a name'] = await ask(journal, { event: 'PostToolUse', input: { tool_error: 'no' } })
  seen['nothing to look back at'] = await ask(journal, { event: 'Stop', state: at('EXECUTING') })
  const refused = { kind: 'TOOL_DECISION', toolName: 'grep_search', decision: 'ask', reason: 'no bounds' }
  const failed = {
    kind: 'TOOL_OUTCOME',
    toolName: 'edit',
    data: { success: false, errorSummary: 'no', touchedPaths: ['src/a.ts', 1] },
  }
  const touched = { kind: 'TOOL_OUTCOME', toolName: 'edit', data: { success: true, touchedPaths: ['src/b.ts'] } }
  const error = { kind: 'ERROR_MODULE', error: { module: 'm', message: `broke ${'x'.repeat(400)}` } }
  const match = { kind: 'MEMORY_MATCH', data: { anchors: ['HomeService', 1] } }
  const records = [
    refused,
    refused,
    refused,
    { ...refused, decision: 'allow' },
    failed,
    failed,
    failed,
    touched,
    touched,
    touched,
    { ...touched, turnId: 2 },
  ]
  const more = [
    error,
    error,
    { ...error, kind: 'ERROR_MODULE_CRITICAL' },
    match,
    match,
    match,
    { kind: 'MEMORY_MATCH' },
  ]
  put(
    `${sessionRoot}/events.jsonl`,
    [...records, ...more]
      .map(
        (record, n) =>
          `${JSON.stringify({ ts: 1000 + n, event: 'PreToolUse', producer: 'x', turnId: 1, workId: 'w001', ...record })}\n`,
      )
      .join(''),
  )
  const candidates = (file = 'candidates.json') =>
    plain(JSON.parse(readFileSync(join(root, sessionRoot, 'memory-journal/output', file), 'utf8')))
  seen['a look back'] = await ask(journal, { event: 'Stop', state: at('EXECUTING') })
  seen['what keeps coming back'] = candidates()
  await ask(journal, { event: 'Stop', config: { minCount: 4, candidatesFile: 'mine.json' } })
  seen['what comes back four times'] = candidates('mine.json')
  const log = (...records: Json[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const named = { kind: 'MEMORY_MATCH', data: { anchors: Array.from({ length: 51 }, (_, n) => `A${n}`) } }
  const wide = {
    ...{ kind: 'TOOL_OUTCOME', toolName: 'edit', turnId: 1 },
    data: { success: false, errorSummary: 'no', touchedPaths: Array.from({ length: 21 }, (_, n) => `f${n}`) },
  }
  put(`${sessionRoot}/events.jsonl`, log(wide, { ...wide, turnId: 2 }, { ...named, ts: 1 }))
  await ask(journal, { event: 'Stop', config: { minCount: 1 } })
  const limited = (candidates() as Json)['candidates'] as { key: string; paths: string[]; firstTs: number }[]
  assert.deepEqual(
    [limited.length, limited.map(({ key }) => key).slice(-1), limited.filter(({ paths }) => paths.length > 0)],
    [50, ['A49'], []],
  )
  put(`${sessionRoot}/events.jsonl`, log(wide, { ...wide, turnId: 2 }))
  await ask(journal, { event: 'Stop', config: { minCount: 2 } })
  const [failure] = (candidates() as Json)['candidates'] as [
    { count: number; paths: string[]; firstTs: number; lastTs: number },
  ]
  assert.deepEqual([failure.count, failure.paths.length, failure.firstTs, failure.lastTs], [2, 20, 0, 0])
  rmSync(join(root, sessionRoot, 'memory-journal'), { recursive: true })
  put(`${sessionRoot}/memory-journal`, 'a file in the way')
  seen['not written'] = await ask(journal, { event: 'Stop' })
  kept(t, seen)
})

test('memory-activation', async (t) => {
  const { ask, put } = repository(t)
  const seen: Json = {}
  const write = (content: unknown) => put('.ai/hooks/followup-rules.json', content)
  const edit: Input = { event: 'PostToolUse', ...call('create_file', { filePath: 'src/a.ts', content: 'xy' }) }
  seen['no rules'] = await ask(activation, edit)
  for (const [name, content] of Object.entries({ 'no JSON': '{', 'a list': '[]', 'without rules': '{}' })) {
    write(content)
    seen[`rules that are ${name}`] = await ask(activation, edit)
  }
  const rule = (followup: Json, more: Json = {}): Json => ({
    id: 'r',
    description: 'described {{workId}}',
    trigger: { event: 'PostToolUse', toolName: 'create_file', ...((more['trigger'] as Json) ?? {}) },
    followup,
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'trigger')),
  })
  const one = (
    more: Json = {},
    followup: Json = { action: 'warn', message: 'look at {{ matchedPath }} by {{toolName}}{{other}}' },
  ) => [rule(followup, more)]
  const when = (...conditions: Json[]) => one({ trigger: { conditions } })
  const table: Record<string, Json[]> = {
    'that warn': one(),
    'without words': one({}, { action: 'warn' }),
    'without words at all': one({ description: undefined }, { action: 'warn' }),
    'with context': one({}, { action: 'inject_context', contextKey: 'k', contextValue: 'v {{matchedPath}}' }),
    'with context without a key': one({}, { action: 'inject_context', message: 'm' }),
    'with a tool to call': one({}, { action: 'enqueue_tool', message: 'm' }),
    'that ask, too late': one({}, { action: 'ask', message: 'm' }),
    'switched off': one({ enabled: false }),
    'without an id': one({ id: 1 }),
    'without a trigger': [{ id: 'r', followup: {} }],
    'without a follow-up': [{ id: 'r', trigger: { event: 'PostToolUse' } }],
    'of another event': one({ trigger: { event: 'PreToolUse' } }),
    'of another tool': one({ trigger: { toolName: 'read_file' } }),
    'by a pattern of the name': one({ trigger: { toolName: undefined, toolNamePattern: '^create' } }),
    'by another pattern': one({ trigger: { toolNamePattern: '^read' } }),
    'by path': one({ trigger: { pathPatterns: ['src/**', 1] } }),
    'by another path': one({ trigger: { pathPatterns: ['docs/**'] } }),
    'that exclude it': one({ trigger: { excludePathPatterns: ['**/*.ts'] } }),
    'that exclude others': one({ trigger: { excludePathPatterns: ['**/*.css'] } }),
    'when equal': when({ field: 'toolInput.content', op: 'eq', value: 'xy' }),
    'when not equal': when({ field: 'toolInput.content', op: 'neq', value: 'xy' }),
    'when it contains': when({ field: 'event.toolInput.content', op: 'contains', value: 'y' }),
    'when it matches': when({ field: 'toolInput.content', op: 'matches', value: '^x' }),
    'when it does not match': when({ field: 'toolInput.content', op: 'matches', value: '^y' }),
    'when it exists': when({ field: 'state.core.phase', op: 'exists' }),
    'when it does not exist': when({ field: 'prompt.x', op: 'exists' }),
    'when it must not exist': when({ field: 'constructor', op: 'notExists' }),
    'when an operator is unknown': when({ field: 'toolInput.content', op: 'like', value: 'x' }),
    'when a field is missing': when({ op: 'notExists' }),
    'when all hold but one': when(
      { field: 'toolName', op: 'eq', value: 'create_file' },
      { field: 'toolName', op: 'eq', value: 'x' },
    ),
    'when a condition is no object': one({ trigger: { conditions: ['x'] } }),
    'of which the first counts': [...one({ id: 'a' }), ...one({ id: 'b' })],
    'of which several count': [
      ...one({ id: 'a', multiMatch: true }, { action: 'inject_context', message: 'low', priority: 'low' }),
      ...one({ id: 'c', multiMatch: true }, { action: 'inject_context', message: 'odd', priority: 'odd' }),
      ...one({ id: 'b', multiMatch: true }, { action: 'inject_context', message: 'high', priority: 'high' }),
    ],
  }
  for (const [name, rules] of Object.entries(table)) {
    write({ rules })
    seen[`rules ${name}`] = await ask(activation, edit)
  }
  write({ rules: [...one({ trigger: { event: 'PreToolUse' } }, { action: 'ask', message: 'sure?' }), 'no rule'] })
  seen['rules that ask'] = await ask(activation, call('create_file', { filePath: 'src/a.ts' }))
  write({ rules: one() })
  seen['a call in another host’s spelling'] = await ask(activation, {
    event: 'PostToolUse',
    ...call('Write', { file_path: 'src/a.ts' }),
  })
  write({ rules: one({ trigger: { toolName: undefined, toolNamePattern: '^create_file$' } }) })
  seen['a pattern of the name in another host’s spelling'] = await ask(activation, {
    event: 'PostToolUse',
    ...call('Write', { file_path: 'src/a.ts' }),
  })
  write({ rules: one() })
  seen['a call without a path'] = await ask(activation, { event: 'PostToolUse', ...call('create_file') })

  const fired = (more: Json = {}) => ({
    kind: 'MEMORY_FOLLOWUP_TRIGGER',
    ts: 5,
    workId: 'w001',
    data: { ruleId: 'r' },
    ...more,
  })
  const log = (...records: Json[]) =>
    put(`${sessionRoot}/events.jsonl`, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  const cooling = async (cooldown: Json, records: Json[], state: Json = {}) => {
    write({ rules: one({ cooldown }) })
    log(...records)
    return ((await ask(activation, { ...edit, state })) as { action: unknown }).action === 'nothing'
  }
  const last = (lastFiredTs: number) => ({ memory: { pendingFollowups: { r: { lastFiredTs, status: 'fired' } } } })
  seen['cooling'] = {
    'once a session, fired': await cooling({ perSession: 1 }, [fired()]),
    'twice a session, fired once': await cooling({ perSession: 2 }, [fired()]),
    'once a session, another rule fired': await cooling({ perSession: 1 }, [fired({ data: { ruleId: 'q' } })]),
    'once a session, without a time': await cooling({ perSession: 1 }, [fired({ ts: 'x' })]),
    'once a work unit, fired': await cooling({ perWorkId: 1 }, [fired()]),
    'once a work unit, fired in another': await cooling({ perWorkId: 1 }, [fired({ workId: 'w000' })]),
    'once an hour, fired now': await cooling({ intervalMs: 3_600_000 }, [], last(Date.now())),
    'once an hour, fired long ago': await cooling({ intervalMs: 3_600_000 }, [], last(5)),
    'no bound': await cooling({}, [fired()]),
  }
  log()
  const hint = { toolName: 'runTests', inputTemplate: { file: 'a', other: '{{x}}' } }
  write({
    rules: one(
      { trigger: { event: 'Stop' } },
      { action: 'enqueue_tool', message: 'test {{workId}}{{matchedPath}}', toolHint: hint, priority: 'high' },
    ),
  })
  const pending = (more: Json = {}) => ({
    memory: {
      pendingFollowups: { r: { status: 'pending', triggeredAt: 4, ...more }, gone: { status: 'pending' }, odd: 1 },
    },
  })
  seen['a follow-up that waits'] = await ask(activation, { ...call('read_file'), state: pending() })
  seen['a follow-up that is done'] = await ask(activation, { ...call('runTests', { file: 'a' }), state: pending() })
  seen['a follow-up that is done otherwise'] = await ask(activation, {
    ...call('runTests', { file: 'b' }),
    state: pending(),
  })
  seen['a follow-up that was done'] = await ask(activation, {
    ...call('read_file'),
    state: pending({ status: 'completed' }),
  })
  const reminded = (ts: number) => fired({ kind: 'MEMORY_FOLLOWUP_REMIND', ts })
  log(reminded(5), reminded(5), reminded(3))
  seen['a follow-up reminded of twice'] = await ask(activation, { ...call('read_file'), state: pending() })
  log(reminded(5), reminded(5), reminded(4))
  seen['a follow-up reminded of three times'] = await ask(activation, { ...call('read_file'), state: pending() })
  kept(t, seen)
})

test('stop-synth', async (t) => {
  const { ask, put, filesIn, root } = repository(t)
  const seen: Json = {}
  const stop = (more: Partial<Input> = {}) => ask(synth, { event: 'Stop', state: at('EXECUTING'), ...more })
  seen['no log'] = await stop()
  const day = Date.parse('2026-01-02T03:04:00Z')
  const record = (kind: string, more: Json = {}) => ({
    ts: day,
    event: 'PreToolUse',
    producer: 'x',
    kind,
    turnId: 1,
    workId: 'w001',
    ...more,
  })
  const log = (...records: Json[]) =>
    put(`${sessionRoot}/events.jsonl`, records.map((each) => `${JSON.stringify(each)}\n`).join(''))
  const outcome = (success: boolean | undefined, ...touchedPaths: unknown[]) =>
    record('TOOL_OUTCOME', { data: { success, touchedPaths } })
  log(
    record('TOOL_DECISION', { toolName: 'read_file', decision: 'allow' }),
    outcome(true, 'a.ts'),
    record('TOOL_DECISION', { toolName: 'read_file', decision: 'allow', ts: day + 120_000 }),
  )
  seen['a quiet session'] = await stop()
  seen['its page'] = filesIn(`${sessionRoot}/stop-synth/output`)
  rmSync(join(root, sessionRoot, 'stop-synth'), { recursive: true })
  const full = [
    record('TOOL_DECISION', { toolName: 'read_file', decision: 'allow', ts: day + 90_000 }),
    record('TOOL_DECISION', {
      toolName: 'grep_search',
      decision: 'ask',
      reason: 'no | bounds\nat `all`',
      ts: day + 600_000,
    }),
    record('TOOL_DECISION', { decision: 'deny', reason: 'no', ts: 'x' }),
    outcome(true, 'src/a.ts', '<b>'),
    outcome(false, 'src/a.ts'),
    outcome(undefined),
    record('ERROR_MODULE', { error: { module: 'm', message: 'broke' } }),
    record('ERROR_MODULE_CRITICAL'),
    record('MEMORY_CANDIDATE', { data: { type: 'friction', toolName: 'edit', error: 'no' } }),
    record('MEMORY_CANDIDATE', { data: { type: 'session_summary' } }),
    record('BUDGET_EXCEEDED', { data: { module: 'm', elapsedMs: 5, budgetMs: 3 } }),
    record('PHASE_TRANSITION', { phase: 'EXECUTING', data: { from: 'PLANNING', trigger: 'first change' } }),
    record('PHASE_TRANSITION', { phase: 'BLOCKED' }),
    record('PLAN_GRAPH_USED', { toolName: 'edit', reason: 'planned' }),
    record('PLAN_GRAPH_MISSING'),
    record('SESSION_STOP', { event: 'Stop' }),
  ]
  log(...full)
  seen['a full session'] = await stop()
  seen['its pages'] = filesIn(`${sessionRoot}/stop-synth/output`)
  const synthed = (seen['a full session'] as { action: { statePatch: Json } }).action.statePatch
  const again = { ...at('EXECUTING'), ...synthed }
  const active = { input: { stop_hook_active: true } }
  seen['the same again'] = await stop({ ...active, state: again })
  seen['the same again, not held'] = await stop({ state: again })
  log(...full, record('TOOL_DECISION', { toolName: 'x', decision: 'allow' }))
  seen['more since'] = await stop({ ...active, state: again })
  put(`${sessionRoot}/stop-synth/output/adr/adr-a3f0c812-w001.md`, 'edited')
  seen['a draft that was edited'] = await stop({ state: again })
  seen['other places'] = await stop({ config: { summaryFile: 's.md', adrDir: 'decisions' } })
  const sixty = (make: (n: number) => Json) => Array.from({ length: 60 }, (_, n) => make(n))
  log(
    ...sixty((n) => outcome(true, `f${n}`)),
    ...sixty((n) => record('TOOL_DECISION', { decision: 'deny', reason: `r${n} ${'x'.repeat(400)}` })),
    ...sixty((n) => record('ERROR_MODULE', { error: { module: `m${n}`, message: 'broke' } })),
    ...sixty((n) => record('MEMORY_CANDIDATE', { data: { type: 'friction', toolName: `t${n}` } })),
    ...sixty((n) => record('BUDGET_EXCEEDED', { data: { module: `b${n}` } })),
    ...sixty((n) => record('PLAN_GRAPH_USED', { toolName: `p${n}` })),
  )
  await stop({ config: { summaryFile: 'long.md', adrDir: 'long' } })
  const { 'long.md': long, 'long/adr-a3f0c812-w001.md': adr } = filesIn(`${sessionRoot}/stop-synth/output`)
  const listed = (text: string | undefined, pattern: RegExp) => {
    const found = [...text!.matchAll(pattern)].map(([, name]) => name)
    return [found.length, found[0], found.at(-1)]
  }
  assert.deepEqual(
    {
      files: listed(long, /^- (f\d+)$/gm),
      refusals: listed(long, /^- deny : (r\d+) x{290,297}$/gm),
      errors: listed(long, /^- (m\d+): broke$/gm),
      friction: listed(long, /^- (t\d+)$/gm),
      overruns: listed(long, /^- (b\d+)$/gm),
      plan: listed(adr, /^- PLAN_GRAPH_USED (p\d+)$/gm),
    },
    {
      files: [30, 'f0', 'f29'],
      refusals: [50, 'r0', 'r49'],
      errors: [50, 'm0', 'm49'],
      friction: [50, 't0', 't49'],
      overruns: [50, 'b0', 'b49'],
      plan: [50, 'p10', 'p59'],
    },
  )
  log({ kind: 'TOOL_DECISION', decision: 'deny' })
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-05-06T07:08:09Z') })
  await stop({ config: { summaryFile: 'timeless.md', adrDir: 'timeless' } })
  t.mock.timers.reset()
  const timeless = filesIn(`${sessionRoot}/stop-synth/output`)
  assert.match(timeless['timeless.md']!, /^\| minutes \| 0 \|$/m)
  assert.match(timeless['timeless/adr-a3f0c812-w001.md']!, /^- date: 2026-05-06$/m)
  rmSync(join(root, sessionRoot, 'stop-synth'), { recursive: true })
  put(`${sessionRoot}/stop-synth`, 'a file in the way')
  seen['not written'] = await stop()
  kept(t, seen)
})

test('how far back a module reads the log', async (t) => {
  const { root, ask, put, filesIn } = repository(t)
  const MiB = 1024 * 1024
  /** Two lines, with a hole of zeros between them. */
  const log = (size: number, line: Json) => {
    const text = `\n${JSON.stringify(line)}\n`
    put(`${sessionRoot}/events.jsonl`, text.trimStart())
    const fd = openSync(join(root, sessionRoot, 'events.jsonl'), 'r+')
    writeSync(fd, text, size - text.length)
    closeSync(fd)
  }
  const match = { kind: 'MEMORY_MATCH', data: { anchors: ['HomeService'] } }
  const journaled = async (size: number) => {
    log(size, match)
    await ask(journal, { event: 'Stop', config: { minCount: 2 } })
    return JSON.parse(filesIn(`${sessionRoot}/memory-journal/output`)['candidates.json']!).candidates.length
  }
  const total = async (size: number) => {
    log(size, match)
    const { action } = (await ask(synth, { event: 'Stop' })) as { action: { emitEvents: [{ data: Json }] } }
    return action.emitEvents[0].data['totalEvents']
  }
  put('.ai/hooks/followup-rules.json', {
    rules: [{ id: 'r', trigger: { event: 'PreToolUse' }, followup: { action: 'warn' }, cooldown: { perSession: 2 } }],
  })
  const cools = async (size: number) => {
    log(size, { kind: 'MEMORY_FOLLOWUP_TRIGGER', ts: 1, data: { ruleId: 'r' } })
    return ((await ask(activation, call('read_file'))) as Json)['action'] === 'nothing'
  }
  const blocks = async (size: number) => {
    log(size, { kind: 'TOOL_DECISION', decision: 'deny', turnId: 4, workId: 'w001' })
    const denied = { ...call('read_file'), outcome: { decision: 'deny', decidedBy: 'x' } as const }
    const config = { blockAfterDenies: 3 } // the two in the log, and this one
    return ((await ask(session, { ...denied, config, state: at('EXECUTING') })) as Json)['action'] !== 'nothing'
  }
  assert.deepEqual([await blocks(MiB / 4), await blocks(MiB / 4 + 1)], [true, false])
  assert.deepEqual([await journaled(8 * MiB), await journaled(8 * MiB + 1)], [1, 0])
  assert.deepEqual([await total(32 * MiB), await total(32 * MiB + 1)], [2, 1])
  assert.deepEqual([await cools(MiB), await cools(MiB + 1)], [true, false])
})
