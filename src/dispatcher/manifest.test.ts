/** The configuration files: what is read from them, what each mistake says, and what an installation starts with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultFiles } from './defaults.ts'
import { defaultBudgets, defaultPhasePolicy, minimalSet, readManifest, shipped } from './manifest.ts'
import { readWorkspace } from './session/paths.ts'

const usual = {
  dialect: 'auto',
  budgets: {
    ...{ SessionStart: 5000, UserPromptSubmit: 1000, PreToolUse: 300, PostToolUse: 500 },
    ...{ PreCompact: 1000, Stop: 5000, SubagentStart: 1000, SubagentStop: 1000 },
  },
  enforcePhases: false,
  phasePolicy: defaultPhasePolicy,
  rewriteOwner: { inputMetadata: 'session', updatedInput: 'planGraph-exec' },
  gc: { maxAgeDays: 7, maxSessions: 20 },
  autoApprove: false,
  stampToolInput: false,
  modules: ['session', 'graph-pretooluse', 'planGraph-exec'].map((name) => ({
    name,
    path: `features/${name}/hook.mjs`,
  })),
}

test('a manifest that is missing, unreadable or empty means the minimal modules, and says so unless it is empty', () => {
  assert.deepEqual(readManifest({}), { manifest: usual, problems: [] })
  assert.deepEqual(readManifest(undefined), {
    manifest: usual,
    problems: ['dispatch.manifest.json is missing or not an object; the minimal modules are used'],
  })
  assert.deepEqual(readManifest([], 'EACCES'), {
    manifest: usual,
    problems: ['dispatch.manifest.json: EACCES; the minimal modules are used'],
  })
})

test('what is right is taken, and each mistake is named and falls back', () => {
  const right = {
    dialect: 'claude',
    budgets: { PreToolUse: 50, PostToolUse: 50, Stop: 100, SessionStart: 7000 },
    enforcePhases: true,
    phasePolicy: { PLANNING: { allowTools: '*', mode: 'warn' }, BLOCKED: { allowTools: ['a'], mode: 'allow' } },
    rewriteOwner: { inputMetadata: 'mine', updatedInput: 'other' },
    gc: { maxAgeDays: 1, maxSessions: 2 },
    autoApprove: true,
    stampToolInput: true,
    modules: {
      session: { enabled: true, priority: 5, hotPathSafe: false, critical: false, path: 'x.mjs' },
      off: { enabled: false },
      'my.own_1-a': {},
    },
  }
  const own = { priority: undefined, hotPathSafe: undefined, critical: undefined }
  const { manifest, problems } = readManifest(right)
  assert.deepEqual(problems, [])
  assert.deepEqual(manifest, {
    ...right,
    budgets: { ...usual.budgets, ...right.budgets },
    phasePolicy: { ...defaultPhasePolicy, ...right.phasePolicy },
    modules: [
      { name: 'session', path: 'x.mjs', priority: 5, hotPathSafe: false, critical: false },
      { name: 'my.own_1-a', path: 'features/my.own_1-a/hook.mjs', ...own },
    ],
  })
  const wrong = readManifest({
    dialect: 1,
    budgets: { PreToolUse: 49, PostToolUse: 49, Stop: 99, PreCompact: Number.POSITIVE_INFINITY, SessionStart: '5' },
    enforcePhases: 1,
    phasePolicy: {
      NOWHERE: { allowTools: '*', mode: 'deny' },
      PLANNING: { allowTools: [1], mode: 'deny' },
      BLOCKED: { allowTools: '*', mode: 'x' },
      COMPLETE: 1,
    },
    rewriteOwner: { inputMetadata: 1, updatedInput: 2 },
    gc: { maxAgeDays: 0, maxSessions: -1 },
    autoApprove: 'yes',
    stampToolInput: null,
    modules: { bad: 1, 'a b': {}, odd: { enabled: 'no', path: 1, priority: 'x', hotPathSafe: 1, critical: 1 } },
  })
  const path = (name: string) => ({ name, path: `features/${name}/hook.mjs`, ...own })
  assert.deepEqual(wrong.manifest, { ...usual, modules: [path('bad'), path('a b'), path('odd')] })
  assert.deepEqual(
    wrong.problems,
    [
      'dialect must be one of auto, vscode, claude, copilot-cli',
      'budgets.SessionStart must be a number from 100 up',
      'budgets.PreToolUse must be a number from 50 up',
      'budgets.PostToolUse must be a number from 50 up',
      'budgets.PreCompact must be a number from 100 up',
      'budgets.Stop must be a number from 100 up',
      'phasePolicy.NOWHERE must be a known phase with allowTools and mode',
      'phasePolicy.PLANNING must be a known phase with allowTools and mode',
      'phasePolicy.BLOCKED must be a known phase with allowTools and mode',
      'phasePolicy.COMPLETE must be a known phase with allowTools and mode',
      'enforcePhases must be true or false',
      'rewriteOwner.inputMetadata must be the name of a module',
      'rewriteOwner.updatedInput must be the name of a module',
      'gc.maxAgeDays must be a number from 1 up',
      'gc.maxSessions must be a number from 1 up',
      'autoApprove must be true or false',
      'stampToolInput must be true or false',
      'modules.bad must be a named object',
      'modules.a b must be a named object',
      'modules.odd.enabled must be true or false (taken as true)',
      'modules.odd.path must be a string',
      'modules.odd.priority must be a number',
      'modules.odd.hotPathSafe must be a boolean',
      'modules.odd.critical must be a boolean',
    ].map((text) => `dispatch.manifest.json: ${text}`),
  )
  const sections = readManifest({ budgets: 1, phasePolicy: [], rewriteOwner: 'x', gc: 1, modules: 'all' })
  assert.deepEqual(sections.manifest, usual)
  assert.deepEqual(
    sections.problems,
    [
      'budgets must be an object',
      'phasePolicy must be an object',
      'rewriteOwner must be an object',
      'gc must be an object',
      'modules must be an object or a list',
    ].map((text) => `dispatch.manifest.json: ${text}`),
  )
  const list = readManifest({
    modules: ['a', { name: 'b', priority: 1 }, { priority: 2 }, 3, { name: 'c', enabled: false }],
  })
  assert.deepEqual(
    list.manifest.modules.map(({ name, priority }) => [name, priority]),
    [
      ['a', undefined],
      ['b', 1],
      ['undefined', 2],
    ],
  )
  assert.deepEqual(list.problems, ['dispatch.manifest.json: modules.? must be a named object'])
  const odd = [null, 0, '', 'false', []].map((enabled) => readManifest({ modules: { a: { enabled } } }))
  for (const { manifest, problems } of odd)
    assert.deepEqual(
      [manifest.modules, problems],
      [[path('a')], ['dispatch.manifest.json: modules.a.enabled must be true or false (taken as true)']],
    )
  const named = ['_a.b-1', '9', '.a', '-a', 'a/b', 'ä'].map((name) => readManifest({ modules: [name] }).problems.length)
  assert.deepEqual(named, [0, 0, 1, 1, 1, 1])
})

test('a key that is misspelt is named, wherever it stands', () => {
  const { problems } = readManifest({
    $schema: 'x',
    version: 1,
    enforcePhase: true,
    dialect: 'copilot',
    budgets: { PreTooluse: 50 },
    rewriteOwner: { input: 'x' },
    gc: { days: 1 },
    modules: { session: { enabled: true, criticl: true } },
  })
  const list = readManifest({ modules: ['a', { name: 'b', prio: 1 }] })
  assert.deepEqual(
    [...problems, ...list.problems],
    [
      'dialect must be one of auto, vscode, claude, copilot-cli',
      ...['enforcePhase', 'budgets.PreTooluse', 'rewriteOwner.input', 'gc.days'].map(
        (key) => `unknown key ${key}; ignored`,
      ),
      ...['modules.session.criticl', 'modules.b.prio'].map((key) => `unknown key ${key}; ignored`),
    ].map((text) => `dispatch.manifest.json: ${text}`),
  )
})

test('an installation starts with these files, which hold no mistake', (t) => {
  const files = defaultFiles(minimalSet)
  t.assert.snapshot(files)
  assert.deepEqual(readManifest(files['dispatch.manifest.json']).problems, [])
  assert.deepEqual(readWorkspace(files['workspace.json']), { workspace: readWorkspace({}).workspace, problems: [] })
  assert.deepEqual(readManifest(files['dispatch.manifest.json']).manifest.budgets, defaultBudgets)
  assert.deepEqual(
    Object.entries(
      defaultFiles(['session'])['dispatch.manifest.json']!['modules'] as Record<string, { enabled: boolean }>,
    )
      .filter(([, { enabled }]) => enabled)
      .map(([name]) => name),
    ['session'],
  )
  t.assert.snapshot(shipped)
})
