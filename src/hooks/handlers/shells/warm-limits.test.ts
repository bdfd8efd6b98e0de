/** How many shells are kept ready, for which commands, and what becomes of the oldest. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../../../test/support/until.ts'
import { hideVariables } from '../../../files/hide-variables.ts'
import { runCommand } from '../command.ts'
import './login-snapshot.ts' // loaded, so that a pool learns about its login at once
import { waitingScript } from './shell-script.ts'
import { keepAlive, stampOf, type WarmPlace } from './waiting-shell.ts'
import { expectCommand, warmShells, withWarmShell } from './warm-shell.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-warm-limits-'))
after(() => rmSync(root, { recursive: true, force: true }))

function newPlace(more: object = {}): WarmPlace {
  const home = mkdtempSync(join(root, 'home-'))
  return { shell: '/bin/bash', cwd: home, env: { HOME: home, PATH: process.env['PATH'], ...more } }
}
/** Processes that wait in the folder of a place, or have yet to. */
function pidsIn({ cwd }: WarmPlace): string[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.filter((pid) => {
    try {
      const isWaiting = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('builtin printf r;')
      return isWaiting && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cwd)
    } catch {
      return false // it has ended
    }
  })
}
const shellsIn = (place: WarmPlace): number => pidsIn(place).length
const isLinux = process.platform === 'linux'
const isWarm = (command: string, place: WarmPlace) =>
  withWarmShell(command, place, async (shell) => {
    shell?.dismiss()
    return shell !== undefined
  })

test('a command of up to 32 KiB may be held ready; a longer one, one with a NUL, and none where they are off', async () => {
  const [off, place] = [newPlace({ ONA_WARM_SHELLS: '0' }), newPlace()]
  const longest = `: ${'x'.repeat(32 * 1024 - 2)}`
  for (const where of [off, place]) expectCommand(longest, where)
  await until(() => warmShells(place, longest) === 1)
  for (const [command, where] of [
    [`${longest}x`, place],
    [`: ${'\u00e9'.repeat(16 * 1024)}`, place],
    ['true\0', place],
    ['-e true', place],
    ['+e', place],
    ['true', off],
  ] as const) {
    expectCommand(command, where)
    assert.deepEqual([await isWarm(command, where), warmShells(where, command)], [false, 0])
  }
  expectCommand('true', place)
  await until(() => warmShells(place, 'true') === 1)
  assert.deepEqual([warmShells(place), warmShells(off)], [2, 0])
  assert.equal(await isWarm(longest, place), true)
})

test('as many of one command as ran at once, up to four', async () => {
  const place = newPlace()
  const rounds: [number, number][] = [
    [2, 2],
    [6, 4],
    [1, 4],
  ]
  for (const [atOnce, ready] of rounds) {
    await Promise.all(Array.from({ length: atOnce }, () => isWarm('true', place)))
    await until(() => warmShells(place, 'true') === ready)
    const last = `echo behind ${atOnce}` // its shell is started behind any of the others
    expectCommand(last, place)
    await until(() => warmShells(place, last) === 1)
    assert.equal(warmShells(place, 'true'), ready)
  }
})

test('what a round wanted is remembered for twenty rounds', async () => {
  const place = newPlace()
  const command = 'echo twenty'
  await Promise.all([isWarm(command, place), isWarm(command, place)])
  await until(() => warmShells(place, command) === 2)
  /** What is expected and not asked is a round that wanted none. */
  const pass = async () => {
    expectCommand(command, place)
    await wait(5)
  }
  for (let round = 2; round <= 20; round++) await pass()
  assert.equal(await isWarm(command, place), true)
  await pass()
  await until(() => warmShells(place, command) === 2)
  assert.equal(await isWarm(command, place), true)
  await pass()
  const behind = 'echo behind twenty' // its shell is started behind any of the other's
  expectCommand(behind, place)
  await until(() => warmShells(place, behind) === 1)
  assert.equal(warmShells(place, command), 1)
})

test('one after another, with a pause between, they need one shell', async () => {
  const place = newPlace()
  for (let round = 0; round < 3; round++) {
    await isWarm('echo one', place)
    await wait(30)
    await until(() => warmShells(place, 'echo one') === 1)
  }
  expectCommand('echo last', place) // its shell is started behind any of the other's
  await until(() => warmShells(place, 'echo last') === 1)
  assert.equal(warmShells(place, 'echo one'), 1)
})

