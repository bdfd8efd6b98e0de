/** Which folders a command fills with files that it does not name: `COMMAND ¦ FOLDERS`. */
import { join } from 'node:path'
import { test } from 'node:test'
import { holdsTable } from '../../../../test/support/table.ts'
import { readShell } from '../parse/read.ts'
import { nameOf } from '../parse/wrappers.ts'
import { unpackedInto } from './unpackers.ts'

function resultOf(line: string): string {
  const { words } = readShell(line).commands[0]!
  return unpackedInto(nameOf(words), words.slice(1))
    .map(({ path }) => path)
    .join(' ')
}

test('the folders that a command fills', () => {
  holdsTable(join(import.meta.dirname, '../fixtures/unpacked.txt'), resultOf)
})
