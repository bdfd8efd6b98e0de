/** What each shipped module says, in process; that they behave as modules at all is the suite at the top. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { shipped } from '../manifest.ts'
import { checkSchema } from '../setup/check-schema.ts'
import { schemas } from '../setup/schemas.ts'
import { type TestInput, testContext } from '../setup/testing.ts'
import type { HookAction, HookModule, Json } from '../types.ts'
import { hook as guard } from './graph-pretooluse.ts'
import { hook as activation } from './memory-activation.ts'
import { hook as journal } from './memory-journal.ts'
import { hook as planExec } from './plan-graph-exec.ts'
import { hook as planContract } from './plan-subagent-contract.ts'
import { hook as rlm } from './rlm-work.ts'
import { hook as session } from './session.ts'
import { hook as synth } from './stop-synth.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})
const makeRepo = (): string => {
  const repo = mkdtempSync(join(tmpdir(), 'module-'))
  folders.push(repo)
  return repo
}
const repo = makeRepo()

const ask = async (
  hook: HookModule,
  input: Omit<TestInput, 'module' | 'event'> & { event?: TestInput['event'] },
  root = repo,
): Promise<HookAction> => {
  const event = input.event ?? 'PreToolUse'
  const action = (await hook.handle(event, testContext(root, { ...input, event, module: hook.name }))) ?? {}
  assert.deepEqual(checkSchema(schemas['hook-action']!, action), [], `${hook.name} on ${event}`)
  return action
}
const call = (tool_name: string, tool_input: Json = {}): { input: Json } => ({ input: { tool_name, tool_input } })

for (const hook of [session, guard, planExec, planContract, rlm, journal, activation, synth]) {
  test(`${hook.name} is what the manifest says it is, and answers every event it supports`, async () => {
    const known = shipped[hook.name]!
    assert.deepEqual(
      [hook.priority, hook.hotPathSafe, hook.critical, [...hook.supports].sort()],
      [known.priority, known.hotPathSafe, known.critical, [...known.supports].sort()],
    )
    for (const event of hook.supports) {
      await ask(hook, { event })
      await ask(hook, { event, ...call('read_file', { filePath: 'a' }) })
      await ask(hook, { event, input: { prompt: 'x', agent_id: 'i', agent_type: 'Plan', stop_hook_active: true } })
    }
  })
}

test('graph-pretooluse asks about searches without bounds, in every host’s spelling', async () => {
  const table: [string, Json, string][] = [
    ['grep_search', { query: 'x' }, 'ask'],
    ['grep_search', { query: 'x', includePattern: ' **/* ' }, 'ask'],
    ['grep_search', { query: 'x', includePattern: 'src/**' }, 'allow'],
    ['grep_search', { query: 'x', includePattern: 'src/**', includeIgnoredFiles: true }, 'ask'],
    ['grep_search', { query: 'x', includePattern: 'src/**', maxResults: 501 }, 'ask'],
    ['grep_search', { query: 'x', includePattern: 'src/**', maxResults: 500 }, 'allow'],
    ['file_search', { query: '**/*' }, 'ask'],
    ['file_search', { query: '**/*.ts' }, 'allow'],
    ['run_in_terminal', { command: 'cd . && grep -rn x .' }, 'ask'],
    ['run_in_terminal', { command: 'ls' }, 'allow'],
    ['Grep', { pattern: 'x' }, 'ask'],
    ['Grep', { pattern: 'x', path: 'src' }, 'allow'],
    ['Grep', { pattern: 'x', path: '..' }, 'ask'],
    ['Grep', { pattern: 'x', glob: '*.ts' }, 'allow'],
    ['Glob', { pattern: '**' }, 'ask'],
    ['Bash', { command: 'find / -name x' }, 'ask'],
    ['bash', { command: 'grep -r x' }, 'ask'],
    ['textSearch', { query: 'x' }, 'ask'],
    ['textSearch', { query: 'x', includePattern: 'src/**' }, 'allow'],
    ['grepSearch', { query: 'x' }, 'ask'],
    ['fileSearch', { query: '**/*' }, 'ask'],
    ['fileSearch', { query: '**/*.ts' }, 'allow'],
    ['runInTerminal', { command: 'grep -rn x .' }, 'ask'],
    ['rg', { pattern: 'x' }, 'ask'],
    ['rg', { pattern: 'x', glob: '*.ts' }, 'allow'],
    ['read_file', {}, 'allow'],
  ]
  for (const [tool, input, decision] of table)
    assert.equal((await ask(guard, call(tool, input))).decision, decision, `${tool} ${JSON.stringify(input)}`)
  const modes = async (mode: string) => {
    const { decision, emitEvents } = await ask(guard, {
      ...call('grep_search'),
      config: { rules: { 'grep-no-include': mode } },
    })
    return [decision, emitEvents?.[0]?.kind]
  }
  assert.deepEqual(
    [await modes('deny'), await modes('warn'), await modes('off')],
    [
      ['deny', 'UNBOUNDED_GREP_DENY'],
      ['allow', 'UNBOUNDED_GREP_WARN'],
      ['allow', undefined],
    ],
  )
})

