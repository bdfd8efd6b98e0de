/** The commands as users type them: wrong usage ends with 2, what does not answer with 1, a host and a remedy. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { postgresForTests, query } from '../support/fleet.ts'
import { runProgram } from '../support/run-program.ts'

const postgres = postgresForTests()
const home = mkdtempSync(join(tmpdir(), 'ona-fleet-cli-'))
process.on('exit', () => rmSync(home, { recursive: true, force: true }))

/** Exit code, and what was said on both. */
async function typed(words: readonly string[], env: Record<string, string> = {}) {
  const base = { PATH: process.env['PATH'], HOME: home, ONA_KEYCHAIN: 'off', ...env }
  const { code, stdout, stderr } = await runProgram(words, { env: base, cwd: home, timeoutMs: 120_000 })
  return { code, out: stdout, said: `${stdout}${stderr}` }
}

const refused = 'http://127.0.0.1:4' // nothing listens on it

test('wrong usage ends with 2 and says what is missing', async () => {
  const cases: [string, RegExp][] = [
    ['init', /name the database, such as postgres:\/\/user@host\/name, or set ONA_FLEET_DB/],
    ['init mysql://ada:secret@db/x', /mysql:\/\/ada:\*\*\*@db\/x is not the address of a PostgreSQL database/],
    ['serve', /name the database/],
    ['serve --db postgres://db/x --host 0.0.0.0', /needs --tls-cert and --tls-key/],
    ['enrol', /name the service/],
    ['enrol http://fleet.example --token t', /must be an https address/],
    ['status', /name the service: --url URL/],
    ['policy publish policy', /--ring canary or --ring all is needed/],
    ['submit', /Give its prompt/],
    ['log', /name the job/],
    ['retain', /--months must be a number/],
    ['up --port 0', /--port must be a port/],
    ['nope', /unknown subcommand "nope"/],
  ]
  for (const [words, why] of cases) {
    const { code, said } = await typed(['fleet', ...words.split(' ')])
    assert.deepEqual([code, why.test(said)], [2, true], `${words}: ${said}`)
    assert.doesNotMatch(said, /secret/)
  }
  for (const words of [
    ['inspect', '--from', 'x'],
    ['hooks', 'replay', '--from', 'x', '--rule', 'deny:Bash'],
  ])
    assert.equal((await typed(words)).code, 2, words.join(' '))
})

test('what does not answer, is not there or is taken ends with 1, its name and a remedy', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as { port: number }
  const url = await postgres.database()
  mkdirSync(join(home, '.ona/fleet'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'not-a-key.pem'), 'x', { mode: 0o600 })
  const cases: [string[], RegExp][] = [
    [['init', 'postgres://127.0.0.1:4/x'], /127\.0\.0\.1:4.*ECONNREFUSED.*is PostgreSQL running there/],
    [['init', 'postgres://db.invalid/x'], /db\.invalid.*check the name of the host/],
    [['init', url.replace(/\/fleet_\d+/, '/nope')], /database "nope" does not exist; create it first/],
    [['serve', '--db', url, '--port', String(port)], new RegExp(`127.0.0.1:${port} is in use; choose another`)],
    [['enrol', refused, '--token', 't'], /cannot reach http:\/\/127\.0\.0\.1:4.*is ona fleet serve running/],
    [['status', '--url', refused, '--token', 't'], /cannot reach http:\/\/127\.0\.0\.1:4/],
    [['ship'], /this machine is in no fleet.*run ona fleet enrol/],
    [['policy', 'publish', 'nowhere', '--ring', 'all', '--url', refused], /nowhere is not a folder/],
    [['policy', 'key', '--key', 'not-a-key.pem', '--url', refused], /not-a-key\.pem is not an Ed25519 private key/],
    [['down'], /no fleet is up here; ona fleet up starts one/],
  ]
  for (const [words, why] of cases) {
    const { code, said } = await typed(['fleet', ...words])
    assert.deepEqual([code, why.test(said)], [1, true], `${words.join(' ')}: ${said}`)
    assert.doesNotMatch(said, /bug in ona/)
  }
})

test('an owner who is no superuser makes the fleet; the service then needs the role ona_service', async () => {
  const server = postgres.server()
  await query(server.url(), 'CREATE ROLE plain_owner LOGIN CREATEROLE')
  await query(server.url(), 'CREATE DATABASE plain OWNER plain_owner')
  const [{ number } = { number: 0 }] = await query<{ number: number }>(
    server.url(),
    "SELECT current_setting('server_version_num')::int AS number",
  )
  // since 16 whoever may create roles administers only those that they created; here another did
  if (number >= 160_000)
    await query(
      server.url(),
      'GRANT ona_node, ona_reader, ona_publisher, ona_admin, ona_service TO plain_owner WITH ADMIN TRUE, SET FALSE, INHERIT FALSE',
    )
  const url = server.url('plain').replace('user=ona', 'user=plain_owner')
  const first = await typed(['fleet', 'init', url, '--json'])
  assert.equal(first.code, 0, first.said)
  assert.match(JSON.parse(first.out).token, /^ona_admin_/)
  assert.equal('token' in JSON.parse((await typed(['fleet', 'init', url, '--json'])).out), false, 'shown once')
  const { code, said } = await typed(['fleet', 'serve', '--db', url, '--port', '0'])
  assert.deepEqual([code, /ALTER ROLE ona_service LOGIN PASSWORD/.test(said)], [1, true], said)
})
