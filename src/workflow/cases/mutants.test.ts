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

test('a line with a comment at its end is code', () => {
  const files = new Map([
    ['a.py', 'x = 1 # import 2\ny = x * 3 // from 4\n'],
    ['b.py', '\nx = 1'],
  ])
  assert.deepEqual(
    mutantsOf(files).map(({ name }) => name),
    ['a.py:1 1 → 2', 'a.py:1 2 → 3', 'a.py:2 3 → 4', 'a.py:2 4 → 5', 'b.py:2 1 → 2'],
  )
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

test('each operator becomes its opposite, and what only looks like one stays', () => {
  const table: [string, string[]][] = [
    ['a === b', ['a !== b']],
    ['a !== b', ['a === b']],
    ['a == b', ['a != b']],
    ['a != b', ['a == b']],
    ['a > b', ['a <= b']],
    ['a >= b', ['a < b']],
    ['a < b', ['a >= b']],
    ['a <= b', ['a > b']],
    ['a && b', ['a || b']],
    ['a || b', ['a && b']],
    ['x = true', ['x = false']],
    ['x = false', ['x = true']],
    ['a + b', ['a - b']],
    ['f(9)', ['f(10)']],
    ["say('yes')", ["say('~')"]],
    ['a => b', []],
    ['a -> b', []],
    ['a >> b', []],
    ['a >== b', []],
    ['buf"Hi, {x}"', []],
    ['a <== b', []],
    ['a << b', []],
    ['a2 = b.3', []],
    ["say('')", []],
    ['+a', []],
  ]
  for (const [text, expected] of table)
    assert.deepEqual([text, mutantsOf(new Map([['a.c', text]])).map((mutant) => mutant.text)], [text, expected])
  for (const line of ['# 1', '// 1', '/* 1', ' * 1', 'import 1', 'from 1', 'use 1', 'package 1'])
    assert.deepEqual([line, mutantsOf(new Map([['a.c', line]]))], [line, []])
  assert.deepEqual(mutantsOf(new Map([['a.c', `say('${'long '.repeat(6)}')`]])), [
    { name: 'a.c:1 long long long long lon… → ~', file: 'a.c', text: "say('~')" },
  ])
  const named = (text: string) => mutantsOf(new Map([['a.c', `say('${text}')`]]))[0]!.name
  assert.deepEqual(
    [named('twenty-four characters!!'), named('twenty-five characters!!!')],
    ['a.c:1 twenty-four characters!! → ~', 'a.c:1 twenty-five characters!… → ~'],
  )
  const files =
    'a.js a.mts a.tsx a.py a.rb a.go a.rs a.java a.kt a.swift a.cc a.cpp a.h a.cs a.php a.pl a.lua a.sh a.bash a.ex a.exs a.scala bin'
  for (const file of files.split(' ')) assert.deepEqual([file, mutantsOf(new Map([[file, 'f(1)']])).length], [file, 1])
  for (const file of ['a.md', 'a.json', 'a.txt', '.env'])
    assert.deepEqual([file, mutantsOf(new Map([[file, 'f(1)']])).length], [file, 0])
  const three = mutantsOf(new Map([['a.c', 'f(1, 2, 3)']]))
  assert.deepEqual([spread(three, 3), spread(three, 2)], [three, [three[0], three[1]]])
})
