/** A warm login shell gives what `bash -lc` gives, over profiles and commands. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sampled } from '../../../../test/support/campaign-size.ts'
import { until } from '../../../../test/support/until.ts'
import { runCommand } from '../command.ts'
import { runsAlike, startsAlike } from './command-script.ts'
import { printState } from './login-state.ts'
import { afterLogin, waitingScript } from './shell-script.ts'
import type { WarmPlace } from './waiting-shell.ts'
import { expectCommand, warmShells, withWarmShell } from './warm-shell.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-warm-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** The homes of different people. */
const profiles: Record<string, string> = {
  empty: '',
  developer:
    'export PATH="$HOME/bin:$PATH" TOOL=1; greet() { echo "hi $1"; }; umask 027; for i in 1 2 3; do /bin/true; done',
  loud: 'echo welcome; echo "warning: old" >&2',
  strict: 'set -u; shopt -s extglob nullglob; IFS=:',
  moves: 'cd /',
  limited: 'ulimit -n 200; umask 077; set -o pipefail',
  failing: 'set -e; if true; then false || true; fi; [ -n "" ] && echo no',
  careful: 'set -eu',
  bare: 'set +h; shopt -s lastpipe failglob',
}

const commands = [
  'cat',
  'true',
  'exit 2',
  'echo no >&2; exit 2',
  'nosuch-command',
  'echo "$0 $# $*"',
  'pwd; umask; ulimit -n; echo "$PATH"',
  'greet you',
  'echo "$SHLVL $BASH_SUBSHELL $-"',
  'echo "$BASH_EXECUTION_STRING"',
  'ls /proc/self/fd | wc -l',
  'kill -9 $$',
  'set -e; false; echo not here',
  'read line; echo "[$line]"; read more || echo end',
  'exec cat',
  'printf "a\\nb"; (exit 7)',
  "printf '%s' 'it'\\''s'",
  'cat <<X\nheredoc $((1+1))\nX',
  'trap "echo bye" EXIT; echo x',
  'sleep 0 & wait; echo $?',
  'echo "$((SECONDS < 5))"',
  'echo {a,b}*; [[ x == @(x|y) ]] && echo yes',
  'echo "${UNSET-none}"',
  'echo "status $?"',
  'sleep 0 & echo $#; wait',
  'exec 5>&1; echo to five >&5',
  'echo first\necho "line $LINENO"; nosuch-command\n(exit 3)',
  'echo before\necho )',
  'function late { echo "$FUNCNAME $LINENO"; }\nlate',
  '# a comment\ncat',
  '\n\necho "$LINENO"',
  '/bin/echo "the last program"',
  'FOO=bar; echo "${FOO@Q} $BASH_COMMAND"',
  'exec 3>&1 && echo three >&3',
  `cd / && sh -c 'echo $PPID'`,
  `false || sh -c 'echo $PPID'`,
  `cd / && sh -c 'kill -9 $$'`,
  `: && exec sh -c 'kill -9 $$'`,
  'readonly x=1; x=2\necho after',
  'caller; f() { caller 0; }\nf',
  'shopt -s expand_aliases; alias hi="echo aliased"\nhi',
  'printf "%s|" "$BASH_EXECUTION_STRING" "\x01\x7f" "\u{1F600}"',
  'cat <<X',
  'if',
  'echo )',
  '; echo',
  '&& true',
  'echo "never closed',
  'for x in 1 2\ndo )\ndone',
]

for (const [turn, [name, profile]] of Object.entries(profiles).entries())
  test(`warm and cold agree: ${name} profile`, async () => {
    const home = mkdtempSync(join(root, 'home-'))
    writeFileSync(join(home, '.profile'), profile)
    const differ: unknown[] = []
    // each command meets two profiles
    for (const [at, command] of sampled(commands, 4, turn).entries()) {
      const part = String(at >> 3) // a place has no more than sixteen shells
      const env = { HOME: home, PATH: process.env['PATH'], LANG: 'C.UTF-8', PART: part }
      const run = (mayWarm: boolean) =>
        runCommand({ command, shell: 'bash', cwd: root, input: '{"a":1}', env, timeoutMs: 60_000, mayWarm })
      await warmed(command, { shell: '/bin/bash', cwd: root, env })
      const warm = await run(true)
      const cold = await run(false)
      if (JSON.stringify(warm) !== JSON.stringify(cold)) differ.push({ command, warm, cold })
    }
    assert.deepEqual(differ, [])
  })

/** Waits until a shell waits with this command. */
async function warmed(command: string, place: WarmPlace): Promise<void> {
  expectCommand(command, place)
  for (let looks = 0; warmShells(place, command) === 0; looks++) {
    assert.ok(looks < 6000, `no shell waits with ${command}`)
    await wait(5)
  }
}

const command =
  'echo "ran ${SECONDS:+$?} ${LINENO-none}"\nenv | grep -c "SECONDS\\|BASH_EXEC"; nosuch-command\nexec true'

