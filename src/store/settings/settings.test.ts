import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Db, openDb } from '../open.ts'
import { hookGroups, loadSettings, type SettingsRequest } from './settings.ts'
import { isTrusted, trust } from './trust.ts'

/** A home, a project in it and a database; `write` puts a settings file somewhere under them. */
function world(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'ona-settings-'))
  const home = join(root, 'home')
  const cwd = join(root, 'project')
  const managed = join(root, 'managed')
  for (const folder of [home, cwd, managed]) mkdirSync(folder)
  const db = openDb(join(root, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(root, { recursive: true })
  })
  const write = (path: string, settings: unknown) => {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings))
    return file
  }
  const load = (more: Partial<SettingsRequest> = {}) =>
    loadSettings({ db, cwd, home, env: {}, managedDirs: [managed], ...more })
  return { root, home, cwd, db, write, load }
}

const snapshot = (db: Db) =>
  JSON.parse(db.get<{ json: string }>("SELECT json FROM settings_snapshot WHERE scope = 'effective'")!.json)
const operate = (db: Db, settings: unknown) =>
  db.run(
    "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', ?, datetime('now'))",
    typeof settings === 'string' ? settings : JSON.stringify(settings),
  )
const command = (text: string) => ({ type: 'command', command: text })
const nested = (text: string) => ({ PreToolUse: [{ matcher: 'Bash', hooks: [command(text)] }] })
const flat = (text: string, source: string) => ({
  hook_event_name: 'PreToolUse',
  matcher: 'Bash',
  ...command(text),
  source,
})

const builtinRules = ['Read(builtin:working-directories)', 'TodoWrite']

test('the built-in rules are the lowest layer of the snapshot, whatever the files say of permissions', (t) => {
  const { db, cwd, home, write, load } = world(t)
  assert.deepEqual(load({ builtinRules }).settings, { permissions: { allow: builtinRules }, hooks: [] })
  assert.deepEqual(snapshot(db), { permissions: { allow: builtinRules } })
  write('home/.ona/settings.json', { permissions: { deny: ['Bash'], allow: ['Write'] } })
  write('project/.ona/settings.json', { permissions: { deny: ['WebFetch'] }, builtinRules: false })
  const permissions = { allow: [...builtinRules, 'Write'], deny: ['Bash', 'WebFetch'] }
  assert.deepEqual(load({ builtinRules }).settings.permissions, permissions)
  assert.deepEqual(snapshot(db).permissions, permissions)
  trust(cwd, { home })
  assert.deepEqual(load({ builtinRules }).settings.permissions, { ...permissions, allow: ['Write'] })
})

test('managed settings turn the built-in rules off and on for everyone', (t) => {
  const { write, load } = world(t)
  write('home/.ona/settings.json', { builtinRules: false })
  assert.equal(load({ builtinRules }).settings.permissions, undefined)
  write('managed/managed-settings.json', { builtinRules: true })
  assert.deepEqual(load({ builtinRules }).settings.permissions?.allow, builtinRules)
  write('managed/managed-settings.json', { permissions: { allow: ['Read'] }, allowManagedPermissionRulesOnly: true })
  assert.deepEqual(load({ builtinRules }).settings.permissions?.allow, ['Read'])
})

