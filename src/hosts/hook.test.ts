import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BrainHook, described, sameHook, settled } from './hook.ts'

const hook: BrainHook = { author: 'repo=a/role=b', event: 'onTool', command: 'x', timeout: 'PT5S' }

test('a command cannot hide itself from the user who reads it', () => {
  const command = 'rm -rf ~ \u001b[2K\rls\nmore\u202e\u2066\u009b1m'
  assert.equal(
    described({ ...hook, command }),
    'onTool before *: rm -rf ~ \\u001b[2K\\rls\\nmore\\u202e\\u2066\\u009b1m',
  )
})

test('a hook has one spelling, whichever way it was written', () => {
  assert.deepEqual(settled({ ...hook, timeout: { milliseconds: 4200 } }, 1000), {
    ...hook,
    filter: { what: '*', when: 'before' },
  })
  assert.ok(sameHook(hook, { ...hook, timeout: { seconds: 5 }, filter: { what: '*' } }))
  assert.equal(sameHook(hook, { ...hook, filter: { what: '*', when: 'after' } }), false)
})
