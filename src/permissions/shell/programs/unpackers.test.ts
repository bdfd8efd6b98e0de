/** Which folders a command fills with files that it does not name: `COMMAND ¦ FOLDERS`. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readShell } from '../read.ts'
import { nameOf } from '../wrappers.ts'
import { unpackedInto } from './unpackers.ts'

function told(line: string): string {
  const { words } = readShell(line).commands[0]!
  return unpackedInto(nameOf(words), words.slice(1))
    .map(({ path }) => path)
    .join(' ')
}

test('the folders that a command fills', () => {
  const rows = readFileSync(join(import.meta.dirname, '../fixtures/unpacked.txt'), 'utf8')
    .split('\n')
    .filter((row) => row !== '' && !row.startsWith('# '))
    .map((row) => row.split(/ ¦ ?/) as [string, string])
  assert.deepEqual(
    rows.map(([line]) => [line, told(line)]),
    rows,
  )
})
