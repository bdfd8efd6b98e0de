import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bench } from '../../../test/support/tool-host.ts'
import { until } from '../../../test/support/until.ts'

const plain = ({ content, isError }: { content: string; isError: boolean }) => ({ content, isError })
const run = async (t: Parameters<typeof bench>[0], command: string, more = {}) =>
  plain(await bench(t).use('Bash', { command, ...more }))

test('both streams come back, one after the other', async (t) => {
  assert.deepEqual(await run(t, 'echo out; echo err >&2'), { content: 'out\n\n--- stderr ---\nerr\n', isError: false })
  assert.deepEqual(await run(t, 'printf x'), { content: 'x', isError: false })
  assert.deepEqual(await run(t, 'true'), { content: '(no output)', isError: false })
})

test('an exit code other than 0 is an error, and is said', async (t) => {
  assert.deepEqual(await run(t, 'false'), { content: 'Exit code 1', isError: true })
  assert.deepEqual(await run(t, 'echo a; exit 3'), { content: 'a\nExit code 3', isError: true })
  assert.deepEqual(await run(t, 'kill -SEGV $$'), { content: 'Ended by SIGSEGV', isError: true })
  assert.match((await run(t, 'if then')).content, /syntax error/)
})

test('a stream is cut at 1 MiB, and marked, however much comes', async (t) => {
  const { content, isError } = await run(t, 'head -c 5000000 /dev/zero | tr "\\0" x')
  assert.deepEqual([content.length, content.endsWith('x[SDLC_TRUNCATED]'), isError], [1_048_576 + 16, true, false])
  const both = await run(t, 'head -c 2000000 /dev/zero | tr "\\0" é; head -c 2000000 /dev/zero | tr "\\0" y >&2')
  assert.equal(both.content.split('[SDLC_TRUNCATED]').length, 3)
})

test('bytes that are not UTF-8 do not break the answer', async (t) => {
  assert.deepEqual(await run(t, "printf 'a\\xff\\xfeb'"), { content: 'a\uFFFD\uFFFDb', isError: false })
})

test('a command has no input to wait for and no terminal', async (t) => {
  assert.deepEqual(
    await run(t, 'cat; read -r x || echo none; [ -t 0 ] || echo no tty; (: </dev/tty) 2>/dev/null || echo no terminal'),
    {
      content: 'none\nno tty\nno terminal\n',
      isError: false,
    },
  )
})

test('the working directory carries over, inside the working directories', async (t) => {
  const b = bench(t)
  mkdirSync(join(b.folder, 'sub dir'))
  await b.use('Bash', { command: 'cd "sub dir"' })
  assert.equal((await b.use('Bash', { command: 'pwd' })).content, `${b.folder}/sub dir\n`)
  assert.deepEqual(plain(await b.use('Bash', { command: 'cd / && pwd; exit 2' })), {
    content: `/\n\nShell cwd was reset to ${b.folder}/sub dir\nExit code 2`,
    isError: true,
  })
  assert.equal((await b.use('Bash', { command: 'pwd' })).content, `${b.folder}/sub dir\n`)
  b.file('move.sh', `cd ${b.folder}\n`)
  await b.use('Bash', { command: '. ../move.sh' })
  assert.equal((await b.use('Bash', { command: 'pwd' })).content, `${b.folder}\n`)
})

test('a working directory that is gone is said to be', async (t) => {
  const b = bench(t)
  const gone = join(b.folder, 'gone')
  assert.deepEqual(plain(await b.use('Bash', { command: 'pwd' }, { cwd: gone })), {
    content: `[SDLC_INTERNAL] the working directory ${gone} is gone; cd somewhere else`,
    isError: true,
  })
})

test('the environment is the one given, and nothing else', async (t) => {
  process.env['ONA_TEST_SECRET'] = 'secret'
  t.after(() => delete process.env['ONA_TEST_SECRET'])
  const b = bench(t)
  const { content } = await b.use('Bash', { command: 'env' }, { env: { PATH: process.env['PATH'], GIVEN: '1' } })
  assert.match(content, /^GIVEN=1$/m)
  assert.doesNotMatch(content, /secret/)
})

test('after its time a command and its children are ended', async (t) => {
  const b = bench(t)
  const command =
    "trap '' TERM; (trap '' TERM; echo $BASHPID > child; while :; do sleep 0.05; done) & echo before; wait"
  const output = await b.use('Bash', { command, timeout: 300 })
  assert.deepEqual(plain(output), {
    content:
      '[SDLC_INTERNAL] the command was ended after 300 ms; set a longer timeout or run_in_background. Its output until then:\nbefore\n',
    isError: true,
  })
  await gone(Number(readFileSync(join(b.folder, 'child'), 'utf8')))
})

test('an interrupt ends the command and its children', async (t) => {
  const b = bench(t)
  const stop = new AbortController()
  const running = b.use(
    'Bash',
    { command: 'sleep 60 & echo $! > child; echo started; wait' },
    { signal: stop.signal, progress: () => {} },
  )
  const child = join(b.folder, 'child')
  await until(() => existsSync(child) && readFileSync(child, 'utf8') !== '')
  stop.abort()
  assert.deepEqual(plain(await running), { content: 'The command was interrupted.\nstarted\n', isError: true })
  await gone(Number(readFileSync(child, 'utf8')))
})

test('what a command leaves running does not hold up its answer', async (t) => {
  const b = bench(t)
  const started = Date.now()
  const { content } = await b.use('Bash', { command: 'sleep 60 & echo $!' })
  assert.ok(Date.now() - started < 5000)
  assert.match(content, /^\d+\n\n\(A process it started still runs; what that prints from now on is not shown\.\)$/)
  process.kill(Number.parseInt(content, 10))
})

test('while it runs, what it prints is reported', async (t) => {
  const told: string[] = []
  await bench(t).use('Bash', { command: 'sleep 0.3; echo now' }, { progress: (text) => told.push(text) })
  assert.deepEqual(told, ['now\n'])
})

test('in the background it returns at once, and runs on', async (t) => {
  const b = bench(t)
  const { content } = await b.use('Bash', { command: 'echo hello; exit 4', run_in_background: true })
  assert.equal(
    content,
    'Command running in background with ID: task-1. See its output with TaskOutput, end it with TaskStop.',
  )
  assert.deepEqual(await b.context.host.tasks.output('task-1', 5000, b.context.signal), {
    id: 'task-1',
    kind: 'bash',
    about: 'echo hello; exit 4',
    status: 'failed',
    exitCode: 4,
    output: 'hello\n',
  })
})

test('odd commands are run as they are', async (t) => {
  const b = bench(t)
  rmSync(join(b.folder, 'x'), { force: true })
  assert.equal((await b.use('Bash', { command: "cat <<'EOF'\n$HOME `x` 'q'\nEOF" })).content, "$HOME `x` 'q'\n")
  assert.equal((await b.use('Bash', { command: '# only a comment' })).content, '(no output)')
  assert.equal(
    (await b.use('Bash', { command: 'a\0b' })).content,
    'command holds a NUL character, which no shell can take',
  )
})

/** Waits until a process is no more; a zombie nobody reaps counts as gone. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
      if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return
    } catch {
      return
    }
    await new Promise(setImmediate)
  }
}
