/** A run as messages in the stream-json form: what other programs that drive agents already read. */
import { now } from '../../agent/clock.ts'
import type { AgentEvent } from '../../agent/events.ts'
import { wireError } from '../../agent/model/model-failure.ts'
import type { Session } from '../../agent/session/session.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import { version } from '../../package-root.ts'
import type { ModelUsage } from '../../providers/model.ts'
import { newId } from '../../store/open.ts'

export interface RunFacts {
  readonly session: Session
  readonly startedAt: number
  apiMs: number
  requests: number
  requestedAt: number
  /** The text of a reply is being told piece by piece. */
  telling: boolean
  readonly denials: { tool_name: string; tool_use_id: string; tool_input: unknown }[]
  /** Inputs of the calls under way. */
  readonly inputs: Map<string, unknown>
  readonly byModel: Map<string, Required<Totals>>
}

interface Totals {
  inputTokens: number
  outputTokens: number
  cacheReadInputTokens: number
  cacheCreationInputTokens: number
  webSearchRequests: number
  costUSD: number
}

export const newFacts = (session: Session): RunFacts => ({
  session,
  startedAt: now(),
  apiMs: 0,
  requests: 0,
  requestedAt: performance.now(),
  telling: false,
  denials: [],
  inputs: new Map(),
  byModel: new Map(),
})

/** Follows the run; gives the messages that an event is told as. */
export function messagesFor(
  facts: RunFacts,
  event: AgentEvent,
  options: { partial: boolean; hooks: boolean },
): object[] {
  const { session } = facts
  const parent_tool_use_id = event.agent ? (event.agent.toolUseId ?? event.agent.id) : null
  const message = (fields: object) => ({ ...fields, parent_tool_use_id, ...stamp(session) })
  switch (event.type) {
    case 'assistant': {
      const content = [
        ...(event.text === '' || event.agent ? [] : [{ type: 'text', text: event.text }]),
        ...event.toolUses.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
      ]
      const whole = {
        id: `msg_${newId(session.db)}`,
        type: 'message',
        role: 'assistant',
        model: session.model.wireModel,
        content,
      }
      return [
        ...(event.agent ? [] : ended(facts)).map((each) => message({ type: 'stream_event', event: each })),
        ...(content.length === 0 ? [] : [message({ type: 'assistant', message: whole })]),
      ]
    }
    case 'tool-finished':
      return [
        message({
          type: 'user',
          message: {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: event.id,
                content: event.output.content,
                is_error: event.output.isError,
              },
            ],
          },
          tool_use_result: event.output.display ?? { content: event.output.content },
        }),
      ]
    case 'text':
      if (!options.partial || event.agent) return []
      return [
        ...(facts.telling ? [] : begun(facts)),
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: event.text } },
      ].map((each) => message({ type: 'stream_event', event: each }))
    case 'retry':
      return [
        message({
          type: 'system',
          subtype: 'api_retry',
          attempt: event.attempt,
          max_retries: event.most,
          retry_delay_ms: event.waitMs,
          error_status: event.failure.status ?? null,
          error: wireError[event.failure.kind],
        }),
      ]
    case 'compacted':
      return [
        message({
          type: 'system',
          subtype: 'compact_boundary',
          compact_metadata: { trigger: event.trigger, pre_tokens: event.tokensBefore },
        }),
      ]
    case 'task':
      return [
        message({
          type: 'system',
          subtype: event.status === 'started' ? 'task_started' : 'task_notification',
          task_id: event.id,
          description: event.about,
          ...(event.status !== 'started' && { status: event.status === 'killed' ? 'stopped' : event.status }),
        }),
      ]
    case 'hook':
      if (!options.hooks) return []
      return [
        message({
          type: 'system',
          subtype: 'hook_response',
          hook_name: event.note.hook,
          hook_event: event.note.event,
          outcome: event.note.effect,
          output: event.note.reason,
        }),
      ]
    case 'notice':
      return [message({ type: 'system', subtype: 'informational', level: event.level, content: event.text })]
    default:
      return []
  }
}

/** The frame around the pieces of a reply, as in the Messages API. */
function begun(facts: RunFacts): object[] {
  facts.telling = true
  const message = { type: 'message', role: 'assistant', model: facts.session.model.wireModel, content: [] }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ]
}

