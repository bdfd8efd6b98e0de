/** What a pool knows of its login: when it is learned, compared again and forgotten, and that no descriptor is left behind. */
import assert from 'node:assert/strict'
import fs, { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { until } from '../../../../test/support/until.ts'
import { takeSnapshot } from './login-snapshot.ts'
import { type HasLogin, type Login, learn, learnAgain, learnInHaste, recheck, refresh } from './pool-login.ts'
import { stampOf } from './waiting-shell.ts'
import { expectCommand, warmShells } from './warm-shell.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-pool-'))
const alive = setInterval(() => {}, 60_000) // a login does not keep a process alive
after(() => {
  clearInterval(alive)
  rmSync(root, { recursive: true, force: true })
})
const isLinux = { skip: process.platform === 'linux' ? false : 'there are no snapshots here' }

/** Its login takes long enough for a snapshot, and sets what the file `more` sets. */
function newPool(): HasLogin & { readonly more: string } {
  const home = mkdtempSync(join(root, 'home-'))
  const more = join(home, 'more')
  writeFileSync(more, 'MORE=1')
  writeFileSync(join(home, '.profile'), 'sleep 0.1; . "$HOME/more"')
  const env = { HOME: home, PATH: process.env['PATH'] }
  return {
    place: { shell: '/bin/bash', cwd: root, env },
    login: 'unknown',
    stamp: '',
    dropped: false,
    coldOnly: false,
    more,
  }
}
test('where a login takes what a hook would read, hooks run cold', isLinux, async () => {
  const pool = newPool()
  writeFileSync(pool.more, 'read -t 9 -r line')
  await learn(pool)
  assert.deepEqual([pool.login, pool.coldOnly], ['read', true])
})

async function learned() {
  const pool = newPool()
  await learn(pool)
  assert.ok(typeof pool.login === 'object')
  return { pool, snapshot: pool.login }
}
/** Descriptors of this process whose files hold a snapshot. */
const kept = () =>
  readdirSync('/proc/self/fd').filter((fd) => / \(deleted\)$/.test(linkOf(fd)) && isSnapshot(fd)).length
/** Of the file that a descriptor belongs to, or of a path. */
const isSnapshot = (at: unknown) =>
  /\/ona-[0-9a-f-]{36}( \(deleted\))?$/.test(Number(at) >= 0 ? linkOf(at) : String(at))
function linkOf(fd: unknown): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // the one that listed them
  }
}

/** Replaces a function of node:fs until the test ends, for the files of snapshots alone: Node and others call it as well. */
function replaced(t: TestContext, name: 'openSync' | 'writeSync', by: (...given: never[]) => unknown): void {
  const original = fs[name] as (...given: unknown[]) => unknown
  put(t, name, (...given: unknown[]) => (isSnapshot(given[0]) ? by : original)(...(given as never[])))
}
function put(t: TestContext, name: 'openSync' | 'readdirSync' | 'writeSync', by: (...given: never[]) => unknown): void {
  const { mock } = t.mock.method(fs, name, by as never)
  syncBuiltinESMExports()
  t.after(() => {
    mock.restore()
    syncBuiltinESMExports()
  })
}

for (const [name, code] of [
  ['openSync', 'EACCES'],
  ['writeSync', 'ENOSPC'],
] as const)
  test(`a snapshot that cannot be kept (${code}) leaves every shell to read the profile`, isLinux, async (t) => {
    replaced(t, name, () => {
      throw Object.assign(new Error(code), { code })
    })
    const pool = newPool()
    await assert.rejects(takeSnapshot(pool.place), { code })
    await learn(pool)
    assert.deepEqual(pool, { ...pool, login: 'read', stamp: stampOf(pool.place), dropped: false })
    assert.equal(kept(), 0)
  })

test('a snapshot is kept in memory where that is a folder, for its owner alone', isLinux, async (t) => {
  const opened: unknown[] = []
  replaced(t, 'openSync', (path: string, ...how: unknown[]) => {
    opened.push([dirname(path), basename(path).length, ...how])
    throw new Error('seen')
  })
  const { place } = newPool()
  if (existsSync('/dev/shm')) await assert.rejects(takeSnapshot(place), /seen/)
  const { readdirSync } = fs
  put(t, 'readdirSync', (path: string) => readdirSync(path === '/dev/shm' ? '/none/such' : path))
  await assert.rejects(takeSnapshot(place), /seen/)
  const how = ['ona-'.length + 36, 'wx+', 0o600]
  assert.deepEqual(opened, [...(existsSync('/dev/shm') ? [['/dev/shm', ...how]] : []), [tmpdir(), ...how]])
})