test('where no shell was ready, the next in turn is started beside each hook, and no pause is needed', async () => {
  const place = newPlace()
  const warm = []
  for (let round = 0; round < 3; round++)
    for (const command of ['echo a', 'echo b']) warm.push(await isWarm(command, place))
  assert.deepEqual(warm, [false, false, true, true, true, true])
})

test('after a pause, in which shells could be started, none is started beside a hook', {
  skip: process.platform === 'linux' ? false : 'only Linux shows what a process started',
}, async () => {
  const place = newPlace()
  const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  const startsBeside = (counts: (pid: string) => boolean) =>
    withWarmShell('echo beside', place, async (shell) => {
      const before = children()
      await new Promise(setImmediate)
      shell?.dismiss()
      return children().some((pid) => !before.includes(pid) && counts(pid))
    })
  const first = await startsBeside(() => true)
  await until(() => warmShells(place, 'echo beside') === 1)
  await wait(30)
  // logins that are still compared on a busy machine are no shells of a hook
  const second = await startsBeside((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('echo beside'))
  assert.deepEqual([first, second], [true, false])
})

test('sixteen in one place: of more commands the one used longest ago loses its shell', async () => {
  const place = newPlace()
  const commands = Array.from({ length: 16 }, (_, at) => `echo ${at}`)
  for (const command of commands) expectCommand(command, place)
  await until(() => warmShells(place) === 16)
  expectCommand('echo 0', place)
  expectCommand('echo more', place)
  await until(() => warmShells(place, 'echo more') === 1)
  assert.deepEqual(
    ['echo 0', 'echo 1', 'echo 2'].map((command) => warmShells(place, command)),
    [1, 0, 1],
  )
  assert.equal(warmShells(place), 16)
  if (isLinux) await until(() => shellsIn(place) === 16)
})

test('of more than sixteen commands that are asked in every round, sixteen keep their shells', async () => {
  const place = newPlace()
  const round = async () => {
    const warm: boolean[] = []
    for (let at = 0; at < 18; at++) warm.push(await isWarm(`echo round ${at}`, place))
    return warm.filter(Boolean).length
  }
  await round()
  await until(() => warmShells(place) === 16)
  await round()
  await until(() => warmShells(place) === 16)
  assert.equal(await round(), 16)
})

test('sixteen places, such as the environments of plugins: each has its shell, and of more the oldest ends', async () => {
  const { cwd } = newPlace()
  const places = Array.from({ length: 17 }, (_, at) => {
    const place = newPlace({ CLAUDE_PLUGIN_ROOT: `/plugins/${at}` })
    return { ...place, cwd, env: { ...place.env, HOME: cwd } }
  })
  for (const place of places) {
    expectCommand('true', place)
    await until(() => warmShells(place, 'true') === 1)
    if (place === places[15]) assert.equal(warmShells(undefined, 'true'), 16)
  }
  assert.deepEqual(
    places.map((place) => warmShells(place, 'true')),
    [0, ...Array.from({ length: 16 }, () => 1)],
  )
  if (isLinux) await until(() => shellsIn(places[0]!) === 16)
})

test('of more than 48 shells in all, those of the oldest place end', async () => {
  const places = [newPlace(), newPlace(), newPlace(), newPlace()] as const
  for (const place of places.slice(0, 3)) {
    for (let at = 0; at < 16; at++) expectCommand(`: ${at}`, place)
    await until(() => warmShells(place) === 16)
  }
  expectCommand(': more', places[3])
  await until(() => warmShells(places[3]) === 1)
  assert.deepEqual(
    places.map((place) => warmShells(place)),
    [0, 16, 16, 1],
  )
  assert.equal(warmShells(), 33)
})

/** In the profile: a shell that will wait comes when there is a file `go`. */
const held = '[[ $BASH_EXECUTION_STRING != *"printf r"* ]] || while ! [ -e go ]; do sleep 0.01; done'

test('a shell that comes when its place is an old one ends', { skip: !isLinux }, async () => {
  const old = newPlace()
  writeFileSync(join(old.cwd, '.bash_profile'), held)
  expectCommand('true', old)
  await until(() => shellsIn(old) === 1)
  for (let more = 0; more < 16; more++) {
    const place = newPlace()
    expectCommand('true', place)
    await until(() => warmShells(place, 'true') === 1)
  }
  writeFileSync(join(old.cwd, 'go'), '')
  await until(() => shellsIn(old) === 0)
})

test('a shell whose profile sets a trap ends', { skip: !isLinux }, async () => {
  const place = newPlace()
  writeFileSync(join(place.cwd, '.bash_profile'), `trap : EXIT; ${held}`)
  expectCommand('true', place)
  await until(() => shellsIn(place) === 1)
  writeFileSync(join(place.cwd, 'go'), '')
  await until(() => shellsIn(place) === 0)
})

test('a shell that has read another profile ends', { skip: !isLinux }, async () => {
  const place = newPlace()
  expectCommand('true', place)
  await until(() => warmShells(place, 'true') === 1)
  const old = pidsIn(place)
  assert.equal(old.length, 1)
  writeFileSync(join(place.cwd, '.bash_profile'), ':')
  assert.equal(await isWarm('true', place), false)
  await until(() => !pidsIn(place).includes(old[0]!))
})

test('the script of a waiting shell has two lines of its own, with the command on one, and then the command', () => {
  const command = `echo 'it\\'\r\necho "$x"`
  const [first, second, ...rest] = waitingScript('begin', command).split('\n')
  assert.deepEqual(
    [first!.split('; ').slice(0, 3), second!.split('; ').slice(2, 5), rest.join('\n')],
    [
      ['begin', 'BASH_EXECUTION_STRING=', 'SECONDS=0'],
      [`BASH_EXECUTION_STRING=$'echo \\'it\\\\\\'\\r\\necho "$x"'`, 'SECONDS=0', 'exec 3>&-'],
      command,
    ],
  )
})

test('what bash reads at a login, and the folder, are what a shell was started from', () => {
  const place = newPlace()
  const home = place.env.HOME!
  const stamps = [stampOf(place)]
  for (const name of ['.bash_profile', '.bash_login', '.profile', '.bashrc']) {
    writeFileSync(join(home, name), ':')
    stamps.push(stampOf(place))
  }
  writeFileSync(join(home, '.bashrc'), ': :')
  stamps.push(stampOf(place), stampOf({ ...place, cwd: root }), stampOf({ ...place, cwd: join(home, 'none') }))
  assert.equal(new Set(stamps).size, 8)
  assert.equal(stampOf(place), stamps[5])
  // each of these alone: its time, its size, and which file it is
  const bashrc = join(home, '.bashrc')
  const changed = [
    ...[': :', ':  :'].map((text) => () => writeFileSync(bashrc, text)),
    () => renameSync(other(), bashrc),
  ]
  const other = () => {
    writeFileSync(`${bashrc}-2`, ':  :')
    return `${bashrc}-2`
  }
  const alone = changed.map((change) => {
    change()
    utimesSync(bashrc, 1000, 1000)
    return stampOf(place)
  })
  utimesSync(bashrc, 1000, 1001)
  assert.equal(new Set([...alone, stampOf(place)]).size, 4)
  // who may read it or enter the folder
  for (const path of [bashrc, home]) {
    const before = stampOf(place)
    chmodSync(path, 0o100)
    assert.notEqual(stampOf(place), before, path)
  }
  chmodSync(home, 0o700)
  const below = { ...place, cwd: join(home, 'x'.repeat(300)) } // it cannot be looked at
  assert.notEqual(stampOf(below), stampOf(below))
})

test('a shell that waits does not show the credentials that its command will have', { skip: !isLinux }, async (t) => {
  const canary = 'sk-canary-in-a-warm-shell'
  const place = newPlace({ ANTHROPIC_API_KEY: canary })
  expectCommand('printf %s "$ANTHROPIC_API_KEY"', place)
  await until(() => warmShells(place) > 0)
  const [pid] = pidsIn(place)
  if (!hideVariables(process.pid, ['NONE'])) return t.skip('this system keeps memory from being written')
  assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, 'latin1'), new RegExp(canary))
  const { stdout } = await runCommand({
    ...{ command: 'printf %s "$ANTHROPIC_API_KEY"', shell: 'bash', input: '', timeoutMs: 10_000 },
    ...{ cwd: place.cwd, env: place.env },
  })
  assert.equal(stdout, canary)
})

