/** `ona doctor` says what is wrong before it gets in the way, and what to do. */
import assert from 'node:assert/strict'
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { place } from './support/program.ts'

interface Finding {
  readonly keys?: readonly { readonly key: string; readonly why: string; readonly security: boolean }[]
  readonly level: string
  readonly about: string
  readonly text: string
}

function patient(t: TestContext) {
  const here = place(t)
  return {
    ...here,
    /** What is not well, and the exit code. */
    async examined(env: Record<string, string> = {}) {
      const { code, stdout, stderr } = await here.run(['doctor', '--json'], { env })
      assert.equal(stderr, '')
      const findings = JSON.parse(stdout) as Finding[]
      const told = findings.filter(({ level }) => level !== 'ok' && !/there is no build/.test(stdout))
      return { code, told: told.map(({ level, about, text }) => `${level} ${about}: ${text}`), findings }
    },
  }
}

test('a fresh machine is well, and stays as it is', async (t) => {
  const here = patient(t)
  const { code, findings } = await here.examined()
  assert.deepEqual([code, findings.filter(({ level }) => level === 'problem')], [0, []])
  assert.equal(existsSync(join(here.home, '.ona')), false)
  const { stdout } = await here.run(['doctor'])
  assert.match(stdout, /^ok {7}database +\S+agent\.db is created at the first start$/m)
  assert.match(stdout, /^0 problems, /m)
})

test('keys without effect are listed with their file, those that guard first', async (t) => {
  const here = patient(t)
  here.write('.claude/settings.json', {
    spinnerTipsEnabled: true,
    permissions: { deny: [], autoDeny: true },
    disableAllHooks: true,
  })
  const { findings } = await here.examined()
  const keys = findings.flatMap((each) => each.keys ?? [])
  assert.deepEqual(
    keys.map(({ key, why, security }) => [key, why, security]),
    [
      ['permissions.autoDeny', 'unknown key; ignored', true],
      ['disableAllHooks', 'cannot be set by a project; put it into your own settings', true],
      ['spinnerTipsEnabled', 'unknown key; ignored', false],
    ],
  )
})

test('each thing that is wrong is a problem or a warning that says what to do', async (t) => {
  const here = patient(t)
  await here.run(['--init-db'])
  const cases: [string, () => unknown, Record<string, string>, number, RegExp][] = [
    [
      'a settings file that cannot be read',
      () => here.write('.ona/settings.json', '{"model": '),
      {},
      1,
      /^problem settings: \S+settings\.json: /,
    ],
    [
      'a key that nobody knows',
      () => here.write('.ona/settings.json', { colour: 'red' }),
      {},
      0,
      /^warning unused keys: \S+settings\.json: no effect: colour$/,
    ],
    [
      'a key that was meant to guard',
      () => here.write('.ona/settings.json', { colour: 'red', sandboxMode: 'strict', strictKnownMarketplaces: [] }),
      {},
      0,
      /^warning unused keys: \S+settings\.json: sandboxMode: unknown key; ignored$/,
    ],
    [
      "a file of Claude Code's that ona's own hides",
      () => here.write('.claude/settings.json', { permissions: { deny: ['Bash'] } }),
      {},
      0,
      /^warning unused keys: \S+\.claude\/settings\.json: not read: \S+\.ona\/settings\.json counts in its place$/,
    ],
    [
      'a folder that is not trusted and wants hooks',
      () =>
        here.write('.ona/settings.json', {
          hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
        }),
      {},
      0,
      /^warning trust: \S+ is not trusted: its hooks have no effect; trust it with ona --trust$/,
    ],
    [
      'an event that is misspelt',
      () => {
        rmSync(join(here.folder, '.ona'), { recursive: true })
        mkdirSync(join(here.home, '.ona'), { recursive: true })
        const hooks = { PreToolUs: [{ hooks: [{ type: 'command', command: 'true' }] }] }
        writeFileSync(join(here.home, '.ona/settings.json'), JSON.stringify({ hooks }))
      },
      {},
      1,
      /^problem \w+: .*"PreToolUs"; did you mean "PreToolUse"\?/,
    ],
    [
      'a rule that another makes useless',
      () =>
        writeFileSync(
          join(here.home, '.ona/settings.json'),
          JSON.stringify({ permissions: { allow: ['Bash(ls *)'], deny: ['Bash'] } }),
        ),
      {},
      0,
      /^warning rules: allow Bash\(ls \*\) has no effect/,
    ],
    [
      'an MCP server without a command',
      () => here.write('.mcp.json', { mcpServers: { files: { type: 'stdio' } } }),
      {},
      1,
      /^problem MCP servers: .*files/,
    ],
    [
      'a PATH with nothing on it',
      () => rmSync(join(here.folder, '.mcp.json')),
      { PATH: here.home },
      1,
      /^problem programs: bash is not on the PATH/,
    ],
    [
      'no credential for the provider that is named',
      () => writeFileSync(join(here.home, '.ona/settings.json'), JSON.stringify({ model: 'sonnet' })),
      {},
      1,
      /^problem model: .* has no credential; ona login/,
    ],
    [
      'a database that is none',
      () => writeFileSync(join(here.home, 'other.db'), 'this is a text and no database at all'),
      { AGENT_SDLC_DB: join(here.home, 'other.db') },
      1,
      /^problem database: \S+other\.db is not a SQLite database/,
    ],
  ]
  for (const [name, prepare, env, expected, pattern] of cases) {
    prepare()
    const { code, told } = await here.examined(env)
    assert.equal(code, expected, `${name}: ${told.join('\n')}`)
    assert.ok(
      told.some((line) => pattern.test(line)),
      `${name}: ${told.join('\n')}`,
    )
  }
})

test('pages of the database that are damaged are found', async (t) => {
  const here = patient(t)
  await here.run(['--init-db'])
  const file = openSync(here.db, 'r+')
  writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, 8 * 4096)
  closeSync(file)
  const { code, told } = await here.examined()
  assert.equal(code, 1)
  assert.match(told.join('\n'), /^problem database: /m)
})

test('files of the dispatcher and of roles that are out of date are reported', async (t) => {
  const here = patient(t)
  const git = (await here.run(['dispatcher', 'install'])).code
  assert.equal(git, 0)
  assert.deepEqual((await here.examined()).told, [])
  writeFileSync(join(here.folder, '.ai/hooks/dispatch.mjs'), '// older\n')
  assert.deepEqual((await here.examined()).told, [
    'problem dispatcher: .ai/hooks/dispatch.mjs differs from this version; run: ona dispatcher upgrade',
  ])
  await here.run(['dispatcher', 'upgrade'])
  await here.run(['role', 'new', 'mechanic'])
  mkdirSync(join(here.folder, '.claude'))
  const { told } = await here.examined()
  assert.match(
    told.join('\n'),
    /^warning roles: hooks differ from what the roles declare in claudecode \(1\).*; run: ona init --hooks$/,
  )
})

test('the doctor looks at the folder that is named', async (t) => {
  const here = patient(t)
  mkdirSync(join(here.folder, 'other/.ona'), { recursive: true })
  writeFileSync(join(here.folder, 'other/.ona/settings.json'), '{')
  assert.equal((await here.run(['doctor', '--cwd', 'other'])).code, 1)
  assert.equal((await here.run(['doctor'])).code, 0)
})
