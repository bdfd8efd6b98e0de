/** What is said of each key of the settings where its value does not fit, at each level, word for word. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blockingEvents } from '../../hooks/claude/events.ts'
import { packageRoot } from '../../package-root.ts'
import { inMemory, openDb } from '../open.ts'
import { storable } from '../secrets.ts'
import { hookFiles, hooksOfFile } from './hook-file.ts'
import { isRefusedVariable } from './repository-variables.ts'
import { hookGroups, hooksOf, loadSettings, type SettingsRequest } from './settings.ts'
import { checkLayer } from './settings-check.ts'
import { missingSecrets, withoutSecrets, withSecrets } from './settings-secrets.ts'
import { levels, permissionsShape, sandboxShape, settingsShape } from './settings-shape.ts'
import { isTrusted, trust } from './trust.ts'

const never = () => undefined
const values = [7, -1, 0, 'x', true, null, [], [7], {}, { x: 7 }] as const

/** What is said of every value that does not fit, each once. */
function said(settings: (value: unknown) => object): string[] {
  const found = values.flatMap((value) => {
    const checked = checkLayer({ level: 'user', settings: settings(value) as never }, never)
    const warned = checked.warnings.map((why) => `warning: ${why}`)
    return [...checked.problems, ...warned, ...checked.unknown.map((key) => `unknown: ${key}`)]
  })
  return [...new Set(found)]
}

test('every key of the settings', () => {
  const own = (fields: object, wrap: (key: string, value: unknown) => object) =>
    Object.fromEntries(Object.keys(fields).map((key) => [key, said((value) => wrap(key, value))]))
  const sandbox = sandboxShape.fields as Record<string, { schema(): { properties?: object } }>
  const inner = (part: string) => sandbox[part]!.schema().properties!
  const model = { contextWindow: 1, maxOutput: 1, thinking: 1, efforts: 1, price: 1, other: 1 }
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }
  const found = {
    settings: own(settingsShape.fields, (key, value) => ({ [key]: value })),
    permissions: own(permissionsShape.fields, (key, value) => ({ permissions: { [key]: value } })),
    sandbox: own({ ...sandboxShape.fields, other: 1 }, (key, value) => ({ sandbox: { [key]: value } })),
    filesystem: own(inner('filesystem'), (key, value) => ({ sandbox: { filesystem: { [key]: value } } })),
    network: own(inner('network'), (key, value) => ({ sandbox: { network: { [key]: value } } })),
    models: own(model, (key, value) => ({ models: { m: { [key]: value } } })),
    price: own(price, (key, value) => ({ models: { m: { price: { input: 1, output: 1, [key]: value } } } })),
    model_config: own({ provider: 1, model_id: 1, api_key: 1 }, (key, value) => ({
      model_config: { provider: 'lm_studio_local', model_id: 'x', [key]: value },
    })),
    approvals: own({ expiresAfterHours: 1, owner: 1 }, (key, value) => ({ approvals: { [key]: value } })),
  }
  assert.deepEqual(found, JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/problems.json'), 'utf8')))
})

test('the schema that editors read tells of every key what is checked here', () => {
  const { hooks: _, ...shown } = JSON.parse(
    readFileSync(join(packageRoot, 'schemas/settings.schema.json'), 'utf8'),
  ).properties
  const { hooks: __, ...checked } = settingsShape.schema().properties as Record<string, unknown>
  assert.deepEqual(shown, checked)
})

