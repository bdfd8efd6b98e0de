/** The last message of a run, and what `--output-format json` prints. Each way to end has its own `terminal_reason`. */
import { now } from '../../agent/clock.ts'
import { wireError } from '../../agent/model/model-failure.ts'
import type { Session } from '../../agent/session/session.ts'
import type { StartProblem } from '../../agent/session/start-options.ts'
import { budgetSpent } from '../../agent/stages.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import { getApproval } from '../../store/approvals.ts'
import { type RunFacts, stamp } from './run-facts.ts'

/** A turn's end, and the value where a schema asked for one. */
export interface Turned {
  readonly end: TurnEnd
  readonly structured?: unknown
  /** No answer fitted the schema. */
  readonly error?: 'error_max_structured_output_retries'
}

interface Outcome {
  readonly subtype: string
  readonly terminal: string
  readonly isError: boolean
}

const outcomes = {
  completed: { subtype: 'success', terminal: 'completed', isError: false },
  deferred: { subtype: 'success', terminal: 'tool_deferred', isError: false },
  hookStopped: { subtype: 'success', terminal: 'hook_stopped', isError: false },
  promptBlocked: { subtype: 'success', terminal: 'hook_stopped', isError: true },
  refused: { subtype: 'success', terminal: 'model_error', isError: true },
  apiError: { subtype: 'success', terminal: 'api_error', isError: true },
  contextFull: { subtype: 'success', terminal: 'prompt_too_long', isError: true },
  maxTokens: { subtype: 'success', terminal: 'model_error', isError: true },
  setupFailed: { subtype: 'error_during_execution', terminal: 'turn_setup_failed', isError: true },
  inTool: { subtype: 'error_during_execution', terminal: 'aborted_tools', isError: true },
  interrupted: { subtype: 'error_during_execution', terminal: 'aborted_streaming', isError: true },
  maxTurns: { subtype: 'error_max_turns', terminal: 'max_turns', isError: true },
  budget: { subtype: 'error_max_budget_usd', terminal: 'budget_exhausted', isError: true },
  schema: {
    subtype: 'error_max_structured_output_retries',
    terminal: 'structured_output_retry_exhausted',
    isError: true,
  },
} as const satisfies Record<string, Outcome>

function outcomeOf({ end, error }: Turned, { inTool }: RunFacts): Outcome {
  const { stop, why, failure } = end
  if (error) return outcomes.schema
  if (why === budgetSpent) return outcomes.budget
  if (stop === 'max_turn_requests') return outcomes.maxTurns
  if (stop === 'cancelled') return inTool ? outcomes.inTool : outcomes.interrupted
  if (stop === 'refusal') return why === modelRefused ? outcomes.refused : outcomes.promptBlocked
  if (stop === 'max_tokens') return outcomes.maxTokens
  if (stop === 'error' && !failure) return outcomes.setupFailed
  if (stop === 'error') return failure?.contextOverflow ? outcomes.contextFull : outcomes.apiError
  if (end.approval) return outcomes.deferred
  return why ? outcomes.hookStopped : outcomes.completed
}

/** The words that the turn ends with when the model itself refused; otherwise a hook did. */
const modelRefused = 'the model refused'

export function resultMessage(facts: RunFacts, turned: Turned): { is_error: boolean } & Record<string, unknown> {
  const { session } = facts
  const { end, structured } = turned
  const { subtype, terminal, isError } = outcomeOf(turned, facts)
  const why = end.why ?? (end.stop === 'cancelled' ? 'the turn was interrupted' : end.stop)
  return {
    type: 'result',
    subtype,
    is_error: isError,
    duration_ms: Math.round(now() - facts.startedAt),
    duration_api_ms: Math.round(facts.apiMs),
    num_turns: facts.requests,
    ...(subtype === 'success' && { result: end.text || (end.why ?? '') }),
    ...(isError && { errors: [why] }),
    stop_reason: end.stop,
    ...(end.failure && { error: wireError[end.failure.kind], api_error_status: end.failure.status ?? null }),
    total_cost_usd: session.spent.unpriced ? null : session.spent.costUsd,
    usage: { ...facts.usage },
    modelUsage: Object.fromEntries(facts.byModel),
    permission_denials: facts.denials,
    ...(facts.failedOpen.length > 0 && { hooks_failed_open: facts.failedOpen }),
    ...(end.approval && deferred(session, end.approval)),
    ...(structured !== undefined && { structured_output: structured }),
    terminal_reason: terminal,
    ...(facts.messageId && { user_message_uuid: facts.messageId }),
    ...stamp(session),
  }
}

/** The call that waits for an answer, by the reference's name for it, and the approval that it waits for. */
function deferred({ db }: Session, approval: string): object {
  const { toolUseId: id, tool: name, input } = getApproval(db, approval)!
  return { deferred_tool_use: { id, name, input: JSON.parse(input) }, approval }
}

/** Where no session came about: the same envelope, with nothing spent. */
export const startFailure = ({ problem, error }: StartProblem): Record<string, unknown> => ({
  type: 'result',
  subtype: 'error_during_execution',
  is_error: true,
  duration_ms: 0,
  duration_api_ms: 0,
  num_turns: 0,
  errors: [problem],
  stop_reason: null,
  ...(error && { error, api_error_status: null }),
  total_cost_usd: 0,
  usage: { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  modelUsage: {},
  permission_denials: [],
  terminal_reason: 'turn_setup_failed',
  uuid: crypto.randomUUID(),
  session_id: '',
})
