import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { diffLines } from './diff-view.ts'
import { useGlyphs } from './glyphs.ts'
import { highlight } from './highlight.ts'
import { itemLines } from './items.ts'
import { renderMarkdown } from './markdown.ts'
import { MarkdownStream } from './markdown-stream.ts'
import { useTheme } from './style.ts'
import { clip, width } from './width.ts'

const sample = `# Title

Some *text* with **weight**, \`code\` and a [link](https://example.org/x).

- one
- two
  - nested
- three

1. first
2. second

\`\`\`ts
const x: number = 1 // note
/* over
   lines */
\`\`\`

| name | value |
| --- | ---: |
| a | 1 |
| long name | 22 |

> quoted

done`

const streamed = (text: string, size: number, columns = 60) => {
  const stream = new MarkdownStream(() => highlight)
  const lines: string[] = []
  for (let at = 0; at < text.length; at += size) {
    stream.push(text.slice(at, at + size))
    lines.push(...stream.finished(columns))
    stream.tail(columns)
  }
  return [...lines, ...stream.end(columns)]
}

test('Markdown reads well without colours', () => {
  useTheme('dark', false)
  assert.deepEqual(renderMarkdown(sample, 60), [
    'Title',
    '',
    'Some text with weight, code and a link',
    '(https://example.org/x).',
    '',
    '- one',
    '- two',
    '  - nested',
    '- three',
    '',
    '1. first',
    '2. second',
    '',
    'const x: number = 1 // note',
    '/* over',
    '   lines */',
    '',
    '┌───────────┬───────┐',
    '│ name      │ value │',
    '├───────────┼───────┤',
    '│ a         │     1 │',
    '│ long name │    22 │',
    '└───────────┴───────┘',
    '',
    '│ quoted',
    '',
    'done',
  ])
})

test('however the text is cut, the stream gives the same lines as the whole', () => {
  useTheme('dark', true)
  const whole = renderMarkdown(sample, 60, highlight)
  for (const size of [1, 2, 3, 7, 50, 5000]) assert.deepEqual(streamed(sample, size), whole, `cut every ${size}`)
  useTheme('dark', false)
})

test('finished lines come while a long block of code or a long list is still being written', () => {
  const stream = new MarkdownStream(() => undefined)
  stream.push('```\none\ntwo\nthr')
  assert.deepEqual(stream.finished(40), ['one', 'two'])
  assert.deepEqual(stream.tail(40), ['thr'])
  const list = new MarkdownStream(() => undefined)
  list.push('- a\n- b\n- c')
  assert.deepEqual(list.finished(40), ['- a', '- b'])
  assert.deepEqual(list.tail(40), ['- c'])
})

test('an answer that ends before the colours are loaded loses no line of its code', () => {
  const stream = new MarkdownStream(() => 'loading')
  stream.push('```ts\none\ntwo\nthree')
  assert.deepEqual(stream.finished(40), [])
  assert.deepEqual(stream.end(40), ['one', 'two', 'three'])
})

test('a paragraph without end is given out as it grows, so that no frame reads more than the last part of it', () => {
  const text = 'word '.repeat(12_000)
  const stream = new MarkdownStream(() => undefined)
  const lines: string[] = []
  let most = 0
  for (let at = 0; at < text.length; at += 100) {
    stream.push(text.slice(at, at + 100))
    lines.push(...stream.finished(80))
    most = Math.max(most, stream.tail(80).join(' ').length)
  }
  lines.push(...stream.end(80))
  assert.equal(lines.join(' ').split(/\s+/).filter(Boolean).length, 12_000)
  assert.ok(most < 10_000, `${most} characters were read again`)
})

test('colours go round the words of the code and change none', () => {
  useTheme('dark', true)
  const code = 'const a = "<&>" // é\nlet b = `x\ny`'
  assert.equal(stripVTControlCharacters(highlight(code, 'ts').join('\n')), code)
  assert.notEqual(highlight(code, 'ts').join('\n'), code)
  assert.deepEqual(highlight('x', 'no-such-language'), ['x'])
  useTheme('dark', false)
})

