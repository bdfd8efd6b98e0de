import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadAction, readAction } from './action.ts'

test('every field of an action is taken as it is, and nothing to say is an empty action', () => {
  const action = {
    decision: 'ask',
    denyReason: 'why',
    inputMetadata: { a: 1 },
    updatedInput: { b: 2 },
    additionalContext: [{ key: 'k', value: 'v' }],
    statePatch: { core: {} },
    emitEvents: [{ kind: 'X' }],
    registerArtifacts: [{ kind: 'plan', ref: 'a.md' }],
    warnings: ['w'],
    metrics: {},
    block: { reason: 'r' },
    stop: { reason: 's' },
  }
  assert.deepEqual(readAction(action), action)
  for (const decision of ['allow', 'deny']) assert.deepEqual(readAction({ decision }), { decision })
  assert.deepEqual([readAction(undefined), readAction(null), readAction({ warnings: undefined })], [{}, {}, {}])
})

test('what is changed after it was returned is not ours', () => {
  const made = () => ({
    inputMetadata: { a: { b: 1 } },
    updatedInput: { a: { b: 1 } },
    statePatch: { a: { b: 1 } },
    registerArtifacts: [{ kind: 'plan', ref: 'a.md' }],
  })
  const given = made()
  const read = readAction(given)
  for (const each of [given.inputMetadata, given.updatedInput, given.statePatch]) each.a.b = 2
  given.registerArtifacts[0]!.ref = 'b.md'
  assert.deepEqual(read, made())
})

test('a bad field fails the whole action, and the message says what it must be', () => {
  const cases: [unknown, string][] = [
    [7, 'returned something that is not an action'],
    ...[false, 0, '', true].map((value): [unknown, string] => [value, 'returned something that is not an action']),
    [[], 'returned something that is not an action'],
    [{ nothing: 1 }, 'returned an action with an unknown field "nothing"'],
    [{ toString: 1 }, 'returned an action with an unknown field "toString"'],
    [{ decision: 'no' }, 'returned an action whose decision is not allow, ask or deny'],
    [{ denyReason: 1 }, 'returned an action whose denyReason is not a string'],
    [{ inputMetadata: [] }, 'returned an action whose inputMetadata is not an object'],
    [{ updatedInput: 'x' }, 'returned an action whose updatedInput is not an object'],
    [{ additionalContext: [{ key: 'k' }] }, 'returned an action whose additionalContext is not a list of {key, value}'],
    [
      { additionalContext: [{ value: 'k' }] },
      'returned an action whose additionalContext is not a list of {key, value}',
    ],
    [{ additionalContext: {} }, 'returned an action whose additionalContext is not a list of {key, value}'],
    [{ statePatch: 1 }, 'returned an action whose statePatch is not an object'],
    [{ emitEvents: [{}] }, 'returned an action whose emitEvents is not a list of events with a kind'],
    [
      { registerArtifacts: [{ kind: 'a' }] },
      'returned an action whose registerArtifacts is not a list of artifacts with kind and ref',
    ],
    [
      { registerArtifacts: [{ ref: 'a' }] },
      'returned an action whose registerArtifacts is not a list of artifacts with kind and ref',
    ],
    [{ warnings: [1] }, 'returned an action whose warnings is not a list of strings'],
    [{ metrics: 1 }, 'returned an action whose metrics is not an object'],
    [{ block: {} }, 'returned an action whose block is not an object with a reason'],
    [{ stop: 'now' }, 'returned an action whose stop is not an object with a reason'],
  ]
  for (const [given, message] of cases) {
    assert.throws(() => readAction(given), { name: 'Error', message })
    assert.throws(
      () => readAction(given),
      (thrown) => !(thrown instanceof BadAction),
    )
  }
})

test('a refusal in a bad action still counts, with its reason where that is text', () => {
  const refusal = (given: object) => {
    try {
      readAction(given)
    } catch (thrown) {
      return (thrown as BadAction).refusal
    }
    return undefined
  }
  assert.deepEqual(refusal({ decision: 'deny', denyReason: 'no', nothing: 1 }), { decision: 'deny', denyReason: 'no' })
  assert.deepEqual(refusal({ decision: 'ask', denyReason: 7 }), { decision: 'ask' })
  assert.equal(refusal({ decision: 'allow', nothing: 1 }), undefined)
  const hostile = {
    nothing: 1,
    get decision() {
      throw new Error('trap')
    },
  }
  assert.throws(
    () => readAction(hostile),
    (thrown) => !(thrown instanceof BadAction),
  )
})
