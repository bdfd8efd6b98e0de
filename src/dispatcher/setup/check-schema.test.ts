import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSchema } from './check-schema.ts'

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
  ]
  for (const [value, problems] of cases) assert.deepEqual(checkSchema(schema, value), problems)
})
