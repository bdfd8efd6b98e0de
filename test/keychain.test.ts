/** A login in a real keychain: a Secret Service of its own on a bus of its own, as a Linux desktop has them. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { anthropic } from './support/model/wire.ts'
import { stream, wireServer } from './support/model/wire-server.ts'
import { type Place, place } from './support/program.ts'

const needed = ['dbus-daemon', 'dbus-send', 'gnome-keyring-daemon']
const missing = needed.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
const skip =
  process.platform !== 'linux'
    ? 'the keychain of this system cannot be started beside the own one'
    : missing.length > 0 && `${missing.join(' and ')} not installed (apt install dbus gnome-keyring)`

const key = 'sk-ant-api03-kept-in-the-keychain-0123'

/** The environment in which programs find the keychain. */
async function keychain(t: TestContext, { home }: Place): Promise<Record<string, string>> {
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => bus.kill())
  const DBUS_SESSION_BUS_ADDRESS = (await line(bus)).trim()
  const folder = join(home, 'run')
  mkdirSync(folder, { mode: 0o700 })
  const env = { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR: folder, HOME: home, ONA_KEYCHAIN: '' }
  const words = ['--foreground', '--unlock', '--components=secrets', `--control-directory=${folder}`]
  const daemon = spawn('gnome-keyring-daemon', words, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  t.after(() => daemon.kill())
  daemon.stdin.end('a password')
  for (const deadline = Date.now() + 30_000; !isOnBus(env); ) {
    assert.ok(Date.now() < deadline, 'the keychain never came')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return env
}

const asked = ['--print-reply', '--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.NameHasOwner']
const isOnBus = (env: Record<string, string>): boolean =>
  spawnSync('dbus-send', ['--session', ...asked, 'string:org.freedesktop.secrets'], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  }).stdout.includes('true')

const line = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    stdout!
      .setEncoding('utf8')
      .once('data', resolve)
      .once('end', () => reject(new Error('it ended without a word')))
  })

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

test('a login is kept in the keychain, used from there, lies in no file, and is gone after logout', {
  skip,
}, async (t) => {
  const at = place(t)
  const server = await wireServer(stream(anthropic.frames({ text: ['Here.'] })))
  t.after(() => server.close())
  const env = { ...(await keychain(t, at)), ANTHROPIC_BASE_URL: server.url }

  const login = await at.run(['login', '--key'], { env, input: `${key}\n` })
  assert.deepEqual([login.code, login.stdout], [0, "Login successful. Kept in the system's keychain.\n"], login.stderr)
  const status = JSON.parse((await at.run(['status', '--json'], { env })).stdout)
  assert.deepEqual([status.source, status.kept, status.lastFour], ['login', "the system's keychain", '…0123'])

  const ran = await at.run(['-p', 'hello'], { env })
  assert.deepEqual([ran.code, ran.stdout], [0, 'Here.\n'], ran.stderr)
  assert.equal(server.seen[0]!.headers['x-api-key'], key)
  assert.equal(existsSync(join(at.home, '.ona/credentials.json')), false)
  for (const file of filesUnder(at.home)) assert.ok(!readFileSync(file).includes(key), file)

  assert.equal((await at.run(['logout'], { env })).code, 0)
  assert.equal(JSON.parse((await at.run(['status', '--json'], { env })).stdout).loggedIn, false)
  assert.equal(existsSync(join(at.home, '.ona/login.json')), false)
})

test('a login whose keychain has gone away is not lost in silence, and not forgotten as if it were removed', {
  skip,
}, async (t) => {
  const at = place(t)
  const env = { ...(await keychain(t, at)), ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }
  await at.run(['login', '--key'], { env, input: `${key}\n` })
  const gone = { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(at.home, 'no-bus')}` }
  const ran = await at.run(['-p', 'hello'], { env: gone })
  assert.equal(ran.code, 1)
  assert.match(ran.stdout + ran.stderr, /the stored key could not be read · Please run \/login/)
  const logout = await at.run(['logout'], { env: gone })
  assert.equal(logout.code, 1)
  assert.equal(existsSync(join(at.home, '.ona/login.json')), true)
})
