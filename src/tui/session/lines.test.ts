import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { Lines } from './lines.ts'

/** The lines that are read from these pieces, and what is printed meanwhile. */
async function read(...pieces: string[]): Promise<[lines: string[], printed: string]> {
  let printed = ''
  const front = new Lines(Readable.from(pieces), { write: (text) => (printed += text) }, false)
  const lines: string[] = []
  for (let line = await front.next(); line !== undefined; line = await front.next()) lines.push(line)
  return [lines, printed]
}
const mebibyte = 1024 * 1024

test('lines are read in whatever pieces they come, with or without a newline at the end', async () => {
  assert.deepEqual(await read('on', 'e\r', '\n\ntwo\nth', 'ree'), [['one', '', 'two', 'three'], ''])
})

test('a line that is too long is reported and ignored as a whole', async () => {
  const part = 'x'.repeat(6 * mebibyte)
  const why = 'error: a line of over 10 MiB was ignored; put it in a file and name that\n'
  assert.deepEqual(await read('one\n', part, part, part, 'the rest\ntwo'), [['one', 'two'], why])
  assert.deepEqual(await read(part, part), [[], why])
})
