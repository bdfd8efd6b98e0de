/** How a command line is read: `LINE ¦ COMMANDS`; a `⏎` in the line is a line break. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { holdsTable } from '../../../../test/support/table.ts'
import { HOLE } from '../../wildcard.ts'
import { HOME, PWD, type ShellCommand, type ShellWord } from './command.ts'
import { readShell } from './read.ts'

const plainly = (text: string): string =>
  text.replaceAll(HOLE, '…').replaceAll(HOME, '<~>').replaceAll(PWD, '<.>').replaceAll('\n', '⏎')

/** `…` is only known when it runs. After the value: how it is written, and which path it is, where they differ from it. */
function wordOf({ value, text, path, literal, glob }: ShellWord): string {
  const written = text === value ? '' : `\`${text}\``
  const marks = `${written}${path === value ? '' : `→${path}`}${glob ? '*' : ''}`
  return plainly(`${literal || value.includes(HOLE) ? '' : '?'}${value}${marks}`)
}

/** `$`: the variables that are set, and as they are written where that is known; `|`: it is given input. */
const commandOf = ({ words, variables, assignments, reads, writes, input, fed }: ShellCommand): string =>
  [
    ...(variables.length > 0 ? [`$${variables.join(',')}(${plainly(assignments ?? '?')})`] : []),
    ...words.map(wordOf),
    ...reads.map((word) => `<${wordOf(word)}`),
    ...writes.map((word) => `>${wordOf(word)}`),
    ...input.map((text) => `<<${plainly(text)}`),
    ...(fed ? ['|'] : []),
  ].join(' ')

function resultOf(line: string): string {
  const { commands, unknown } = readShell(line)
  return [...commands.map(commandOf), ...(unknown === undefined ? [] : [`unknown: ${unknown}`])].join(' ; ')
}

test('how a command line is read', () => {
  holdsTable(join(import.meta.dirname, '../fixtures/readings.txt'), (line) => resultOf(line.replaceAll('⏎', '\n')))
})

test('a line that is too long, too deep or deceptive is not known', () => {
  assert.equal(resultOf(`ls ${'x'.repeat(9997)}`), `ls ${'x'.repeat(9997)}`)
  assert.equal(resultOf(`ls ${'x'.repeat(9998)}`), 'unknown: it is longer than 10000 characters')
  const nested = (depth: number) =>
    Array.from({ length: depth }).reduce((inner: string) => `eval ${inner.replace(/[\\ ]/g, '\\$&')}`, 'ls')
  assert.match(resultOf(nested(8)), /; ls$/)
  assert.match(resultOf(nested(9)), /unknown: it nests commands too deeply$/)
  const odd = ['\u0000', '\u0008', '\u000b', '\u001f', '\u007f', '\u00ad', '\u200b', '\u200f', '\u2028', '\u202e']
  for (const char of [...odd, '\u2060', '\u2064', '\u2066', '\u206f', '\ufeff'])
    assert.equal(resultOf(`ls a${char}b`), 'unknown: it holds invisible or control characters', char)
  for (const char of ['\t', '\n', 'é', '\u2010', '\u2065'])
    assert.doesNotMatch(resultOf(`ls a${char}b`), /unknown/, char)
})

test('what stands in a substitution is read in its place, however often the line comes up', () => {
  // within backticks the tree counts from another beginning: `rm x` would be taken for the `true` of the line
  const line = 'a; b; cd; true; for i in `for j in \\`rm x\\`; do :; done`; do :; done'
  for (const end of ['', ' ', '  ', '   ']) assert.equal(resultOf(line + end), 'a ; b ; cd ; true ; rm x ; : ; :')
})
