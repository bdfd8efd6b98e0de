/** What settings, administrators and users decide about the sandbox, from the file to the row. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { profileOf } from '../../src/sandbox/profile.ts'
import { wrapIn } from '../../src/sandbox/wrap.ts'
import { openDb } from '../../src/store/open.ts'
import { loadSettings } from '../../src/store/settings/settings.ts'
import { place } from '../support/program.ts'
import { makeWorld } from './world.ts'

/** The settings of a folder with these files, and the profile that they make at a terminal. */
function loaded(t: TestContext, { managed, user }: { managed?: object; user?: object }) {
  const at = place(t)
  const folders = { managed: join(at.folder, '../managed'), home: at.home }
  const file = (folder: string, name: string, value: object | undefined) => {
    mkdirSync(folder, { recursive: true })
    if (value) writeFileSync(join(folder, name), JSON.stringify(value))
  }
  file(folders.managed, 'managed-settings.json', managed)
  file(join(folders.home, '.ona'), 'settings.json', user)
  const db = openDb(join(at.folder, '../settings.db'))
  t.after(() => db.close())
  const { settings, problems } = loadSettings({
    ...{ db, cwd: at.folder, home: folders.home, env: {}, managedDirs: [folders.managed] },
  })
  assert.deepEqual(problems, [])
  const { sandbox = {}, permissions = {} } = settings
  return profileOf({
    ...{ sandbox, permissions, projectDir: at.folder, cwd: at.folder, home: at.home, asks: true },
  })
}

const user = {
  sandbox: {
    network: { allowedDomains: ['user.example'], allowManagedDomainsOnly: true },
    filesystem: { allowRead: ['/srv/user'], allowManagedReadPathsOnly: true },
  },
  permissions: { allow: ['WebFetch(domain:user-rule.example)'], deny: ['WebFetch(domain:user-denied.example)'] },
}

test('allowManagedDomainsOnly: the hosts of the administrator alone, and nobody is prompted', (t) => {
  const managed = {
    sandbox: { network: { allowedDomains: ['corp.example'], allowManagedDomainsOnly: true } },
    permissions: { allow: ['WebFetch(domain:rule.corp.example)'] },
  }
  const { network, ignored } = loaded(t, { managed, user })
  assert.deepEqual(
    [network.allowed.map(({ host }) => host), network.asks, network.denied.map(({ host }) => host), ignored],
    [['corp.example', 'rule.corp.example'], false, ['user-denied.example'], []],
  )
})

test('allowManagedReadPathsOnly: what the administrator opens, and nothing else', (t) => {
  const managed = {
    sandbox: { filesystem: { denyRead: ['/srv'], allowRead: ['/srv/public'], allowManagedReadPathsOnly: true } },
  }
  assert.deepEqual(
    loaded(t, { managed, user }).read.map(({ path }) => path),
    ['/srv/public'],
  )
})

test('in a file of the user these keys have no effect', (t) => {
  const { network, read } = loaded(t, { user })
  assert.deepEqual(
    [network.allowed.map(({ host }) => host), network.asks, read.map(({ path }) => path)],
    [['user.example', 'user-rule.example'], true, ['/srv/user']],
  )
})

test('what an administrator sets, a user does not lower', (t) => {
  const managed = { sandbox: { filesystem: { denyRead: ['/srv'] }, network: { deniedDomains: ['bad.example'] } } }
  const { noRead, network } = loaded(t, { managed, user })
  assert.deepEqual(
    [noRead.map(({ why }) => why), network.denied.map(({ host }) => host)],
    [['sandbox.filesystem.denyRead "/srv"'], ['bad.example', 'user-denied.example']],
  )
})

interface Row {
  readonly sandboxed: number
  readonly reason: string | null
}

async function evaluated(t: TestContext, sandbox: object, input: object) {
  const at = place(t)
  at.write('../home/.ona/settings.json', { sandbox: { enabled: true, ...sandbox } })
  const { stdout } = await at.run(['--eval', JSON.stringify({ tool: 'Bash', input })])
  const rows = at.rows<Row>(
    `SELECT json_extract(detail, '$.sandboxed') AS sandboxed, json_extract(detail, '$.sandbox_reason') AS reason
     FROM events WHERE event_type = 'tool_start'`,
  )
  return { content: (JSON.parse(stdout) as { content: string }).content, rows: rows.map((row) => ({ ...row })) }
}
const inside = 'echo "${ONA_SANDBOX-outside}"'

