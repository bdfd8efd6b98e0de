import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { visible } from './visible.ts'

test('what steers a terminal or hides text is spelt out', () => {
  const cases = {
    'echo "ok" → ö 日本': 'echo "ok" → ö 日本',
    'a\nb\tc\r': 'a\\nb\\tc\\r',
    '\u001b[2Jgone': '\\u001b[2Jgone',
    'rm -rf ~\u202e# tidy': 'rm -rf ~\\u202e# tidy',
    'zero\u200bwidth\u2028line\u007f\u009b': 'zero\\u200bwidth\\u2028line\\u007f\\u009b',
    'para\u2029graph': 'para\\u2029graph',
  }
  for (const [text, shown] of Object.entries(cases)) assert.equal(visible(text), shown)
})

test('nothing of the kind is ever left', () => {
  fc.assert(fc.property(anyText(), (text) => assert.doesNotMatch(visible(text), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)))
})