test('keys that do not count at a level are left out, with the reason', () => {
  const keys = {
    ...{ allowManagedHooksOnly: true, allowManagedPermissionRulesOnly: true, allowManagedMcpServersOnly: true },
    ...{ trustedDirectories: [], strictKnownMarketplaces: [], blockedMarketplaces: [], cleanupPeriodDays: 3 },
    ...{ disableAllHooks: true, enableAllProjectMcpServers: true, enabledMcpjsonServers: [] },
    permissions: { allowManagedPermissionRulesOnly: true },
  }
  const kept = (level: (typeof levels)[number]) => checkLayer({ level, settings: { ...keys } }, never)
  const managed = [
    ...['allowManagedHooksOnly', 'allowManagedPermissionRulesOnly', 'allowManagedMcpServersOnly', 'trustedDirectories'],
    ...['strictKnownMarketplaces', 'blockedMarketplaces'],
  ].map((key) => `${key} counts in managed settings only; it was left out`)
  const days =
    'cleanupPeriodDays counts in your own settings (~/.ona/settings.json) and managed settings only; it was left out'
  const project = ['disableAllHooks', 'enableAllProjectMcpServers', 'enabledMcpjsonServers'].map(
    (key) => `${key} cannot be set by a project; put it into your own settings`,
  )
  const rules = 'permissions.allowManagedPermissionRulesOnly counts in managed settings only'
  assert.deepEqual(Object.fromEntries(levels.map((level) => [level, kept(level).warnings])), {
    ...{ default: [...managed, rules], user: [...managed, rules], flag: [...managed, rules], managed: [] },
    ...{ project: [...managed, days, ...project, rules], local: [...managed, days, rules] },
  })
  assert.deepEqual(kept('managed').settings, keys)
  assert.deepEqual(kept('project').settings, { permissions: {} })
  const proto = JSON.parse('{"__proto__": {"a": 1}, "permissions": {"__proto__": {"b": 1}}}')
  const { settings } = checkLayer({ level: 'user', settings: proto }, never)
  assert.deepEqual([Object.keys(settings), Object.keys(settings['permissions'] as object)], [['permissions'], []])
})

function world(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-check-')))
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
  const load = (more: Partial<SettingsRequest> = {}) =>
    loadSettings({ db, cwd: join(root, 'w'), home: join(root, 'h'), env: {}, managedDirs: [join(root, 'm')], ...more })
  mkdirSync(join(root, 'w'))
  return { root, write, load }
}

test('a file that is too large, a link in a circle and the folder that CLAUDE_CONFIG_DIR names', (t) => {
  const { root, write, load } = world(t)
  const claude = write('config/settings.json', { model: 'theirs' })
  const named = load({ env: { CLAUDE_CONFIG_DIR: dirname(claude) } })
  assert.deepEqual([named.settings.model, named.sources], ['theirs', [{ level: 'user', file: claude }]])
  const file = write('h/.ona/settings.json', `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`)
  assert.deepEqual(load().problems, [{ file, why: 'is over 4194304 bytes; settings are smaller' }])
  rmSync(file)
  symlinkSync(file, file)
  const [circle] = load().problems
  assert.deepEqual([circle?.file, /^cannot be read: ELOOP/.test(circle!.why)], [file, true])
  rmSync(file)
  write('m/managed-settings.d/b.json', { theme: 'b' })
  write('m/managed-settings.d/a.json', { theme: 'a', model: 'a' })
  write('m/managed-settings.d/.hidden.json', { agent: 'no' })
  write('m/managed-settings.d/c.txt', { agent: 'no' })
  const { settings, managed, sources } = load({ managedDirs: [join(root, 'none'), join(root, 'm')] })
  assert.deepEqual(
    [settings, managed],
    [
      { theme: 'b', model: 'a', hooks: [] },
      { theme: 'b', model: 'a' },
    ],
  )
  assert.deepEqual(
    sources.map(({ file }) => file.slice(root.length)),
    ['/m/managed-settings.d/a.json', '/m/managed-settings.d/b.json'],
  )
})

test('hooks by level: their groups, what is wrong with one and where, and those that managed settings switch off', (t) => {
  const { write, load } = world(t)
  const hook = (command: string, more: object = {}) => ({ hook_event_name: 'Stop', matcher: '', command, ...more })
  write('h/.ona/settings.json', { hooks: [hook('one'), hook('two', { if: 'Bash' })] })
  write('m/managed-settings.json', { hooks: [hook('first')] })
  assert.deepEqual(hookGroups(load()), [
    { source: 'managed', hooks: [hook('first')] },
    { source: 'user', hooks: [hook('one'), hook('two', { if_condition: 'Bash' })] },
  ])
  const { handlers, problems } = hooksOf(load())
  assert.deepEqual(
    handlers.map((each) => each.kind === 'command' && [each.command, each.source, each.withheld]),
    [
      ['first', { kind: 'settings', layer: 'managed' }, undefined],
      ['one', { kind: 'settings', layer: 'user' }, undefined],
      ['two', { kind: 'settings', layer: 'user' }, undefined],
    ],
  )
  assert.deepEqual(problems, [
    {
      ...{ path: 'user settings: hooks[1].if', level: 'warning' },
      why: 'is a rule for tool calls, and Stop has none: the hook never runs',
    },
  ])
  write('m/managed-settings.json', { hooks: [hook('first')], disableAllHooks: true })
  assert.deepEqual(
    hookGroups(load()).map(({ source, withheld }) => [source, withheld]),
    [
      ['managed', 'hooks_disabled'],
      ['user', 'hooks_disabled'],
    ],
  )
})

