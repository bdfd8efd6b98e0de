/** The model's words as the answer that was asked for; a wrong one goes back with the error, a few times. */
import { answerJson } from '../agent/model/answer-json.ts'
import { textBlock } from '../hooks/blocks.ts'
import { orAborted } from './abort.ts'
import { AgentError } from './agent-error.ts'
import type { Leg } from './agent-session.ts'
import { type Firing, fire } from './hooks.ts'
import { readPath } from './key-spelling.ts'
import { type Fitted, fit, type Schema, sayMisfits } from './schema.ts'

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
  let text = first
  for (let attempt = 1; ; attempt++) {
    const { raw, fitted } = await orAborted(judge(output, text), firing.signal)
    if (fitted.ok) return { value: fitted.value, text }
    const [{ field, expectedType }] = fitted.misfits
    const error = sayMisfits(fitted.misfits)
    const value = field === '' ? raw : readPath(raw, field)
    await fire(firing, 'onValidationFailed', { errorType: 'output', error, field, value, expectedType, attempt })
    if (attempt > maxOutputRetries) {
      const times = attempt === 1 ? 'once' : `${attempt} times`
      throw new AgentError('output', name, `the answer did not fit (asked ${times}): ${error}`, { text })
    }
    const feedback = `Your answer does not fit: ${error}. Answer again with nothing but the JSON value.`
    text = (await leg.turn([textBlock(feedback)], 'continuation')).text
    if (leg.wanted()) return undefined
  }
}

async function judge(schema: Schema, text: string): Promise<{ raw: unknown; fitted: Fitted<unknown> }> {
  const read = answerJson(text)
  if (!read.ok) return { raw: text, fitted: { ok: false, misfits: [{ field: '', error: read.why }] } }
  return { raw: read.value, fitted: await fit(schema, read.value) }
}
