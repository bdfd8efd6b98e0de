import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runTrace } from '../support/hooks-trace.ts'
import { runVector, type Vector } from './vectors.ts'

const { cases, total } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/step-vectors.json'), 'utf8'),
) as {
  cases: Vector[]
  total: number
}

test('the file of vectors is whole', () => assert.equal(cases.length, total))

for (const vector of cases) {
  test(`${vector.kind} ${vector.id}${vector.why ? `: ${vector.why}` : ''}`, () => runVector(vector, runTrace))
}
