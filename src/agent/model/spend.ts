/** What replies cost, and how full the window is after them. */
import type { Reply } from '../../providers/model.ts'
import { costUsd, priceOf } from '../../providers/models/catalogue.ts'
import type { Session } from '../session/session.ts'

type Paid = Pick<Reply, 'usage' | 'model'>

/** Gives the cost in US dollars; null where the price is unknown. */
export function spend(session: Session, reply: Paid): number | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = reply.usage
  // a reply that was cut off reports nothing, and the window is no emptier for it
  if (inputTokens !== null) session.unreportedChars = 0
  if (inputTokens !== null)
    session.contextTokens = inputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) + (outputTokens ?? 0)
  return spendAside(session, reply)
}

/** A reply outside the conversation: paid for, and no measure of how full the window is. */
export function spendAside(session: Session, { usage, model }: Paid): number | null {
  // a request that was interrupted before the server reported anything leaves the costs known so far as they are
  if (usage.inputTokens === null && usage.outputTokens === null) return null
  const { spent, runtime } = session
  const own = runtime.prices ?? {}
  const price = Object.hasOwn(own, model) ? own[model] : (session.model.price ?? priceOf(model))
  const { inputTokens, outputTokens } = usage
  const cost = costUsd(price, { ...usage, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 })
  spent.inputTokens += usage.inputTokens ?? 0
  spent.outputTokens += usage.outputTokens ?? 0
  spent.cacheReadTokens += usage.cacheReadTokens ?? 0
  spent.cacheWriteTokens += usage.cacheWriteTokens ?? 0
  if (cost !== null) spent.costUsd += cost
  else if (session.model.providerName !== 'lm_studio_local') spent.unpriced = true // a local server bills nobody
  if (!price) reportUnpriced(session, model)
  if (runtime.budget) runtime.budget.spent += cost ?? 0
  runtime.spent(model, usage, cost)
  return cost
}

/** Reported once per process and model. A local server bills nobody. */
const reported = new Set<string>()

function reportUnpriced(session: Session, model: string): void {
  if (session.model.providerName === 'lm_studio_local' || reported.has(model)) return
  reported.add(model)
  const text = `no price is known for ${model}: its cost is shown as unknown; models."${model}".price in the settings sets one`
  session.emit({ type: 'notice', level: 'info', text })
}

/** What the server counted last, and what was added since, at about four characters a token. */
export const contextShare = ({ contextTokens, unreportedChars, model }: Session): number =>
  (contextTokens + unreportedChars / 4) / model.window
