import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutantsOf, spread } from './mutants.ts'

const text = `// a comment with 1 and true
import { x } from 'y'
if (a === 1 && b > 2) console.log('yes')
`

test('each mutant has one fault, in the code and not in comments or imports', () => {
  const mutants = mutantsOf(new Map([['a.mjs', text]]))
  assert.deepEqual(
    mutants.map(({ name }) => name),
    ['a.mjs:3 === → !==', 'a.mjs:3 1 → 2', 'a.mjs:3 && → ||', 'a.mjs:3 > → <=', 'a.mjs:3 2 → 3', 'a.mjs:3 yes → ~'],
  )
  assert.equal(mutants[0]!.text, text.replace('===', '!=='))
})

test('of many, the same few are taken each time, from all over the text; documents have none', () => {
  const long = Array.from({ length: 100 }, (_, line) => `x = ${line}`).join('\n')
  const files = new Map([
    ['a.py', long],
    ['README.md', long],
  ])
  const names = spread(mutantsOf(files), 4).map(({ name }) => name)
  assert.deepEqual(names, ['a.py:1 0 → 1', 'a.py:26 25 → 26', 'a.py:51 50 → 51', 'a.py:76 75 → 76'])
})

test('the words in front of a value that is put in are mutated too, in each of the languages', () => {
  const files = new Map([
    ['a.mjs', 'say(`Hello, ${name}!`)'],
    ['a.py', 'print(f"Hello, {name}!")'],
    ['a.sh', 'echo "Hello, $name!"'],
  ])
  assert.deepEqual(
    mutantsOf(files).map(({ text }) => text),
    ['say(`~${name}!`)', 'print(f"~{name}!")', 'echo "~$name!"'],
  )
})