test('the profile is where bash looks for it, also where HOME is unset, empty or relative', () => {
  const { cwd, shell } = newPlace()
  const stampIn = (HOME?: string) => stampOf({ shell, cwd, env: HOME === undefined ? {} : { HOME } })
  writeFileSync(join(cwd, '.profile'), ':')
  assert.deepEqual([stampIn(), stampIn('')], [stampIn(userInfo().homedir), stampIn('/')])
  const before = stampIn('below')
  mkdirSync(join(cwd, 'below'))
  writeFileSync(join(cwd, 'below/.profile'), ':')
  assert.notEqual(stampIn('below'), before)
})

test('a shell that is not used ends itself and no other process, wherever the profile splits words', async () => {
  const place = newPlace()
  writeFileSync(join(place.cwd, '.profile'), 'IFS=012456789') // all that a process id may have; with a 3 hooks run cold
  expectCommand('cat', place)
  await until(() => warmShells(place, 'cat') === 1)
  const ended = await withWarmShell('cat', place, (shell) => {
    keepAlive(shell!.child, true)
    shell!.dismiss()
    return once(shell!.child, 'exit')
  })
  assert.deepEqual(ended, [null, 'SIGKILL'])
})

/** Whether a hook begins without waiting for a shell. */
async function beginsAtOnce(place: WarmPlace): Promise<boolean> {
  let begun = false
  const run = withWarmShell('true', place, async (shell) => {
    begun = true
    shell?.dismiss()
  })
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  const isAtOnce = begun
  await run
  return isAtOnce
}

