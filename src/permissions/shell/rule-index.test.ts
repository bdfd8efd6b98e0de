import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readRule } from '../rules/rule.ts'
import { couldMatch, HOLE, matches } from '../wildcard.ts'
import { CommandIndex } from './rule-index.ts'

const pieces = fc.constantFrom('git', 'gi', 'rm', ' ', ' ', '-f', 'x')
const pattern = fc.array(fc.oneof(pieces, fc.constant('*')), { minLength: 1, maxLength: 5 }).map((all) => all.join(''))
const text = fc.array(fc.oneof(pieces, fc.constant(HOLE)), { minLength: 1, maxLength: 6 }).map((all) => all.join(''))
const ruleOf = (pattern: string) => {
  const reading = readRule(`Bash(${pattern})`, 'deny')
  return reading.ok ? [reading.rule] : []
}

test('the index names the first rule that applies, as trying every rule does', () => {
  const lists = fc.array(pattern, { maxLength: 8 })
  const texts = fc.array(text, { maxLength: 3 })
  fc.assert(
    fc.property(lists, texts, (patterns, texts) => {
      const rules = [...patterns.flatMap(ruleOf), ...ruleOf('git push *')]
      const index = new CommandIndex(rules)
      const tryAll = (test: (pattern: string, text: string) => boolean) => {
        const at = rules.findIndex(
          ({ specifier }) =>
            specifier.kind === 'command' && specifier.patterns.some((each) => texts.some((text) => test(each, text))),
        )
        return at < 0 ? undefined : at
      }
      assert.equal(index.first(texts)?.at, tryAll(matches))
      assert.equal(index.firstPossible(texts)?.at, tryAll(couldMatch))
    }),
    { numRuns: 3000 },
  )
})
