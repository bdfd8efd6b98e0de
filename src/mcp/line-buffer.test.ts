import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineBuffer } from './line-buffer.ts'

const ping = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'ping' })
const textOf = (...messages: object[]) => messages.map((each) => `${JSON.stringify(each)}\n`).join('')
/** All messages that are there after each piece. */
const readAll = (pieces: readonly Buffer[], longest = 1000) => {
  const buffer = new LineBuffer(longest)
  return pieces.map((piece) => {
    buffer.append(piece)
    const found = []
    for (let message = buffer.readMessage(); message; message = buffer.readMessage()) found.push(message)
    return found
  })
}

test('messages are the same in whatever pieces they come', () => {
  const sent = [ping(1), { ...ping(2), params: { text: 'ü € 😀' } }, ping(3)]
  const whole = Buffer.from(textOf(...sent))
  for (const size of [1, 2, 3, 7, 64, whole.length]) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    )
    assert.deepEqual(readAll(pieces).flat(), sent, `pieces of ${size}`)
  }
})

test('a message is there with its newline, and what follows waits for its own', () => {
  const [first, second] = [textOf(ping(1)), textOf(ping(2))]
  const pieces = [first.slice(0, -1), `\n${second.slice(0, 5)}`, `${second.slice(5)}no json\n\r\n${first}`]
  assert.deepEqual(readAll(pieces.map((each) => Buffer.from(each))), [[], [ping(1)], [ping(2), ping(1)]])
})

test('a line may have as many bytes as the limit, and no more; what it held is gone then', () => {
  const buffer = new LineBuffer(100)
  buffer.append(Buffer.alloc(60, 'x'))
  buffer.append(Buffer.alloc(40, 'x'))
  assert.throws(() => buffer.append(Buffer.from('x')), { message: 'a message of over 100 bytes' })
  buffer.append(Buffer.from(textOf(ping(1))))
  assert.deepEqual(buffer.readMessage(), ping(1))
})

test('a line in small pieces costs what as many bytes in short lines cost', () => {
  const pieces = 64 * 1024
  const cpuOf = (piece: (at: number) => Buffer): number => {
    const buffer = new LineBuffer(16 * 1024 * 1024)
    const before = process.cpuUsage()
    for (let at = 0; at < pieces; at++) {
      buffer.append(piece(at))
      assert.equal(buffer.readMessage(), null)
    }
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const [open, line] = [Buffer.alloc(128, 'x'), Buffer.from(`${'x'.repeat(127)}\n`)]
  const [endless, short] = [cpuOf(() => open), cpuOf(() => line)]
  assert.ok(endless < 100 * short, `${endless} µs for one line, ${short} µs for many`)
})
