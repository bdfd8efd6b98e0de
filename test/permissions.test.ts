/** Permissions as an operator sees them: settings files, `ona --eval`, `ona permissions test`, and rows. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { call, testModel } from './support/model/model.ts'
import { type Place, place } from './support/program.ts'

const evaluate = async (at: Place, tool: string, input: object) => {
  const ran = await at.run(['--eval', JSON.stringify({ tool, input })])
  const { content, is_error } = JSON.parse(ran.stdout) as { content: string; is_error: boolean }
  return { code: ran.code, content, is_error, stderr: ran.stderr }
}

function withRules(t: TestContext, permissions: object, more: object = {}): Place {
  const at = place(t)
  at.write('../home/.ona/settings.json', { permissions, ...more })
  return at
}

test('a deny rule refuses a call with the rule in its result and in the log', async (t) => {
  const at = withRules(t, { deny: ['Bash(rm *)'], allow: ['Bash'] })
  at.write('keep', 'me')
  const refused = await evaluate(at, 'Bash', { command: "echo hi; r''m keep" })
  assert.deepEqual([refused.code, refused.is_error], [1, true])
  assert.match(refused.content, /denied: the deny rule "Bash\(rm \*\)" matches `rm keep`/)
  assert.equal(readFileSync(join(at.folder, 'keep'), 'utf8'), 'me')
  const [row] = at.rows<{ tool_name: string; decision: string; reason_json: string }>(
    'SELECT * FROM tool_permission_log',
  )
  assert.deepEqual([row!.tool_name, row!.decision, JSON.parse(row!.reason_json).rule], ['Bash', 'deny', 'Bash(rm *)'])
})

test('what is asked counts as approved by the operator who typed the call, and is logged so', async (t) => {
  const at = withRules(t, { ask: ['Bash(echo *)'] })
  assert.equal((await evaluate(at, 'Bash', { command: 'echo hi' })).is_error, false)
  const rows = at.rows<{ decision: string; reason_json: string }>(
    'SELECT decision, reason_json FROM tool_permission_log',
  )
  assert.deepEqual(
    rows.map((row) => [row.decision, JSON.parse(row.reason_json).by]),
    [['allow', 'operator']],
  )
})

test('a link does not lead around a rule', async (t) => {
  const at = withRules(t, { allow: ['Read', 'Write'], deny: ['Read(~/.secret)', 'Edit(~/**)'] })
  at.write('../home/.secret', 'the secret')
  symlinkSync(join(at.home, '.secret'), join(at.folder, 'innocent'))
  symlinkSync(join(at.home, 'planted'), join(at.folder, 'dangling'))
  assert.equal((await evaluate(at, 'Read', { file_path: join(at.folder, 'innocent') })).is_error, true)
  assert.equal((await evaluate(at, 'Write', { file_path: join(at.folder, 'dangling'), content: 'x' })).is_error, true)
  assert.equal(existsSync(join(at.home, 'planted')), false)
})

test('a rule that cannot be read is left out with a warning that quotes it', async (t) => {
  const at = withRules(t, { allow: ['Bash', 'bash(ls)'] })
  const ran = await evaluate(at, 'Bash', { command: 'true' })
  assert.match(ran.stderr, /invalid permission rule "bash\(ls\)" was skipped: Tool names must start with uppercase/)
})

test('a hook that answers the question may write rules to every kind of settings file', async (t) => {
  const rules = (name: string) => [{ toolName: 'Bash', ruleContent: `${name} *` }]
  const updates = [
    { type: 'addRules', rules: rules('user'), behavior: 'allow', destination: 'userSettings' },
    { type: 'addRules', rules: rules('project'), behavior: 'ask', destination: 'projectSettings' },
    { type: 'replaceRules', rules: rules('local'), behavior: 'deny', destination: 'localSettings' },
    { type: 'removeRules', rules: [{ toolName: 'WebFetch' }], behavior: 'allow', destination: 'userSettings' },
    { type: 'setMode', mode: 'plan', destination: 'localSettings' },
    { type: 'addDirectories', directories: ['/srv/a', '/srv/b'], destination: 'projectSettings' },
    { type: 'removeDirectories', directories: ['/srv/a'], destination: 'projectSettings' },
    { type: 'addRules', rules: rules('session'), behavior: 'allow', destination: 'session' },
  ]
  const decision = { behavior: 'allow', updatedPermissions: updates }
  const output = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })
  const hooks = [{ hook_event_name: 'PermissionRequest', shell: 'sh', command: `cat <<'E'\n${output}\nE` }]
  const at = withRules(t, { allow: ['WebFetch'] }, { hooks })
  assert.equal((await evaluate(at, 'Bash', { command: 'touch x' })).is_error, false)
  const permissions = (file: string) => JSON.parse(readFileSync(file, 'utf8')).permissions
  assert.deepEqual(permissions(join(at.home, '.ona/settings.json')), { allow: ['Bash(user *)'] })
  assert.deepEqual(permissions(join(at.folder, '.ona/settings.json')), {
    ask: ['Bash(project *)'],
    additionalDirectories: ['/srv/b'],
  })
  assert.deepEqual(permissions(join(at.folder, '.ona/settings.local.json')), {
    deny: ['Bash(local *)'],
    defaultMode: 'plan',
  })
})

test('a hook cannot say yes to a call that a rule denies by changing its input', async (t) => {
  const decision = { behavior: 'allow', updatedInput: { command: 'rm keep' } }
  const output = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })
  const hooks = [{ hook_event_name: 'PermissionRequest', shell: 'sh', command: `cat <<'E'\n${output}\nE` }]
  const at = withRules(t, { deny: ['Bash(rm *)'] }, { hooks })
  at.write('keep', 'me')
  assert.match((await evaluate(at, 'Bash', { command: 'touch x' })).content, /the deny rule "Bash\(rm \*\)"/)
  assert.equal(existsSync(join(at.folder, 'keep')), true)
})

test('ona permissions test explains a decision without making it', async (t) => {
  const at = place(t)
  const words = ['permissions', 'test', 'Bash(git *)', '--tool', 'Bash', '--input', '{"command":"git status && ls"}']
  const told = await at.run(words)
  assert.deepEqual(
    [told.code, told.stdout],
    [
      0,
      [
        'ask: default mode prompts for Bash; no rule allows `ls`',
        '  mode      default',
        '  commands  git status',
        '            ls',
        '  to allow  Bash(ls *)',
        '',
      ].join('\n'),
    ],
  )
  const json = JSON.parse((await at.run([...words, '--json'])).stdout)
  assert.deepEqual([json.decision, json.commands], ['ask', ['git status', 'ls']])
  assert.deepEqual(at.rows.length > 0 && existsSync(at.db), false) // rules were given: no settings, no database
})

test('what only reads is allowed by the built-in rules, beside any deny rule, and shown as such', async (t) => {
  const at = withRules(t, { deny: ['Bash(rm *)'] })
  const told = await at.run(['permissions', 'test', '--tool', 'Bash', '--input', '{"command":"git status"}'])
  assert.match(
    told.stdout,
    /^allow: the built-in rule "Bash\(builtin:read-only\)"\n {2}rule {6}Bash\(builtin:read-only\) \(built-in\)/,
  )
  const decisionOf = async (tool: string, input: object) =>
    JSON.parse(
      (await at.run(['permissions', 'test', '--tool', tool, '--input', JSON.stringify(input), '--json'])).stdout,
    ).decision
  const calls: [tool: string, input: object, decision: string][] = [
    ['Read', { file_path: 'a.txt' }, 'allow'],
    ['Grep', { pattern: 'x' }, 'allow'],
    ['TodoWrite', { todos: [] }, 'allow'],
    ['Read', { file_path: '/etc/hostname' }, 'ask'],
    ['Read', { file_path: '.env' }, 'ask'],
    ['Read', { file_path: '~/.ona/credentials.json' }, 'deny'],
    ['Write', { file_path: 'a.txt', content: '' }, 'ask'],
  ]
  for (const [tool, input, decision] of calls)
    assert.deepEqual([tool, input, await decisionOf(tool, input)], [tool, input, decision])
  at.write('../home/.ona/settings.json', { builtinRules: false })
  assert.equal(await decisionOf('Read', { file_path: 'a.txt' }), 'ask')
})

test('without rules, those of the folder count', async (t) => {
  const at = withRules(t, { deny: ['Read(.env)'] })
  const told = await at.run(['permissions', 'test', '--tool', 'Read', '--input', '{"file_path":".env"}', '--json'])
  assert.equal(JSON.parse(told.stdout).rule, 'Read(.env)')
})

test('wrong usage of ona permissions is reported, and exits 2', async (t) => {
  const at = place(t)
  for (const words of [
    ['dance'],
    ['test'],
    ['test', '--tool', 'Bash', '--input', '['],
    ['test', '--tool', 'X', '--mode', 'auto'],
    ['test', '--nope'],
  ]) {
    const { code, stderr } = await at.run(['permissions', ...words])
    assert.equal(code, 2, words.join(' '))
    assert.match(stderr, /^(ona permissions.*): .* \1 --help shows how\n$/)
  }
  const help = await at.run(['permissions', '--help'])
  assert.deepEqual([help.code, help.stdout.includes('ona permissions test ')], [0, true])
})

test('every door starts in the mode of the settings, and --permission-mode goes before it', async (t) => {
  const at = withRules(t, { defaultMode: 'plan' })
  const touch = call('Bash', { command: 'touch made' })
  const model = await testModel(t, [touch, { text: 'done' }, touch, { text: 'done' }])
  const made = () => existsSync(join(at.folder, 'made'))
  const why = /plan mode does not allow Bash/
  assert.match((await evaluate(at, 'Bash', { command: 'touch made' })).content, why)
  const told = await at.run(['permissions', 'test', '--tool', 'Bash', '--input', '{"command":"touch made"}'])
  assert.match(told.stdout, why)
  await at.run(['-p', 'go'], { env: model.env })
  const [row] = at.rows<{ decision: string; reason_json: string }>(
    'SELECT decision, reason_json FROM tool_permission_log ORDER BY id DESC LIMIT 1',
  )
  assert.deepEqual([row!.decision, why.test(row!.reason_json), made()], ['deny', true, false])
  await at.run(['-p', 'go', '--permission-mode', 'bypassPermissions'], { env: model.env })
  assert.equal(made(), true)
})

test('a default mode that the settings forbid is not in force, and said so', async (t) => {
  const at = withRules(t, { defaultMode: 'bypassPermissions', disableBypassPermissionsMode: 'disable' })
  const { env } = await testModel(t, [{ text: 'done' }])
  const { stdout, stderr } = await at.run(['-p', 'go', '--verbose', '--output-format', 'stream-json'], { env })
  const [first] = stdout.split('\n')
  assert.equal(JSON.parse(first!).permissionMode, 'default')
  assert.match(stdout + stderr, /the settings forbid bypassPermissions; the mode is default/)
})
