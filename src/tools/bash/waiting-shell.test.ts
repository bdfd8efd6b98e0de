/** A command in a shell that waited for it gives what it gives in one of its own. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { processOf } from '../../files/process-tree.ts'
import { keepAlive } from '../../hooks/handlers/shells/waiting-shell.ts'
import { runShell, type ShellEnd } from './shell-process.ts'
import { prepareShell, type ShellPlace, takeShell, type WaitingShell } from './waiting-shell.ts'

const skip = process.platform !== 'linux' && 'shells wait where /proc tells whose a process is'

function place(t: TestContext, more: NodeJS.ProcessEnv = {}): ShellPlace {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ona-waiting-')))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  return { cwd, env: { PATH: process.env['PATH'], HOME: cwd, LANG: 'C.UTF-8', ...more } }
}

function waitingFor(command: string, at: ShellPlace): WaitingShell | undefined {
  prepareShell(at)
  return takeShell(command, at)
}

/** An idle shell does not keep the process alive. */
function ended({ child }: WaitingShell): Promise<unknown[]> {
  keepAlive(child, true)
  return once(child, 'exit')
}

const run = (command: string, at: ShellPlace, shell?: WaitingShell, signal = new AbortController().signal) =>
  runShell(command, { ...at, prelude: '', signal, ...(shell && { shell }) })

/** Without what names a process, and as `-c` names itself in errors. */
const plain = ({ stdout, stderr, ...end }: ShellEnd) => ({
  ...end,
  stdout: stdout.text(),
  stderr: stderr.text().replaceAll('eval: line', '-c: line'),
})

const alike = [
  ...['echo here', 'printf "a\\nb"', 'echo "ü € 😀"', 'false', 'exit 3', '(exit 4)', 'kill -9 $$', 'kill -TERM $$'],
  ...[
    'nosuch; echo $?',
    'if',
    'echo a; if',
    'echo a\nif then',
    'echo "unclosed',
    'echo )',
    '}',
    'echo $((',
    'exit abc',
  ],
  ...[
    "cat <<'E'\n$x `y`\nE",
    '# comment',
    '',
    '  ',
    '\n\n',
    ' echo a ',
    '\techo a\n',
    'echo a\n\necho $LINENO',
    'echo a \\\nb',
  ],
  ...['echo $0 $# "$@"', 'echo $-', 'echo $SHLVL', 'echo $SECONDS', 'echo "[$REPLY$x]"', 'echo $BASHPID $PPID | wc -w'],
  ...['cd /; pwd', 'cd /nonexistent', 'cd / && false', 'pushd / >/dev/null; exit 7', 'eval "cd /"', 'cd /; kill -9 $$'],
  ...[
    'exec echo x',
    'exec nosuch',
    'exec 5>&1; echo x >&5',
    'ls /proc/self/fd',
    'echo x >&3',
    'echo x >&4',
    '. /nonexistent; echo $?',
  ],
  ...[
    'f() { echo $1; return 5; }; f a',
    'return 3',
    'break',
    'echo ${x:?missing}; echo after',
    'R=1; readonly R; R=2; echo after',
  ],
  ...[
    'echo $((1/0)); echo after',
    'alias ll=ls; ll',
    'shopt -s expand_aliases; alias q="echo Q"\nq',
    'umask; ulimit -n',
  ],
  ...[
    'x=$(cat); echo "[$x]"',
    'read x; echo "$? [$x]"',
    'echo err >&2; echo out',
    'yes | head -3',
    'true | false; echo ${PIPESTATUS[@]}',
  ],
  ...['echo a & wait', 'coproc cat; echo $?', '! true', 'echo {1..3} *', 'test -t 0 || test -t 1; echo $?'],
]

for (const command of alike)
  test(`in a waiting shell and in one of its own: ${JSON.stringify(command)}`, { skip }, async (t) => {
    const at = place(t)
    const shell = waitingFor(command, at)
    assert.ok(shell, 'a shell waits for it')
    assert.deepEqual(plain(await run(command, at, shell)), plain(await run(command, at)))
  })

test('a program that a signal ends is reported by a shell that waited', { skip }, async (t) => {
  const at = place(t)
  const { exitCode, stderr } = await run("sh -c 'kill -9 $$'", at, waitingFor("sh -c 'kill -9 $$'", at))
  assert.deepEqual([exitCode, /Killed/.test(stderr.text())], [137, true])
})

test('a command that could tell the difference, or is long, gets a shell of its own', { skip }, (t) => {
  const at = place(t)
  const own = [
    "trap 'echo x' ERR",
    'times',
    'echo $BASH_COMMAND',
    'echo $_',
    'set -e',
    'declare -p',
    'echo \0',
    `echo ${'x'.repeat(1000)}`,
  ]
  assert.deepEqual(
    own.map((command) => [command, waitingFor(command, at) !== undefined]),
    own.map((command) => [command, false]),
  )
  assert.ok(waitingFor('echo a settled trapeze timestamp BASHED', at), 'words that hold such words do not count')
})

