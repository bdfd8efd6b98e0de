import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recent, repeated, sights } from './recent.ts'

test('what is asked for again stays, what is not goes, and there are never more than twice as many', () => {
  const known = recent<string, number>(2)
  known.set('a', 1)
  for (const [at, key] of ['b', 'c', 'd', 'i', 'j'].entries()) {
    known.set(key, at)
    assert.equal(known.get('a'), 1)
  }
  for (const key of ['e', 'f', 'g', 'h']) known.set(key, 0)
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'g', 'h'].map((key) => known.get(key)),
    [undefined, undefined, undefined, undefined, 0, 0],
  )
})

test('what is asked for again counts as new, so that as much of the rest goes', () => {
  const known = recent<string, number>(2)
  for (const [at, key] of ['a', 'b', 'c'].entries()) known.set(key, at)
  assert.deepEqual([known.get('a'), known.get('b')], [0, 1])
  for (const key of ['d', 'e']) known.set(key, 3)
  assert.deepEqual(
    ['e', 'd', 'b', 'c', 'a'].map((key) => known.get(key)),
    [3, 3, 1, undefined, undefined],
  )
})

test('a text is kept from its second time on', () => {
  const kept = repeated<object>(2)
  const made: object[] = []
  const ask = (text: string) =>
    kept.of(text, () => {
      made.push({ text })
      return made.at(-1)!
    })
  const [once, twice, again, later] = [ask('a'), ask('a'), ask('a'), ask('a')]
  assert.deepEqual([once === twice, twice === again, again === later, made.length], [false, true, true, 2])
  for (let at = 0; at < 100; at++) for (const _ of [1, 2]) assert.deepEqual(ask(`text ${at}`), { text: `text ${at}` })
})

test('a text that takes the place of another is new, and the other one is again', () => {
  const isSeen = sights(1)
  assert.deepEqual(['a', 'a', 'b', 'b', 'a'].map(isSeen), [false, true, false, true, false])
})
