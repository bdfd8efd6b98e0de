import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from '../shape.ts'
import { permissionDecision, permissionUpdate } from './permission-update.ts'

const accepts = (value: unknown) => parse(permissionUpdate, value).ok
const rule = {
  type: 'addRules',
  rules: [{ toolName: 'Bash', ruleContent: 'ls' }],
  behavior: 'allow',
  destination: 'session',
}
const mode = { type: 'setMode', mode: 'plan', destination: 'session' }
const folders = { type: 'addDirectories', directories: ['/a'], destination: 'session' }

test('every word of the specification is taken, and no other', () => {
  const words: [object, string, string[]][] = [
    [rule, 'type', ['addRules', 'replaceRules', 'removeRules']],
    [rule, 'behavior', ['allow', 'deny', 'ask']],
    [rule, 'destination', ['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']],
    [mode, 'mode', ['acceptEdits', 'bypassPermissions', 'default', 'dontAsk', 'plan']],
    [mode, 'destination', ['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']],
    [folders, 'type', ['addDirectories', 'removeDirectories']],
    [folders, 'destination', ['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']],
  ]
  for (const [base, key, values] of words) {
    for (const value of values) assert.equal(accepts({ ...base, [key]: value }), true, `${key} ${value}`)
    for (const value of ['', 'auto', 'setMode ', undefined, 7])
      assert.equal(accepts({ ...base, [key]: value }), false, `${key} ${value}`)
  }
  assert.equal(accepts({ ...mode, type: 'addRules' }), false)
  assert.equal(accepts({ ...rule, rules: [{ ruleContent: 'ls' }] }), false)
  assert.equal(accepts({ ...rule, rules: [{ toolName: 'Bash' }] }), true)
  assert.equal(accepts({ ...folders, directories: [7] }), false)
})

test('an answer to a permission question allows with changes, or denies with a message', () => {
  const decides = (value: unknown) => parse(permissionDecision, value).ok
  assert.deepEqual(
    [
      { behavior: 'allow' },
      { behavior: 'allow', updatedInput: { a: 1 }, updatedPermissions: [rule, mode, folders] },
      { behavior: 'allow', updatedInput: 7 },
      { behavior: 'allow', updatedPermissions: [{}] },
      { behavior: 'deny' },
      { behavior: 'deny', message: 'no', interrupt: true },
      { behavior: 'deny', message: 7 },
      { behavior: 'deny', interrupt: 'yes' },
      { behavior: 'ask' },
      {},
    ].map(decides),
    [true, true, false, false, true, true, false, false, false, false],
  )
})
