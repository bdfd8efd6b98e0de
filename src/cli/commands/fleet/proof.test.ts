import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineOf } from './proof.ts'

const refused = { name: 'deny Bash(rm *)', expect: 'refused', outcome: 'refused' }
const told = (hosts: object[]) => JSON.stringify({ hosts })
const absent = { host: 'gemini', results: [], skipped: 'not installed' }

test('what was proved, what went through and what was not there is one line', () => {
  assert.equal(lineOf(true, told([{ host: 'ona', results: [refused] }, absent])), 'passed: ona; not installed: gemini')
  assert.equal(
    lineOf(false, told([{ host: 'codex', results: [{ ...refused, outcome: 'went through' }] }])),
    'failed: codex: deny Bash(rm *) went through',
  )
  assert.equal(lineOf(true, told([absent])), 'failed: no agent was proved; not installed: gemini')
  assert.equal(lineOf(false, 'Segmentation fault'), undefined)
})