/** More than a pipe holds. */
const loud = 'head -c 200000 /dev/zero | tr "\\0" x'

test('a profile that sets a trap, ends the shell, takes its input, its descriptor or a word of the script leaves hooks to run cold', async () => {
  const profiles = [
    'trap "echo trapped" EXIT',
    'trap : DEBUG',
    'set -a',
    'exec() { echo "my exec $*"; }',
    ...['exec', 'case', 'builtin', '[[', '{', '!', '}', 'esac'].map(
      (word) => `shopt -s expand_aliases; alias '${word}=echo my; ${word}'`,
    ),
    'enable -n test',
    'read -t 1 -r line',
    'readonly SECONDS',
    'unset SECONDS',
    'unset LINENO',
    'set -n',
    'exit 0',
    'read -r line',
    'exec 3>&1',
    'exec 3<&0',
    loud,
  ]
  for (const profile of sampled(profiles, 2)) {
    const home = mkdtempSync(join(root, 'home-'))
    writeFileSync(join(home, '.profile'), profile)
    const env = { HOME: home, PATH: process.env['PATH'] }
    const run = (mayWarm: boolean) =>
      runCommand({ command, shell: 'bash', cwd: root, input: '{}', env, timeoutMs: 60_000, mayWarm })
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await run(true), await run(false), profile)
      await wait(60)
    }
  }
})

test('a profile that changed, or a folder that another replaced, is what the next hook finds', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  writeFileSync(join(home, '.profile'), 'export WHICH=old')
  const env = { HOME: home, PATH: process.env['PATH'] }
  const run = async () => {
    const { stdout } = await runCommand({
      ...{ command: 'echo $WHICH; ls', shell: 'bash' as const, cwd, input: '{}', env, timeoutMs: 60_000 },
    })
    await until(() => warmShells({ shell: '/bin/bash', cwd, env }) > 0)
    return stdout
  }
  assert.deepEqual([await run(), await run()], ['old\n', 'old\n'])
  writeFileSync(join(home, '.profile'), 'export WHICH=newer')
  assert.equal(await run(), 'newer\n')
  rmSync(cwd, { recursive: true })
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'here'), '')
  assert.equal(await run(), 'newer\nhere\n')
})

/** In a profile: something that runs as long as the folder is there. */
const staying = `setsid sh -c 'while [ -d "$HOME" ]; do sleep 1; done' < /dev/null > /dev/null 2>&1 &`

test('a shell that dies or is stopped before it takes the word to go loses no hook, and runs none twice', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const env = { HOME: home, PATH: process.env['PATH'] }
  const place = { shell: '/bin/bash', cwd: home, env }
  const command = 'echo ran >> log; cat'
  for (const signal of ['SIGSTOP', 'SIGKILL', 'SIGTERM']) {
    // in the end what the profile left running holds the shell's descriptor
    if (signal === 'SIGTERM') writeFileSync(join(home, '.profile'), staying)
    await warmed(command, place)
    for (const pid of children()) process.kill(pid, signal) // ona has yet to hear of it
    const run = runCommand({ command, shell: 'bash', cwd: home, input: '{}', env, timeoutMs: 60_000 })
    const { end, exitCode, stdout } = await run
    assert.deepEqual([signal, end, exitCode, stdout], [signal, 'exited', 0, '{}\n'])
  }
  assert.equal(readFileSync(join(home, 'log'), 'utf8'), 'ran\n'.repeat(3))
})

test('a shell that ends by itself before it takes the word to go has not run its hook', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  writeFileSync(join(home, '.profile'), 'set -t') // it ends after one line
  const env = { HOME: home, PATH: process.env['PATH'] }
  const command = 'echo ran >> log; cat'
  await warmed(command, { shell: '/bin/bash', cwd: home, env })
  const { end, exitCode, stdout, stderr } = await runCommand({
    ...{ command, shell: 'bash', cwd: home, input: '{}', env, timeoutMs: 60_000 },
  })
  const log = readFileSync(join(home, 'log'), 'utf8')
  assert.deepEqual([end, exitCode, stdout, stderr, log], ['exited', 0, '{}\n', '', 'ran\n'])
})

test('a file that the profile has open as descriptor 3 is neither written to nor taken for the word to go', () => {
  for (const [profile, held] of [
    ['exec 3<>"$HOME/held"', '.ggg'],
    ['exec 3<"$HOME/held"', 'ggg'],
    ['exec 3>>"$HOME/held"', ''],
  ] as const) {
    const home = mkdtempSync(join(root, 'home-'))
    writeFileSync(join(home, 'held'), held)
    writeFileSync(join(home, '.profile'), profile)
    const ends = [waitingScript(afterLogin, 'echo ran > log'), `${afterLogin}; ${printState}`].map((script) => {
      const stdio = ['pipe', 'pipe', 'pipe', 'pipe'] as const
      const env = { HOME: home, PATH: process.env['PATH'] }
      return spawnSync('/bin/bash', ['-lc', script], { cwd: home, env, stdio: [...stdio] }).signal
    })
    assert.deepEqual(
      [ends, readdirSync(home).sort(), readFileSync(join(home, 'held'), 'utf8')],
      [['SIGKILL', 'SIGKILL'], ['.profile', 'held'], held],
      profile,
    )
  }
})