test('a table fits the width it is given', () => {
  const row = `| ${'word '.repeat(30)}| ${'other '.repeat(20)}| 日本語日本語 |`
  const text = `| a | b | c |\n|---|---|---|\n${row}\n`
  for (const columns of [40, 60, 100, 200])
    for (const line of renderMarkdown(text, columns)) assert.ok(width(line) <= columns, line)
  assert.match(renderMarkdown(text, 12).join('\n'), /^a: word/)
})

test('in a table too wide the long columns give way, and short words stay whole', () => {
  const text =
    '| name | about |\n|---|---|\n| alphabet | a long description that will not fit in forty columns at all |\n'
  assert.deepEqual(renderMarkdown(text, 38), [
    '┌──────────┬─────────────────────────┐',
    '│ name     │ about                   │',
    '├──────────┼─────────────────────────┤',
    '│ alphabet │ a long description that │',
    '│          │ will not fit in forty   │',
    '│          │ columns at all          │',
    '└──────────┴─────────────────────────┘',
  ])
})

test('where the locale has no UTF-8, nothing of ours is anything else than ASCII', () => {
  useGlyphs({ LANG: 'C' })
  const text = '| a | b |\n|---|---|\n| c | d |\n\n> said\n\n---\n'
  const shown = [
    ...renderMarkdown(text, 40),
    clip('abcdef', 4),
    clip('abcdef', 2),
    ...diffLines('@@ -1 +1 @@\n-a\n+b\n', { most: 1 }),
  ]
  useGlyphs({ LANG: 'C.UTF-8' })
  assert.deepEqual(shown, [
    '+---+---+',
    '| a | b |',
    '+---+---+',
    '| c | d |',
    '+---+---+',
    '',
    '| said',
    '',
    '-'.repeat(40),
    'a...',
    '..',
    '  1 - a',
    '... +1 line (ctrl+o shows all)',
  ])
})

test('no Markdown breaks the stream, and no escape sequence gets through it', () => {
  const pieces = [
    '# ',
    '- ',
    '1. ',
    '```',
    '```js\n',
    '\n',
    '\n\n',
    '| a | b |\n',
    '|---|---|\n',
    '> ',
    'word ',
    '**',
    '`',
    '    ',
    '\x1b[2J',
    '[x](y)',
    '---\n',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
      const stream = new MarkdownStream(() => undefined)
      const lines: string[] = []
      for (const part of parts) {
        stream.push(part)
        lines.push(...stream.finished(30), ...stream.tail(30).slice(0, 0))
      }
      lines.push(...stream.end(30))
      assert.doesNotMatch(lines.join(''), /\x1b/)
    }),
  )
})

test('a diff is numbered by its hunks and folded', () => {
  const patch = '--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -90,1 +90,2 @@\n x\n+y\n'
  assert.deepEqual(diffLines(patch), ['  1   one', '  2 - two', '  2 + 2', '  3   three', '  …', ' 90   x', ' 91 + y'])
  assert.deepEqual(diffLines(patch, { most: 2 }), ['  1   one', '  2 - two', '… +5 lines (ctrl+o shows all)'])
})

test('a changed line too long for the screen goes on under its own text', () => {
  const patch = `@@ -1 +1 @@\n-short\n+${'word '.repeat(8)}end\n`
  const output = {
    content: '',
    isError: false,
    display: { kind: 'diff', path: 'a.ts', patch, added: 1, removed: 1 },
  } as const
  const call = { id: '1', name: 'Edit', summary: 'a.ts', input: {}, startedAt: 0, progress: '', calls: [], notes: [] }
  assert.deepEqual(
    itemLines({ kind: 'tool', call: { ...call, output } }, 40, false, () => []),
    [
      '● Edit(a.ts)',
      '  └ a.ts +1 -1',
      '      1 - short',
      '      1 + word word word word word word',
      '          word word end',
    ],
  )
})

test('a long line of code is one line in the scrollback, and whole in the transcript', () => {
  const code = `const long = '${'word '.repeat(12)}end'`
  const show = (full: boolean) =>
    itemLines({ kind: 'answer', text: `\`\`\`\n${code}\n\`\`\`` }, 40, full, (text, wide) => renderMarkdown(text, wide))
  assert.deepEqual(show(false), [`● ${code}`])
  assert.ok(show(true).every((line) => width(line) <= 40))
  assert.equal(show(true).join(' ').replace(/ +/g, ' '), `● ${code}`)
})
