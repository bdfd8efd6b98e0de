import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  boolean,
  either,
  type Infer,
  integer,
  json,
  list,
  literal,
  map,
  nullable,
  number,
  oneOf,
  optional,
  parse,
  record,
  type Shape,
  say,
  string,
} from './shape.ts'

const edit = record({
  path: string('where'),
  mode: oneOf(['once', 'all']),
  times: optional(integer('how often', { min: 1, max: 9 })),
  edits: optional(list(record({ from: string(), to: nullable(string()) }))),
})

const problem = (value: unknown) => {
  const parsed = parse(edit, value)
  return parsed.ok ? 'fits' : say(parsed.problem)
}

test('a problem names the path, what is wrong, and the kind of what came but never the value', () => {
  assert.deepEqual(
    [
      problem({ path: 'a', mode: 'all', extra: 1 }),
      problem(null),
      problem([]),
      problem({ mode: 'all' }),
      problem({ path: 7, mode: 'all' }),
      problem({ path: 'a', mode: 'sk-secret' }),
      problem({ path: 'a', mode: 'all', times: 0 }),
      problem({ path: 'a', mode: 'all', times: 1.5 }),
      problem({
        path: 'a',
        mode: 'all',
        edits: [
          { from: 'x', to: null },
          { from: 'x', to: 1 },
        ],
      }),
    ],
    [
      'fits',
      'must be an object, not null',
      'must be an object, not a list',
      'path is missing',
      'path must be a string, not a number',
      'mode must be one of once, all',
      'times must be at least 1, not 0',
      'times must be a whole number, not 1.5',
      'edits[1].to must be a string, not a number',
    ],
  )
})

test('the schema says what the check does', () => {
  assert.deepEqual(edit.schema(), {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'where' },
      mode: { type: 'string', enum: ['once', 'all'] },
      times: { type: 'integer', description: 'how often', minimum: 1, maximum: 9 },
      edits: {
        type: 'array',
        items: {
          type: 'object',
          properties: { from: { type: 'string' }, to: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
          required: ['from', 'to'],
        },
      },
    },
    required: ['path', 'mode'],
  })
})

test('limits of numbers and lists, at their edges', () => {
  const shape = record({ n: optional(number('', { min: -1, max: 2.5 })), l: optional(list(json(), '', { min: 2 })) })
  const one = list(string(), 'some', { min: 1 })
  const fault = (shape: Shape<unknown>, value: unknown) => {
    const parsed = parse(shape, value)
    return parsed.ok ? 'fits' : say(parsed.problem)
  }
  const rows: [Shape<unknown>, unknown, string][] = [
    [shape, { n: -1 }, 'fits'],
    [shape, { n: 2.5 }, 'fits'],
    [shape, { n: -1.5 }, 'n must be at least -1, not -1.5'],
    [shape, { n: 2.6 }, 'n must be at most 2.5, not 2.6'],
    [shape, { n: Number.NaN }, 'n must be a number, not a number'],
    [shape, { n: '1' }, 'n must be a number, not a string'],
    [shape, { l: [1, 2] }, 'fits'],
    [shape, { l: [1] }, 'l must have at least 2 entries'],
    [one, [], 'must have at least 1 entry'],
    [one, ['a'], 'fits'],
    [one, {}, 'must be a list, not an object'],
    [integer('', { max: 0 }), 0, 'fits'],
    [integer('', { max: 0 }), 1, 'must be at most 0, not 1'],
    [integer('', { min: 0 }), -1, 'must be at least 0, not -1'],
    [integer(), 2 ** 53, 'must be a whole number, not 9007199254740992'],
    [map(string()), undefined, 'must be an object, not nothing'],
  ]
  for (const [shape, value, said] of rows) assert.equal(fault(shape, value), said, said)
  assert.deepEqual(
    [one.schema(), list(string()).schema(), map(boolean()).schema(), number('how far').schema()],
    [
      { type: 'array', items: { type: 'string' }, minItems: 1, description: 'some' },
      { type: 'array', items: { type: 'string' } },
      { type: 'object', additionalProperties: { type: 'boolean' } },
      { type: 'number', description: 'how far' },
    ],
  )
  assert.deepEqual(
    [record({ a: string() }, 'one', { closed: true }).schema(), record({ a: optional(string()) }).schema()],
    [
      {
        ...{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        ...{ additionalProperties: false, description: 'one' },
      },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
  )
})

test('a closed record refuses a key that it does not know, a prototype key too', () => {
  const closed = record({ a: optional(boolean()) }, undefined, { closed: true })
  assert.deepEqual(parse(closed, { b: 1 }), { ok: false, problem: { path: 'b', why: 'is not known here; known: a' } })
  assert.equal(parse(closed, JSON.parse('{"__proto__": 1}')).ok, false)
  assert.equal(parse(record({ toString: string() }), {}).ok, false)
})

test('either tells the problem of the branch that got furthest', () => {
  const shape = either(record({ type: literal('a'), n: integer() }), record({ type: literal('b'), s: map(string()) }))
  assert.deepEqual(parse(shape, { type: 'b', s: { k: 1 } }), {
    ok: false,
    problem: { path: 's.k', why: 'must be a string, not a number' },
  })
  assert.equal(parse(shape, { type: 'a', n: 1 }).ok, true)
})

test('no JSON value makes a check throw', () => {
  const shape = either(edit, list(edit), map(json()), nullable(oneOf(['x'])))
  fc.assert(fc.property(fc.jsonValue(), (value) => typeof parse(shape, value).ok === 'boolean'))
})

test('the type follows the description', () => {
  const value: Infer<typeof edit> = { path: 'a', mode: 'once' }
  // @ts-expect-error mode is one of two words
  const wrong: Infer<typeof edit> = { path: 'a', mode: 'never' }
  assert.ok(value && wrong)
})

test('a key that is there without a value counts as missing where it may be', () => {
  const shape = record({ a: optional(string()), b: string() })
  const why = 'must be a string, not nothing'
  assert.deepEqual(
    [{ a: undefined, b: 'x' }, { b: undefined }, {}].map((value) => shape.check(value, '')),
    [undefined, { path: 'b', why }, { path: 'b', why: 'is missing' }],
  )
})