/** Those of this process. */
const children = () =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

test('a shell that is ended in the middle of its hook has run it', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const env = { HOME: home, PATH: process.env['PATH'] }
  const command = 'echo ran >> log; kill -9 $$'
  await warmed(command, { shell: '/bin/bash', cwd: home, env })
  const { end, note } = await runCommand({ command, shell: 'bash', cwd: home, input: '{}', env, timeoutMs: 60_000 })
  assert.deepEqual([end, note, readFileSync(join(home, 'log'), 'utf8')], ['killed', 'ended by SIGKILL', 'ran\n'])
})

test('what the profile leaves running holds up no hook, however the hook ends', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  writeFileSync(join(home, '.profile'), staying)
  const env = { HOME: home, PATH: process.env['PATH'] }
  const place = { shell: '/bin/bash', cwd: home, env }
  const ends = []
  for (const command of ['echo here', 'kill -9 $$']) {
    await warmed(command, place)
    const { end, stdout } = await runCommand({ command, shell: 'bash', cwd: home, input: '{}', env, timeoutMs: 20_000 })
    ends.push([end, stdout])
  }
  assert.deepEqual(ends, [
    ['exited', 'here\n'],
    ['killed', ''],
  ])
})

test('a hook that finds its shell on the way waits for it', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const env = { HOME: home, PATH: process.env['PATH'] }
  const place = { shell: '/bin/bash', cwd: home, env }
  const isWarm = () =>
    withWarmShell('echo here', place, async (shell) => {
      shell?.dismiss()
      return shell !== undefined
    })
  assert.equal(await isWarm(), false)
  expectCommand('echo here', place)
  await wait(1)
  assert.equal(await isWarm(), true)
})

test('hooks that take their time are one round: the next finds a shell for each', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const env = { HOME: home, PATH: process.env['PATH'] }
  const place = { shell: '/bin/bash', cwd: home, env }
  const run = (command: string) =>
    runCommand({ command, shell: 'bash', cwd: home, input: '{}', env, timeoutMs: 60_000 })
  for (let hook = 0; hook < 4; hook++) await run('sleep 0.05') // each longer than it takes until shells are refilled
  await until(() => warmShells(place, 'sleep 0.05') >= 4)
})

test('a time limit ends a warm shell with all that it started', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const env = { HOME: home, PATH: process.env['PATH'] }
  const run = (command: string, timeoutMs: number) =>
    runCommand({ command, shell: 'bash', cwd: home, input: '{}', env, timeoutMs })
  await warmed('sleep 60 & sleep 60', { shell: '/bin/bash', cwd: home, env })
  const { end, note } = await run('sleep 60 & sleep 60', 100)
  assert.deepEqual([end, note], ['timed-out', 'timed out after 100 ms'])
})

test('a command that could tell eval from -c has a shell of its own', () => {
  const telling = [
    ...['-x', '+e'],
    ...['trap "echo $?" EXIT', 'times', 'caller 0', 'echo $SHELLOPTS', 'echo "$BASH_SOURCE"', 'echo $BASH'],
    ...['echo ${FUNCNAME[*]}', 'echo $_', 'echo ${_}', 'echo ${_:-none}', 'echo $_x', 'set', 'set -e'],
    ...['declare -p', 'typeset -i n', 'a\0b'],
  ]
  const alike = [
    ...['echo here', 'git log', 'npm test', 'offset=1', 'cat settings.json', 'echo $BASHPID', 'declared=1', 'traps=2'],
    ...['sometimes', 'callers', 'set_up', 'echo my_name', 'ls __pycache__'],
  ]
  assert.deepEqual([telling.filter(runsAlike), alike.filter((command) => !runsAlike(command))], [[], []])
})

test('a shell is started ahead unless a variable changes how bash starts, names an exported function, or says not to', () => {
  const otherwise = ['BASH_ENV', 'ENV', 'BASH_FUNC_ls%%', 'SHELLOPTS', 'BASHOPTS', 'ONA_WARM_SHELLS']
  const alike = ['NODE_ENV', 'BASH_ENVS', 'ENVIRONMENT', 'MY_BASH_FUNC_ls%%', 'OLD_SHELLOPTS', 'BASHOPTS_2']
  const startsWith = (name: string) => startsAlike({ HOME: '/', [name]: '' })
  assert.deepEqual([otherwise.filter(startsWith), alike.filter((name) => !startsWith(name))], [[], []])
})
