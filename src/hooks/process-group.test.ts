import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { type GroupRun, runGroup } from './process-group.ts'

const sh = (script: string, more: Partial<GroupRun> = {}) =>
  runGroup({ program: '/bin/bash', args: ['-c', script], env: process.env, ...more })

/** Waits until no process has the id; a zombie without a parent that waits for it is gone as well. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('the end of a program: its exit code, its signal, or why it never ran', async () => {
  const plain = { cause: undefined, leftBehind: false }
  assert.deepEqual(await sh('exit 3'), { exitCode: 3, signal: null, ...plain })
  assert.deepEqual(await sh('kill -HUP $$'), { exitCode: null, signal: 'SIGHUP', ...plain })
  const missing = await runGroup({ program: '/nonexistent/x', args: [], env: {} })
  assert.deepEqual(missing.cause, { notStarted: 'spawn /nonexistent/x ENOENT' })
  assert.deepEqual((await sh('a\0b')).cause !== undefined, true)
  assert.equal((await sh('exit 0', { signal: AbortSignal.abort() })).cause, 'aborted')
})

test('input, both streams and the third pipe', async () => {
  let text = ''
  const add = (name: string) => (chunk: Buffer) => {
    text += `${name}:${chunk}`
  }
  await sh('cat; echo err >&2; echo third >&3', {
    input: 'in\n',
    onStdout: add('1'),
    onStderr: add('2'),
    onThird: add('3'),
  })
  assert.deepEqual(text.match(/\d:\w+/g)!.sort(), ['1:in', '2:err', '3:third'])
})

test('whoever ignores SIGTERM is killed, with the processes it started', async () => {
  const stop = new AbortController()
  const started = new EventTarget()
  let child = 0
  const run = sh("trap '' TERM; (trap '' TERM; echo $BASHPID; while :; do sleep 0.05; done) & wait", {
    signal: stop.signal,
    graceMs: 50,
    onStdout(chunk) {
      child = Number(chunk)
      started.dispatchEvent(new Event('pid'))
    },
  })
  await once(started, 'pid')
  stop.abort()
  const end = await run
  assert.deepEqual([end.cause, end.signal], ['aborted', 'SIGKILL'])
  await gone(child)
})

test('a time limit ends it', async () => {
  assert.equal((await sh('while :; do :; done', { timeoutMs: 50, graceMs: 50 })).cause, 'timed-out')
})

test('what it leaves behind runs on, or ends with it where that is wanted', async () => {
  let text = ''
  const script = 'sleep 60 & echo $!'
  const onStdout = (chunk: Buffer) => {
    text += chunk
  }
  const left = await sh(script, { onStdout })
  assert.deepEqual([left.exitCode, left.leftBehind], [0, true])
  process.kill(Number(text), 'SIGKILL') // it was still there
  text = ''
  await sh(script, { onStdout, endsWhole: true })
  await gone(Number(text))
})