test('hooks of one level that run, that are switched off and that are held back are groups of their own', (t) => {
  const { load } = world(t)
  const hook = (command: string) => ({ hook_event_name: 'Stop', matcher: '', source: 'project' as const, command })
  const group = (command: string, withheld?: string) => {
    const { source, ...entry } = hook(command)
    return { source, hooks: [entry], ...(withheld && { withheld }) }
  }
  const loaded = load()
  const groups = hookGroups({
    ...loaded,
    settings: { ...loaded.settings, hooks: [hook('runs')] },
    disabledHooks: [
      { hook: hook('off'), withheld: 'hooks_disabled' },
      { hook: hook('skipped'), withheld: 'bare_mode' },
    ],
    heldBack: [{ level: 'project', file: 'f', keys: ['hooks'], hooks: [hook('held')] }],
  })
  assert.deepEqual(groups, [
    ...[group('runs'), group('off', 'hooks_disabled'), group('skipped', 'bare_mode')],
    group('held', 'untrusted_workspace'),
  ])
})

test('a repository does not set variables that are not for it, and that is said', (t) => {
  const { root, write, load } = world(t)
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://x', PLAIN: 'x' }
  for (const file of ['w/.ona/settings.json', 'w/.ona/settings.local.json', 'h/.ona/settings.json'])
    write(file, { env: variables })
  const { warnings } = load({ flags: { trust: true } })
  assert.deepEqual(
    warnings.map((each) => each.slice(root.length)),
    ['settings.json', 'settings.local.json'].map(
      (name) =>
        `/w/.ona/${name}: OTEL_EXPORTER_OTLP_ENDPOINT ignored: set it in the environment, in ~/.ona/settings.json or in managed settings`,
    ),
  )
})

test('variables that a repository does not set, and those like them that it may', () => {
  const refused = [
    ...'ANTHROPIC_BASE_URL OPENAI_API_KEY X_AUTH_TOKEN X_API_HOST ANTHROPIC_CUSTOM_HEADERS X_OAUTH_TOKEN'.split(' '),
    ...'HTTP_PROXY https_proxy ALL_PROXY NO_PROXY FTP_PROXY SOCKS_PROXY GLOBAL_AGENT_X'.split(' '),
    ...'NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_X SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE'.split(
      ' ',
    ),
    ...'CURL_CA_BUNDLE REQUESTS_CA_BUNDLE GIT_SSL_X OPENSSL_X PATH Path HOME USERPROFILE SHELL TMPDIR IFS ENV'.split(
      ' ',
    ),
    ...'BASH_ENV BASH_FUNC_x PROMPT_COMMAND SHELLOPTS BASHOPTS PS4 ZDOTDIR XDG_X LD_PRELOAD DYLD_X'.split(' '),
    ...'NODE_OPTIONS NODE_PATH NODE_REPL_X PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB PERL5DB'.split(' '),
    ...'RUBYOPT RUBYLIB JAVA_OPTIONS _JAVA_OPTIONS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS GIT_CONFIG_X'.split(' '),
    ...'GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR'.split(' '),
    ...'GIT_PROXY_COMMAND GIT_DIR GIT_TEMPLATE_DIR SSH_ASKPASS EDITOR VISUAL PAGER BROWSER LESSOPEN'.split(' '),
    ...'ONA_X SDLC_X AGENT_SDLC_DB CLAUDE_CONFIG_DIR CLAUDECODE npm_config_x OTEL_X ONA_OTEL_X'.split(' '),
  ]
  const free =
    'BASE_URLS X_BASE_URL_X X_HTTP_PROXY HTTP_PROXY_X NODE_ENV MY_PATH PATH_X HOMES EDITOR_X MY_EDITOR GIT_AUTHOR_NAME X_ONA_X MY_SDLC_X CLAUDECODE_X PYTHONUNBUFFERED X_NODE_OPTIONS SSL_CERT_FILES X_SSLKEYLOGFILE X_OTEL_X'.split(
      ' ',
    )
  assert.deepEqual([refused.filter((name) => !isRefusedVariable(name)), free.filter(isRefusedVariable)], [[], []])
})

