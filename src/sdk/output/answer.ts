/** The model's words as the answer that was asked for; a wrong one goes back with the error, a few times. */
import { answerJson, structuredAnswer } from '../../agent/model/structured-answer.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import { orAborted } from '../abort.ts'
import { AgentError } from '../agent-error.ts'
import type { Leg } from '../agent-session.ts'
import { type Firing, fire } from '../hooks.ts'
import { readPath } from './key-spelling.ts'
import { fit, sayMisfits } from './schema.ts'

export interface Answer {
  readonly value: unknown
  readonly text: string
}

/** Undefined where the agent, asked again, hands over instead. */
export async function readAnswer(leg: Leg, firing: Firing, first: string): Promise<Answer | undefined> {
  const { definition, name } = firing.agent
  const { output, resultTransform, maxOutputRetries = 2 } = definition
  if (!output) {
    const read = resultTransform ? answerJson(first) : undefined
    return { value: read?.ok ? read.value : first, text: first }
  }
  const answer = await structuredAnswer<unknown>(first, {
    mostRetries: maxOutputRetries,
    async fits(raw) {
      const fitted = await orAborted(fit(output, raw), firing.signal)
      if (fitted.ok) return fitted
      const [{ field, expectedType }] = fitted.misfits
      return { ok: false, why: sayMisfits(fitted.misfits), raw, field, ...(expectedType && { expectedType }) }
    },
    async misfit({ why: error, raw, field = '', expectedType }, attempt) {
      const value = field === '' ? raw : readPath(raw, field)
      await fire(firing, 'onValidationFailed', { errorType: 'output', error, field, value, expectedType, attempt })
    },
    async retry(feedback) {
      const { text } = await leg.turn([textBlock(feedback)], 'continuation')
      return leg.wanted() ? undefined : text
    },
  })
  if (!answer || answer.ok) return answer
  const times = answer.attempts === 1 ? 'once' : `${answer.attempts} times`
  const { why, text } = answer
  throw new AgentError('output', name, `the answer did not fit (asked ${times}): ${why}`, { text })
}
