/** A shell that is restored from a login gives what `bash -lc` gives; where it would not, there is no snapshot. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs, { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '../../../../test/support/until.ts'
import { runCommand } from '../command.ts'
import { dropSnapshot, isStillTrue, type LoginSnapshot, takeSnapshot } from './login-snapshot.ts'
import { expectCommand, warmShells } from './warm-shell.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-login-'))
const alive = setInterval(() => {}, 60_000) // nothing that waits ahead keeps a process alive
after(() => {
  clearInterval(alive)
  rmSync(root, { recursive: true, force: true })
})
const isLinux = { skip: process.platform === 'linux' ? false : 'there are no snapshots here' }

/** Takes long enough for a snapshot, and counts logins. */
const slow = 'echo x >> "$HOME/logins"; sleep 0.1; '

function homeWith(profile: string) {
  const home = mkdtempSync(join(root, 'home-'))
  writeFileSync(join(home, '.profile'), profile)
  const env = { HOME: home, PATH: process.env['PATH'], LANG: 'C.UTF-8', GIVEN: 'as given' }
  return { home, place: { shell: '/bin/bash', cwd: root, env } }
}

const rich = `${slow}
export A='x y' B=$'l\\n\\t\\x01' EMPTY=; c=(1 '2 3' [7]=z); declare -A m=([k]=v); declare -r RO=1; declare -i N=3
f() { cat <<X
$1
X
}; export -f f; shopt -s extglob nullglob
g() { ls !(x) > /dev/null; echo "\${1^^}"; }
set -u -o pipefail; umask 027; ulimit -n 200; unset GIVEN; hash cat; IFS=:; false`

const commands = [
  'declare -p A B EMPTY c m RO N IFS',
  'f it; bash -c "f again"',
  'declare -f; g low',
  'echo !(x) | wc -c; echo no*such',
  'echo "$? $- $# ${GIVEN-unset} $0"',
  'umask; ulimit -n; hash -l; shopt -p; set +o',
  'ls /proc/self/fd | wc -l; echo "$SHLVL $BASH_SUBSHELL $BASHOPTS"',
  'env | grep -v ^_= | sort',
  'set | grep -v "^_=\\|^BASH_\\|^PPID=\\|^PIPESTATUS=\\|LINENO=\\|SECONDS="',
  'RO=2; echo not here',
  'cat; echo "$undefined"',
  'echo "$BASH_EXECUTION_STRING"; exec /bin/echo last',
]

test('restored and cold agree', isLinux, async () => {
  const { home, place } = homeWith(rich)
  const { cwd, env } = place
  const run = (command: string, mayWarm: boolean) =>
    runCommand({ command, shell: 'bash', cwd, input: '{"a":1}', env, timeoutMs: 60_000, mayWarm })
  const logins = () => readFileSync(join(home, 'logins'), 'utf8').length / 2
  for (const command of commands) {
    expectCommand(command, place)
    await until(() => warmShells(place, command) > 0)
  }
  assert.equal(logins(), 2) // whatever the number of shells
  const warm = []
  for (const command of commands) warm.push(await run(command, true))
  assert.equal(logins(), 2)
  for (const [at, command] of commands.entries()) assert.deepEqual(warm[at], await run(command, false), command)
})

test('calls without a pause between them, or at once, do not read the profile again', isLinux, async () => {
  const { home, place } = homeWith(slow)
  const { cwd, env } = place
  const run = (command: string) => runCommand({ command, shell: 'bash', cwd, input: '{}', env, timeoutMs: 60_000 })
  const hooks = ['cat; echo one', 'cat; echo two']
  for (const command of hooks) expectCommand(command, place)
  await until(() => warmShells(place) >= hooks.length)
  const printed = []
  for (let call = 0; call < 6; call++) for (const command of hooks) printed.push((await run(command)).stdout)
  assert.deepEqual(printed, Array(6).fill(['{}\none\n', '{}\ntwo\n']).flat())
  const atOnce = await Promise.all(Array.from({ length: 6 }, () => run(hooks[0]!)))
  assert.deepEqual(
    atOnce.map(({ stdout }) => stdout),
    Array(6).fill('{}\none\n'),
  )
  assert.equal(readFileSync(join(home, 'logins'), 'utf8').length / 2, 2)
})

