/** What a read-only command reads: `COMMAND ¦ PATHS`; `-` for one that may do more than read. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { holdsTable } from '../../../../test/support/table.ts'
import { HOLE } from '../../wildcard.ts'
import { HOME } from '../parse/command.ts'
import { readShell } from '../parse/read.ts'
import { isReadOnlyProgram, readOnlyUse } from './read-only.ts'

/** After the paths: `names` where only names, sizes and dates are printed, `tree` with all below, `git` in a repository. */
function resultOf(line: string): string {
  const use = readOnlyUse(readShell(line).commands[0]!)
  if (!use) return '-'
  const paths = use.paths.map(({ path, glob }) =>
    (glob ? `[${path}]` : path).replaceAll(HOLE, '…').replaceAll(HOME, '<~>'),
  )
  const how = [use.metadata ? 'names' : [], use.tree ? `${use.tree} tree` : [], use.git ? 'git' : []].flat()
  return [...paths, ...(how.length > 0 ? [`(${how.join(', ')})`] : [])].join(' ')
}

test('what a command that only reads is given to read', () => {
  holdsTable(join(import.meta.dirname, '../fixtures/read-only-use.txt'), resultOf)
})

test('a program is known by its whole name', () => {
  assert.deepEqual(['cat', 'ls', 'git', 'rm', 'toString'].map(isReadOnlyProgram), [true, true, false, false, false])
})