test('a stronger level wins, lists add up, objects join; hooks keep where they came from', (t) => {
  const { home, cwd, write, load, db } = world(t)
  trust(cwd, { home })
  write('home/.ona/settings.json', {
    model: 'user',
    env: { A: 'user', B: 'user' },
    permissions: { allow: ['Read', 'Glob'], defaultMode: 'default' },
    hooks: nested('user.sh'),
    statusLine: { type: 'command', command: 'x', padding: 1 },
  })
  write('project/.ona/settings.json', {
    model: 'project',
    env: { B: 'project' },
    permissions: { allow: ['Glob', 'Grep'], deny: ['Bash(rm *)'] },
    hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', ...command('project.sh'), source: 'user' }],
    statusLine: { type: 'command', command: 'y' },
  })
  write('project/.ona/settings.local.json', { permissions: { defaultMode: 'acceptEdits' }, hooks: nested('local.sh') })
  write('managed/managed-settings.json', { model: 'managed', hooks: nested('managed.sh') })
  write('managed/managed-settings.d/10.json', { agent: 'reviewer' })
  const { settings, problems, sources } = load({ flags: { settings: '{"theme":"dark"}' } })
  assert.deepEqual(problems, [])
  assert.deepEqual(settings, {
    model: 'managed',
    env: { A: 'user', B: 'project' },
    permissions: { allow: ['Read', 'Glob', 'Grep'], defaultMode: 'acceptEdits', deny: ['Bash(rm *)'] },
    statusLine: { type: 'command', command: 'y' },
    theme: 'dark',
    agent: 'reviewer',
    hooks: [
      flat('managed.sh', 'managed'),
      flat('user.sh', 'user'),
      flat('project.sh', 'project'),
      flat('local.sh', 'local'),
    ],
  })
  assert.deepEqual(snapshot(db), settings)
  assert.deepEqual(
    sources.map(({ level }) => level),
    ['user', 'project', 'local', 'flag', 'managed', 'managed'],
  )
})

test('.claude is read at a level where .ona has no file', (t) => {
  const { home, cwd, write, load } = world(t)
  trust(cwd, { home })
  write('home/.claude/settings.json', { model: 'claude-user' })
  write('project/.claude/settings.json', { agent: 'claude-project' })
  assert.deepEqual([load().settings.model, load().settings.agent], ['claude-user', 'claude-project'])
  write('home/.ona/settings.json', { outputStyle: 'plain' })
  const { settings } = load()
  assert.deepEqual([settings.model, settings.outputStyle, settings.agent], [undefined, 'plain', 'claude-project'])
})

test('what only Claude Code knows does not stop us; the rest of its file counts', (t) => {
  const { write, load } = world(t)
  const file = write('home/.claude/settings.json', {
    permissions: { deny: ['Bash'], defaultMode: 'auto' },
    hooks: { ...nested('ours.sh'), DirectoryAdded: [{ hooks: [command('x')] }] },
    someNewKey: true,
  })
  const { settings, problems, warnings } = load()
  assert.deepEqual(problems, [])
  const hooks = [{ ...flat('ours.sh', 'user'), profile: 'claude' }]
  assert.deepEqual([settings.permissions, settings.hooks], [{ deny: ['Bash'] }, hooks])
  assert.equal(warnings.length, 2)
  assert.ok(warnings.every((text) => text.startsWith(`${file}: `) && text.endsWith('; it was left out')))
})

test('a guard at an event that only Claude Code raises refuses to start', (t) => {
  const { write, load } = world(t)
  const file = write('home/.claude/settings.json', { hooks: { PostToolBatch: [{ hooks: [command('x')] }] } })
  assert.deepEqual(load().problems, [
    {
      file,
      why: 'PostToolBatch hook: ona does not raise this event, so the hook would guard nothing; remove it, or copy the others to .ona/settings.json',
    },
  ])
})

test('what an operator stores stands until a file changes, also when another project ran in between', (t) => {
  const { root, home, db, write, load } = world(t)
  write('home/.ona/settings.json', { model: 'one' })
  load()
  operate(db, { hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'exit 2' }] })
  const theirs = [{ hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'exit 2', source: 'operator' }]
  assert.deepEqual(load().settings, { hooks: theirs })

  const other = join(root, 'other')
  write('other/.ona/settings.json', { permissions: { deny: ['Bash'] } })
  trust(other, { home })
  assert.deepEqual(load({ cwd: other }).settings, { model: 'one', permissions: { deny: ['Bash'] }, hooks: [] })
  assert.deepEqual(load().settings, { hooks: theirs })

  write('home/.ona/settings.json', { model: 'two' })
  assert.deepEqual(load().settings, { model: 'two', hooks: [] })
  write('home/.ona/settings.json', { model: 'one' })
  assert.deepEqual(load().settings.hooks, [], 'the change of the operator went when a file changed')
})

