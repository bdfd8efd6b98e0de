/** Tables of whole results in a text file: `INPUT ¦ RESULT` on each line. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

export function holdsTable(path: string, resultOf: (input: string) => string): void {
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter((row) => row !== '' && !row.startsWith('# '))
    .map((row) => row.split(/ ¦ ?/) as [string, string])
  assert.ok(rows.length > 0, `${path} has no rows`)
  assert.deepEqual(
    rows.map(([input]) => [input, resultOf(input)]),
    rows,
  )
}