test('a file of hooks that is not there, exports none or throws; and a path that means another file in each folder', (t) => {
  const { root, write } = world(t)
  const none = write('none.mjs', 'export const a = 1')
  const lost = write('lost.mjs', "import './nowhere.mjs'")
  const throws = write('throws.mjs', 'throw new Error("boom")')
  const odd = write('odd.mjs', 'throw "a text"')
  const good = write(
    'good.mjs',
    "const run = () => {}\nexport const mine = [{ kind: 'function', name: 'anonymous', event: 'Stop', run }, { kind: 'function', run: 7 }, { kind: 'command', run }, { kind: 'function', name: 'second', event: 'Stop', run }]\nexport { mine as again }\nexport const other = { kind: 'function', name: 'my own name', event: 'Stop', run }\nexport default other",
  )
  assert.deepEqual([join(root, 'missing.mjs'), none, throws, odd].map(hooksOfFile), [
    { why: `there is no file ${root}/missing.mjs` },
    { why: `${none} exports no hook; write: export const mine = defineHook('PreToolUse', …)` },
    { why: `${throws} cannot be loaded: boom` },
    { why: `${odd} cannot be loaded: a text` },
  ])
  const missing = hooksOfFile(lost)
  assert.match('why' in missing ? missing.why : '', new RegExp(`^${lost} cannot be loaded: Cannot find module`))
  const foreign = hooksOfFile(write('foreign.mjs', "import 'ona/other'"))
  assert.match('why' in foreign ? foreign.why : '', /foreign\.mjs cannot be loaded: Cannot find/)
  const names = (loaded: ReturnType<typeof hooksOfFile>) =>
    'handlers' in loaded ? loaded.handlers.map((each) => each.kind === 'function' && each.name) : loaded
  assert.deepEqual(names(hooksOfFile(good)), ['again', 'second', 'my own name'])
  const at = { cwd: root, home: root }
  const outside = { why: 'must begin with / or ~/ in what counts in every folder, not "good.mjs"' }
  assert.deepEqual(hookFiles('user', at)('~ogood.mjs'), { why: outside.why.replace('good', '~ogood') })
  assert.deepEqual(
    [...['user', 'managed', 'operator'], ...['project', 'local', 'flag']].map((level) =>
      names(hookFiles(level, at)('good.mjs')),
    ),
    [outside, outside, outside, ...Array(3).fill(['again', 'second', 'my own name'])],
  )
  assert.deepEqual(
    [names(hookFiles('user', at)('~/good.mjs')), names(hookFiles('user', at)(good))],
    Array(2).fill(['again', 'second', 'my own name']),
  )
})

test('a file of hooks finds ona/hooks from any folder, and only while it is loaded', (t) => {
  const { write } = world(t)
  const file = write(
    'mine.mjs',
    "import { defineHook } from 'ona/hooks'\nexport const mine = defineHook('Stop', () => {})",
  )
  const loaded = hooksOfFile(file)
  assert.deepEqual(
    'handlers' in loaded ? loaded.handlers.map((each) => each.kind === 'function' && [each.name, each.event]) : loaded,
    [['mine', 'Stop']],
  )
  assert.throws(() => createRequire(file).resolve('ona/hooks'), /Cannot find module/)
})

test('secrets are taken out by name and by form, put back from the files, and missed where no file has them', () => {
  const mark = '[secret: kept in the settings file]'
  const key = `sk-${'a'.repeat(24)}`
  const references = { A_TOKEN: '${TOKEN}', B_TOKEN: '${TOKEN:-}', C_TOKEN: '', D_TOKEN: 'false', E_TOKEN: '1.5' }
  const settings = {
    env: { API_TOKEN: 'hunter2hunter2', PLAIN: 'x', MAX_TOKENS: '5', USE_TOKEN: '$TOKEN', KEY: 'true', ...references },
    mcpServers: { a: { headers: { Authorization: 'abcdef' }, url: 'https://u:pass@x/', args: [key, 'x'] } },
    other: { API_TOKEN: 'named-but-no-carrier', headers: [{ API_TOKEN: 'in a list' }] },
    links: [
      'https://x/?token=abc123',
      'https://x/?key=abc123',
      'https://x/?page=abc123',
      'x?token=abc123',
      'redis://:pass@x',
    ],
  }
  const stored = withoutSecrets(settings)
  assert.deepEqual(stored, {
    env: { API_TOKEN: mark, PLAIN: 'x', MAX_TOKENS: '5', USE_TOKEN: '$TOKEN', KEY: 'true', ...references },
    mcpServers: { a: { headers: { Authorization: mark }, url: mark, args: [mark, 'x'] } },
    other: { API_TOKEN: 'named-but-no-carrier', headers: [{ API_TOKEN: 'in a list' }] },
    links: [mark, mark, 'https://x/?page=abc123', 'x?token=abc123', mark],
  })
  assert.deepEqual(withSecrets(stored, settings), settings)
  assert.deepEqual(missingSecrets(withSecrets(stored, { env: settings.env, mcpServers: { a: { headers: 7 } } })), [
    ...[
      'mcpServers.a.headers.Authorization',
      'mcpServers.a.url',
      'mcpServers.a.args[0]',
      'links[0]',
      'links[1]',
      'links[4]',
    ],
  ])
})

