/** What `run` rejects with when a run does not come to its answer. */
import type { ModelFailure } from '../providers/model.ts'

export type AgentFailure =
  /** Settings or model cannot be used. */
  | 'start'
  /** The context does not fit its schema. */
  | 'context'
  /** A hook or the model would not take the prompt. */
  | 'refused'
  /** A hook ended the turn before there was an answer. */
  | 'stopped'
  /** The model could not be reached, or failed. */
  | 'model'
  /** Requests or tokens ran out. */
  | 'limit'
  /** The answer did not fit its schema, however often it was asked for. */
  | 'output'
  /** A call waits for an approval; `resume` with the session continues at that call once it is decided. */
  | 'waiting'
  /** Interrupted from inside the run; an aborted signal gives its own reason instead. */
  | 'cancelled'

interface AgentErrorDetails {
  readonly text?: string
  readonly failure?: ModelFailure
  readonly error?: AgentError['error']
  readonly approval?: string
  readonly sessionId?: string
  readonly cause?: unknown
}

export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly kind: AgentFailure
  /** Empty where no agent was asked yet. */
  readonly agent: string
  /** The model's last words. */
  readonly text: string
  readonly failure: ModelFailure | undefined
  /** `authentication_failed` where there is no credential, or none that can be used. */
  readonly error: 'authentication_failed' | undefined
  /** Of kind `waiting`: the id of the approval, and the session to resume. */
  readonly approval: string | undefined
  readonly sessionId: string | undefined

  constructor(
    kind: AgentFailure,
    agent: string,
    why: string,
    { text = '', failure, error, approval, sessionId, cause }: AgentErrorDetails = {},
  ) {
    super(agent === '' ? why : `agent "${agent}": ${why}`, { cause })
    this.kind = kind
    this.agent = agent
    this.text = text
    this.failure = failure
    this.error = error ?? (failure?.kind === 'authentication' ? 'authentication_failed' : undefined)
    this.approval = approval
    this.sessionId = sessionId
  }
}
