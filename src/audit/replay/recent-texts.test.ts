import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recentTexts } from './recent-texts.ts'

test('a text is found by its place, whatever else is there', () => {
  const known = recentTexts<number>(1e6)
  const texts = Array.from({ length: 3000 }, (_, at) => `text ${at * 7919}`)
  for (const [at, text] of texts.entries()) for (const place of [0, 1]) known.set(place, text, 2 * at + place)
  for (const [at, text] of texts.entries())
    assert.deepEqual([known.get(0, text), known.get(1, text), known.get(2, text)], [2 * at, 2 * at + 1, undefined])
  assert.equal(known.get(0, 'another'), undefined)
  known.set(0, texts[5]!, -1)
  assert.deepEqual([known.get(0, texts[5]!), known.get(1, texts[5]!)], [-1, 11])
})

test('what was asked for lately stays, and the rest is dropped', () => {
  const known = recentTexts<string | null>(100)
  known.set(0, 'used', null)
  known.set(0, 'unused', 'x')
  known.set(0, 'heavy', 'y', 98)
  for (let at = 0; at < 250; at++) {
    known.set(0, `new ${at}`, 'z')
    assert.equal(known.get(0, 'used'), null)
  }
  assert.deepEqual(
    ['unused', 'heavy', 'new 0', 'new 249'].map((text) => known.get(0, text)),
    [undefined, undefined, undefined, 'z'],
  )
})

test('a text may be kept from its second time on', () => {
  const known = recentTexts<string>(100)
  known.setAgain(0, 'text', 'first')
  assert.equal(known.get(0, 'text'), undefined)
  known.setAgain(1, 'text', 'elsewhere')
  known.setAgain(0, 'text', 'second')
  assert.deepEqual([known.get(0, 'text'), known.get(1, 'text')], ['second', undefined])
})