function ended(facts: RunFacts): object[] {
  if (!facts.telling) return []
  facts.telling = false
  return [{ type: 'content_block_stop', index: 0 }, { type: 'message_stop' }]
}

/** Keeps what the result message sums up. */
export function follow(facts: RunFacts, event: AgentEvent): void {
  if (event.type === 'request' && !event.agent) {
    facts.requests++
    facts.requestedAt = performance.now()
  }
  if (event.type === 'usage' && !event.agent) facts.apiMs += performance.now() - facts.requestedAt
  if (event.type === 'tool-started') facts.inputs.set(event.id, event.input)
  if (event.type !== 'tool-finished') return
  const tool_input = facts.inputs.get(event.id)
  facts.inputs.delete(event.id)
  if (event.outcome === 'denied') facts.denials.push({ tool_name: event.name, tool_use_id: event.id, tool_input })
}

export function addUsage(facts: RunFacts, model: string, usage: ModelUsage, costUsd: number | null): void {
  const total = facts.byModel.get(model) ?? {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    webSearchRequests: 0,
    costUSD: 0,
  }
  total.inputTokens += usage.inputTokens ?? 0
  total.outputTokens += usage.outputTokens ?? 0
  total.cacheReadInputTokens += usage.cacheReadTokens ?? 0
  total.cacheCreationInputTokens += usage.cacheWriteTokens ?? 0
  total.costUSD += costUsd ?? 0
  facts.byModel.set(model, total)
}

export function initMessage(session: Session): object {
  const { runtime } = session
  return {
    type: 'system',
    subtype: 'init',
    cwd: session.cwd,
    tools: session.toolNames(),
    mcp_servers: runtime.mcp?.status().map(({ name, status }) => ({ name, status })) ?? [],
    model: session.model.wireModel,
    permissionMode: session.mode,
    slash_commands: runtime.skills.list().map((skill) => skill.name),
    skills: runtime.skills.list().map((skill) => skill.name),
    agents: runtime.agents.map((agent) => agent.name),
    plugins: [],
    output_style: runtime.settings.outputStyle ?? 'default',
    ona_version: version(),
    apiKeySource: session.model.why,
    ...stamp(session),
  }
}

export type RunError =
  | 'error_during_execution'
  | 'error_max_turns'
  | 'error_max_budget_usd'
  | 'error_max_structured_output_retries'

/** The last message, and what --output-format json prints. */
export function resultMessage(
  facts: RunFacts,
  end: TurnEnd,
  more: { structured?: unknown; error?: RunError } = {},
): { is_error: boolean } & Record<string, unknown> {
  const { session } = facts
  const { spent } = session
  const failedWith: RunError | undefined =
    more.error ?? (end.stop === 'max_turn_requests' ? 'error_max_turns' : undefined)
  const isError = failedWith !== undefined || end.stop === 'error' || end.stop === 'cancelled' || end.stop === 'refusal'
  return {
    type: 'result',
    subtype: failedWith ?? 'success',
    is_error: isError,
    duration_ms: Math.round(now() - facts.startedAt),
    duration_api_ms: Math.round(facts.apiMs),
    num_turns: facts.requests,
    ...(failedWith ? { errors: [end.why ?? end.stop] } : { result: end.text || (end.why ?? '') }),
    stop_reason: end.stop,
    total_cost_usd: spent.costUsd,
    usage: {
      input_tokens: spent.inputTokens,
      output_tokens: spent.outputTokens,
      cache_read_input_tokens: spent.cacheReadTokens,
      cache_creation_input_tokens: spent.cacheWriteTokens,
    },
    modelUsage: Object.fromEntries(facts.byModel),
    permission_denials: facts.denials,
    ...(more.structured !== undefined && { structured_output: more.structured }),
    terminal_reason: terminal(end),
    ...stamp(session),
  }
}

const terminal = (end: TurnEnd): string =>
  end.stop === 'max_turn_requests'
    ? 'max_turns'
    : end.stop === 'error'
      ? 'model_error'
      : end.stop === 'cancelled'
        ? 'aborted_streaming'
        : end.why
          ? 'hook_stopped'
          : 'completed'

const stamp = (session: Session) => ({ uuid: newId(session.db), session_id: session.id })
