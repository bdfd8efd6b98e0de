/** What is not worked out because no rule could need it changes no verdict. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { readRule } from '../rules/rule.ts'
import { HOLE } from '../wildcard.ts'
import { shellCommand } from './parse/command.ts'
import { readShell } from './parse/read.ts'
import { commandsInCode, tokensInCode } from './programs/embedded.ts'
import { CommandIndex } from './rule-index.ts'
import { certainSpellings, possibleSpellings } from './spellings.ts'

const fixtures = ['everyday', 'read-only', 'not-read-only'].flatMap((name) =>
  readFileSync(join(import.meta.dirname, `fixtures/${name}.txt`), 'utf8').split('\n'),
)
const wrapped = [
  'sudo ',
  'timeout 5 ',
  'xargs ',
  'unknown-program ',
  '/usr/bin/',
  'env X=1 ',
  'git -C /srv ',
  '"$X" ',
  '',
]
const programs = [
  'git',
  'rm',
  'cat',
  'sed',
  'npm',
  'curl',
  'node',
  'find',
  'ls',
  'python3',
  'echo',
  '/usr/bin/git',
  '$X',
]
const ends = [' *', ' push *', ' -rf *', '', '* --force*', ' src/*', '*']
const all = () => true

test('spellings that begin as no rule does are matched by none', () => {
  const patterns = fc.array(fc.tuple(fc.constantFrom(...programs), fc.constantFrom(...ends)), { maxLength: 6 })
  const before = fc.constantFrom(...wrapped)
  fc.assert(
    fc.property(fc.constantFrom(...fixtures), fc.constantFrom(...fixtures), before, patterns, (one, two, by, pairs) => {
      const rules = pairs.flatMap(([program, end]) => {
        const reading = readRule(`Bash(${program}${end})`, 'deny')
        return reading.ok ? [reading.rule] : []
      })
      const index = new CommandIndex(rules)
      for (const command of readShell(`${by}${one}; ${two}`).commands) {
        assert.equal(
          index.first(certainSpellings(command, index.mayMatch))?.at,
          index.first(certainSpellings(command, all))?.at,
        )
        assert.equal(
          index.firstPossible(possibleSpellings(command, index.mayMatch))?.at,
          index.firstPossible(possibleSpellings(command, all))?.at,
        )
      }
    }),
    { numRuns: 1500 },
  )
})

test('code is taken apart as the patterns for its commands and files say', () => {
  const pieces = [
    'rm',
    'x',
    '_a1',
    '.',
    '..',
    '/',
    ' ',
    '  ',
    '"',
    "'",
    '`',
    ',',
    '=',
    ':',
    '@',
    '~',
    '+',
    '-',
    '(',
    ')',
  ]
  const more = ['\n', '\t', 'é', '\u00a0', '$', '\\', 'r.env', '1w', 'a'.repeat(399), 'b '.repeat(210)]
  const texts = fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 12 }).map((each) => each.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      const commands: string[] = []
      commandsInCode([text], all, commands)
      const stretches = text.replace(/["'`]\s*,\s*\[?\s*["'`]/g, ' ').split(/[^\w.+/ =:@~,-]+/)
      const expected = stretches.flatMap((stretch) =>
        [...stretch.matchAll(/(?<![\w.])\w/g)].map(({ index }) => {
          const found = stretch.slice(index, index + 401).trim()
          return found.length > 400 ? found.slice(0, 400) + HOLE : found
        }),
      )
      assert.deepEqual(commands, expected)
      const tokens = text.split(/[^\w./~+-]+/).filter((token) => token !== '')
      assert.deepEqual(
        tokensInCode('python3', [text]).map(({ path }) => path),
        [...new Set(tokens)],
      )
    }),
    { numRuns: 2000 },
  )
})

test('a word too long to tell what it begins with is held against every rule', () => {
  const reading = readRule('Bash(rm *)', 'deny')
  assert.ok(reading.ok)
  const index = new CommandIndex([reading.rule])
  const [command = shellCommand({})] = readShell(`python3 -c '${'a'.repeat(500)}("x")'`).commands
  const found = possibleSpellings(command, index.mayMatch)
  assert.deepEqual(
    found.filter((text) => text.endsWith(HOLE)),
    [`${'a'.repeat(400)}${HOLE}`],
  )
})
