import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkSchema } from './check-schema.ts'
import { type Schema, schemas } from './schemas.ts'

test('every constraint that our schemas use is enforced, and the message names the place', () => {
  const schema = {
    type: 'object',
    required: ['id'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', pattern: '^w\\d{3}$' },
      name: { type: 'string', minLength: 1, maxLength: 3 },
      count: { type: 'integer', minimum: 1 },
      list: { type: 'array', minItems: 1, maxItems: 2, items: { enum: ['a', 'b'] } },
    },
  } as const
  const cases: [unknown, string[]][] = [
    [{ id: 'w001', name: 'abc', count: 1, list: ['a'] }, []],
    [{}, ['it lacks id']],
    [{ id: 'x001' }, ['id must match ^w\\d{3}$']],
    [{ id: 'w001', name: '' }, ['name must not be empty']],
    [{ id: 'w001', name: 'abcd' }, ['name must be at most 3 characters']],
    [{ id: 'w001', count: 0 }, ['count must be at least 1']],
    [{ id: 'w001', count: 1.5 }, ['count must be integer']],
    [{ id: 'w001', list: [] }, ['list must hold at least 1']],
    [{ id: 'w001', list: ['a', 'b', 'a'] }, ['list must hold at most 2']],
    [{ id: 'w001', list: ['c'] }, ['list[0] must be one of a, b']],
    [{ id: 'w001', more: 1 }, ['more is not known']],
    [{ id: 'w001', toString: 1 }, ['toString is not known']],
  ]
  for (const [value, problems] of cases) assert.deepEqual(checkSchema(schema, value), problems)
})

test('a keyword beside anyOf counts too; one that is not enforced is named and never passes', () => {
  const schema = { type: 'string', anyOf: [{ pattern: '^a' }, { const: 'b' }], minLength: 2 } as const
  assert.deepEqual(
    ['ab', 'a', 'c', 1].map((value) => checkSchema(schema, value)),
    [[], ['it must not be empty'], ['it must match ^a'], ['it must be string']],
  )
  const unsupported = { type: 'object', properties: { a: { type: 'number', maximum: 3 } } } as const
  assert.deepEqual(checkSchema(unsupported as Schema, { a: 1 }), [
    'the schema of a uses maximum, which is not supported',
  ])
})

test('of several ways to be right the one that nearly fits is named; types are listed; other keys have a schema too', () => {
  const either = { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }, { type: 'null' }] } as const
  assert.deepEqual([checkSchema(either, {}), checkSchema(either, 7, 'x')], [['it lacks a'], ['x must be string']])
  assert.deepEqual(checkSchema({ type: ['string', 'null'] }, 7, 'x'), ['x must be string or null'])
  assert.deepEqual([checkSchema({ type: 'null' }, null), checkSchema({ type: 'null' }, 0)], [[], ['it must be null']])
  const others = { type: 'object', properties: { a: {} }, additionalProperties: { type: 'number' } } as const
  assert.deepEqual(checkSchema(others, { a: 'any', b: 1, c: 'x', d: undefined }, 'at'), ['at.c must be number'])
  assert.deepEqual(checkSchema({ const: 1 }, 2), ['it must be 1'])
  assert.deepEqual(checkSchema({ type: 'array' }, {}), ['it must be array'])
  assert.deepEqual(checkSchema({ type: 'object' }, []), ['it must be object'])
  const unbounded = ['x'.repeat(100_000), Array(100_000).fill(0), -1e9]
  assert.deepEqual(
    unbounded.map((value) => checkSchema({}, value)),
    [[], [], []],
  )
})

test('our own schemas use no keyword that is not enforced', () => {
  const walk = (schema: Schema): readonly Schema[] => [
    schema,
    ...(schema.anyOf ?? []).flatMap(walk),
    ...Object.values(schema.properties ?? {}).flatMap(walk),
    ...(schema.items ? walk(schema.items) : []),
    ...(typeof schema.additionalProperties === 'object' ? walk(schema.additionalProperties) : []),
  ]
  const all = Object.values(schemas).flatMap(walk)
  assert.ok(all.length > 100)
  assert.deepEqual(
    all.flatMap((schema) => checkSchema(schema, undefined)).filter((problem) => problem.includes('not supported')),
    [],
  )
})

test('the schemas are those that the package ships, to the letter', () => {
  const folder = join(import.meta.dirname, '../../../schemas/dispatcher')
  const shipped = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')])
  const ours = Object.entries(schemas).map(([name, schema]) => [
    `${name}.schema.json`,
    `${JSON.stringify(schema, null, 2)}\n`,
  ])
  assert.deepEqual(Object.fromEntries(ours), Object.fromEntries(shipped))
})
