/** The automaton of a regular expression: what each letter reads, as RegExp itself reads it, and which letters may follow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { automataOf } from './regex-positions.ts'

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
const readBy = (source: string, foldCase = false) => {
  const [set] = automataOf(source, foldCase)![0]!.reads
  return ascii.filter((_, code) => (set! >> BigInt(code)) & 1n).join('')
}

test('one letter reads the characters that RegExp takes there', () => {
  const sources = [
    ...['a', 'é', '\\w', '\\W', '\\d', '\\D', '\\s', '\\S', '\\n', '\\r', '\\t', '\\v', '\\f', '\\0', '\\.', '\\/'],
    ...['\\x41', '\\u0041', '\\u00e9', '\\q', '\\-', '[a]', '[abc]', '[a-f]', '[^a-f]', '[\\w-]', '[-a]', '[a-]'],
    ...['[\\b]', '[\\]]', '[\\d.]', '[^\\d.]', '[\\x41-\\x44]', '[\\n-\\r]', '[ -~]', '[^]', '[]', '[é]', '[^é]'],
    ...['[a-c-e]', '[+--]', '[.^$*]', '[\\u0041-\\u005a0-9_]'],
  ]
  for (const source of sources)
    for (const foldCase of [false, ...(source.startsWith('[^') ? [] : [true])]) {
      const pattern = new RegExp(`^(?:${source})$`, foldCase ? 'i' : '')
      assert.equal(readBy(source, foldCase), ascii.filter((char) => pattern.test(char)).join(''), source)
    }
  // what is not looked at more closely may be any character
  for (const source of ['.', '\\cA', '\\p{L}', '\\u{41}']) assert.equal(readBy(source), ascii.join(''), source)
})

test('a character beyond ASCII is one of the others, in every set that may hold it', () => {
  const others = (source: string) => automataOf(source, false)![0]!.reads[0]! >> 128n === 1n
  for (const source of ['é', '.', '\\W', '\\D', '\\s', '\\S', '[^a]', '[^é]', '[é]', '[a-é]', '\\u00e9', '😀'])
    assert.equal(others(source), true, source)
  for (const source of ['a', '\\w', '\\d', '[a-z]', '\\x7f']) assert.equal(others(source), false, source)
})

/** For each automaton its number of letters, and `from>to` for each edge, `*2` where there are two. */
const shapeOf = (source: string) => {
  new RegExp(source)
  return automataOf(source, false)?.map(({ reads, next }) =>
    [
      reads.length,
      ...next.flatMap((edges, from) => [...edges].map(([to, ways]) => `${from}>${to}${ways > 1 ? `*${ways}` : ''}`)),
    ].join(' '),
  )
}

test('which letters may follow each other, and in how many ways', () => {
  const rows: Record<string, string[] | undefined> = {
    '': ['0'],
    abc: ['3 0>1 1>2'],
    'a|b': ['2'],
    'a|b|cd': ['4 2>3'],
    '(?:a|b)c': ['3 0>2 1>2'],
    '(a|)b': ['2 0>1'],
    '(|a)b': ['2 0>1'],
    'x(a|)b': ['3 0>1 0>2 1>2'],
    'a*': ['1 0>0'],
    'a+b': ['2 0>0 0>1'],
    'xa*b': ['3 0>1 0>2 1>1 1>2'],
    'xa+b': ['3 0>1 1>1 1>2'],
    'xa?b': ['3 0>1 0>2 1>2'],
    'xa*?b': ['3 0>1 0>2 1>1 1>2'],
    '(a+)+': ['1 0>0*2'],
    '(a*)*b': ['2 0>0*2 0>1'],
    'a{0}b': ['2'],
    'a{1}b': ['2 0>1'],
    'a{2}b': ['3 0>1 1>2'],
    'a{1,3}b': ['4 0>1 0>2 1>2 0>3 1>3 2>3'],
    'a{2,3}b': ['4 0>1 1>2 1>3 2>3'],
    'xa{0,2}b': ['4 0>1 0>2 0>3 1>2 1>3 2>3'],
    'a{4}b': ['2 0>0 0>1'],
    'xa{0,4}b': ['3 0>1 0>2 1>1 1>2'],
    'xa{0,}b': ['3 0>1 0>2 1>1 1>2'],
    'xa{1,}b': ['3 0>1 1>1 1>2'],
    '(?:ab){2}': ['4 0>1 1>2 2>3'],
    'a{,2}': ['5 0>1 1>2 2>3 3>4'],
    'a{x}': ['4 0>1 1>2 2>3'],
    '^a$': ['1'],
    'a\\bb\\Bc': ['3 0>1 1>2'],
    '(?<name>a)(?:b)(?i:c)': ['3 0>1 1>2'],
    'a(?=bc)d': ['2 0>1', '2 0>1'],
    'a(?!b|c)d': ['2', '2 0>1'],
    '(?<=a)b(?<!cd)e': ['1', '2 0>1', '2 0>1'],
    '(?=(?=a)b)c': ['1', '1', '1'],
    '(?=a){2}b': ['1', '1', '1'],
    '[ab][^)]|[|]': ['3 0>1'],
    '[\\]a]b': ['2 0>1'],
    '\\)a': ['2 0>1'],
    '(a)\\1': undefined,
    '(?<n>a)\\k<n>': undefined,
    '(?=(a)\\1)b': undefined,
    '(?:(a)\\1){2}': undefined,
    '😀a': ['2 0>1'],
  }
  for (const [source, shape] of Object.entries(rows)) {
    const found = shapeOf(source)?.map((line) => line.split(' ').sort())
    assert.deepEqual(
      found,
      shape?.map((line) => line.split(' ').sort()),
      source,
    )
  }
})

test('4000 letters are looked at, no more', () => {
  assert.equal(automataOf('x'.repeat(4000), false)![0]!.reads.length, 4000)
  assert.equal(automataOf('x'.repeat(4001), false), undefined)
  assert.equal(automataOf(`(?:${'x'.repeat(1500)}){3}`, false), undefined)
})
