/** What the result message of a run sums up, collected while the run goes on. */
import { now } from '../../agent/clock.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import type { ModelUsage } from '../../providers/model.ts'
import { newId } from '../../store/open.ts'

export interface RunFacts {
  readonly session: Session
  startedAt: number
  apiMs: number
  requests: number
  requestedAt: number
  /** Tokens of the main agent since the last result. */
  usage: WireUsage
  denials: { tool_name: string; tool_use_id: string; tool_input: unknown }[]
  /** Guards that failed while what they guard went on. */
  failedOpen: { hook_name: string; hook_event: string; reason: string }[]
  /** A tool was running when the turn was interrupted. */
  inTool: boolean
  /** The client's uuid of the message that is being answered. */
  messageId?: string
  /** Inputs of the calls under way. */
  readonly inputs: Map<string, unknown>
  /** For the whole run, sub-agents included. */
  readonly byModel: Map<string, Required<ModelTotals>>
}

export interface WireUsage {
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
}

interface ModelTotals {
  inputTokens: number
  outputTokens: number
  cacheReadInputTokens: number
  cacheCreationInputTokens: number
  webSearchRequests: number
  /** Null where no price is known. */
  costUSD: number | null
  contextWindow: number
  maxOutputTokens: number
}

const noUsage: WireUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}

export const newFacts = (session: Session): RunFacts => ({
  session,
  startedAt: now(),
  apiMs: 0,
  requests: 0,
  requestedAt: performance.now(),
  usage: { ...noUsage },
  denials: [],
  failedOpen: [],
  inTool: false,
  inputs: new Map(),
  byModel: new Map(),
})

/** The next turn of a conversation is counted by itself. */
export function nextTurn(facts: RunFacts): void {
  Object.assign(facts, {
    startedAt: now(),
    apiMs: 0,
    requests: 0,
    usage: { ...noUsage },
    denials: [],
    failedOpen: [],
    inTool: false,
  })
}

export function follow(facts: RunFacts, event: AgentEvent): void {
  if (event.type === 'request' && !event.agent) {
    facts.requests++
    facts.requestedAt = performance.now()
  }
  if (event.type === 'usage' && !event.agent) {
    facts.apiMs += performance.now() - facts.requestedAt
    const more = wireUsage(event.usage)
    for (const key of Object.keys(noUsage) as (keyof WireUsage)[]) facts.usage[key] += more[key]
  }
  if (event.type === 'hook' && event.note.failedOpen)
    facts.failedOpen.push({ hook_name: event.note.hook, hook_event: event.note.event, reason: event.note.reason })
  if (event.type === 'tool-started') facts.inputs.set(event.id, event.input)
  if (event.type !== 'tool-finished') return
  const tool_input = facts.inputs.get(event.id)
  facts.inputs.delete(event.id)
  if (event.outcome === 'interrupted') facts.inTool = true
  if (event.outcome === 'denied') facts.denials.push({ tool_name: event.name, tool_use_id: event.id, tool_input })
}

export function addUsage(facts: RunFacts, model: string, usage: ModelUsage, costUsd: number | null): void {
  const { window, maxOutput } = facts.session.model
  const total = facts.byModel.get(model) ?? {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    webSearchRequests: 0,
    costUSD: 0,
    contextWindow: window,
    maxOutputTokens: maxOutput,
  }
  total.inputTokens += usage.inputTokens ?? 0
  total.outputTokens += usage.outputTokens ?? 0
  total.cacheReadInputTokens += usage.cacheReadTokens ?? 0
  total.cacheCreationInputTokens += usage.cacheWriteTokens ?? 0
  const unknown = costUsd === null && facts.session.spent.unpriced
  total.costUSD = unknown || total.costUSD === null ? null : total.costUSD + (costUsd ?? 0)
  facts.byModel.set(model, total)
}

export const wireUsage = (usage: ModelUsage): WireUsage => ({
  input_tokens: usage.inputTokens ?? 0,
  output_tokens: usage.outputTokens ?? 0,
  cache_read_input_tokens: usage.cacheReadTokens ?? 0,
  cache_creation_input_tokens: usage.cacheWriteTokens ?? 0,
})

export const stamp = (session: Session) => ({ uuid: newId(session.db), session_id: session.id })
