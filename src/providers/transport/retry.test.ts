import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delay, pause, usualRetries } from './retry.ts'

const waits = (output: boolean) => Array.from({ length: 12 }, (_, index) => delay(usualRetries, index + 1, { output }))

test('waits grow, have an upper end, and stop after ten; after output, after two', () => {
  const full = [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000, 32_000]
  for (const [index, most] of full.entries()) {
    const wait = waits(false)[index]!
    assert.ok(wait >= most * 0.75 && wait <= most, `${wait} of ${most}`)
  }
  assert.deepEqual(waits(false).slice(10), [undefined, undefined])
  assert.deepEqual(waits(true).slice(2), Array(10).fill(undefined))
})

test('the server’s own wait counts, up to two minutes', () => {
  const after = (retryAfterMs: number) => delay(usualRetries, 1, { output: false, retryAfterMs })
  assert.deepEqual([after(0), after(90_000), after(120_001)], [0, 90_000, undefined])
})

test('a wait can be interrupted', async () => {
  const stop = new AbortController()
  const waiting = pause(60_000, stop.signal)
  stop.abort()
  assert.equal(await waiting, false)
  assert.equal(await pause(60_000, stop.signal), false)
  assert.equal(await pause(1, new AbortController().signal), true)
})
