import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { couldMatch, HOLE, literal, matches } from './wildcard.ts'

/** Every way to read pattern and text at once, step by step: slow, and plain to see. */
function couldMatchSlowly(pattern: string, text: string): boolean {
  if (pattern === '' && text === '') return true
  if (pattern[0] === '*' && couldMatchSlowly(pattern.slice(1), text)) return true
  if (text[0] === HOLE && couldMatchSlowly(pattern, text.slice(1))) return true
  if (pattern[0] === '*' && text !== '') return couldMatchSlowly(pattern, text.slice(1))
  if (text[0] === HOLE && pattern !== '') return couldMatchSlowly(pattern.slice(1), text)
  return pattern !== '' && pattern[0] === text[0] && couldMatchSlowly(pattern.slice(1), text.slice(1))
}

test('a pattern could match a text with holes exactly when some filling of the holes makes it match', () => {
  const pattern = fc.array(fc.constantFrom('a', 'b', ' ', '*'), { maxLength: 7 }).map((parts) => parts.join(''))
  const text = fc.array(fc.constantFrom('a', 'b', ' ', '*', HOLE), { maxLength: 7 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(pattern, text, (pattern, text) => {
      assert.equal(couldMatch(pattern, text), couldMatchSlowly(pattern, text))
      if (!text.includes(HOLE)) assert.equal(matches(pattern, text), couldMatchSlowly(pattern, text))
    }),
    { numRuns: 5000 },
  )
})

test('a hostile pattern takes no longer than a look through the text', () => {
  const long = 'a'.repeat(1_000_000)
  const hostile = ['*a*a*a*a*b', `*${'a'.repeat(1000)}b`, `*b${'a'.repeat(1000)}`, `${'*a'.repeat(5000)}*b`]
  assert.deepEqual(
    hostile.map((pattern) => [matches(pattern, long), couldMatch(pattern, `${long}${HOLE}c`)]),
    hostile.map(() => [false, false]),
  )
  assert.deepEqual(
    hostile.map((pattern) => couldMatch(pattern, `${long}${HOLE}`)),
    hostile.map(() => true),
  )
})

test('in an expression a text stands for itself alone', () => {
  const characters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
  for (const each of characters) {
    const expression = new RegExp(`^x${literal(each)}$`, 'su')
    assert.deepEqual(
      characters.filter((other) => expression.test(`x${other}`)),
      [each],
    )
  }
  const all = characters.join('').repeat(2)
  assert.equal(new RegExp(`^${literal(all)}$`, 'su').test(all), true)
})
