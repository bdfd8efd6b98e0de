import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineCutter } from './json-lines.ts'

test('lines are the same in whatever pieces they come, and the open one is measured', () => {
  const text = 'one\n\ntwo ü € 😀\r\nthree'
  for (const size of [1, 2, 5, 100]) {
    const cut = lineCutter()
    const pieces = text.match(new RegExp(`.{1,${size}}`, 'gs'))!.map(cut)
    assert.deepEqual(
      [pieces.flatMap(({ lines }) => lines), pieces.at(-1)!.openLength],
      [['one', '', 'two ü € 😀\r'], 5],
      `pieces of ${size}`,
    )
  }
})

test('a line in small pieces costs what as much text in short lines costs', () => {
  const cpuOf = (piece: string): number => {
    const cut = lineCutter()
    const before = process.cpuUsage()
    for (let at = 0; at < 50_000; at++) cut(piece)
    cut('\n')
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const [endless, short] = [cpuOf('x'.repeat(64)), cpuOf(`${'x'.repeat(63)}\n`)]
  assert.ok(endless < 100 * short, `${endless} µs for one line, ${short} µs for many`)
})
