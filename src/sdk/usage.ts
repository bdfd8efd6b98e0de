/** What a run has cost so far. */
import type { ModelUsage } from '../providers/model.ts'
import type { TokenCounts } from './agent-types.ts'

export interface RunUsage extends Omit<TokenCounts, 'model'> {
  /** Replies that were counted. */
  readonly replies: number
}

export function newUsage() {
  const sum = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, totalTokens: 0, replies: 0 }
  let cost: number | null = 0
  return {
    add(counts: TokenCounts): void {
      sum.inputTokens += counts.inputTokens
      sum.outputTokens += counts.outputTokens
      sum.cacheReadTokens += counts.cacheReadTokens
      sum.cacheWriteTokens += counts.cacheWriteTokens
      sum.totalTokens += counts.totalTokens
      sum.replies++
      cost = cost === null || counts.estimatedCost === null ? null : cost + counts.estimatedCost
    },
    /** The cost is null as soon as one reply has no price. */
    total: (): RunUsage => ({ ...sum, estimatedCost: cost }),
  }
}

/** Undefined where the model did not say. */
export function countsOf(model: string, usage: ModelUsage, estimatedCost: number | null): TokenCounts | undefined {
  const { inputTokens, outputTokens } = usage
  if (inputTokens === null || outputTokens === null) return undefined
  const cacheReadTokens = usage.cacheReadTokens ?? 0
  const cacheWriteTokens = usage.cacheWriteTokens ?? 0
  const totalTokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens, estimatedCost, model }
}
