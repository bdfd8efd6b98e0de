import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import { clean, cleanLine } from './clean.ts'
import { cleanOutput } from './output-text.ts'
import { clip, width, wrap } from './width.ts'

test('width counts cells, not characters', () => {
  const cells = {
    abc: 3,
    日本: 4,
    'e\u0301': 1,
    '👩‍👩‍👧': 2,
    '🇩🇪': 2,
    '❤️': 2,
    '\x1b[31mred\x1b[0m': 3,
    ｆｕｌｌ: 8,
    '': 0,
  }
  for (const [text, expected] of Object.entries(cells)) assert.equal(width(text), expected, text)
})

test('wrap breaks at spaces, breaks long words where it must, and carries styles on', () => {
  assert.deepEqual(wrap('the quick brown fox', 10), ['the quick', 'brown fox'])
  assert.deepEqual(wrap('abcdefghijkl', 5), ['abcde', 'fghij', 'kl'])
  assert.deepEqual(wrap('日本語日本語', 5), ['日本', '語日', '本語'])
  assert.deepEqual(wrap('\x1b[31mred red\x1b[0m', 4), ['\x1b[31mred\x1b[0m', '\x1b[31mred\x1b[0m'])
  assert.deepEqual(wrap('', 10), [''])
})

test('no wrapped line is wider than asked, and nothing but white space is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 2, max: 30 }), (raw, columns) => {
      const text = cleanLine(raw)
      const lines = wrap(text, columns)
      for (const line of lines) assert.ok(width(line) <= columns, JSON.stringify(line))
      assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
    }),
  )
})

test('clip leaves an ellipsis and closes styles', () => {
  assert.equal(clip('abcdef', 4), 'abc…')
  assert.equal(clip('日本語', 5), '日本…')
  assert.equal(clip('\x1b[1mabcdef\x1b[22m', 4), '\x1b[1mabc\x1b[0m…')
})

test('clean text can move no cursor, set no title and hide no direction mark', () => {
  assert.equal(clean('a\x1b[2Jb\x1b]0;title\x07c\x1bcd\x07'), 'abcd')
  assert.equal(clean('rm \u202etxt.sh'), 'rm <U+202E>txt.sh')
  assert.equal(clean('a\tb\r\nc\rd'), 'a    b\nc\nd')
  assert.equal(clean('\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\'), 'link')
})

test('output keeps its columns, and of an overwritten line its end', () => {
  assert.equal(cleanOutput('a\tb\tccc\n日本語\t|\r\n12345678\tx'), 'a       b       ccc\n日本語  |\n12345678        x')
  assert.equal(cleanOutput('10 %\r50 %\r\x1b[K100 %\r\ndone'), '100 %\ndone')
  assert.equal(cleanOutput('10 %\r50 %\r\x1b[K100 %\r\ndone', true), '10 %\n50 %\n100 %\ndone')
  assert.equal(cleanOutput('\x1b[31mred\x1b[0m\tx\x07'), 'red     x')
})

test('whatever comes in, no control character comes out of clean', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 60 }), (text) => {
      assert.doesNotMatch(clean(`\x1b${text}\x9b${text}`), /[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
    }),
  )
})
