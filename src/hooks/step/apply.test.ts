import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineStepHook } from '../define.ts'
import { createPlane } from '../dispatch.ts'
import type { StepName, Steps } from '../steps.ts'
import { applyVerdict } from './apply.ts'

/** The fields whose wrong type is ignored, by what each is called in a verdict and in the step. */
const lenient = [
  ['before_generate', 'model', 'model', 7],
  ['before_generate', 'assistant', 'assistantText', ['x']],
  ['before_permission', 'resolved', 'resolved', 'yes'],
] as const

const states: Pick<Steps, 'before_generate' | 'before_permission'> = {
  before_generate: { model: 'm', messageCount: 1, attempt: 1, assistantText: null },
  before_permission: { tool: 'Bash', decision: 'ask', resolved: null },
}

test('a field of the wrong type is ignored with a warning, in a verdict and in a function alike', async () => {
  for (const [name, key, field, value] of lenient) {
    const step = structuredClone(states[name])
    assert.deepEqual(applyVerdict(name, step as never, { [key]: value }), {
      ok: true,
      control: { kind: 'proceed' },
      warning: `${key} has the wrong type; ignored`,
    })
    assert.deepEqual(step, states[name])

    const changed = structuredClone(states[name])
    const write = ({ step }: { step: Steps[StepName] }) => void Object.assign(step, { [field]: value })
    const plane = createPlane([defineStepHook(name, write as never, { name: 'writes' })])
    const scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/', record: () => {} }
    const { decision, notes } = await plane.ask(name, changed as never, scope)
    assert.deepEqual([decision, changed], ['none', states[name]])
    assert.deepEqual(notes, [
      {
        hook: 'function:writes',
        event: name,
        effect: 'warned',
        reason: `step.${field} has the wrong type; ignored`,
      },
    ])
  }
})

test('null in such a field says nothing', () => {
  for (const [name, key] of lenient)
    assert.deepEqual(applyVerdict(name, structuredClone(states[name]) as never, { [key]: null }), {
      ok: true,
      control: { kind: 'proceed' },
    })
})

test('a verdict is applied whole or not at all: what it says before its fault is not', () => {
  const call: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'mutating', args: { a: 1 }, result: null }
  const ingest: Steps['before_ingest'] = { source: 'user', input: [{ type: 'text', text: 'asked' }] }
  const cases = [
    ['before_tool_apply', call, { args: { a: 2 }, result: 7 }, { kind: 'malformed', field: 'result' }],
    [
      ...['before_ingest', ingest, { input: 'other', prepend_input: [7] }],
      { kind: 'malformed', field: 'prepend_input', reason: 'entry_not_string' },
    ],
    ['before_tool_apply', call, { args: { a: 2 }, control: 'halt' }, { kind: 'unknown_control', value: 'halt' }],
  ] as unknown as [StepName, Steps[StepName], object, object][]
  for (const [name, state, verdict, error] of cases) {
    const step = structuredClone(state)
    assert.deepEqual([applyVerdict(name, step as never, verdict), step], [{ ok: false, error }, state])
  }
})

test('a verdict says what it holds itself; what it inherits says nothing', () => {
  const call: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'mutating', args: { a: 1 }, result: null }
  const said = { args: { a: 2 }, result: { kind: 'text', text: 'x' }, is_error: true, control: 'veto' }
  const apply = (verdict: object) => {
    const step = structuredClone(call)
    return [applyVerdict('before_tool_apply', step, verdict), step]
  }
  const proceed = { ok: true, control: { kind: 'proceed' } }
  const veto = { ok: true, control: { kind: 'break', reason: 'end_turn' } }
  const result = (isError: boolean) => ({ body: said.result, isError })
  assert.deepEqual(apply(said), [veto, { ...call, args: { a: 2 }, result: result(true) }])
  assert.deepEqual(apply(Object.create(said)), [proceed, call])
  const some = Object.assign(Object.create(said), { result: said.result })
  assert.deepEqual(apply(some), [proceed, { ...call, result: result(false) }])
})
