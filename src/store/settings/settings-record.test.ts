/** What a start makes of the files and the settings of record: hooks, differences, secrets, managed lists, `--bare`. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createConversation } from '../conversations.ts'
import { type Db, inMemory, openDb } from '../open.ts'
import { hookGroups, hooksOf, loadSettings, type SettingsFlags, type SettingsRequest } from './settings.ts'
import { readLayers, settingsFile, settingsFileToWrite, systemDirs } from './settings-files.ts'
import { settingsOfRecord, snapshotOf } from './settings-snapshot.ts'

function world(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-record-')))
  const db = openDb(inMemory)
  t.after(() => {
    db.close()
    rmSync(root, { recursive: true })
  })
  const write = (path: string, content: unknown) => {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  }
  mkdirSync(join(root, 'w'))
  const places = { cwd: join(root, 'w'), home: join(root, 'h'), env: {}, managedDirs: [join(root, 'm')] }
  const load = (more: Partial<SettingsRequest> = {}) => loadSettings({ db, ...places, ...more })
  const store = (json: unknown) =>
    db.run(
      "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', ?, '2020-01-01 00:00:00')",
      typeof json === 'string' ? json : JSON.stringify(json),
    )
  return { root, db, places, write, load, store }
}
const record = "settings_snapshot('effective')"
const isUpdatedNow = (db: Db) => {
  const { updated } = db.get<{ updated: string }>(
    "SELECT updated_at AS updated FROM settings_snapshot WHERE scope = 'effective'",
  )!
  return Math.abs(Date.parse(`${updated}Z`) - Date.now()) < 120_000
}
const stop = (command: string, more: object = {}) => ({ hook_event_name: 'Stop', matcher: '', command, ...more })

test('where it was loaded, and whether hooks run there at all', (t) => {
  const { places, load, write } = world(t)
  const { cwd, home } = places
  assert.deepEqual(load().place, { cwd, home, hooksRun: true })
  assert.deepEqual(
    ['1', '0', ''].map((value) => load({ env: { SDLC_DISABLE_ALL_HOOKS: value } }).place.hooksRun),
    [false, true, true],
  )
  const file = (name: string) =>
    `export const ${name} = { kind: 'function', name: '${name}', event: 'Stop', source: { kind: 'sdk' }, run() {} }`
  write('w/hook.mjs', file('ofFolder'))
  write('h/user.mjs', file('ofUser'))
  const hook = (path: string) => ({ hook_event_name: 'Stop', type: 'function', file: path })
  write('w/.ona/settings.json', { hooks: [hook('./hook.mjs')] })
  write('h/.ona/settings.json', { hooks: [hook('~/user.mjs')] })
  const names = (env: NodeJS.ProcessEnv) =>
    hooksOf(load({ flags: { trust: true }, env })).handlers.map((each) => each.kind === 'function' && each.name)
  assert.deepEqual(names({}), ['ofUser in ~/user.mjs', 'ofFolder in ./hook.mjs'])
  assert.deepEqual(names({ SDLC_DISABLE_ALL_HOOKS: '1' }), ['~/user.mjs', './hook.mjs'], 'no file is loaded')
})

test('hooks that are held back reach the plane as withheld, with the reason', (t) => {
  const { write, load } = world(t)
  write('w/.ona/settings.json', { hooks: [stop('theirs')] })
  write('h/.ona/settings.json', { hooks: [stop('mine')], disableAllHooks: true })
  const loaded = load()
  assert.deepEqual(hookGroups(loaded), [
    { source: 'user', hooks: [stop('mine')], withheld: 'hooks_disabled' },
    { source: 'project', hooks: [stop('theirs')], withheld: 'untrusted_workspace' },
  ])
  assert.deepEqual(
    hooksOf(loaded).handlers.map((each) => each.kind === 'command' && [each.command, each.withheld]),
    [
      ['mine', 'hooks_disabled'],
      ['theirs', 'untrusted_workspace'],
    ],
  )
})

test('a folder that only restricts holds nothing back; one key does not apply, several do not', (t) => {
  const { write, load } = world(t)
  const file = write('w/.ona/settings.json', { permissions: { deny: ['Bash'] } })
  const { heldBack, warnings, trusted, sources } = load()
  assert.deepEqual([heldBack, warnings, trusted, sources], [[], [], false, [{ level: 'project', file }]])
  assert.equal(load({ flags: { trust: true } }).trusted, true)
  write('w/.ona/settings.json', { model: 'm' })
  assert.deepEqual(load().warnings, [
    `${file}: this folder is not trusted, so model does not apply; ona --trust trusts it`,
  ])
  const local = write('w/.ona/settings.local.json', { theme: 'dark', model: 'n' })
  assert.equal(
    load().warnings[1],
    `${local}: this folder is not trusted, so theme, model do not apply; ona --trust trusts it`,
  )
  assert.deepEqual(
    load().heldBack.map(({ level, file, keys }) => [level, file, keys]),
    [
      ['project', file, ['model']],
      ['local', local, ['theme', 'model']],
    ],
  )
})

test('each set of flags has its own import, and what was in force returns with it', (t) => {
  const { db, write, load, store } = world(t)
  write('h/.ona/settings.json', { model: 'user' })
  write('w/.ona/settings.json', { theme: 'dark' })
  load({ flags: { trust: true } })
  store({ model: 'operator' })
  const flags: SettingsFlags[] = [
    { trust: true, settings: '{"theme":"flag"}' },
    { trust: true, sources: ['user'] },
    { trust: true, sources: ['user', 'project'], settings: '{"agent":"a"}' },
  ]
  assert.deepEqual(
    flags.map((each) => load({ flags: each }).settings.theme),
    ['flag', undefined, 'dark'],
  )
  assert.deepEqual(
    db
      .all<{ project: string }>('SELECT project FROM ona_settings_imports ORDER BY project')
      .map(({ project }) => project.slice(project.indexOf('/w'))),
    ['/w', '/w --settings', '/w --settings user project', '/w user'],
  )
  assert.equal(load({ flags: { trust: true } }).settings.model, 'operator')
  load({ flags: flags[1]! })
  store({ model: 'operator of another' })
  for (const [each, model] of [
    [{ trust: true }, 'operator'],
    [flags[1]!, 'operator of another'],
  ] as const)
    assert.equal(load({ flags: each }).settings.model, model)
})

test('the record restores what a start lacks, says so in an event, and not while it has a problem', (t) => {
  const { db, write, load, store } = world(t)
  write('h/.ona/settings.json', { permissions: { deny: ['Bash'] } })
  db.run("INSERT INTO settings_snapshot(scope, json, updated_at) VALUES ('another', '{\"model\":\"x\"}', '2020')")
  load()
  assert.equal(isUpdatedNow(db), true)
  createConversation(db, { projectDir: '/', id: 'c' })
  store({ permissions: { defaultMode: 'all' } })
  const bad = load()
  assert.deepEqual(bad.problems, [
    {
      file: record,
      why: 'permissions.defaultMode must be one of default, acceptEdits, bypassPermissions, plan, dontAsk',
    },
  ])
  assert.deepEqual(
    [bad.settings.permissions, snapshotOf(db)],
    [{ deny: ['Bash'] }, '{"permissions":{"defaultMode":"all"}}'],
  )
  store({ hookFailure: 'refuse', myKey: 1, permissions: { allow: [7, 'Read'] } })
  const loaded = load()
  assert.equal(loaded.hookFailure, 'refuse')
  assert.deepEqual(loaded.settings, {
    hookFailure: 'refuse',
    myKey: 1,
    permissions: { allow: ['Read'], deny: ['Bash'] },
    hooks: [],
  })
  const lacked = `${record} lacked permissions.deny "Bash", which the settings files require; it is restored`
  assert.deepEqual(loaded.differences, [
    lacked,
    `${record} differs from the settings files: permissions.allow "Read", myKey`,
  ])
  assert.deepEqual(loaded.warnings, [
    `${record}: permissions.allow: invalid permission rule 7 was skipped: a rule is a text such as "Bash(npm test *)"`,
    ...loaded.differences,
  ])
  assert.deepEqual(
    db
      .all<{ detail: string }>('SELECT conversation_id, session_id, event_type, detail FROM events')
      .map((row) => ({ ...row, detail: JSON.parse(row.detail) })),
    [
      {
        conversation_id: 'c',
        session_id: null,
        event_type: 'settings_restored',
        detail: { restored: ['permissions.deny "Bash"'] },
      },
    ],
  )
  assert.equal(isUpdatedNow(db), true)
  assert.equal(
    db.get<{ json: string }>("SELECT json FROM settings_snapshot WHERE scope = 'another'")?.json,
    '{"model":"x"}',
  )
  assert.deepEqual(JSON.parse(snapshotOf(db)!), {
    hookFailure: 'refuse',
    myKey: 1,
    permissions: { allow: ['Read'], deny: ['Bash'] },
  })
})

test('what an operator adds is one difference, and what is restored alone is none', (t) => {
  const { db, write, load, store } = world(t)
  const file = write('h/.ona/settings.json', { permissions: { deny: ['Bash'] } })
  const usual = load()
  store({ permissions: { deny: ['Bash'] }, allowManagedHooksOnly: true, theme: 'dark' })
  const differs = [`${record} differs from the settings files: theme`]
  const { settings, warnings, differences, ...loaded } = load()
  assert.deepEqual([warnings, differences], [differs, differs])
  assert.deepEqual(settings, { permissions: { deny: ['Bash'] }, allowManagedHooksOnly: true, theme: 'dark', hooks: [] })
  assert.deepEqual({ ...usual, ...loaded }, usual, 'the rest is as it was')
  assert.deepEqual(loaded.sources, [{ level: 'user', file }])
  assert.equal(db.get('SELECT 1 FROM events'), undefined)
  store({})
  assert.deepEqual(load().differences, [
    `${record} lacked permissions.deny "Bash", which the settings files require; it is restored`,
  ])
})

test('variables that are not for a repository are named together', (t) => {
  const { write, load } = world(t)
  const file = write('w/.ona/settings.json', { env: { PATH: '/evil', HOME: '/evil', A: 'b' } })
  assert.deepEqual(load({ flags: { trust: true } }).warnings, [
    `${file}: PATH, HOME ignored: set it in the environment, in ~/.ona/settings.json or in managed settings`,
  ])
})

test('without a conversation the event of a restored record belongs to none', (t) => {
  const { db, write, load, store } = world(t)
  write('h/.ona/settings.json', { permissions: { deny: ['Bash'] } })
  load()
  store({})
  load()
  assert.deepEqual(
    db.all('SELECT conversation_id AS id FROM events').map((row) => ({ ...(row as object) })),
    [{ id: 'none' }],
  )
})

test('a secret that no file has any more is a problem that names its place', (t) => {
  const { write, load, store } = world(t)
  write('h/.ona/settings.json', { env: { API_TOKEN: 'hunter2hunter2' } })
  assert.deepEqual(load().settings.env, { API_TOKEN: 'hunter2hunter2' })
  store({
    env: { API_TOKEN: '[secret: kept in the settings file]', OTHER_TOKEN: '[secret: kept in the settings file]' },
  })
  const { problems, settings } = load()
  assert.deepEqual(problems, [
    {
      file: record,
      why: 'env.OTHER_TOKEN was kept out of the database because it holds a secret, and no file has it now; set it again',
    },
  ])
  assert.equal(settings.env?.['API_TOKEN'], 'hunter2hunter2')
})

test('a restored record has no secret of the files in it', (t) => {
  const { db, write, load, store } = world(t)
  write('h/.ona/settings.json', { env: { API_TOKEN: 'hunter2hunter2' }, permissions: { deny: ['Bash'] } })
  load()
  const kept = { env: { API_TOKEN: '[secret: kept in the settings file]' } }
  store(kept)
  assert.deepEqual(load().settings.env, { API_TOKEN: 'hunter2hunter2' })
  assert.deepEqual(JSON.parse(snapshotOf(db)!), { ...kept, permissions: { deny: ['Bash'] } })
})

test('managed settings hold over the record: values, variables and each hook once', (t) => {
  const { write, load, store } = world(t)
  write('m/managed-settings.json', { model: 'managed', env: { A: '1' }, hooks: [stop('guard')] })
  write('h/.ona/settings.json', { env: { A: '0', U: '3' }, theme: 'dark' })
  const { managed, managedEnv } = load()
  assert.deepEqual(
    [managed, managedEnv],
    [{ model: 'managed', env: { A: '1' }, hooks: [stop('guard', { source: 'managed' })] }, { A: '1' }],
  )
  store({ model: 'mine', env: { A: '2', B: '2' }, hooks: [stop('mine')] })
  const { settings, hookFailure, ...stored } = load()
  assert.deepEqual([stored.managed, stored.managedEnv], [managed, managedEnv])
  assert.deepEqual(settings, {
    model: 'managed',
    env: { A: '1', B: '2' },
    hooks: [stop('guard', { source: 'managed' }), stop('mine', { source: 'operator' })],
  })
  assert.equal(hookFailure, undefined)
})

test('lists of the sandbox that an administrator keeps to themselves count from nobody else', (t) => {
  const { write, load } = world(t)
  const user = { network: { allowedDomains: ['user.example'] }, filesystem: { allowRead: ['/u'], denyRead: ['/x'] } }
  const sandboxOf = (managed: object, own: unknown = user) => {
    write('h/.ona/settings.json', { sandbox: own })
    write('m/managed-settings.json', managed)
    return load().settings.sandbox
  }
  const domains = { allowManagedDomainsOnly: true }
  assert.deepEqual(
    [
      sandboxOf({}),
      sandboxOf({ sandbox: { network: { ...domains, allowedDomains: ['corp.example'] } } }),
      sandboxOf({
        sandbox: { network: domains },
        permissions: {
          allow: ['WebFetch(domain:docs.example)', 'WebFetch', 'xWebFetch(domain:a)', 'WebFetch(domain:a)x', 'Read'],
        },
      }),
      sandboxOf({ sandbox: { network: { allowManagedDomainsOnly: false, allowedDomains: ['corp.example'] } } }),
      sandboxOf({
        sandbox: { filesystem: { allowManagedReadPathsOnly: true, allowRead: ['/m'] } },
        permissions: { allow: ['WebFetch(domain:a)'] },
      }),
      sandboxOf(
        {},
        {
          network: { ...domains, allowedDomains: ['user.example'] },
          filesystem: { allowManagedReadPathsOnly: true, allowRead: ['/u'] },
        },
      ),
      sandboxOf({ sandbox: { network: domains } }, { enabled: true }),
      sandboxOf({ theme: 'dark' }, { enabled: true }),
    ],
    [
      user,
      { ...user, network: { ...domains, allowedDomains: ['corp.example'] } },
      { ...user, network: { ...domains, allowedDomains: ['docs.example'] } },
      { ...user, network: { allowedDomains: ['user.example', 'corp.example'] } },
      { ...user, filesystem: { denyRead: ['/x'], allowManagedReadPathsOnly: true, allowRead: ['/m'] } },
      { network: { allowedDomains: ['user.example'] }, filesystem: { allowRead: ['/u'] } },
      { enabled: true, network: { ...domains, allowedDomains: [] } },
      { enabled: true },
    ],
  )
})

test('bare: unknown keys are named at every start, the hooks of record are listed, and a broken record holds nothing up', (t) => {
  const { write, load, store } = world(t)
  const file = write('given.json', { myKey: 1, hooks: [stop('given')], disableAllHooks: true })
  const bare = () => load({ flags: { bare: true, settings: file } })
  store({ hooks: [stop('x')], sandbox: { enabled: true }, permissions: { deny: ['A'] } })
  for (let start = 0; start < 2; start++) {
    const { warnings, settings, disabledHooks } = bare()
    assert.deepEqual(warnings, [`${file}: ona does not know myKey; kept, and without effect`])
    assert.deepEqual(settings, {
      sandbox: { enabled: true },
      permissions: { deny: ['A'] },
      myKey: 1,
      disableAllHooks: true,
      hooks: [],
    })
    assert.deepEqual(disabledHooks, [
      { hook: stop('given', { source: 'flag' }), withheld: 'hooks_disabled' },
      { hook: stop('x', { source: 'operator' }), withheld: 'bare_mode' },
    ])
  }
  const given = load({ flags: { bare: true, settings: '{"sandbox":{"enabled":false},"permissions":{"deny":["B"]}}' } })
  assert.deepEqual(
    [given.settings.sandbox, given.settings.permissions],
    [{ enabled: false }, { deny: ['A', 'B'] }],
    'the command line goes before the record, and its rules add up',
  )
  store('[]')
  assert.deepEqual(load().problems, [{ file: record, why: 'must hold an object: { … }' }])
  store('{')
  assert.deepEqual(bare().settings, { myKey: 1, disableAllHooks: true, hooks: [] })
  const problem = write('h/.ona/settings.json', { model: 7, hooks: [stop('y')], disableAllHooks: true })
  const { problems, disabledHooks } = load()
  assert.deepEqual(
    [problems.map(({ file }) => file), disabledHooks],
    [[problem], [{ hook: stop('y', { source: 'user' }), withheld: 'hooks_disabled' }]],
  )
})

test('the files of each level: ours first, and one file counts once', (t) => {
  const { root, places, write } = world(t)
  const at = (...names: string[]) => join(root, ...names)
  const levels = ['user', 'project', 'local'] as const
  const files = () => levels.map((level) => settingsFile(level, places))
  assert.deepEqual(files(), [undefined, undefined, undefined])
  assert.deepEqual(
    levels.map((level) => settingsFileToWrite(level, places)),
    [at('h/.ona/settings.json'), at('w/.ona/settings.json'), at('w/.ona/settings.local.json')],
  )
  const theirs = [at('h/.claude/settings.json'), at('w/.claude/settings.json'), at('w/.claude/settings.local.json')]
  for (const file of theirs) write(file.slice(root.length), { model: 'x' })
  assert.deepEqual(files(), theirs)
  const layers = (more: object = {}) =>
    readLayers({ ...places, ...more }).layers.map(({ level, file, foreign }) => [level, file, foreign])
  assert.deepEqual(layers(), [
    ['user', theirs[0], true],
    ['project', theirs[1], true],
    ['local', theirs[2], true],
  ])
  assert.deepEqual(layers({ cwd: places.home }), [['user', theirs[0], true]], 'in the home folder it is one file')
  assert.deepEqual(layers({ env: { CLAUDE_CONFIG_DIR: '' } }), layers(), 'a variable without a value is not set')
  assert.deepEqual(layers({ sources: ['local'] }), [['local', theirs[2], true]])
  assert.deepEqual(readLayers({ ...places, sources: [], settings: '' }).problems, [
    { file: '', why: 'is not a file; settings are a JSON file' },
  ])
  assert.deepEqual(layers({ sources: [], settings: ' {"a":1}' }), [['flag', '--settings', undefined]])
  write('w/given.json', {})
  assert.deepEqual(layers({ sources: [], settings: 'given.json' }), [['flag', 'given.json', undefined]])
  write('claude/managed-settings.json', { model: 'x' })
  assert.deepEqual(layers({ sources: [], managedDirs: [at('none'), at('claude')] }), [
    ['managed', at('claude/managed-settings.json'), true],
  ])
  write('m/managed-settings.d/a.json', '  \n')
  assert.deepEqual(readLayers({ ...places, sources: [] }), {
    layers: [{ level: 'managed', file: at('m/managed-settings.d/a.json'), settings: {} }],
    problems: [],
  })
})

test('where managed settings lie, and in which order their files count', (t) => {
  const { root, places, write } = world(t)
  assert.deepEqual((['linux', 'darwin', 'win32', 'freebsd'] as const).map(systemDirs), [
    ['/etc/ona', '/etc/claude-code'],
    ['/Library/Application Support/Ona', '/Library/Application Support/ClaudeCode'],
    ['C:\\Program Files\\Ona', 'C:\\Program Files\\ClaudeCode'],
    ['/etc/ona', '/etc/claude-code'],
  ])
  const names = [...'cahbgdfe'].map((name) => `m/managed-settings.d/${name}.json`)
  for (const name of ['m/managed-settings.json', ...names]) write(name, {})
  mkdirSync(join(root, 'h', '.ona', 'settings.json'), { recursive: true })
  const { layers, problems } = readLayers(places)
  assert.deepEqual(
    layers.map(({ file }) => file.slice(root.length + 1)),
    ['m/managed-settings.json', ...names.sort()],
  )
  const why = 'is not a file; settings are a JSON file'
  assert.deepEqual(problems, [{ file: join(root, 'h/.ona/settings.json'), why }])
})

test('an import is kept for each project, the 200 newest and the one in force', (t) => {
  const { db } = world(t)
  db.run(`INSERT INTO ona_settings_imports(project, content, snapshot, current, imported_at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 205)
    SELECT 'old' || i, '{}', '{}', 0, datetime('2020-01-01', i || ' seconds') FROM n`)
  settingsOfRecord(db, 'p203', '{"at":203}')
  settingsOfRecord(db, 'p204', '{"at":204}')
  assert.deepEqual(
    ['old8', 'old7'].map(
      (project) => db.get('SELECT 1 FROM ona_settings_imports WHERE project = ?', project) !== undefined,
    ),
    [true, false],
  )
  const count = (where: string) =>
    db.get<{ n: number }>(`SELECT count(*) AS n FROM ona_settings_imports WHERE ${where}`)!.n
  assert.deepEqual([count('1'), count('current = 1'), count("current = 1 AND project = 'p204'")], [200, 1, 1])
  assert.deepEqual(settingsOfRecord(db, 'p204', '{"at":204}'), { json: '{"at":204}', imported: false })
  db.run("UPDATE settings_snapshot SET json = '' WHERE scope = 'effective'")
  assert.deepEqual(settingsOfRecord(db, 'p204', '{"at":204}'), { json: '', imported: false }, 'empty is not missing')
  db.run("UPDATE ona_settings_imports SET imported_at = '2999-01-01'") // the clock was set back since
  for (const project of ['p205', 'p206']) settingsOfRecord(db, project, `{"at":"${project}"}`)
  assert.deepEqual(settingsOfRecord(db, 'p206', '{"at":"p206"}'), { json: '{"at":"p206"}', imported: false })
  for (const project of ['p204', 'other']) {
    db.run('DELETE FROM settings_snapshot')
    assert.deepEqual(settingsOfRecord(db, project, `{"of":"${project}"}`), {
      json: `{"of":"${project}"}`,
      imported: true,
    })
    assert.equal(count('current = 1'), 1)
  }
})

test('what an operator stored before the first start stands, and is not called imported', (t) => {
  const { db, store } = world(t)
  store({ theme: 'dark' })
  for (const project of ['a', 'b'])
    assert.deepEqual(settingsOfRecord(db, project, '{}'), { json: '{"theme":"dark"}', imported: false })
  assert.deepEqual(
    db
      .all('SELECT project, content, snapshot, current FROM ona_settings_imports')
      .map((row) => ({ ...(row as object) })),
    [{ project: 'a', content: '{}', snapshot: '{"theme":"dark"}', current: 1 }],
  )
})