test('what an operator stored before the first start stands', (t) => {
  const { db, write, load } = world(t)
  write('home/.ona/settings.json', { model: 'one' })
  operate(db, { permissions: { deny: ['Bash'] } })
  assert.deepEqual(load().settings, { permissions: { deny: ['Bash'] }, hooks: [] })
})

test('the database can add to what the files guard with, and takes nothing away', (t) => {
  const { db, write, load } = world(t)
  write('home/.ona/settings.json', {
    permissions: {
      allow: ['Bash'],
      deny: ['Read(.env)', 'WebFetch'],
      ask: ['Write'],
      disableBypassPermissionsMode: 'disable',
    },
    hooks: nested('guard.sh'),
  })
  load()
  const mine = { hook_event_name: 'Stop', matcher: '', command: 'mine.sh', source: 'managed' }
  operate(db, {
    permissions: { allow: ['Bash', 'Write'], deny: ['WebFetch', 'Glob'], defaultMode: 'bypassPermissions' },
    disableAllHooks: true,
    hooks: [mine],
  })
  const { settings, warnings, differences } = load()
  const expected = {
    permissions: {
      allow: ['Bash', 'Write'],
      deny: ['WebFetch', 'Glob', 'Read(.env)'],
      ask: ['Write'],
      defaultMode: 'bypassPermissions',
      disableBypassPermissionsMode: 'disable',
    },
    hooks: [flat('guard.sh', 'user'), { ...mine, source: 'operator' }],
  }
  assert.deepEqual(settings, expected)
  assert.deepEqual(warnings, differences)
  assert.deepEqual(differences, [
    ...[
      'permissions.deny "Read(.env)"',
      'permissions.ask "Write"',
      'permissions.disableBypassPermissionsMode',
      'the hooks that "disableAllHooks" switched off',
      'hook PreToolUse Bash: guard.sh',
    ].map((what) => `settings_snapshot('effective') lacked ${what}, which the settings files require; it is restored`),
    'settings_snapshot(\'effective\') differs from the settings files: permissions.allow "Write", permissions.deny "Glob", permissions.defaultMode "bypassPermissions", hook Stop: mine.sh',
  ])
  assert.deepEqual(snapshot(db), expected, 'the record itself is rebuilt')
  assert.equal(db.get<{ n: number }>("SELECT count(*) AS n FROM events WHERE event_type = 'settings_restored'")!.n, 1)
  assert.deepEqual([load().settings, load().differences.length], [expected, 1])
})

test('hooks that the settings switch off are listed as withheld', (t) => {
  const { write, load } = world(t)
  write('home/.ona/settings.json', { hooks: nested('user.sh'), disableAllHooks: true })
  assert.deepEqual(hookGroups(load()), [
    {
      source: 'user',
      withheld: 'hooks_disabled',
      hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', type: 'command', command: 'user.sh' }],
    },
  ])
})

test('bare keeps what the record denies and asks about', (t) => {
  const { db, load } = world(t)
  operate(db, { permissions: { allow: ['Bash'], deny: ['WebFetch'], ask: ['Write'] }, hooks: nested('guard.sh') })
  const { settings } = load({ flags: { bare: true } })
  assert.deepEqual(settings, {
    permissions: { deny: ['WebFetch'], ask: ['Write'] },
    hooks: [],
  })
})

test('a start that changes nothing writes nothing', (t) => {
  const { db, write, load } = world(t)
  write('home/.ona/settings.json', { model: 'one' })
  load()
  const changes = () => db.get<{ n: number }>('SELECT total_changes() AS n')!.n
  const before = changes()
  load()
  assert.equal(changes(), before)
})

