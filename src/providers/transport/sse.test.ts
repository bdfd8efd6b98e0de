import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sseReader } from './sse.ts'

function read(...pieces: string[]): string[] {
  const events: string[] = []
  const reader = sseReader((data) => events.push(data))
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return events
}

test('the data of each event, and of no other field', () => {
  const stream = ': c\nevent: x\ndata: one\n\nid: 4\ndata:two\ndata\ndata:  three\n\ndatabase: no\n\n\n\ndata: four'
  assert.deepEqual(read(stream), ['one', 'two\n\n three', 'four'])
})

test('any text in any pieces gives the same events', () => {
  const line = fc.oneof(
    fc.constantFrom('data: a', 'data:b', 'data', ': c', 'event: e', '', '', 'data: ü🐢'),
    fc.string({ maxLength: 8 }).map((text) => text.replace(/[\r\n\ufeff]/g, '')),
  )
  const end = fc.constantFrom('\n', '\r\n', '\r')
  const stream = fc.array(fc.tuple(line, end), { maxLength: 20 }).map((lines) => lines.flat().join(''))
  fc.assert(
    fc.property(stream, fc.array(fc.nat(200), { maxLength: 6 }), (text, marks) => {
      const edges = [0, ...marks.map((mark) => mark % (text.length + 1)).sort((a, b) => a - b), text.length]
      const pieces = edges.slice(1).map((edge, index) => text.slice(edges[index], edge))
      assert.deepEqual(read(...pieces), read(text.replace(/\r\n?/g, '\n')))
    }),
  )
})

test('a line of many megabytes is joined once', () => {
  const piece = 'x'.repeat(64 * 1024)
  const [event] = read('data: ', ...Array.from({ length: 320 }, () => piece), '\n\n')
  assert.equal(event!.length, 320 * piece.length)
})
