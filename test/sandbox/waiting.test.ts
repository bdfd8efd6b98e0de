/** A command in a sandbox that was made ahead of it runs as it does in one that is made for it, and exactly once. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runShell, type ShellEnd } from '../../src/tools/bash/shell-process.ts'
import { makeWorld, permissions, untilWarm, type World } from './world.ts'

let world: World
before(async () => {
  world = await makeWorld()
})
after(() => world?.close())

async function run(command: string, { ahead = true, signal = new AbortController().signal } = {}): Promise<ShellEnd> {
  const { spare, ...cell } = await cellOf()
  const options = { cwd: world.project, env: cell.env, launch: cell.launch, prelude: '', signal }
  return runShell(command, ahead ? { ...options, spare } : options)
}

const cellOf = () =>
  world.fence.cell({
    ...{ permissions, projectDir: world.project, cwd: world.project },
    env: { PATH: process.env['PATH'], HOME: world.home, LANG: 'C.UTF-8' },
  })

/** The processes of the sandbox that waits, from the outermost to bash. */
async function waitingProcesses(): Promise<number[]> {
  ;(await cellOf()).prepareSpare('now')
  await untilWarm(world.fence)
  for (;;) {
    const sandboxes = children(process.pid).filter((pid) => wordsOf(pid)[0]!.endsWith('bwrap')) // tests beside this one have shells
    const found = sandboxes.map((pid) => [pid, ...descendants(pid)])
    const ready = found.find((pids) => pids.some((pid) => wordsOf(pid)[0] === '/bin/bash' && waits(pid)))
    if (ready) return ready
    await new Promise(setImmediate)
  }
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has just ended
  }
}
const children = (pid: number) =>
  read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)
const descendants = (pid: number): number[] => children(pid).flatMap((each) => [each, ...descendants(each)])
const wordsOf = (pid: number) => read(`/proc/${pid}/cmdline`).split('\0')
/** It has read its script and sleeps in the read of its command. */
const waits = (pid: number) => /^State:\s+S/m.test(read(`/proc/${pid}/status`))

const isAlive = (pid: number) => /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`))

const ran = () => read(join(world.project, 'ran'))
const plain = ({ stdout, stderr, ...end }: ShellEnd) => ({ ...end, stdout: stdout.text(), stderr: stderr.text() })

for (const [what, at] of [
  ['the sandbox', 0],
  ['the first process in it', 1],
  ['its shell', -1],
] as const)
  test(`where ${what} was killed while it waited, the command runs once in another`, async () => {
    world.reset()
    const pids = await waitingProcesses()
    process.kill(pids.at(at)!, 'SIGKILL')
    while (pids.some(isAlive)); // else its shell may take the command before it ends with the rest
    const end = plain(await run('echo x >> ran; echo done'))
    const whole = { exitCode: 0, signal: undefined, cwd: undefined, cause: undefined, leftBehind: false }
    assert.deepEqual([end, ran()], [{ ...whole, stdout: 'done\n', stderr: '' }, 'x\n'])
  })

test('where the shell was stopped while it waited, the command runs once in another', async () => {
  world.reset()
  process.kill((await waitingProcesses()).at(-1)!, 'SIGSTOP')
  assert.deepEqual([(await run('echo x >> ran')).exitCode, ran()], [0, 'x\n'])
})

test('a command that acknowledged in time runs to its end where this process was held up', async (t) => {
  world.reset()
  await waitingProcesses()
  const { setTimeout } = globalThis
  t.mock.method(globalThis, 'setTimeout', ((work: () => void, ms: number, ...given: []) =>
    setTimeout(work, ms === 2000 ? 100 : ms, ...given)) as typeof setTimeout)
  const running = run('echo x > ran; while [ -e ran ]; do sleep 0.01; done; echo done')
  while (ran() === '') await Promise.resolve() // neither timers nor input get their turn
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150)
  await new Promise((resolve) => setImmediate(setImmediate, resolve))
  rmSync(join(world.project, 'ran'))
  assert.deepEqual(plain(await running).stdout, 'done\n')
})

test('a command that kills its shell is not run again', async () => {
  world.reset()
  await waitingProcesses()
  assert.deepEqual([(await run('echo x >> ran; kill -9 $$')).exitCode, ran()], [137, 'x\n'])
})

test('a command that was aborted before it came is not run', async () => {
  world.reset()
  const pids = await waitingProcesses()
  assert.equal((await run('echo x >> ran', { signal: AbortSignal.abort() })).cause, 'aborted')
  assert.deepEqual([existsSync(join(world.project, 'ran')), waits(pids.at(-1)!)], [false, true])
})

for (const command of [
  ...['ls /proc/self/fd', 'echo x >&3', 'echo x >&4', 'echo "${REPLY-unset} $0 $# $- $SECONDS"', 'cd /; pwd', 'exit 3'],
  ...["trap 'echo failed' ERR; false", 'echo "$BASH_EXECUTION_STRING"', 'declare -p | grep -c EXECUTION', 'false\nif'],
])
  test(`in a sandbox made ahead and in one of its own: ${JSON.stringify(command)}`, async () => {
    world.reset()
    await waitingProcesses()
    const inOne = plain(await run(command))
    const alike = { ...inOne, stderr: inOne.stderr.replaceAll('eval: line', '-c: line') }
    assert.deepEqual(alike, plain(await run(command, { ahead: false })))
  })

test('no sandbox is made ahead where bash would run other code as it starts', async (t) => {
  const other = await makeWorld()
  t.after(() => other.close())
  const env = { PATH: process.env['PATH'], HOME: other.home, BASH_ENV: '/etc/profile' }
  const cell = await other.fence.cell({ permissions, projectDir: other.project, cwd: other.project, env })
  cell.prepareSpare('now')
  await new Promise((resolve) => setTimeout(resolve)) // timers fire in order
  assert.equal(cell.spare('true'), undefined)
})
