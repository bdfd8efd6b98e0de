import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { type Reply, readExit } from '../handlers/ask.ts'
import type { Invocation } from '../plane.ts'
import { Background } from './background.ts'
import { letRun } from './detached.ts'
import type { Asked, Prepared, Round } from './state.ts'

function hook() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { rest: promise, stop: () => setImmediate(resolve, 'stopped'), end: () => resolve('ended') }
}

test('32 hooks may run beside the turn; one that ends makes room', async () => {
  const background = new Background()
  const hooks = Array.from({ length: 32 }, hook)
  const said: string[] = []
  for (const [at, each] of hooks.entries()) {
    assert.equal(background.isFull, false, `${at}`)
    background.adopt(each, (text) => said.push(text))
  }
  assert.equal(background.isFull, true)
  hooks[0]!.end()
  await until(() => !background.isFull)
  assert.deepEqual(said, ['ended'])
})

test('to close it ends all that run, and waits until each has been recorded', async () => {
  const background = new Background()
  const said: string[] = []
  for (const each of [hook(), hook()]) background.adopt(each, (text) => said.push(text))
  await background.close()
  assert.deepEqual(said, ['stopped', 'stopped'])
})

test('one more than may run beside the turn is ended, with a note, and its row is recorded', async () => {
  const background = new Background()
  const running = Array.from({ length: 32 }, hook)
  for (const each of running) background.adopt(each, () => {})
  const rows: Invocation[] = []
  const round = {
    ...{ settled: { background, redact: (text: string) => text }, notes: [], fields: {}, subject: {} },
    scope: { record: (row: Invocation) => rows.push(row), toolUseId: 't' },
  }
  const handler = { event: 'Stop', ordinal: 33, matcher: '', label: 'one more' }
  const { promise, resolve } = Promise.withResolvers<Reply>()
  const end = { exitCode: null, stdout: null, stderr: 'was interrupted' }
  const stop = () => resolve({ kind: 'failure', why: 'was interrupted', cause: 'interrupted', ...end })
  const detached = { kind: 'detached', rest: promise, stop, exitCode: null, stdout: null, stderr: null } as const
  const asked = { shown: { kept: '{}' }, startedAt: 'then' }
  letRun(round as unknown as Round, handler as unknown as Prepared, detached, asked as unknown as Asked)
  await until(() => rows.length > 0)
  const note = { hook: 'one more', event: 'Stop', effect: 'failed' }
  assert.deepEqual(round.notes, [{ ...note, reason: 'was ended: 32 hooks run beside the turn already' }])
  const about = { event: 'Stop', ordinal: 33, matcher: '', command: 'one more', toolUseId: 't', toolName: null }
  assert.deepEqual(
    rows.map(({ completedAt, ...row }) => [typeof completedAt, row]),
    [['string', { ...about, inputJson: '{}', ...end, startedAt: 'then', skippedReason: null }]],
  )
  for (const each of running) each.end()
  await background.close()
})

test('what a hook said in the end is delivered; one that said nothing delivers nothing', async () => {
  const delivered: unknown[] = []
  const rows: Invocation[] = []
  const background = new Background()
  const claude = { deliver: (_: unknown, said: unknown) => delivered.push(said) }
  const round = {
    ...{ settled: { background, claude, redact: (text: string) => text }, notes: [], fields: {}, subject: {} },
    scope: { record: (row: Invocation) => rows.push(row) },
  }
  const asked = { shown: { kept: '{}' }, startedAt: 'then' } as unknown as Asked
  const handler = {
    event: 'PreToolUse',
    ordinal: 0,
    matcher: '',
    label: 'late',
    kind: 'command',
  } as unknown as Prepared
  const exit = (code: number, stdout: string, stderr = ''): Reply => ({
    ...readExit(code, stdout, stderr, true),
    ...{ exitCode: code, stdout, stderr },
  })
  const say = (answer: object) => `{"async":true}\n${JSON.stringify(answer)}`
  const replies: [Reply, object?][] = [
    [exit(0, '')],
    [exit(0, '{"async":true}')],
    [exit(0, '{"async":true}\nwords')],
    [exit(0, say({ systemMessage: 'done' })), { context: [], messages: ['done'] }],
    [
      exit(0, say({ hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'more' } })),
      { context: ['more'], messages: [] },
    ],
    [exit(2, '', 'no\n'), { context: ['[0] no'], messages: [] }],
    [exit(0, say({ decision: 'block', reason: 'late no' })), { context: ['late no'], messages: [] }],
    [exit(3, '', 'broke'), { context: [], messages: ['the hook late failed: exited with 3: broke'] }],
  ]
  for (const [reply, said] of replies) {
    delivered.length = 0
    const rest = { kind: 'detached', rest: Promise.resolve(reply), stop() {}, exitCode: null, stdout: null } as const
    letRun(round as unknown as Round, handler, { ...rest, stderr: null }, asked)
    await background.close()
    assert.deepEqual(delivered, said ? [said] : [], JSON.stringify(reply))
  }
  assert.deepEqual(
    rows.map(({ exitCode, stdout, stderr }) => ({ exitCode, stdout, stderr })),
    replies.map(([{ exitCode, stdout, stderr }]) => ({ exitCode, stdout, stderr })),
  )
})

test('one that fails makes room, too', async () => {
  const background = new Background()
  for (let at = 0; at < Background.most; at++)
    background.adopt({ rest: Promise.reject(new Error('gone')), stop() {} }, () => {})
  assert.equal(background.isFull, true)
  await assert.rejects(background.close(), { message: 'gone' })
  await new Promise(setImmediate)
  assert.equal(background.isFull, false)
})