const plan = {
  version: 1,
  nodes: [
    {
      id: 'legacy',
      description: 'hands off',
      status: 'forbidden',
      reason: 'frozen',
      tools: ['replace_string_in_file', 'create_file'],
      scope: 'legacy/**',
    },
    {
      id: 'look',
      description: 'look',
      kind: 'explore',
      tools: ['grep_search', 'file_search', 'list_dir'],
      scope: ['src/app', 'src/lib/**'],
      status: 'complete',
    },
    {
      id: 'change',
      description: 'change',
      tool: 'replace_string_in_file',
      scope: 'src/app/**',
      dependencies: ['look'],
    },
    {
      id: 'test',
      description: 'test',
      kind: 'validate',
      tool: 'runTests',
      validates: ['change'],
      dependencies: ['change'],
    },
  ],
}
const withPlan = (content: unknown): string => {
  const root = makeRepo()
  const folder = join(root, '.ai/tmp/a3f0c812/planGraph-exec/output')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'planGraph.json'), JSON.stringify(content))
  return root
}

test('graph-pretooluse: a folder whose name the repository’s begins with does not hold the repository', async () => {
  const search = async (path: string) => (await ask(guard, call('Grep', { pattern: 'x', path }))).decision
  assert.deepEqual(
    [await search(repo), await search(join(repo, '..')), await search(repo.slice(0, -1)), await search('/elsewhere')],
    ['ask', 'ask', 'allow', 'allow'],
  )
})

test('planGraph-exec holds a call to the plan', async () => {
  const root = withPlan(plan)
  const says = async (tool: string, input: Json, config: Json = {}) =>
    ask(planExec, { ...call(tool, input), config }, root)
  const first = await says('replace_string_in_file', { filePath: join(root, 'src/app/a.ts') })
  assert.deepEqual(
    [first.decision, (first.statePatch!['plan'] as Json)['status'], first.statePatch?.['core']],
    ['allow', 'accepted', { phase: 'EXECUTING' }],
  )
  const denied = await says('create_file', { filePath: join(root, 'legacy/x.ts') })
  assert.deepEqual([denied.decision, denied.denyReason], ['deny', 'the plan forbids this (legacy): frozen'])
  assert.equal((await says('create_file', { filePath: join(root, 'src/x.ts') })).decision, 'allow')
  assert.equal((await says('runTests', {})).decision, 'ask', 'what it depends on is not complete')
  assert.equal((await says('runTests', {}, { unmetDependencies: 'deny' })).decision, 'deny')
  assert.equal((await says('runTests', {}, { unmetDependencies: 'allow' })).decision, 'allow')
  assert.deepEqual((await says('grep_search', { query: 'x' })).updatedInput, {
    includePattern: '{src/app/**,src/lib/**}',
  })
  assert.equal((await says('grep_search', { query: 'x', includePattern: 'src/app/home/*.ts' })).updatedInput, undefined)
  assert.deepEqual((await says('Grep', { pattern: 'x' })).updatedInput, { glob: '{src/app/**,src/lib/**}' })
  assert.deepEqual((await says('file_search', { query: '*.ts' })).updatedInput, {
    query: '{src/app/**/*.ts,src/lib/**/*.ts}',
  })
})