test('an untrusted folder can forbid and ask, and nothing else; the user is told', (t) => {
  const { home, cwd, write, load } = world(t)
  const file = write('project/.ona/settings.json', {
    permissions: { allow: ['Bash'], deny: ['Write'], ask: ['Edit'], defaultMode: 'bypassPermissions' },
    hooks: nested('evil.sh'),
    env: { PATH: '/evil' },
    apiKeyHelper: 'evil',
    statusLine: { type: 'command', command: 'evil' },
    mcpServers: { evil: { command: 'evil' } },
    model: 'evil',
  })
  const { settings, heldBack, trusted, warnings } = load()
  assert.deepEqual(settings, { permissions: { deny: ['Write'], ask: ['Edit'] }, hooks: [] })
  const keys = [
    'permissions.allow',
    'permissions.defaultMode',
    'hooks',
    'env',
    'apiKeyHelper',
    'statusLine',
    'mcpServers',
    'model',
  ]
  const hooks = [flat('evil.sh', 'project')]
  assert.deepEqual({ heldBack, trusted }, { heldBack: [{ level: 'project', file, keys, hooks }], trusted: false })
  const { source, ...entry } = hooks[0]!
  assert.deepEqual(hookGroups(load()), [{ source, hooks: [entry], withheld: 'untrusted_workspace' }])
  assert.deepEqual(warnings, [
    `${file}: this folder is not trusted, so ${keys.join(', ')} do not apply; ona --trust trusts it`,
  ])
  assert.equal(load({ flags: { trust: true } }).settings.model, 'evil')
  trust(cwd, { home })
  assert.equal(load().settings.hooks.length, 1)
})

test('managed settings trust folders, and cannot be edited away in the database', (t) => {
  const { cwd, db, write, load } = world(t)
  write('project/.ona/settings.json', { model: 'project' })
  write('managed/managed-settings.json', {
    trustedDirectories: [dirname(cwd)],
    permissions: { deny: ['WebFetch'] },
    hooks: nested('managed.sh'),
  })
  assert.equal(load().settings.model, 'project')
  operate(db, { model: 'operator' })
  assert.deepEqual(load().settings, {
    model: 'operator',
    trustedDirectories: [dirname(cwd)],
    permissions: { deny: ['WebFetch'] },
    hooks: [flat('managed.sh', 'managed')],
  })
})

test('managed settings can be the only source of hooks and rules, and their hooks survive disableAllHooks', (t) => {
  const { write, load } = world(t)
  write('home/.ona/settings.json', {
    permissions: { allow: ['Bash'] },
    hooks: nested('user.sh'),
    disableAllHooks: true,
  })
  write('managed/managed-settings.json', { hooks: nested('managed.sh') })
  assert.deepEqual(load().settings.hooks, [flat('managed.sh', 'managed')])
  write('managed/managed-settings.json', {
    hooks: nested('managed.sh'),
    allowManagedHooksOnly: true,
    allowManagedPermissionRulesOnly: true,
    permissions: { deny: ['Write'] },
  })
  write('home/.ona/settings.json', { permissions: { allow: ['Bash'], deny: ['Read'] }, hooks: nested('user.sh') })
  const { settings } = load()
  assert.deepEqual(settings.hooks, [flat('managed.sh', 'managed')])
  assert.deepEqual(settings.permissions, { deny: ['Write'] })
})

test('where only managed MCP servers count, nobody else can allow one, and everybody can forbid one', (t) => {
  const { write, load } = world(t)
  const [ours, theirs, other] = ['ours', 'theirs', 'other'].map((serverName) => ({ serverName }))
  write('home/.ona/settings.json', { allowedMcpServers: [theirs], deniedMcpServers: [other] })
  write('managed/managed-settings.json', { allowManagedMcpServersOnly: true, allowedMcpServers: [ours] })
  const { settings } = load()
  assert.deepEqual([settings['allowedMcpServers'], settings['deniedMcpServers']], [[ours], [other]])
  write('managed/managed-settings.json', { allowManagedMcpServersOnly: true })
  assert.deepEqual(load().settings['allowedMcpServers'], [])
  write('managed/managed-settings.json', { allowManagedMcpServersOnly: false, allowedMcpServers: [ours] })
  assert.deepEqual(load().settings['allowedMcpServers'], [theirs, ours])
})