test('nor is a quick profile read again and again, once there was no time to', isLinux, async () => {
  const { home, place } = homeWith('echo x >> "$HOME/logins"')
  const { cwd, env } = place
  const run = async (command: string) => {
    const { stdout } = await runCommand({ command, shell: 'bash', cwd, input: '{}', env, timeoutMs: 60_000 })
    assert.equal(stdout, '{}\nquick\n')
  }
  const logins = () => readFileSync(join(home, 'logins'), 'utf8').length
  // one call after another until no shell has read it any more, ten times in a row
  for (let calls = 0, unread = 0; unread < 10; calls++) {
    const before = calls === 0 ? 0 : logins()
    await run('cat; echo quick')
    unread = logins() === before ? unread + 1 : 0
    assert.ok(calls < 2000, 'it is read with every call')
  }
})

test('there is no snapshot of a login that can be told from a restored one', isLinux, async () => {
  const profiles = {
    prints: 'echo hi',
    'prints to stderr': 'echo hi >&2',
    'is never the same': 'export T=$(date +%N)$RANDOM',
    'leaves a process': 'sleep 5 &',
    'has run a job': 'sleep 0 & wait',
    'remembers a line': 'history -s x',
    'sets an option by a variable': 'GLOBIGNORE=x',
    'leaves a process that is not its child': '(sleep 5 &)',
    'leaves a process in a session of its own': '(setsid sleep 5 < /dev/null > /dev/null 2>&1 &)',
    'changes its priority': 'renice -n 7 $$ > /dev/null',
    'changes what the kernel ends first': 'echo 500 > /proc/$$/oom_score_adj',
    'becomes restricted': 'set -r',
    'exports what bash sets': 'export SHELLOPTS',
    'has another name': 'BASH_ARGV0=other',
    'remembers folders': 'pushd -n /tmp > /dev/null',
    'has a function that knows its file': 'f() { echo "$BASH_SOURCE"; }',
    'leaves a descriptor': 'exec 5>/dev/null',
    'moves stderr': 'exec 2>/dev/null',
    'joins stdout and stderr': 'exec 2>&1',
    'reads the input': 'read -r line',
    moves: 'cd /',
    'sets a trap': 'trap : EXIT',
    'sets aliases that count': 'shopt -s expand_aliases; alias x=y',
    'sets words': 'set -- a b',
    refers: 'declare -n ref=HOME',
    ends: 'exit 0',
    'becomes another': 'exec sleep 0',
  }
  const taken: string[] = []
  for (const [name, profile] of Object.entries(profiles))
    if (typeof (await takeSnapshot(homeWith(slow + profile).place)) === 'object') taken.push(name)
  assert.deepEqual(taken, [])
})

test('a login that takes what the hook would read says so, whether it is slow or not', isLinux, async () => {
  const taken: unknown[] = []
  for (const profile of ['read -r line', 'read -t 9 -r line', `${slow}cat`])
    taken.push(await takeSnapshot(homeWith(profile).place))
  assert.deepEqual(
    taken,
    taken.map(() => 'takes input'),
  )
})

test('a snapshot is no longer true when a login leaves another state', isLinux, async () => {
  const { home, place } = homeWith(`${slow} . "$HOME/more"`)
  writeFileSync(join(home, 'more'), 'export MORE=1')
  const snapshot = await takeSnapshot(place)
  assert.ok(typeof snapshot === 'object')
  const folder = `${realpathSync(root)}\n`
  assert.deepEqual([await isStillTrue(place, snapshot), snapshot.state.folder], [true, folder + folder])
  writeFileSync(join(home, 'more'), 'export MORE=2')
  assert.equal(await isStillTrue(place, snapshot), false)
  dropSnapshot(snapshot)
})

test('a login that cannot be started has no snapshot', isLinux, async () => {
  const { place } = homeWith('')
  assert.equal(await takeSnapshot({ ...place, env: { ...place.env, ODD: 'a\0b' } }), undefined)
  assert.equal(await takeSnapshot({ ...place, shell: '/none/such' }), undefined)
})

test('the limit of a login ends with it: later its number may be that of another', isLinux, async (t) => {
  const { place } = homeWith(slow)
  const snapshot = await takeSnapshot(place)
  assert.ok(typeof snapshot === 'object')
  const [begun, ended] = [t.mock.method(globalThis, 'setTimeout'), t.mock.method(globalThis, 'clearTimeout')]
  assert.equal(await isStillTrue(place, snapshot), true)
  dropSnapshot(snapshot)
  const limits = begun.mock.calls.filter(({ arguments: [, ms] }) => ms === 30_000).map(({ result }) => result)
  const cleared = ended.mock.calls.map(({ arguments: [timer] }) => timer)
  assert.deepEqual(
    limits.map((limit) => cleared.includes(limit)),
    [true],
  )
})

