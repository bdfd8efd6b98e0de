import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { criteriaOf } from './criteria.ts'

const texts = (plan: string) => criteriaOf(plan).map(({ id, text }) => `${id} ${text}`)

test('criteria are read in the usual spellings', () => {
  const table: [string, string[]][] = [
    ['## Success criteria\n- one\n- two', ['C1 one', 'C2 two']],
    ['# Success Criteria:\n1. one\n2) two', ['C1 one', 'C2 two']],
    ['### 4. Acceptance criteria\n* [ ] one\n* [x] two', ['C1 one', 'C2 two']],
    ['**Success criteria**\n+ one', ['C1 one']],
    ['Success criteria:\n\n- one\n\n- two\n', ['C1 one', 'C2 two']],
    ['## Definition of done\n- one', ['C1 one']],
    ['## Success criteria\n- C1: one\n- **SC-2.** two', ['C1 one', 'C2 two']],
    ['## Success criteria\n- one goes\n  on here\n- two', ['C1 one goes on here', 'C2 two']],
    [
      '## Success criteria\n| # | Criterion |\n|---|---|\n| 1 | one is there |\n| 2 | two is too |',
      ['C1 one is there', 'C2 two is too'],
    ],
    ['## Success criteria\r\n- one\r\n- two\r\n', ['C1 one', 'C2 two']],
    ['## Success criteria\n- one\n## Risks\n- none', ['C1 one']],
    ['## Success criteria\n### The command\n- one\n### The page\n- two\n## Later\n- three', ['C1 one', 'C2 two']],
    ['## Success criteria\n```\n- not this\n```\n- one', ['C1 one']],
    ['# Plan\nWe will succeed by criteria.\n- not one', []],
    ['## Success criteria\nnothing yet', []],
    ['', []],
  ]
  for (const [plan, expected] of table) assert.deepEqual(texts(plan), expected, JSON.stringify(plan))
})

test('no text makes it fail, and the same text gives the same numbers', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.deepEqual(criteriaOf(text), criteriaOf(text))))
})