test('planGraph-exec: nothing outside the plan when it says so, one word about a missing one, and a bad one blocks', async () => {
  const strict = withPlan({ ...plan, defaultPolicy: 'deny' })
  assert.equal((await ask(planExec, call('create_file', { filePath: 'other/a' }), strict)).decision, 'deny')
  assert.equal((await ask(planExec, call('read_file', { filePath: 'other/a' }), strict)).decision, 'allow')
  const missing = await ask(planExec, call('read_file'))
  assert.deepEqual([missing.warnings?.length, missing.statePatch], [1, { plan: { warnedMissing: 'w001' } }])
  const state = { plan: { warnedMissing: 'w000' } }
  assert.deepEqual(await ask(planExec, { ...call('read_file'), state }), missing, 'told of another work')
  assert.deepEqual(await ask(planExec, { ...call('read_file'), state: { plan: { warnedMissing: 'w001' } } }), {
    decision: 'allow',
  })
  const bad = await ask(planExec, call('read_file'), withPlan({ nodes: [] }))
  assert.deepEqual(
    [bad.decision, bad.emitEvents?.map(({ kind }) => kind), (bad.statePatch!['core'] as Json)['phase']],
    ['allow', ['PLAN_GRAPH_DENY', 'PHASE_TRANSITION'], 'BLOCKED'],
  )
})

test('plan-subagent-contract tells a planner what to hand in, takes a good plan and sends a bad one back', async () => {
  const root = makeRepo()
  const planner = { input: { agent_id: 'p', agent_type: 'plan' } }
  const told = await ask(planContract, { event: 'SubagentStart', ...planner }, root)
  const folder = '.ai/tmp/a3f0c812/plan-subagent-contract/output/sa/Plan/u00'
  assert.ok(told.additionalContext?.[0]?.value.includes(`${folder}/planGraph.json`))
  assert.deepEqual(await ask(planContract, { event: 'SubagentStart', input: { agent_type: 'Explore' } }, root), {})
  const none = await ask(planContract, { event: 'SubagentStop', ...planner }, root)
  assert.deepEqual([none.emitEvents?.[0]?.kind, none.block !== undefined], ['PLAN_GRAPH_MISSING', true])
  writeFileSync(
    join(root, folder, 'planGraph.json'),
    '{"nodes":[{"id":"a","description":"x","tool":"*","dependencies":["a"]}]}',
  )
  const bad = await ask(planContract, { event: 'SubagentStop', ...planner }, root)
  assert.match(bad.block!.reason, /PG_DEP_SELF/)
  assert.equal(
    (await ask(planContract, { event: 'SubagentStop', input: { ...planner.input, stop_hook_active: true } }, root))
      .block,
    undefined,
  )
  writeFileSync(join(root, folder, 'planGraph.json'), JSON.stringify(plan))
  writeFileSync(
    join(root, folder, 'manifest.json'),
    '{"version":1,"outputs":[{"path":"planGraph.json","kind":"plan"},{"path":"../x","kind":"y"}]}',
  )
  const good = await ask(planContract, { event: 'SubagentStop', ...planner }, root)
  assert.deepEqual(
    good.registerArtifacts?.map(({ kind }) => kind),
    ['plan_graph', 'plan_manifest'],
  )
  assert.deepEqual(
    [(good.statePatch!['plan'] as Json)['status'], good.block, good.warnings],
    ['accepted', undefined, ['manifest.json: outputs[1].path is not a file of this subagent']],
  )
})

