import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonEdit, parseObject, place } from './json-edit.ts'

const fields = fc.dictionary(
  fc.string({ maxLength: 6 }).filter((key) => key !== '__proto__'),
  fc.jsonValue({ maxDepth: 2 }),
)
type Written = { hooks: { Stop: Record<string, unknown>[] }; other: Record<string, unknown> }

/** The same value as people write it: by tabs, by spaces, on one line, with the line ends of Windows, with comments. */
const written = fc
  .record({
    value: fc.record({ hooks: fc.record({ Stop: fc.array(fields, { maxLength: 4 }) }), other: fields }),
    eol: fc.constantFrom('\n', '\r\n'),
    tail: fc.constantFrom('', '\n'),
    write: fc.oneof(
      fc.constantFrom('', '  ', '    ', '\t').map((unit) => (value: Written) => JSON.stringify(value, null, unit)),
      fc
        .array(fc.constantFrom('', '', ' ', '\n  ', ' // a, "b": [\n  ', ' /* , } */ ', '/**/'), { minLength: 7 })
        .map((gaps) => (value: Written) => loosely(value, gaps)),
    ),
  })
  .map(({ value, eol, tail, write }) => ({ value, text: write(value).replaceAll('\n', eol) + tail }))

/** JSON with one of the gaps, in turn, wherever there may be one. */
function loosely(value: unknown, gaps: readonly string[]): string {
  let at = 0
  const gap = () => gaps[at++ % gaps.length]
  const list = (open: string, items: (() => string)[], close: string): string =>
    open + (items.length === 0 ? gap() : items.map((item) => gap() + item() + gap()).join(',')) + close
  const write = (one: unknown): string => {
    if (Array.isArray(one))
      return list(
        '[',
        one.map((item) => () => write(item)),
        ']',
      )
    if (typeof one !== 'object' || one === null) return JSON.stringify(one) ?? 'null'
    const fields = Object.entries(one).map(
      ([key, item]) =>
        () =>
          `${JSON.stringify(key)}${gap()}:${gap()}${write(item)}`,
    )
    return list('{', fields, '}')
  }
  return write(value)
}

const commentsIn = (text: string) => text.match(/\/\/ a, "b": \[|\/\* , } \*\//g) ?? []

test('what is put into a list and taken out again leaves no trace', () => {
  fc.assert(
    fc.property(written, fc.nat(4), fields, ({ value, text }, at, added) => {
      const list = value.hooks.Stop
      const index = Math.min(at, list.length)
      const edit = new JsonEdit(text)
      edit.insert(['hooks', 'Stop', index], added)
      assert.deepEqual(
        parseObject(edit.text, 'x').value,
        JSON.parse(JSON.stringify({ ...value, hooks: { Stop: list.toSpliced(index, 0, added) } })),
      )
      assert.deepEqual(commentsIn(edit.text), commentsIn(text))
      edit.set(['hooks', 'Stop', index], undefined)
      if (list.length > 0) assert.equal(edit.text, text)
      assert.deepEqual(commentsIn(edit.text), commentsIn(text))
    }),
  )
})

test('a key that is set and taken away again leaves no trace', () => {
  fc.assert(
    fc.property(written, fields, ({ value, text }, added) => {
      const edit = new JsonEdit(text)
      edit.set(['hooks', 'SessionEnd'], [added])
      assert.deepEqual(
        parseObject(edit.text, 'x').value,
        JSON.parse(JSON.stringify({ ...value, hooks: { ...value.hooks, SessionEnd: [added] } })),
      )
      assert.deepEqual(commentsIn(edit.text), commentsIn(text))
      edit.set(['hooks', 'SessionEnd'], undefined)
      assert.equal(edit.text, text)
    }),
  )
})

test('one value turns into another, whatever they are', () => {
  fc.assert(
    fc.property(written, fields, ({ value, text }, other) => {
      const edit = new JsonEdit(text)
      edit.turn(['other'], value.other, other)
      assert.deepEqual(parseObject(edit.text, 'x').value, JSON.parse(JSON.stringify({ ...value, other })))
    }),
  )
})

test('comments and trailing commas stay where they are', () => {
  const text = `{
  // before
  "hooks": {
    "Stop": [
      { "a": 1 }, // about a, with a comma
      { "b": 2 }, /* about b */
    ], // end
  },
}
`
  const edit = new JsonEdit(text)
  edit.insert(['hooks', 'Stop', 2], { c: 3 })
  assert.equal(
    edit.text,
    `{
  // before
  "hooks": {
    "Stop": [
      { "a": 1 }, // about a, with a comma
      { "b": 2 }, /* about b */
      {
        "c": 3
      },
    ], // end
  },
}
`,
  )
  edit.set(['hooks', 'Stop', 2], undefined)
  assert.equal(edit.text, text)
  edit.set(['hooks', 'Stop', 0], undefined)
  assert.deepEqual(parseObject(edit.text, 'x').value, { hooks: { Stop: [{ b: 2 }] } })
})

test('a broken text is reported with line and column', () => {
  const broken: [string, RegExp][] = [
    ['{', /^x:1:2: close brace expected here/],
    ['{\r\n  "a": 1,,\r\n}', /^x:2:10: /],
    ['[1]', /^x:1:1: the file must hold one JSON object/],
    ['{"a": tru}', /^x:1:7: /],
    ['{} {}', /^x:1:4: end of file expected here/],
  ]
  for (const [text, message] of broken) assert.throws(() => parseObject(text, 'x'), { name: 'Problem', message })
  assert.equal(place('a\nbc', 3), '2:2')
})

test('a key that is there twice is reported, however it is spelled; the same key in two objects is not', () => {
  for (const text of ['{"a":1,"a":2}', '{"b":[{"a":{}, "\\u0061":2}]}', '{"a":"x\\"y:","a" : 1}'])
    assert.throws(() => parseObject(text, 'x'), /^Problem: x:1:\d+: the key .* is there twice/)
  assert.deepEqual(parseObject('{"a":{"a":"\\":\\""},"b":[{"a":1}, "c:"]}', 'x').value, {
    a: { a: '":"' },
    b: [{ a: 1 }, 'c:'],
  })
})
