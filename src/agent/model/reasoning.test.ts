import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Effort } from '../../providers/models/models.ts'
import type { ActiveModel } from '../session/runtime.ts'
import type { Session } from '../session/session.ts'
import { reasoningFor } from './reasoning.ts'

const asked = (
  model: Partial<ActiveModel>,
  more: { effort?: Effort; env?: NodeJS.ProcessEnv; alwaysThinkingEnabled?: boolean } = {},
) => {
  const { effort, env = {}, alwaysThinkingEnabled } = more
  const runtime = { reasoning: { ...(effort && { effort }) }, env, settings: { alwaysThinkingEnabled } }
  return reasoningFor({ model: { maxOutput: 64_000, efforts: [], ...model }, runtime } as unknown as Session)
}

test('a model that thinks as it sees fit does so unless it is turned off', () => {
  const adaptive = { thinking: 'adaptive', efforts: ['low', 'medium', 'high'] } as const
  assert.deepEqual(asked(adaptive), { thinking: { type: 'adaptive' } })
  assert.deepEqual(asked(adaptive, { effort: 'medium' }), { thinking: { type: 'adaptive' }, effort: 'medium' })
  assert.deepEqual(asked(adaptive, { effort: 'max' }), { thinking: { type: 'adaptive' }, effort: 'high' })
  assert.deepEqual(asked(adaptive, { alwaysThinkingEnabled: false }), {})
  assert.deepEqual(asked(adaptive, { env: { MAX_THINKING_TOKENS: '0' } }), {})
})

test('a model with a budget thinks when it is asked to, and leaves room for the answer', () => {
  const budget = { thinking: 'budget' } as const
  assert.deepEqual(asked(budget), {})
  assert.deepEqual(asked(budget, { effort: 'low' }), { thinking: { type: 'budget', tokens: 4000 } })
  assert.deepEqual(asked(budget, { alwaysThinkingEnabled: true }), { thinking: { type: 'budget', tokens: 31_999 } })
  const env = { MAX_THINKING_TOKENS: '99999' }
  assert.deepEqual(asked(budget, { env }), { thinking: { type: 'budget', tokens: 62_976 } })
  assert.deepEqual(asked({ ...budget, maxOutput: 2000 }, { effort: 'max' }), {})
})

test('a model that does not think is asked nothing of the kind', () => {
  assert.deepEqual(asked({ thinking: 'none' }, { effort: 'high' }), {})
})