test('a secret that is taken out of the settings is kept out of everything else that is stored', () => {
  withoutSecrets({
    env: { API_TOKEN: 'named-in-env-1', PLAIN: 'plain-in-env-1' },
    url: 'https://x/?token=in-a-query-1',
  })
  assert.equal(
    storable('a named-in-env-1, a plain-in-env-1, an in-a-query-1'),
    'a [secret], a plain-in-env-1, an [secret]',
  )
  const links = ['HTTPS://x/?token=abc123', 'see https://x/?token=abc123']
  assert.deepEqual(withoutSecrets({ links }), { links: ['[secret: kept in the settings file]', links[1]] })
})

test('what is read from a file of Claude Code, and what of it is a problem', () => {
  const checked = checkLayer(
    {
      ...{ level: 'project', foreign: true },
      settings: {
        ...{ cleanupPeriodDays: 30, model: 7, disableAllHooks: true, theme: 'dark', someNewKey: 1 },
        permissions: { deny: 'x', ask: [' '], allow: [' '] },
        hooks: { Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] },
      },
    },
    never,
  )
  assert.deepEqual(checked, {
    settings: {
      theme: 'dark',
      someNewKey: 1,
      permissions: { ask: [], allow: [] },
      hooks: [
        { hook_event_name: 'Stop', type: 'command', command: 'x', matcher: '', source: 'project', profile: 'claude' },
      ],
    },
    problems: [
      'permissions.deny must be a list, not a string',
      'permissions.ask: invalid permission rule " ": a rule is a text such as "Bash(npm test *)"; correct or remove it',
    ],
    warnings: [
      'disableAllHooks cannot be set by a project; put it into your own settings',
      'permissions.allow: invalid permission rule " " was skipped: a rule is a text such as "Bash(npm test *)"',
      'model must be a string, not a number; it was left out',
    ],
    unknown: [],
  })
  const theirs = blockingEvents.map((event) => ({ hook_event_name: event, command: 'x' }))
  const guarded = checkLayer({ level: 'user', foreign: true, settings: { hooks: theirs, theme: 'dark' } }, never)
  assert.deepEqual(guarded, {
    settings: { theme: 'dark' },
    problems: blockingEvents.map(
      (event) =>
        `${event} hook: ona does not raise this event, so the hook would guard nothing; remove it, or copy the others to .ona/settings.json`,
    ),
    ...{ warnings: [], unknown: [] },
  })
  const unknown = checkLayer(
    { level: 'user', foreign: true, settings: { hooks: [{ hook_event_name: 'NoSuch', command: 'x' }] } },
    never,
  )
  assert.deepEqual(
    [unknown.settings, unknown.problems, unknown.warnings.map((why) => why.replace(/: [\s\S]*;/, ': WHY;'))],
    [{}, [], ['NoSuch hook: WHY; it was left out']],
  )
  const none = checkLayer({ level: 'user', foreign: true, settings: { theme: 'dark' } }, never)
  assert.deepEqual(none.settings, { theme: 'dark' })
})