test('rlm-work honours all modes, exemptions and phases, and lets subagents work', async () => {
  const root = makeRepo()
  mkdirSync(join(root, '.ai/hooks'), { recursive: true })
  const policy = (content: unknown) =>
    writeFileSync(
      join(root, '.ai/hooks/rlm-policy.json'),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  const edit = (filePath = 'src/a') => call('create_file', { filePath })
  const rule = (mode?: string) => ({
    version: 1,
    ...(mode === undefined ? { defaultMode: 'ask' } : {}),
    requireSubagent: [{ toolName: 'create_file', mode, exemptPatterns: ['docs/**'] }],
    phaseOverrides: { PLANNING: { requireSubagent: 'skip' } },
  })
  for (const [mode, decision, warned] of [
    ['deny', 'deny', 1],
    ['ask', 'ask', 1],
    ['warn', 'allow', 1],
    ['allow', 'allow', 0],
    [undefined, 'ask', 1],
  ] as const) {
    policy(rule(mode))
    const action = await ask(rlm, edit(), root)
    assert.deepEqual([action.decision, action.warnings?.length], [decision, warned], String(mode))
  }
  policy(rule('deny'))
  assert.equal((await ask(rlm, edit('docs/a'), root)).decision, 'allow')
  const core = { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 0, phase: 'PLANNING' }
  assert.equal((await ask(rlm, { ...edit(), state: { core } }, root)).decision, 'allow')
  assert.equal(
    (await ask(rlm, { ...edit(), state: { agents: { x: { aid: 'a01', startedTs: 1 } } } }, root)).decision,
    'allow',
  )
  assert.equal(
    (await ask(rlm, { ...edit(), state: { agents: { x: { aid: 'a01', startedTs: 1, stoppedTs: 2 } } } }, root))
      .decision,
    'deny',
  )
  policy({
    version: 1,
    broadDiscovery: { mode: 'deny', rules: [{ toolName: 'grep_search', check: 'no_include_pattern' }] },
  })
  assert.equal((await ask(rlm, call('grep_search', { query: 'x' }), root)).decision, 'deny')
  policy('{')
  const broken = await ask(rlm, edit(), root)
  assert.deepEqual([broken.decision, broken.emitEvents?.[0]?.kind], ['allow', 'POLICY_INVALID'])
  const again = { rlm: broken.statePatch?.['rlm'] }
  assert.equal((await ask(rlm, { ...edit(), state: again }, root)).warnings, undefined, 'told once')
})

test('rlm-work registers what a subagent left, and nothing outside its folder', async () => {
  const root = makeRepo()
  const input = { agent_id: 'x', agent_type: '../../escape' }
  const { emitEvents } = await ask(rlm, { event: 'SubagentStart', input }, root)
  const at = String(emitEvents?.[0]?.data?.['artifactRoot'])
  assert.match(at, /^\.ai\/tmp\/a3f0c812\/rlm-work\/output\/sa\/[0-9a-f]{8}\/u00$/)
  mkdirSync(join(root, at, 'deep'))
  writeFileSync(join(root, at, 'deep/found.json'), '{}')
  const { registerArtifacts } = await ask(rlm, { event: 'SubagentStop', input }, root)
  assert.deepEqual(
    registerArtifacts?.map(({ ref }) => ref),
    [`${at.slice('.ai/tmp/a3f0c812/'.length)}/deep/found.json`],
  )
})

const logFile = (root: string) => join(root, '.ai/tmp/a3f0c812/events.jsonl')
const log = (root: string, records: Json[]) => {
  mkdirSync(join(root, '.ai/tmp/a3f0c812'), { recursive: true })
  writeFileSync(
    logFile(root),
    records
      .map(
        (record, n) =>
          `${JSON.stringify({ ts: 1000 + n, event: 'PreToolUse', producer: 'x', turnId: 1, workId: 'w001', ...record })}\n`,
      )
      .join(''),
  )
}

test('memory-journal finds what a prompt names and, at Stop, what keeps coming back', async () => {
  const { emitEvents } = await ask(journal, {
    event: 'UserPromptSubmit',
    input: { prompt: 'Fix HomeService in src/app/home.service.ts and adp-button' },
  })
  assert.deepEqual(emitEvents?.[0]?.data?.['anchors'], ['src/app/home.service.ts', 'HomeService', 'adp-button'])
  const failed = await ask(journal, {
    event: 'PostToolUse',
    input: { tool_name: 'run_in_terminal', tool_response: 'Error: no such file' },
  })
  assert.deepEqual(
    failed.emitEvents?.map(({ kind }) => kind),
    ['MEMORY_MATCH', 'MEMORY_CANDIDATE'],
  )
  const root = makeRepo()
  const refused = { kind: 'TOOL_DECISION', toolName: 'grep_search', decision: 'ask', reason: 'no bounds' }
  const touched = { kind: 'TOOL_OUTCOME', toolName: 'edit', data: { success: true, touchedPaths: ['src/a.ts'] } }
  log(root, [
    refused,
    refused,
    refused,
    touched,
    touched,
    touched,
    { kind: 'MEMORY_MATCH', data: { anchors: ['HomeService'] } },
  ])
  await ask(journal, { event: 'Stop' }, root)
  const { candidates } = JSON.parse(
    readFileSync(join(root, '.ai/tmp/a3f0c812/memory-journal/output/candidates.json'), 'utf8'),
  )
  assert.deepEqual(
    candidates.map(({ kind, key, count }: Json) => [kind, key, count]),
    [
      ['friction', 'repeat:edit:src/a.ts', 1],
      ['friction', 'ask:grep_search:no bounds', 3],
    ],
  )
})

const rule = (id: string, followup: Json, more: Json = {}): Json => ({
  id,
  trigger: { event: 'PostToolUse', toolName: 'create_file' },
  followup,
  ...more,
})
const withRules = (...rules: Json[]): string => {
  const root = makeRepo()
  mkdirSync(join(root, '.ai/hooks'), { recursive: true })
  writeFileSync(join(root, '.ai/hooks/followup-rules.json'), JSON.stringify({ version: 1, rules }))
  return root
}

test('memory-activation fires the first rule that matches, with its words filled in', async () => {
  const root = withRules(
    rule('off', { action: 'warn', message: 'never' }, { enabled: false }),
    rule(
      'one',
      {
        action: 'inject_context',
        contextKey: 'k',
        contextValue: '{{matchedPath}} by {{toolName}} in {{workId}}{{other}}',
      },
      { enabled: 0 },
    ), // only false switches one off
    rule('two', { action: 'warn', message: 'second' }),
  )
  const action = await ask(
    activation,
    { event: 'PostToolUse', ...call('create_file', { filePath: join(root, 'src/a.ts') }) },
    root,
  )
  assert.deepEqual(
    [action.additionalContext, action.warnings],
    [[{ key: 'k', value: 'src/a.ts by create_file in w001' }], []],
  )
  assert.deepEqual(await ask(activation, { event: 'PostToolUse', ...call('read_file') }, root), {})
})

test('memory-activation: paths, exclusions and conditions all have to agree', async () => {
  const trigger = {
    event: 'PreToolUse',
    toolNamePattern: '^create',
    pathPatterns: ['src/**'],
    excludePathPatterns: ['**/*.css'],
    conditions: [
      { field: 'toolInput.content', op: 'contains', value: 'x' },
      { field: 'state.core.phase', op: 'eq', value: 'UNINITIALIZED' },
      { field: 'prompt', op: 'notExists' },
    ],
  }
  const root = withRules(rule('r', { action: 'ask', message: 'sure?' }, { trigger }))
  const decision = async (filePath: string, content: string) =>
    (await ask(activation, call('create_file', { filePath, content }), root)).decision
  assert.deepEqual(
    [
      await decision('src/a.ts', 'xy'),
      await decision('src/a.css', 'xy'),
      await decision('lib/a.ts', 'xy'),
      await decision('src/a.ts', 'y'),
    ],
    ['ask', undefined, undefined, undefined],
  )
})

test('memory-activation counts firings from the log, and a tool that was asked for ends its reminder', async () => {
  const root = withRules(
    rule(
      'run',
      { action: 'enqueue_tool', message: 'run the tests', toolHint: { toolName: 'runTests' } },
      { cooldown: { perWorkId: 2 } },
    ),
  )
  const post = { event: 'PostToolUse' as const, ...call('create_file', { filePath: 'a' }) }
  const fired = { kind: 'MEMORY_FOLLOWUP_TRIGGER', data: { ruleId: 'run' } }
  log(root, [fired])
  const first = await ask(activation, post, root)
  assert.deepEqual(first.additionalContext, [{ key: 'followup-run', value: 'run the tests' }])
  log(root, [fired, fired])
  assert.deepEqual(await ask(activation, post, root), {})
  const state = { memory: { pendingFollowups: { run: { rule: 'run', status: 'pending', triggeredAt: 1 } } } }
  assert.equal((await ask(activation, { ...call('read_file'), state }, root)).additionalContext?.length, 1)
  const reminded = async (...rules: Json[]) =>
    (await ask(activation, { ...call('read_file'), state }, withRules(...rules))).additionalContext
  const without = { action: 'enqueue_tool', toolHint: { toolName: 'runTests' } }
  assert.deepEqual(
    [
      await reminded(rule('run', without, { description: 'described in {{workId}}' })),
      await reminded(rule('run', without, { description: undefined })),
    ],
    [[{ key: 'followup-run', value: 'described in w001' }], [{ key: 'followup-run', value: 'run' }]],
  )
  const done = await ask(activation, { ...call('runTests'), state }, root)
  assert.deepEqual(
    [done.emitEvents?.[0]?.kind, done.statePatch],
    ['MEMORY_FOLLOWUP_COMPLETE', { memory: { pendingFollowups: { run: { status: 'completed' } } } }],
  )
  const remind = { kind: 'MEMORY_FOLLOWUP_REMIND', data: { ruleId: 'run' } }
  log(root, [remind, remind, remind])
  assert.deepEqual((await ask(activation, { ...call('read_file'), state }, root)).statePatch, {
    memory: { pendingFollowups: { run: { status: 'skipped' } } },
  })
})

test('stop-synth writes what happened, safely, and keeps its hands off an edited record', async () => {
  const root = makeRepo()
  log(root, [
    { kind: 'TOOL_DECISION', toolName: 'grep_search', decision: 'deny', reason: 'a | b `c`\nd' },
    { kind: 'TOOL_OUTCOME', toolName: 'edit', data: { success: false, touchedPaths: ['src/a.ts'] } },
    {
      kind: 'PHASE_TRANSITION',
      phase: 'PLANNING',
      data: { from: 'UNINITIALIZED', to: 'PLANNING', trigger: 'first prompt' },
    },
  ])
  const output = join(root, '.ai/tmp/a3f0c812/stop-synth/output')
  const first = await ask(synth, { event: 'Stop' }, root)
  assert.deepEqual(
    first.registerArtifacts?.map(({ kind }) => kind),
    ['session_summary', 'adr_draft'],
  )
  const summary = readFileSync(join(output, 'summary.md'), 'utf8')
  for (const text of [
    'asked or denied: 1',
    'failed: 1',
    '- deny grep_search: a \\| b \\`c\\` d',
    '- src/a.ts',
    'UNINITIALIZED → PLANNING (first prompt)',
  ])
    assert.ok(summary.includes(text), text)
  const adr = join(output, 'adr/adr-a3f0c812-w001.md')
  writeFileSync(adr, 'edited by a person')
  await ask(synth, { event: 'Stop', state: { synth: first.statePatch?.['synth'] } }, root)
  assert.equal(readFileSync(adr, 'utf8'), 'edited by a person')
  assert.match(readFileSync(join(output, 'adr/adr-a3f0c812-w001-2.md'), 'utf8'), /status: draft/)
  assert.deepEqual(
    await ask(
      synth,
      { event: 'Stop', input: { stop_hook_active: true }, state: { synth: first.statePatch?.['synth'] } },
      root,
    ),
    {},
  )
})

test('session: a finished plan completes the work, and the next prompt begins new work', async () => {
  const root = makeRepo()
  const folder = join(root, '.ai/tmp/a3f0c812/planGraph-exec/output')
  mkdirSync(folder, { recursive: true })
  const finished = plan.nodes.map((node) => (node.status === 'forbidden' ? node : { ...node, status: 'complete' }))
  writeFileSync(join(folder, 'planGraph.json'), JSON.stringify({ version: 1, nodes: finished }))
  const core = { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 3, phase: 'EXECUTING' }
  const stop = await ask(session, { event: 'Stop', state: { core, plan: { status: 'accepted' } } }, root)
  assert.deepEqual(stop.statePatch?.['core'], { phase: 'COMPLETE' })
  assert.equal((stop.statePatch!['cap'] as { neo4j: Json }).neo4j['enabled'], false)
  const open = [...finished.slice(0, 3), { ...finished[3], status: 'skipped' }]
  writeFileSync(join(folder, 'planGraph.json'), JSON.stringify({ version: 1, nodes: open }))
  assert.equal(
    (await ask(session, { event: 'Stop', state: { core, plan: { status: 'accepted' } } }, root)).statePatch?.['core'],
    undefined,
    'a skipped validation completes nothing',
  )
  const next = await ask(
    session,
    { event: 'UserPromptSubmit', input: { prompt: 'x' }, state: { core: { ...core, phase: 'COMPLETE' } } },
    root,
  )
  assert.deepEqual(
    [(next.statePatch!['core'] as Json)['workId'], (next.statePatch!['plan'] as Json)['status']],
    ['w002', 'none'],
  )
  assert.deepEqual(
    next.emitEvents?.map(({ kind }) => kind),
    ['TURN_INCREMENT', 'PROMPT_AUDIT', 'WORK_ROTATED', 'PHASE_TRANSITION'],
  )
})

test('session: the first change begins the work, denials block it, and a prompt unblocks it', async () => {
  const core = { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 1, phase: 'PLANNING' }
  const settle = (tool: string, decision: 'allow' | 'deny', config: Json = {}) =>
    session.settled!(
      testContext(repo, { module: 'session', event: 'PreToolUse', ...call(tool), state: { core }, config }),
      { decision, decidedBy: 'x' },
    )
  assert.deepEqual(settle('create_file', 'allow')?.statePatch, { core: { phase: 'EXECUTING' } })
  assert.deepEqual(
    [
      settle('create_file', 'deny', { blockAfterDenies: 0 }),
      settle('read_file', 'allow'),
      settle('create_file', 'allow', { implicitExecuting: false }),
    ],
    [undefined, undefined, undefined],
  )
  assert.deepEqual(settle('x', 'deny')?.statePatch, {
    core: { phase: 'BLOCKED', prevPhase: 'PLANNING' },
  })
  const blocked = { core: { ...core, phase: 'BLOCKED', prevPhase: 'EXECUTING' } }
  const prompt = await ask(session, { event: 'UserPromptSubmit', input: { prompt: 'go on' }, state: blocked })
  assert.deepEqual(prompt.statePatch, { core: { phase: 'EXECUTING', prevPhase: null } })
  assert.equal(
    (
      await ask(session, {
        event: 'UserPromptSubmit',
        input: { prompt: 'x' },
        state: blocked,
        config: { promptUnblocks: false },
      })
    ).statePatch,
    undefined,
  )
})

test('memory-journal looks at the first 64 KiB of a prompt, and notes 20 anchors of 200 characters', async () => {
  const anchors = async (prompt: string) => {
    const { emitEvents } = await ask(journal, { event: 'UserPromptSubmit', input: { prompt } })
    return emitEvents?.[0]?.data?.['anchors']
  }
  const name = 'src/a.ts'
  const pad = (length: number) => ' '.repeat(length)
  assert.deepEqual(await anchors(`${pad(64 * 1024 - name.length)}${name}`), [name])
  assert.deepEqual(await anchors(`${pad(64 * 1024 - name.length + 1)}${name} x`), [])
  const many = Array.from({ length: 30 }, (_, at) => `src/a${at}.ts`)
  assert.deepEqual(await anchors(many.join(' ')), many.slice(0, 20))
  assert.deepEqual(await anchors(`src/${'a'.repeat(199)}.ts`), [`src/${'a'.repeat(196)}`])
})

test('memory-journal: the default patterns take time in proportion to the prompt', async () => {
  const step = 'src/'.repeat(15_000)
  const { emitEvents } = await ask(journal, { event: 'UserPromptSubmit', input: { prompt: `${step} src/a.ts` } })
  assert.deepEqual((emitEvents![0]!.data as Json)['anchors'], ['src/a.ts'])
})

test('a configured pattern that could run for ever is not run, and a warning says so', async () => {
  const prompt = `${'a'.repeat(50_000)} src/a.ts TASK-12`
  const config = { anchorPatterns: ['(a+)+$', 'TASK-\\d+', '.*a.*b'], newWorkPattern: '^(\\w|a)+!' }
  const event = 'UserPromptSubmit' as const
  const noted = await ask(journal, { event, input: { prompt }, config })
  assert.deepEqual((noted.emitEvents![0]!.data as Json)['anchors'], [], 'a pattern sees the beginning of a prompt')
  assert.deepEqual(noted.warnings, [
    'anchorPatterns: "(a+)+$" can take exponential time: a repeated part can match the same text in two ways, as in (a+)+; repeat it once',
    'anchorPatterns: ".*a.*b" can take too long: more than 1 repeat, one behind the other, can match the same text; use fewer',
  ])
  const short = await ask(journal, { event, input: { prompt: 'TASK-12' }, config })
  assert.deepEqual((short.emitEvents![0]!.data as Json)['anchors'], ['TASK-12'])
  const began = await ask(session, { event, input: { prompt }, config })
  assert.match(began.warnings!.join(), /^newWorkPattern: "\^\(\\\\w\|a\)\+!" can take exponential time/)

  const root = makeRepo()
  const trigger = {
    event: 'PreToolUse',
    toolNamePattern: '^(\\w+)+$',
    conditions: [{ field: 'toolInput.text', op: 'matches', value: '(a+)+$' }],
  }
  const rules = [{ id: 'x', trigger, followup: { action: 'warn', message: 'm' } }]
  mkdirSync(join(root, '.ai/hooks'), { recursive: true })
  writeFileSync(join(root, '.ai/hooks/followup-rules.json'), JSON.stringify({ version: 1, rules }))
  assert.deepEqual(await ask(activation, call(`${'a'.repeat(60)}!`, { text: `${'a'.repeat(60)}!` }), root), {})
})