test('excludedCommands run outside, and the row says which pattern let them', async (t) => {
  assert.deepEqual(await evaluated(t, { excludedCommands: ['echo *'] }, { command: inside }), {
    content: 'outside\n',
    rows: [{ sandboxed: 0, reason: 'sandbox.excludedCommands names it: Bash(echo *)' }],
  })
})

test('dangerouslyDisableSandbox leaves the sandbox with a word of the operator, and only where that is allowed', async (t) => {
  const input = { command: inside, dangerouslyDisableSandbox: true }
  assert.deepEqual(await evaluated(t, {}, input), {
    content: 'outside\n',
    rows: [{ sandboxed: 0, reason: 'the call asked to run outside the sandbox' }],
  })
  assert.deepEqual(await evaluated(t, { allowUnsandboxedCommands: false }, input), {
    content: '1\n',
    rows: [{ sandboxed: 1, reason: null }],
  })
})

test('ona sandbox explain shows every section, each line with its reason', async (t) => {
  const at = place(t)
  at.write('private/key', 'x')
  at.write('guard.sh', 'exit 0')
  at.write('../home/.ona/settings.json', {
    hooks: [{ hook_event_name: 'PreToolUse', matcher: '', command: 'sh guard.sh' }],
    sandbox: {
      filesystem: { allowWrite: ['/var/cache'], allowRead: ['/srv/data'] },
      network: {
        allowedDomains: ['a.example'],
        deniedDomains: ['b.example'],
        allowUnixSockets: ['/run/x.sock'],
        socksProxyPort: 1,
      },
    },
    permissions: { deny: ['Read(./private/**)'], ask: ['Edit'] },
  })
  const { stdout } = await at.run(['sandbox', 'explain'])
  const expected = [
    'writable',
    `  ${at.folder}  (the project)`,
    '  /var/cache  (sandbox.filesystem.allowWrite "/var/cache")',
    'not writable',
    `  ${join(at.folder, 'guard.sh')}  (it is a file that a hook runs)`,
    'not readable',
    `  ${join(at.folder, 'private')}  (the deny rule "Read(./private/**)")`,
    'readable all the same',
    '  /srv/data  (sandbox.filesystem.allowRead "/srv/data")',
    'hosts',
    '  a.example  (sandbox.network.allowedDomains "a.example")',
    'denied hosts',
    '  b.example  (sandbox.network.deniedDomains "b.example")',
    'Unix sockets',
    '  /run/x.sock  (sandbox.network.allowUnixSockets "/run/x.sock")',
    'ends a command that creates it',
    `  ${join(at.folder, '.mcp.json')}  (it is protected)`,
    'prompted for',
    '  the ask rule "Edit" covers every file  (a profile cannot express it)',
    'without effect',
    "  sandbox.network.socksProxyPort is not supported and has no effect: ona's own proxy is the only way out; name hosts in network.allowedDomains",
  ]
  const lines = stdout.split('\n')
  let from = 0
  for (const line of expected) {
    const found = lines.indexOf(line, from)
    assert.ok(found >= from, `${line}\nis not there, after line ${from}, in\n${stdout}`)
    from = found + 1
  }
  assert.match(stdout, /^profile [0-9a-f]{16}$/m)
  assert.match((await at.run(['sandbox', 'explain', 'docker ps'])).stdout, /^inside the sandbox\nwritable\n/)
})

test('ona sandbox run ends a command as soon as it creates a protected file, and says where the file is', async (t) => {
  const at = place(t)
  const { code, stderr } = await at.run(['sandbox', 'run', '--', 'sh', '-c', 'echo "{}" > .mcp.json; sleep 300'])
  assert.equal(code, 1)
  assert.match(stderr, /\.mcp\.json is protected and the command created it; it was moved to/)
  assert.equal(existsSync(join(at.folder, '.mcp.json')), false)
})

test('a server in the sandbox cannot change a file that a hook runs', async (t) => {
  const world = await makeWorld()
  t.after(() => world.close())
  const guard = join(world.project, 'guard.sh')
  writeFileSync(guard, 'exit 2\n')
  const protect = [{ at: 'exact', path: guard, edit: 'ask', what: 'a file that a hook runs' }] as const
  const scope = () => ({ permissions: {}, projectDir: world.project, home: world.home, protect })
  const env = { PATH: process.env['PATH'], HOME: world.home }
  const { words } = await wrapIn(world.fence, scope)(['/bin/sh', '-c', 'echo exit 0 > guard.sh'], {
    cwd: world.project,
    env,
  })
  assert.ok(words.join(' ').includes(`--ro-bind ${guard} ${guard}`))
})