test('only managed settings may say what counts in managed settings only', (t) => {
  const { write, load } = world(t)
  const file = write('home/.ona/settings.json', { trustedDirectories: ['/'], allowManagedHooksOnly: true })
  assert.deepEqual(load().warnings, [
    `${file}: trustedDirectories counts in managed settings only; it was left out`,
    `${file}: allowManagedHooksOnly counts in managed settings only; it was left out`,
  ])
})

test('a wrong value is a problem that names the file, the place and what fits; nothing is imported', (t) => {
  const { db, write, load } = world(t)
  const cases: [unknown, string][] = [
    ['{"model": "a"', "is not JSON: Expected ',' or '}' after property value at line 1, column 14"],
    ['[]', 'must hold an object: { … }'],
    [
      { permissions: { defaultMode: 'auto' } },
      'permissions.defaultMode must be one of default, acceptEdits, bypassPermissions, plan, dontAsk',
    ],
    [{ permissions: { deny: 'Bash' } }, 'permissions.deny must be a list, not a string'],
    [{ env: { A: 1 } }, 'env.A must be a string, not a number'],
    [{ disableAllHooks: 'yes' }, 'disableAllHooks must be true or false, not a string'],
  ]
  for (const [settings, why] of cases) {
    const file = write('home/.ona/settings.json', settings)
    assert.deepEqual(load().problems, [{ file, why }])
  }
  assert.equal(db.get('SELECT 1 FROM settings_snapshot'), undefined)
})

test('what is in the place of a file but is none does not hold us up', (t) => {
  const { home, load } = world(t)
  const file = join(home, '.ona', 'settings.json')
  mkdirSync(join(home, '.ona'))
  const { status } = spawnSync('mkfifo', [file])
  if (status !== 0) mkdirSync(file)
  const why = 'is not a file; settings are a JSON file'
  assert.deepEqual(load().problems, [{ file, why }])
  const missing = load({ flags: { settings: '/not/there.json', bare: true } }).problems[0]!
  assert.deepEqual([missing.file, missing.why], ['/not/there.json', 'cannot be read: there is no such file'])
})

test('a misspelt event is a problem, in both shapes', (t) => {
  const { write, load } = world(t)
  for (const hooks of [{ PreToolUs: [] }, [{ hook_event_name: 'PreToolUs', command: 'x' }]]) {
    write('home/.ona/settings.json', { hooks })
    const [problem] = load().problems
    assert.match(problem!.why, /PreToolUs.*PreToolUse/)
  }
})

test('a wrong mode does not take the deny rules with it', (t) => {
  const { write, load } = world(t)
  write('home/.ona/settings.json', { permissions: { defaultMode: 'auto', deny: ['Bash'] } })
  assert.deepEqual(load().settings.permissions, { deny: ['Bash'] })
})

test('a rule that cannot be used is left out with a warning, the others stay', (t) => {
  const { write, load } = world(t)
  const file = write('home/.ona/settings.json', { permissions: { allow: ['Read', '', 7, 'bash(x)'] } })
  const { settings, warnings, problems } = load({
    checkRule: (rule) => (rule.startsWith('b') ? 'tool names start with a capital' : undefined),
  })
  assert.deepEqual([settings.permissions, problems], [{ allow: ['Read'] }, []])
  assert.deepEqual(warnings, [
    `${file}: permissions.allow: invalid permission rule "" was skipped: a rule is a text such as "Bash(npm test *)"`,
    `${file}: permissions.allow: invalid permission rule 7 was skipped: a rule is a text such as "Bash(npm test *)"`,
    `${file}: permissions.allow: invalid permission rule "bash(x)" was skipped: tool names start with a capital`,
  ])
})