test('a rule is judged by the list that it is in', () => {
  const rules = { allow: ['A'], ask: ['B'], deny: ['C', 'D'] }
  const checked = checkLayer({ level: 'user', settings: { permissions: rules } }, (rule, list) =>
    rule === 'D' ? undefined : `${list} has ${rule}`,
  )
  assert.deepEqual(checked, {
    settings: { permissions: { allow: [], ask: [], deny: ['D'] } },
    problems: [
      'permissions.ask: invalid permission rule "B": ask has B; correct or remove it',
      'permissions.deny: invalid permission rule "C": deny has C; correct or remove it',
    ],
    warnings: ['permissions.allow: invalid permission rule "A" was skipped: allow has A'],
    unknown: [],
  })
})

test('a model_config that looks like a secret is refused, with the remedy', () => {
  const { problems } = checkLayer(
    {
      level: 'user',
      settings: { model_config: { provider: 'lm_studio_local', model_id: `sk-ant-${'a'.repeat(20)}` } },
    },
    never,
  )
  assert.deepEqual(problems, [
    'model_config.model_id looks like a secret; model_config takes provider and model_id and nothing else. Keys and tokens come from the environment or ona login',
  ])
})

test('trust is kept in ~/.ona/trust.json, once for each folder, and a damaged file trusts nothing', (t) => {
  const { root, write } = world(t)
  const places = { home: join(root, 'h') }
  const file = join(root, 'h/.ona/trust.json')
  const folder = join(root, 'w')
  mkdirSync(join(folder, 'sub'))
  assert.equal(isTrusted(folder, places), false)
  for (let times = 0; times < 2; times++) assert.equal(trust(folder, places), true)
  assert.equal(readFileSync(file, 'utf8'), `{\n  "folders": [\n    "${folder}"\n  ]\n}\n`)
  const inside = [
    folder,
    join(folder, 'sub'),
    `${folder}x`,
    root,
    join(folder, '..', 'w', 'new'),
    join(folder, '..dots'),
  ]
  assert.deepEqual(
    inside.map((each) => isTrusted(each, places)),
    [true, true, false, false, true, true],
  )
  assert.equal(isTrusted(root, { ...places, managed: [root] }), true)
  for (const name of ['w', 'other']) {
    mkdirSync(join(root, name), { recursive: true })
    symlinkSync(join(root, name), join(root, `link-to-${name}`))
  }
  const linked = (name: string, managed: string[] = []) =>
    isTrusted(join(root, `link-to-${name}`), { ...places, managed })
  assert.deepEqual(
    [linked('w'), linked('other'), linked('other', [join(root, 'other')])],
    [true, false, true],
    'a link is the folder that it leads to',
  )
  assert.equal(isTrusted(join(root, 'other'), { ...places, managed: [join(root, 'link-to-other')] }), true)
  assert.equal(trust(join(root, 'link-to-other'), places), true)
  mkdirSync(join(root, 'above/home'), { recursive: true })
  symlinkSync(join(root, 'above/home'), join(root, 'link-to-home'))
  assert.equal(trust(join(root, 'above'), { home: join(root, 'link-to-home') }), false, 'above the home folder')
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { folders: [folder, join(root, 'other')] })
  assert.deepEqual([trust(root, places), trust(places.home, places)], [false, false])
  t.after(() => delete process.env['ONA_GOVERNED'])
  process.env['ONA_GOVERNED'] = 'x'
  assert.throws(() => trust(folder, places), {
    kind: 'not-operator',
    message:
      "trusting a folder is for the operator, and this command was started by an agent's tool or hook (ONA_GOVERNED is set); run it in a terminal of your own",
  })
  delete process.env['ONA_GOVERNED']
  for (const text of ['', '[]', '{"folders": 7}', '{"folders": [7]}']) {
    write('h/.ona/trust.json', text)
    assert.equal(isTrusted(folder, places), false)
  }
})

test('bare: what the record denies holds, and its hooks are listed as not run', (t) => {
  const { write, load } = world(t)
  const hook = { hook_event_name: 'Stop', matcher: '', command: 'x' }
  write('h/.ona/settings.json', { permissions: { allow: ['Read'], deny: ['Bash'] }, hooks: [hook], model: 'm' })
  load()
  const { settings, disabledHooks, sources, differences, problems } = load({ flags: { bare: true } })
  assert.deepEqual(
    { settings, disabledHooks, sources, differences, problems },
    {
      settings: { permissions: { deny: ['Bash'] }, hooks: [] },
      disabledHooks: [{ hook: { ...hook, source: 'user' }, withheld: 'bare_mode' }],
      ...{ sources: [], differences: [], problems: [] },
    },
  )
})
