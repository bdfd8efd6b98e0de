import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openProgress } from './progress.ts'

function shownAt(isTTY: boolean) {
  const written: string[] = []
  let at = 0
  const terminal = { isTTY, write: (text: string) => written.push(text) }
  const progress = openProgress(
    () => terminal,
    () => at,
  )
  return {
    written,
    end: () => progress.end(),
    show(ms: number, done: string, share?: number) {
      at = ms
      progress.show(done, share)
    },
  }
}

test('after a second a line says how far it is, twice a second, and at the end it is gone', () => {
  const { written, show, end } = shownAt(true)
  show(999, '1 row', 0.1)
  show(1000, '2 rows', 0.25)
  show(1400, '3 rows', 0.5)
  show(2000, '4 rows')
  end()
  assert.deepEqual(written, ['\r2 rows, about 3 s left\u001b[K', '\r4 rows\u001b[K', '\r\u001b[K'])
})

test('what is done within a second says nothing, nor does anything that is not on a terminal', () => {
  for (const isTTY of [true, false]) {
    const { written, show, end } = shownAt(isTTY)
    show(500, '1 row', 0.5)
    if (!isTTY) show(60_000, '2 rows', 0.9)
    end()
    assert.deepEqual(written, [])
  }
})