test('a snapshot of which a part is lost leaves every shell to read the profile, and is closed', isLinux, async (t) => {
  replaced(t, 'writeSync', () => 0)
  const pool = newPool()
  await learn(pool)
  assert.deepEqual([pool.login, kept()], ['read', 0])
})

test('what is learned for a pool that is dropped meanwhile is closed', isLinux, async () => {
  const pool = newPool()
  const learning = learn(pool)
  assert.equal(pool.login, 'learning')
  pool.dropped = true
  await learning
  assert.deepEqual([pool.login, kept()], ['unknown', 0])
})

test('what was learned is forgotten when the profile is another', isLinux, async () => {
  const { pool } = await learned()
  refresh(pool)
  assert.deepEqual([typeof pool.login, kept()], ['object', 1])
  const after = (login: 'unknown' | 'learning' | 'quick' | 'read', stamp: string) => {
    const other = { ...pool, login, stamp }
    refresh(other)
    return other.login
  }
  assert.deepEqual(
    (['unknown', 'learning', 'quick', 'read'] as const).map((login) => [after(login, pool.stamp), after(login, '')]),
    [
      ['unknown', 'unknown'],
      ['learning', 'learning'],
      ['quick', 'unknown'],
      ['read', 'unknown'],
    ],
  )
  writeFileSync(join(pool.place.env.HOME!, '.bash_profile'), ':')
  refresh(pool)
  assert.deepEqual([pool.login, kept()], ['unknown', 0])
})

test('a snapshot is compared with a login again when it is older than a minute', isLinux, async (t) => {
  const { pool, snapshot } = await learned()
  t.mock.timers.enable({ apis: ['Date'], now: snapshot.checkedAt + 60_000 })
  refresh(pool)
  const atAMinute = snapshot.checkedAt
  t.mock.timers.tick(1)
  writeFileSync(pool.more, 'MORE=2')
  refresh(pool)
  assert.deepEqual([Date.now() - atAMinute, Date.now() - snapshot.checkedAt], [60_001, 0])
  await until(() => pool.login !== snapshot)
  assert.deepEqual([pool.login, kept()], ['read', 0])
})

test('one that still holds is kept', isLinux, async () => {
  const { pool, snapshot } = await learned()
  await recheck(pool, snapshot)
  assert.deepEqual([pool.login === snapshot, kept()], [true, 1])
  learnAgain(pool)
  assert.equal(kept(), 0)
})

test('one that was forgotten while it was compared stays forgotten', isLinux, async () => {
  const { pool, snapshot } = await learned()
  writeFileSync(pool.more, 'MORE=2')
  const rechecked = recheck(pool, snapshot)
  learnAgain(pool)
  await rechecked
  assert.deepEqual([pool.login, kept()], ['unknown', 0])
})

/** Its login is quick, and takes what the file `more` says. */
function quickPool(more = 'MORE=1') {
  const pool = newPool()
  writeFileSync(join(pool.place.env.HOME!, '.profile'), '. "$HOME/more"')
  writeFileSync(pool.more, more)
  return Object.assign(pool, { login: 'quick' as const, stamp: stampOf(pool.place) })
}

test(
  'in haste a quick profile is restored, too; until then it is read, and it is not tried again',
  isLinux,
  async () => {
    const pool = quickPool()
    const learning = learnInHaste(pool)
    const meanwhile = pool.login
    await learning
    const login = pool.login as Login
    assert.ok(typeof login === 'object')
    assert.deepEqual([meanwhile, login.isSlow, kept()], ['read', false, 1])
    await learnInHaste(pool)
    assert.deepEqual([pool.login === login, kept()], [true, 1])
    learnAgain(pool)
    const random = quickPool('MORE=$RANDOM')
    await learnInHaste(random)
    assert.deepEqual([random.login, kept()], ['read', 0])
  },
)

test(
  'what is learned in haste of a profile that is another by then, or for a place that is dropped, is closed',
  isLinux,
  async () => {
    const changes: ((pool: HasLogin) => void)[] = [
      (pool) => {
        pool.dropped = true
      },
      (pool) => {
        pool.stamp = 'another'
      },
      learnAgain,
    ]
    for (const change of changes) {
      const pool = quickPool()
      const learning = learnInHaste(pool)
      change(pool)
      await learning
      assert.deepEqual([typeof pool.login, kept()], ['string', 0])
    }
  },
)

test('the snapshot of a place is closed when the place is an old one', isLinux, async () => {
  const warm = async (profile: string) => {
    const { place } = newPool()
    writeFileSync(join(place.env.HOME!, '.profile'), profile)
    expectCommand('true', place)
    await until(() => warmShells(place, 'true') > 0)
  }
  await warm('sleep 0.1')
  assert.equal(kept(), 1)
  for (let place = 0; place < 16; place++) await warm('echo no snapshot')
  assert.equal(kept(), 0)
})
