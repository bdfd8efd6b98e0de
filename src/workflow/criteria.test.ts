import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../test/support/any-text.ts'
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
    ['# 2) Criteria\n- one', ['C1 one']],
    ['__Acceptance criteria__:\n- one', ['C1 one']],
    ['Acceptance criteria\n- one', ['C1 one']],
    ['Our success criteria are many\n- not one', []],
    ['## Success criteria\n~~~\n- not this\n~~~\n- one', ['C1 one']],
    ['## Success criteria\n- one\n# Top\n- not one', ['C1 one']],
    ['Success criteria:\n- one\n###### Small\n- not one', ['C1 one']],
    [
      '## Success criteria\n- AC 3) one\n- __C2__ – two\n- c4 - three\n- C5 is a note',
      ['C1 one', 'C2 two', 'C3 three', 'C4 C5 is a note'],
    ],
    ['## Success criteria\n- a **bold** word\n   - nested\n    - deeper', ['C1 a bold word', 'C2 nested - deeper']],
    ['## Success criteria\n| Id | Criteria |\n| :-- | --: |\n| A | it works |\n|  |  |', ['C1 it works']],
    ['## Success criteria\n| Success criterion | By |\n| it works | me |', ['C1 it works']],
    ['## Success criteria\n| success criteria |\n| it works |', ['C1 it works']],
    ['## Success criteria\n| Success criteria: | x |', ['C1 Success criteria:']],
    ['## Success criteria\n| No. | Text |\n| 1 | a |', ['C1 1']],
    ['## Success criteria\n- **C1:**\n- two\n\nA note\n  not indented to a list', ['C1 two not indented to a list']],
    ['About ## Success criteria\n- not one', []],
    ['our success criteria:\n- not one', []],
    ['Success criteria are many\n- not one', []],
    ['## success criteria\nso - not one\n- one', ['C1 one']],
    ['## Success criteria\n- one\u2028and more', ['C1 one\u2028and more']],
    ['## Success criteria\nsee it | works |\n| it | works\n- one', ['C1 one']],
    ['## Success criteria\nwith ``` in it\n- one', ['C1 one']],
    ['## Success criteria\nsee # that\n- one\nand  so on', ['C1 one']],
    ['## Success criteria\n- one\n  goes on\t', ['C1 one goes on']],
    ['## Success criteria\n  not a list\n- one', ['C1 one']],
    ['## Success criteria\n| one | two |\n| - it works - | x |', ['C1 one', 'C2 - it works -']],
    [
      '## Success criteria\n| identity is kept | by |\n| the criterion | x |\n| bid | x |',
      ['C1 identity is kept', 'C2 the criterion', 'C3 bid'],
    ],
    ['## Success criteria\n- see C1: one\n- **C2** - **two** and **three**', ['C1 see C1: one', 'C2 two and three']],
    ['## Success criteria\n- **C1.** **one\n- **C2: two**  ', ['C1 one', 'C2 two']],
    ['**Acceptance criteria:**\n- one', ['C1 one']],
    ['## Definition of done\n- one\n### Deeper\n- two\n## Next\n- not one', ['C1 one', 'C2 two']],
    ['# Success criteria\n- one\n# Next\n- not one', ['C1 one']],
    ['## 2) Success criteria\n- one', ['C1 one']],
    ['## Success criterias\n- not one', []],
    ['## Definition of doneness\n- not one', []],
    ['## Success criteria\n- [X] one\n- [y] two', ['C1 one', 'C2 [y] two']],
    ['### 3. Definition of done\n- one', ['C1 one']],
    ['## Success criteria\n- one\n##\n- two', ['C1 one', 'C2 two']],
  ]
  for (const [plan, expected] of table)
    for (const text of [plan, plan.replaceAll(/\r?\n/g, '\r\n')])
      assert.deepEqual(texts(text), expected, JSON.stringify(text))
})

test('no text makes it fail, and the same text gives the same numbers', () => {
  fc.assert(fc.property(anyText(), (text) => assert.deepEqual(criteriaOf(text), criteriaOf(text))))
})