test('a deny or ask rule that cannot be read, and a hook of a kind we do not support, are problems in any file', (t) => {
  for (const file of ['home/.ona/settings.json', 'home/.claude/settings.json']) {
    const { write, load } = world(t)
    const written = write(file, {
      permissions: { deny: ['bash(x)'], ask: [''] },
      hooks: { PreToolUse: [{ hooks: [{ type: 'agent', prompt: 'x' }] }] },
    })
    const checkRule = (rule: string) => (rule.startsWith('b') ? 'tool names start with a capital' : undefined)
    assert.deepEqual(
      load({ checkRule }).problems.map(({ why }) => why.replace(/^PreToolUse hook: /, '').replace(/^hooks[^ ]* /, '')),
      [
        'permissions.deny: invalid permission rule "bash(x)": tool names start with a capital; correct or remove it',
        'permissions.ask: invalid permission rule "": a rule is a text such as "Bash(npm test *)"; correct or remove it',
        'is "agent", a kind of hook that ona does not run; use "command", "prompt" or "http"',
      ],
      written,
    )
  }
})

test('hookFailure of any file holds, and of managed settings is forced', (t) => {
  const { db, write, load } = world(t)
  assert.equal(load().hookFailure, undefined)
  write('home/.ona/settings.json', { hookFailure: 'refuse' })
  write('project/.ona/settings.json', { hookFailure: 'proceed' })
  assert.equal(load({ flags: { trust: true } }).hookFailure, 'refuse')
  write('managed/managed-settings.json', { hookFailure: 'refuse' })
  assert.equal(load().hookFailure, 'forced')
  db.run('UPDATE settings_snapshot SET json = \'{"hookFailure":"refuse","theme":"dark"}\'')
  const { hookFailure, settings } = load()
  assert.deepEqual([hookFailure, settings.theme], ['forced', 'dark'], 'whatever the record says')
})

test('a key that nobody knows is kept, and warned about once', (t) => {
  const { db, write, load } = world(t)
  const file = write('home/.ona/settings.json', { myTool: { a: [1] } })
  assert.deepEqual(load().warnings, [`${file}: ona does not know myTool; kept, and without effect`])
  assert.deepEqual(load().warnings, [])
  assert.deepEqual([snapshot(db).myTool, load().settings['myTool']], [{ a: [1] }, { a: [1] }])
  write('home/.ona/settings.json', { spinnerTipsEnabled: true, disableSkillShellExecution: true })
  assert.deepEqual(load().warnings, [
    `${file}: ona does not know spinnerTipsEnabled, disableSkillShellExecution; kept, and without effect`,
  ])
})

test('a mistyped key of the sandbox is warned about, and a project cannot switch the sandbox off', (t) => {
  const { write, load } = world(t)
  const file = write('home/.ona/settings.json', {
    sandbox: { enabled: true, allowUnsandboxedCommands: false, filesystem: { denyread: ['x'] } },
  })
  write('project/.ona/settings.json', {
    sandbox: { enabled: false, allowUnsandboxedCommands: true, filesystem: { denyRead: ['y'], allowWrite: ['/z'] } },
  })
  const loaded = load({ flags: { trust: true } })
  assert.deepEqual(loaded.settings.sandbox, {
    enabled: true,
    allowUnsandboxedCommands: false,
    filesystem: { denyread: ['x'], denyRead: ['y'], allowWrite: ['/z'] },
  })
  assert.deepEqual(loaded.warnings, [
    `${file}: ona does not know sandbox.filesystem.denyread; kept, and without effect`,
  ])
  const untrusted = load({ flags: { trust: false } })
  assert.deepEqual(untrusted.settings.sandbox?.filesystem, { denyread: ['x'], denyRead: ['y'] })
})

test('a model_config with any other key or a secret is refused and never stored', (t) => {
  const { db, write, load } = world(t)
  const good = { provider: 'openai_compatible', model_id: 'gpt_4o' }
  for (const more of [
    { api_key: 'x' },
    { Authorization: 'Bearer x' },
    { temperature: 1 },
    { model_id: `sk-ant-${'a'.repeat(20)}` },
  ]) {
    const file = write('home/.ona/settings.json', { model_config: { ...good, ...more } })
    const { problems, settings } = load()
    assert.equal(problems.length, 1)
    assert.equal(problems[0]!.file, file)
    assert.match(problems[0]!.why, /^model_config\..*provider and model_id and nothing else/)
    assert.equal(settings.model_config, undefined)
  }
  assert.equal(db.get('SELECT 1 FROM settings_snapshot'), undefined)
  write('home/.ona/settings.json', { model_config: good })
  assert.deepEqual([load().problems, load().settings.model_config], [[], good])
})