/** Never ends by itself. */
const hangs = 'sleep 1000 & echo $$ $! > "$HOME/new"; mv "$HOME/new" "$HOME/pids"; wait'

test('a login that takes half a minute is ended, with what it started', isLinux, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { home, place } = homeWith(hangs)
  let isOver = false
  const answer = isStillTrue(place, {} as LoginSnapshot).finally(() => {
    isOver = true
  })
  await until(() => existsSync(join(home, 'pids')))
  t.mock.timers.tick(29_999)
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  assert.equal(isOver, false)
  t.mock.timers.tick(1)
  assert.equal(await answer, false)
  const pids = readFileSync(join(home, 'pids'), 'utf8').trim().split(' ')
  assert.equal(pids.length, 2)
  await until(() => !pids.some(isRunning))
})

test('a login that ends the shell is known to have failed when the shell has ended', isLinux, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { home, place } = homeWith('echo $$ > "$HOME/new"; mv "$HOME/new" "$HOME/pid"; exit 0')
  let answer: boolean | undefined
  void isStillTrue(place, {} as LoginSnapshot).then((is) => {
    answer = is
  })
  await until(() => existsSync(join(home, 'pid')))
  await until(() => !existsSync(`/proc/${readFileSync(join(home, 'pid'), 'utf8').trim()}`))
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  assert.equal(answer, false)
})

const isRunning = (pid: string): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test('a process that only waits for a login ends', isLinux, () => {
  const { home, place } = homeWith(hangs)
  const script = `
    const { takeSnapshot } = await import(${JSON.stringify(import.meta.resolve('./login-snapshot.ts'))})
    takeSnapshot(${JSON.stringify(place)})
    const { existsSync } = await import('node:fs')
    while (!existsSync(${JSON.stringify(join(home, 'pids'))})) await new Promise(setImmediate)`
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    ...{ encoding: 'utf8', timeout: 20_000 },
  })
  assert.deepEqual([status, signal, stderr], [0, null, ''])
})

test('a login that takes less than 40 ms is not worth a snapshot', isLinux, async (t) => {
  const { setTimeout } = globalThis
  /** The clock of a process in which a login takes so long, and in which the timer may come late. */
  const taken = async (tookMs: number, isOnTime: boolean) => {
    const { home, place } = homeWith('echo x >> "$HOME/logins"')
    const times = [1000, 1000 + tookMs]
    const now = t.mock.method(performance, 'now', () => times.shift())
    const timer = t.mock.method(globalThis, 'setTimeout', ((work: (...rest: []) => void, ms: number, ...rest: []) => {
      const isLimit = ms === 40
      if (isLimit && isOnTime) queueMicrotask(() => work(...rest)) // before anything that the login says
      return setTimeout(isLimit ? () => {} : work, ms, ...rest)
    }) as typeof setTimeout)
    const snapshot = await takeSnapshot(place)
    now.mock.restore()
    timer.mock.restore()
    if (typeof snapshot === 'object') dropSnapshot(snapshot)
    return [
      typeof snapshot === 'object' ? snapshot.isSlow : snapshot,
      readFileSync(join(home, 'logins'), 'utf8').length / 2,
    ]
  }
  assert.deepEqual(
    [await taken(39, false), await taken(40, false), await taken(39, true)],
    [
      ['quick', 1],
      [true, 2],
      [true, 2],
    ],
  )
})

test('a shell whose descriptors cannot be read is looked at a hundred times', isLinux, async (t) => {
  const { place } = homeWith(slow)
  const snapshot = await takeSnapshot(place)
  assert.ok(typeof snapshot === 'object')
  let unreadable = 0
  const { readdirSync } = fs
  const { mock } = t.mock.method(fs, 'readdirSync', ((path: string) => {
    if (unreadable-- > 0) throw new Error(`${path} cannot be read`)
    return readdirSync(path)
  }) as typeof readdirSync)
  syncBuiltinESMExports()
  t.after(() => {
    mock.restore()
    syncBuiltinESMExports()
  })
  const after = (looks: number) => {
    unreadable = looks
    return isStillTrue(place, snapshot)
  }
  assert.deepEqual([await after(99), await after(100)], [true, false])
  dropSnapshot(snapshot)
})

test('elsewhere than on Linux no login is tried', isLinux, async (t) => {
  const { home, place } = homeWith(slow)
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' })
  t.after(() => Object.defineProperty(process, 'platform', platform))
  assert.deepEqual([await takeSnapshot(place), existsSync(join(home, 'logins'))], [undefined, false])
})
