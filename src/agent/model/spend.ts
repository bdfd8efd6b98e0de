/** What replies cost, and how full the window is after them. */
import type { Reply } from '../../providers/model.ts'
import { costUsd } from '../../providers/models/models.ts'
import type { Session } from '../session/session.ts'

type Paid = Pick<Reply, 'usage' | 'model'>

/** Gives the cost in US dollars; null where the price is not known. */
export function spend(session: Session, reply: Paid): number | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = reply.usage
  // a reply that was cut off tells nothing, and the window is no emptier for it
  if (inputTokens !== null) session.unreportedChars = 0
  if (inputTokens !== null)
    session.contextTokens = inputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) + (outputTokens ?? 0)
  return spendAside(session, reply)
}

/** A reply outside the conversation: paid for, and no measure of how full the window is. */
export function spendAside({ spent, runtime }: Session, { usage, model }: Paid): number | null {
  // a request that was interrupted before the server reported anything leaves the costs known so far as they are
  if (usage.inputTokens === null && usage.outputTokens === null) return null
  const { inputTokens, outputTokens } = usage
  const counted = { ...usage, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 }
  const cost = costUsd(model, counted, runtime.prices)
  spent.inputTokens += usage.inputTokens ?? 0
  spent.outputTokens += usage.outputTokens ?? 0
  spent.cacheReadTokens += usage.cacheReadTokens ?? 0
  spent.cacheWriteTokens += usage.cacheWriteTokens ?? 0
  if (cost === null) spent.unpriced = true
  else spent.costUsd += cost
  if (runtime.budget) runtime.budget.spent += cost ?? 0
  runtime.spent(model, usage, cost)
  return cost
}

/** What the server counted last, and what was added since, at about four characters a token. */
export const contextShare = ({ contextTokens, unreportedChars, model }: Session): number =>
  (contextTokens + unreportedChars / 4) / model.window
