/** What a session has used so far: time, tokens, money, lines. */
import type { AgentEvent } from '../../agent/events.ts'
import type { ModelUsage } from '../../providers/model.ts'

export interface ModelFacts {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  /** Null once something was used whose price is not known. */
  costUsd: number | null
}

export interface Facts {
  readonly startedAt: number
  apiMs: number
  linesAdded: number
  linesRemoved: number
  contextShare: number
  /** The last request's, for the status line. */
  lastUsage: ModelUsage | null
  readonly models: Map<string, ModelFacts>
  /** When the model was last asked; 0 when it does not work. */
  askedAt: number
}

export const newFacts = (): Facts => ({
  startedAt: Date.now(),
  apiMs: 0,
  linesAdded: 0,
  linesRemoved: 0,
  contextShare: 0,
  lastUsage: null,
  models: new Map(),
  askedAt: 0,
})

export function follow(facts: Facts, event: AgentEvent): void {
  if (event.type === 'request') facts.askedAt = Date.now()
  else if (event.type === 'assistant' || event.type === 'turn-ended') {
    if (facts.askedAt > 0) facts.apiMs += Date.now() - facts.askedAt
    facts.askedAt = 0
  } else if (event.type === 'usage' && !event.agent) {
    facts.contextShare = event.contextShare
    facts.lastUsage = event.usage
  } else if (event.type === 'tool-finished' && event.output.display?.kind === 'diff') {
    facts.linesAdded += event.output.display.added
    facts.linesRemoved += event.output.display.removed
  }
}

export function addUsage(facts: Facts, model: string, usage: ModelUsage, costUsd: number | null): void {
  const old = facts.models.get(model)
  facts.models.set(model, {
    inputTokens: (old?.inputTokens ?? 0) + (usage.inputTokens ?? 0),
    outputTokens: (old?.outputTokens ?? 0) + (usage.outputTokens ?? 0),
    cacheReadTokens: (old?.cacheReadTokens ?? 0) + (usage.cacheReadTokens ?? 0),
    cacheWriteTokens: (old?.cacheWriteTokens ?? 0) + (usage.cacheWriteTokens ?? 0),
    costUsd: costUsd === null || old?.costUsd === null ? null : (old?.costUsd ?? 0) + costUsd,
  })
}

/** The total of what has a known price. */
export const cost = ({ models }: Facts): number =>
  [...models.values()].reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)