test('secrets in files reach the process and never the database', (t) => {
  const { db, write, load, root } = world(t)
  const key = `sk-ant-api03-${'Zq9'.repeat(10)}`
  write('home/.ona/settings.json', {
    env: {
      ANTHROPIC_API_KEY: 'plain-looking-value',
      MAX_TOKENS: '4096',
      GREETING: 'hello',
      DB: 'postgres://me:open-sesame-9@db/x',
    },
    mcpServers: { docs: { url: 'https://x', headers: { Authorization: `Bearer ${key}` } } },
    hooks: nested(`curl -H "x-api-key: ${key}" https://audit`),
  })
  const { settings, problems } = load()
  assert.deepEqual(problems, [])
  assert.deepEqual(settings.env, {
    ANTHROPIC_API_KEY: 'plain-looking-value',
    MAX_TOKENS: '4096',
    GREETING: 'hello',
    DB: 'postgres://me:open-sesame-9@db/x',
  })
  assert.match(String(settings.hooks[0]!['command']), /sk-ant-api03/)
  const stored =
    JSON.stringify(db.all('SELECT * FROM settings_snapshot')) +
    JSON.stringify(db.all('SELECT * FROM ona_settings_imports'))
  assert.ok(
    !stored.includes(key) && !stored.includes('plain-looking-value') && !stored.includes('sesame'),
    `stored in ${root}`,
  )
  assert.ok(stored.includes('4096') && stored.includes('hello'))
  assert.deepEqual(load().settings, settings, 'the next start has them too')
})

test('a broken snapshot is a problem, and the files count', (t) => {
  const { db, write, load } = world(t)
  write('home/.ona/settings.json', { permissions: { deny: ['Bash'] } })
  load()
  operate(db, '{"permissions":')
  const { problems, settings } = load()
  assert.deepEqual(settings.permissions, { deny: ['Bash'] })
  assert.equal(problems[0]!.file, "settings_snapshot('effective')")
})

test('comments and trailing commas are allowed', (t) => {
  const { write, load } = world(t)
  write('home/.ona/settings.json', '\ufeff// mine\n{ "model": "a//b", /* x */ "theme": "dark", }\n')
  const { settings, problems } = load()
  assert.deepEqual([settings.model, settings.theme, problems], ['a//b', 'dark', []])
})

test('bare uses nothing but managed settings and --settings, and leaves the snapshot alone', (t) => {
  const { db, write, load } = world(t)
  write('home/.ona/settings.json', { model: 'user', hooks: nested('user.sh') })
  operate(db, { model: 'operator' })
  const file = write('given.json', { apiKeyHelper: 'helper' })
  assert.deepEqual(load({ flags: { bare: true, settings: file } }).settings, {
    apiKeyHelper: 'helper',
    hooks: [],
  })
  assert.deepEqual(snapshot(db), { model: 'operator' })
})

test('a folder is trusted with all below it; the home folder is never remembered', (t) => {
  const { root, home, cwd, load } = world(t)
  const inner = join(cwd, 'packages', 'a')
  mkdirSync(inner, { recursive: true })
  mkdirSync(join(cwd, '.git'))
  assert.equal(isTrusted(inner, { home }), false)
  assert.equal(trust(inner, { home }), true)
  assert.deepEqual(
    [load().trusted, load({ flags: { trust: false } }).trusted, load({ flags: { trust: true } }).trusted],
    [true, true, true],
    'without the flag, what was remembered counts',
  )
  assert.deepEqual(
    [cwd, inner, `${cwd}-2`, root, join(cwd, '..')].map((folder) => isTrusted(folder, { home })),
    [true, true, false, false, false],
  )
  assert.deepEqual([trust(home, { home }), trust(root, { home }), isTrusted(home, { home })], [false, false, false])
})
