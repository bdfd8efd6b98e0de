/** Which files a command line names, and what becomes of them: `COMMAND ¦ USES`, a use as `KIND FILE`. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { holdsTable } from '../../../../test/support/table.ts'
import { pathPattern } from '../../paths/pattern.ts'
import { HOLE } from '../../wildcard.ts'
import { type FileUse, HOME, PWD, type ShellWord } from '../parse/command.ts'
import { readShell } from '../parse/read.ts'
import { filesOf, globMayReach } from './files.ts'

/** `…` for what only the run can tell, `<~>` for a home; a file in brackets is one of those that wildcards stand for. */
const nameOf = ({ path, glob }: ShellWord): string => {
  const name = path.replaceAll(HOLE, '…').replaceAll(HOME, '<~>').replaceAll(PWD, '<.>')
  return glob ? `[${name}]` : name
}
/** `?` after the kind: not certain; `.`: without files that begin with a dot. */
const useOf = ({ kind, word, to, unsure, visible }: FileUse): string =>
  `${kind}${unsure ? '?' : ''}${visible ? '.' : ''} ${nameOf(word)}${to ? ` to ${nameOf(to)}` : ''}`

const resultOf = (line: string): string => readShell(line).commands.flatMap(filesOf).map(useOf).join(', ')

test('the files that a command line names, and what becomes of them', () => {
  holdsTable(join(import.meta.dirname, '../fixtures/files.txt'), resultOf)
})

test('wildcards of the shell reach a file of a rule where they could expand to a name in it', () => {
  const reach = (glob: string, rule: string) => globMayReach(glob, pathPattern(rule, false))
  const rows: [glob: string, rule: string, may: boolean][] = [
    ['*.ts', 'a.ts', true],
    ['*.ts', 'a.js', false],
    ['a?', 'ab', true],
    ['*a*', 'xay', true],
    ['a?', 'b', false],
    ['[ab]x', 'ax', true],
    ['[ab]x', 'ay', false],
    ['*', '.env', false],
    ['?env', '.env', false],
    ['[.]env', '.env', false],
    ['.*', '.env', true],
    ['x/*', '.env', false],
    ['x/.e*', '.env', true],
    ['//*.ts', 'a.ts', true],
    ['{a,b}.ts', 'b.ts', true],
    ['{a,b}.ts', 'c.ts', false],
    ['*', '**', true],
    ['x*', '*.pem', true],
    ['*.ts', '*.pem', false],
    ['s*', 'src/*.pem', true],
    ['*.ts', 'src/*.pem', false],
    ['@(a|b)', 'zzz', true],
    ['a{1..3}', 'zzz', true],
  ]
  assert.deepEqual(
    rows.map(([glob, rule]) => [glob, rule, reach(glob, rule)]),
    rows,
  )
})
