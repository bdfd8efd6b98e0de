import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutantsOf } from './mutants.ts'

const text = `// a comment with 1 and true
import { x } from 'y'
if (a === 1 && b > 2) console.log('yes')
`

test('each mutant has one fault, in the code and not in comments or imports', () => {
  const mutants = mutantsOf(new Map([['a.mjs', text]]), 20)
  assert.deepEqual(
    mutants.map(({ name }) => name),
    ['a.mjs:3 === → !==', 'a.mjs:3 1 → 2', 'a.mjs:3 && → ||', 'a.mjs:3 > → <=', 'a.mjs:3 2 → 3', 'a.mjs:3 yes → yes~'],
  )
  assert.equal(mutants[0]!.text, text.replace('===', '!=='))
})

test('of many, the same few are taken each time, from all over the text; documents have none', () => {
  const long = Array.from({ length: 100 }, (_, line) => `x = ${line}`).join('\n')
  const files = new Map([
    ['a.py', long],
    ['README.md', long],
  ])
  const names = mutantsOf(files, 4).map(({ name }) => name)
  assert.deepEqual(names, ['a.py:1 0 → 1', 'a.py:26 25 → 26', 'a.py:51 50 → 51', 'a.py:76 75 → 76'])
})