test('no shell waits where bash would run other code, or where that is switched off', { skip }, (t) => {
  for (const name of ['BASH_ENV', 'ENV', 'BASH_FUNC_echo%%', 'SHELLOPTS', 'BASHOPTS', 'ONA_WARM_SHELLS'])
    assert.equal(waitingFor('echo a', place(t, { [name]: '0' })), undefined, name)
})

test('a shell waits for its own folder and environment alone, and for one command', { skip }, (t) => {
  const at = place(t)
  prepareShell(at)
  assert.equal(takeShell('echo a', { ...at, env: { ...at.env } }), undefined)
  assert.equal(takeShell('echo a', { ...at, cwd: tmpdir() }), undefined)
  assert.ok(takeShell('echo a', at))
  assert.equal(takeShell('echo a', at), undefined)
})

test('a shell that waited for longer than the record looks back is not used', { skip }, (t) => {
  const at = place(t)
  const after = (ms: number) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    prepareShell(at)
    t.mock.timers.setTime(Date.now() + ms)
    const shell = takeShell('true', at)
    t.mock.timers.reset()
    shell?.dismiss()
    return shell !== undefined
  }
  assert.deepEqual([after(600_000), after(600_001), after(-600_001)], [true, false, false])
})

test('a folder that another has replaced is entered again', { skip }, async (t) => {
  const at = place(t)
  prepareShell(at)
  renameSync(at.cwd, `${at.cwd}-old`)
  t.after(() => rmSync(`${at.cwd}-old`, { recursive: true }))
  mkdirSync(at.cwd)
  assert.equal(takeShell('pwd', at), undefined)
  rmSync(at.cwd, { recursive: true })
  prepareShell(at)
  assert.equal(takeShell('pwd', at), undefined, 'none is started in a folder that is gone')
})

test('what cannot be started is left to the command, which says why', { skip }, (t) => {
  const at = place(t)
  for (const odd of [
    { ...at, cwd: join(at.cwd, 'none') },
    { ...at, cwd: `${at.cwd}\0` },
    { ...at, env: { ...at.env, ODD: 'a\0b' } },
    { ...at, env: { ...at.env, HUGE: 'x'.repeat(200_000) } }, // more than one variable can hold
  ])
    assert.equal(waitingFor('true', odd), undefined)
})

test('a shell that was ended before it took its command has run nothing, and the command runs once', {
  skip,
}, async (t) => {
  const at = place(t)
  const command = 'echo x >> ran'
  const shell = waitingFor(command, at)!
  process.kill(shell.child.pid!, 'SIGKILL')
  assert.equal((await run(command, at, shell)).exitCode, 0)
  assert.equal(readFileSync(join(at.cwd, 'ran'), 'utf8'), 'x\n')
})

test('a command that ends its shell by a signal after it began is not run again', { skip }, async (t) => {
  const at = place(t)
  const command = 'echo x >> ran; kill -9 $$'
  assert.equal((await run(command, at, waitingFor(command, at))).signal, 'SIGKILL')
  assert.equal(readFileSync(join(at.cwd, 'ran'), 'utf8'), 'x\n')
})

test('a prelude with a NUL does not cut the command off: it is refused, as by a shell of its own', {
  skip,
}, async (t) => {
  const at = place(t)
  const shell = waitingFor('echo x > ran', at)!
  const given = { ...at, prelude: 'true\0', signal: new AbortController().signal }
  assert.deepEqual(
    plain(await runShell('echo x > ran', { ...given, shell })),
    plain(await runShell('echo x > ran', given)),
  )
  assert.equal(existsSync(join(at.cwd, 'ran')), false)
})

test('a shell that was stopped while it waited goes on', { skip }, async (t) => {
  const at = place(t)
  const shell = waitingFor('echo on', at)!
  process.kill(shell.child.pid!, 'SIGSTOP')
  assert.equal((await run('echo on', at, shell)).stdout.text(), 'on\n')
})

test('a shell whose command was aborted before it came ends without it', { skip }, async (t) => {
  const at = place(t)
  const shell = waitingFor('echo x >> ran', at)!
  const gone = ended(shell)
  assert.equal((await run('echo x >> ran', at, shell, AbortSignal.abort())).cause, 'aborted')
  assert.deepEqual(await gone, [null, 'SIGKILL'])
})

test('one that is not needed ends when another is started, and one that ended is replaced', { skip }, async (t) => {
  const at = place(t)
  const first = waitingFor('true', at)!
  const gone = ended(first)
  process.kill(first.child.pid!, 'SIGKILL')
  assert.deepEqual(await gone, [null, 'SIGKILL'])
  prepareShell(at)
  const before = children()
  prepareShell(at)
  assert.deepEqual(children(), before, 'one waits already')
  prepareShell(place(t))
  assert.deepEqual(children().length, before.length + 1)
  await until(() => children().length <= before.length)
})

/** The processes that this one has started and not yet seen end. */
const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')

test('a shell is known by its process and the moment of its start', { skip }, (t) => {
  const shell = waitingFor('true', place(t))!
  const { pid, ticks } = processOf(shell.child.pid!)!
  assert.equal(shell.process, `${pid}:${ticks}`)
  shell.dismiss()
})