test('a shell that does not come is waited for once', async () => {
  const place = newPlace()
  writeFileSync(join(place.cwd, '.bash_profile'), 'sleep 3')
  expectCommand('true', place)
  await wait(20) // by then it is being started: timers fire in order
  assert.deepEqual([await beginsAtOnce(place), await beginsAtOnce(place)], [false, true])
})

test('a hook that waits is woken by its shell and not by its limit, each time; one refill at a time is due', async (t) => {
  const { setTimeout, clearTimeout } = globalThis
  const due = new Map<NodeJS.Timeout, string>()
  t.mock.method(globalThis, 'setTimeout', ((work: (given: unknown) => void, ms: number, given: unknown) => {
    const name = `${work.name} ${ms}`
    const run = () => {
      due.set(timer, `${work.name} came`)
      work(given)
    }
    const timer = setTimeout(run, name === 'end 1000' ? 20_000 : ms)
    due.set(timer, name)
    return timer
  }) as typeof setTimeout)
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    due.delete(timer)
    clearTimeout(timer)
  })
  const place = newPlace()
  const rounds: unknown[] = []
  for (let round = 0; round < 3; round++) {
    expectCommand('echo woken', place)
    await wait(1) // by then it is being started
    const warm = await isWarm('echo woken', place)
    const left = [...due].filter(([, name]) => /^end|^fill \d/.test(name))
    rounds.push([warm, ...left.map(([timer, name]) => [name, timer.hasRef()])])
  }
  assert.deepEqual(
    rounds,
    rounds.map(() => [true, ['fill 25', false]]),
  )
})

test('a hook that is interrupted while it waits for its shell does not run, and the shell ends', {
  skip: !isLinux,
}, async () => {
  const place = newPlace()
  writeFileSync(join(place.cwd, '.profile'), 'sleep 0.2')
  const { cwd, env } = place
  const command = 'echo x > ran; :'
  expectCommand(command, place)
  await wait(1)
  const turn = new AbortController()
  const { signal } = turn
  const running = runCommand({ command, shell: 'bash', cwd, input: '{}', env, timeoutMs: 60_000, signal })
  turn.abort()
  assert.deepEqual(await running, {
    ...{ end: 'interrupted', exitCode: null, stdout: '', stderr: '', note: 'was interrupted' },
  })
  const pids = pidsIn(place)
  await until(() => !pidsIn(place).some((pid) => pids.includes(pid)))
  assert.equal(existsSync(join(cwd, 'ran')), false)
})

test('a shell that cannot be started is not waited for', async () => {
  const place = newPlace({ ODD: 'a\0b' })
  expectCommand('true', place)
  await wait(20)
  assert.equal(await beginsAtOnce(place), true)
})

test('a shell that another hook waits for is not waited for', async () => {
  const place = newPlace()
  writeFileSync(join(place.cwd, '.bash_profile'), 'sleep 3')
  expectCommand('true', place)
  await wait(20)
  const first = beginsAtOnce(place)
  assert.deepEqual([await beginsAtOnce(place), await first], [true, false])
})

test('a command that was asked in one of the last rounds keeps its shell, though not in the last one', async () => {
  const place = newPlace()
  const commands = Array.from({ length: 16 }, (_, at) => `echo kept ${at}`)
  for (const command of commands) await isWarm(command, place)
  await until(() => warmShells(place) === 16)
  for (const command of commands.slice(1)) await isWarm(command, place)
  await until(() => warmShells(place) === 16)
  await isWarm('echo one more', place)
  assert.deepEqual(
    commands.map((command) => warmShells(place, command)),
    commands.map(() => 1),
  )
})
