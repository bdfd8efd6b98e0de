import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineAgent } from '../agent.ts'
import type { Agent } from '../agent-types.ts'
import { Context } from '../context.ts'
import type { Fields } from './fields.ts'
import { reshape } from './transform.ts'

const agent = (fields: Fields, methods = {}): Agent =>
  defineAgent({ name: 'shaper', instructions: '', resultTransform: fields as never, methods })

const shape = (fields: Fields, value: unknown, methods = {}, text = JSON.stringify(value)) => {
  const made = agent(fields, methods)
  return reshape(fields, value, text, { agent: made, context: new Context({}) as never, methods: made.methods })
}

test('a function of the value, of value and raw, and one with options are all called the same', async () => {
  const seen: unknown[][] = []
  const { result, failures } = await shape(
    {
      one: { from: 'data', transform: (data) => data.toUpperCase() },
      two: { from: 'list', transform: (list, raw) => [...list, raw.data] },
      three: { from: 'list', transform: (...all) => seen.push(all) },
      four: { from: 'list', transform: (list, raw = {}) => [list.length, raw.data] },
    },
    { data: 'abc', list: [1] },
  )
  assert.deepEqual([result, failures], [{ one: 'ABC', two: [1, 'abc'], three: 1, four: [1, 'abc'] }, []])
  const [value, raw, options] = seen[0] as [unknown, unknown, Record<string, unknown>]
  assert.deepEqual([value, raw, Object.keys(options)], [[1], { data: 'abc', list: [1] }, ['field', 'context', 'agent']])
})

test('a method is called by its name with the same arguments, on the other methods', async () => {
  const methods = {
    enrich(list: number[], raw: { factor: number }, { field }: { field: string }) {
      return this.times(list, raw.factor).concat(field.length)
    },
    times: (list: number[], factor: number) => list.map((each) => each * factor),
  }
  const { result } = await shape({ list: { transform: 'enrich' } }, { list: [1, 2], factor: 3 }, methods)
  assert.deepEqual(result, { list: [3, 6, 4] })
})

test('only undefined and null are missing: then the default stands and nothing is called', async () => {
  const called: string[] = []
  const transform = (value: unknown, _raw: unknown, { field }: { field: string }) => {
    called.push(field)
    return [value]
  }
  const names = ['no', 'zero', 'empty', 'nil', 'gone', 'made', 'bare']
  const fields = Object.fromEntries(names.map((name) => [name, { transform, default: 'default' }]))
  const { result } = await shape(
    { ...fields, made: { default: () => [1] }, bare: { transform }, falsy: { default: false } },
    { no: false, zero: 0, empty: '', nil: null },
  )
  assert.deepEqual(result, {
    ...{ no: [false], zero: [0], empty: [''], nil: 'default', gone: 'default', made: [1] },
    ...{ bare: undefined, falsy: false },
  })
  assert.deepEqual(called, ['no', 'zero', 'empty'])
})

test('fields nest, lists are taken item by item, computed fields need no source, and promises are awaited', async () => {
  const { result } = await shape(
    {
      contact: {
        from: 'person',
        fields: { fullName: { from: 'full_name' }, city: { from: 'address.city', default: 'unknown' } },
      },
      summary: { fields: { total: { computed: (raw) => raw.people.length }, first: { from: 'people[0].full_name' } } },
      people: { items: { name: { from: 'fullName', transform: async (name) => name.trim() } } },
      later: { computed: async (raw) => `${raw.people.length} people` },
    },
    { person: { full_name: 'Ada' }, people: [{ full_name: ' Bob ' }, { full_name: 'Cy' }] },
  )
  assert.deepEqual(result, {
    contact: { fullName: 'Ada', city: 'unknown' },
    summary: { total: 2, first: ' Bob ' },
    people: [{ name: 'Bob' }, { name: 'Cy' }],
    later: '2 people',
  })
})

test('a field that fails is named, holds its default, and leaves the others alone', async () => {
  const raise = () => {
    throw new Error('boom')
  }
  const { result, failures } = await shape(
    {
      good: { from: 'a' },
      thrown: { from: 'a', transform: raise, default: () => 'instead' },
      late: { from: 'a', transform: async () => raise() },
      typed: { from: 'a', type: 'string', default: '' },
      inner: { fields: { deep: { from: 'a', transform: raise } } },
      each: { from: 'list', items: { n: { type: 'number', default: 0 } } },
      nolist: { from: 'a', items: {} },
      hopeless: { from: 'gone', default: raise },
    },
    { a: 1, list: [{ n: 1 }, { n: 'x' }] },
  )
  assert.deepEqual(result, {
    ...{ good: 1, thrown: 'instead', late: undefined, typed: '', inner: { deep: undefined } },
    ...{ each: [{ n: 1 }, { n: 0 }], nolist: undefined, hopeless: undefined },
  })
  assert.deepEqual(failures, [
    { field: 'thrown', value: 1, error: 'thrown: boom' },
    { field: 'late', value: 1, error: 'late: boom' },
    { field: 'typed', value: 1, error: 'typed: must be of type string', expectedType: 'string' },
    { field: 'inner.deep', value: 1, error: 'inner.deep: boom' },
    { field: 'each.1.n', value: 'x', error: 'each.1.n: must be of type number', expectedType: 'number' },
    { field: 'nolist', value: 1, error: 'nolist: must be of type array', expectedType: 'array' },
    { field: 'hopeless', value: undefined, error: 'hopeless: its default failed: boom' },
  ])
})

test('a path leads into the answer, or into its text and data', async () => {
  const fields: Fields = { prospects: { from: 'data.prospects' }, words: { from: 'text' }, own: { from: 'ownKey' } }
  assert.deepEqual((await shape(fields, { prospects: [1], own_key: 2 }, {}, 'said')).result, {
    ...{ prospects: [1], words: 'said', own: 2 },
  })
  assert.deepEqual((await shape(fields, { data: { prospects: [3] }, text: 'own text' }, {}, 'said')).result, {
    ...{ prospects: [3], words: 'own text', own: undefined },
  })
  assert.deepEqual((await shape({ words: { from: 'text' } }, 'just words', {}, 'just words')).result, {
    words: 'just words',
  })
})

test('a transform may change what it is given: the raw result stays as it was', async () => {
  const raw = { list: [3, 1, 2] }
  const { result } = await shape({ list: { transform: (list) => list.sort() } }, raw)
  assert.deepEqual([result, raw], [{ list: [1, 2, 3] }, { list: [3, 1, 2] }])
})

test('a method that is not there, and what can be called in no way, are refused at definition', () => {
  assert.throws(() => agent({ a: { fields: { b: { transform: 'shortn' } } } }, { shorten: () => '' }), {
    message:
      'defineAgent("shaper"): resultTransform.a.fields.b.transform names a method that the agent lacks: it is "shortn"; did you mean "shorten"?',
  })
  const cases: [object, RegExp][] = [
    [{ computed: 3 }, /resultTransform\.a\.computed must be a function or a method's name/],
    [{ form: 'b' }, /resultTransform\.a: the key is "form"; did you mean "from"\?/],
    [
      { fields: { b: { defualt: 1 } } },
      /resultTransform\.a\.fields\.b: the key is "defualt"; did you mean "default"\?/,
    ],
    [{ from: 3 }, /resultTransform\.a\.from must be a path/],
    [{ type: 'strng' }, /resultTransform\.a\.type is "strng"; did you mean "string"\?/],
    [(value: unknown) => value, /resultTransform\.a must be an object such as \{ from: 'path' \}/],
  ]
  for (const [field, message] of cases) assert.throws(() => agent({ a: field as never }), message)
})
