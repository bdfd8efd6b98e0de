/** Diffs as blocks: one width, changed words of the lines that belong together, long lines under their own text. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { diffLines } from './diff-view.ts'
import { useTheme } from './style.ts'
import { bare, width } from './width.ts'

const patch = `@@ -1,3 +1,6 @@
 /** Prices. */
-export const price = (cents: number) => cents / 100
+/** Rounds half to even. */
+export const price = (cents: number) => even(cents) / 100
 
+const even = (value: number) => 2 * Math.round(value / 2)
+
 export function total() {}
`

beforeEach(() => useTheme('dark', true))
afterEach(() => useTheme('dark', false))

/** The texts on a background of their own inside a changed line. */
const marked = (line: string): string[] =>
  [...line.matchAll(/\x1b\[48;5;(?:28|88)m(.*?)\x1b\[48;/g)].map(([, text = '']) => bare(text))

test('a line is compared with the one that replaces it, wherever it stands among the added ones', () => {
  assert.deepEqual(diffLines(patch, { columns: 80 }).map(marked), [[], ['cents'], [], ['even(cents)'], [], [], [], []])
})

test('added lines that can begin right after another change do: one block', () => {
  assert.deepEqual(
    diffLines(patch, { columns: 80 }).map((line) => bare(line).trimEnd()),
    [
      '  1   /** Prices. */',
      '  2 - export const price = (cents: number) => cents / 100',
      '  2 + /** Rounds half to even. */',
      '  3 + export const price = (cents: number) => even(cents) / 100',
      '  4 +',
      '  5 + const even = (value: number) => 2 * Math.round(value / 2)',
      '  6',
      '  7   export function total() {}',
    ],
  )
})

test('changed lines fill one width, also where a long one goes on under its own text', () => {
  for (const columns of [80, 40, 24]) {
    const lines = diffLines(patch, { columns }).filter((line) => line.startsWith('\x1b[48;'))
    const [wide] = lines.map(width)
    assert.ok(wide! <= columns, `${wide} of ${columns}`)
    for (const line of lines) {
      assert.equal(width(line), wide)
      // nothing inside ends the background before the line does
      assert.match(line, /^\x1b\[48;5;(?:22|52)m/)
      assert.doesNotMatch(line.slice(0, -5), /\x1b\[(?:49|0)m(?!\x1b\[48;)/)
      assert.ok(line.endsWith('\x1b[49m'), JSON.stringify(line))
    }
  }
})

test('without colours the signs alone say what changed', () => {
  useTheme('dark', false)
  assert.deepEqual(diffLines('@@ -1 +1 @@\n-one two three\n+one 2 three\n', { columns: 16 }), [
    '  1 - one two',
    '      three',
    '  1 + one 2',
    '      three',
  ])
})
