import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTooDeep, readJson } from './json-text.ts'

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth)

test('500 levels are read, 501 are not', () => {
  const deep = { ok: false, why: 'it is nested more than 500 levels' }
  const deepest = nested(500)
  assert.deepEqual(readJson('{"a":[1]}'), { ok: true, value: { a: [1] } })
  assert.deepEqual(readJson(deepest), { ok: true, value: JSON.parse(deepest) })
  assert.deepEqual(readJson(nested(501)), deep)
  assert.deepEqual(readJson(nested(501, '{"a":', '}').replace(':}', ':1}')), deep)
  assert.match((readJson('[1') as { why: string }).why, /JSON/)
})

test('only brackets that are open at once count, and none in a string', () => {
  const rows: [string, boolean][] = [
    [`[${'[],'.repeat(600)}1]`, false],
    [`[${'{},'.repeat(600)}1]`, false],
    [`["${'['.repeat(600)}"]`, false],
    [`["${'{'.repeat(600)}"]`, false],
    [`["\\"${'['.repeat(600)}"]`, false],
    [`["\\\\",${nested(500)}]`, true],
    [`["]]]]",${nested(500)}]`, true],
    [`["}}}}",${nested(499)}]`, false],
    [`"a",${nested(500)}`, false],
    [`"a",${nested(501)}`, true],
    ['['.repeat(501), true],
    ['['.repeat(500), false],
    [`[${'{'.repeat(500)}`, true],
  ]
  for (const [text, deep] of rows) assert.equal(isTooDeep(text), deep, text.slice(0, 40))
})
