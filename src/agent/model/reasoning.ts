/** How much the model thinks about a request: what the user asked for, as far as the model can do it. */
import type { ModelRequest } from '../../providers/model.ts'
import { type Effort, efforts } from '../../providers/models/models.ts'
import type { ActiveModel } from '../session/runtime.ts'
import type { Session } from '../session/session.ts'

type Reasoning = Pick<ModelRequest, 'thinking' | 'effort'>

export function reasoningFor({ model, runtime }: Session): Reasoning {
  const { effort: asked } = runtime.reasoning
  const effort = asked && nearestEffort(asked, model)
  const thinking = thinkingFor(model, runtime, asked)
  return { ...(thinking && { thinking }), ...(effort && { effort }) }
}

/** The highest level that the model takes and that is not above the one asked for; undefined when it takes none. */
export function nearestEffort(asked: Effort, { efforts: taken = [] }: ActiveModel): Effort | undefined {
  const up = efforts.slice(0, efforts.indexOf(asked) + 1)
  return up.findLast((level) => taken.includes(level)) ?? taken[0]
}

/** Tokens for models whose thinking has a budget. */
const budgets: Record<Effort, number> = { low: 4000, medium: 10_000, high: 31_999, xhigh: 31_999, max: 63_999 }

function thinkingFor(
  { thinking, maxOutput }: ActiveModel,
  { settings, env }: Session['runtime'],
  asked: Effort | undefined,
): ModelRequest['thinking'] {
  const given = env['MAX_THINKING_TOKENS']
  if (thinking === undefined || thinking === 'none' || given === '0' || settings.alwaysThinkingEnabled === false)
    return undefined
  if (thinking === 'adaptive') return { type: 'adaptive' }
  const always = settings.alwaysThinkingEnabled ? budgets.high : 0
  const tokens = Number(given) || (asked ? budgets[asked] : always)
  // The API wants at least 1,024, and room for the answer beside it.
  return tokens > 0 && maxOutput > 2048
    ? { type: 'budget', tokens: Math.max(1024, Math.min(tokens, maxOutput - 1024)) }
    : undefined
}
