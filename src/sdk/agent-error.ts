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
  /** Interrupted from inside the run; an aborted signal gives its own reason instead. */
  | 'cancelled'

export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly kind: AgentFailure
  /** Empty where no agent was asked yet. */
  readonly agent: string
  /** The model's last words. */
  readonly text: string
  readonly failure: ModelFailure | undefined

  constructor(
    kind: AgentFailure,
    agent: string,
    why: string,
    { text = '', failure, cause }: { text?: string; failure?: ModelFailure; cause?: unknown } = {},
  ) {
    super(agent === '' ? why : `agent "${agent}": ${why}`, { cause })
    this.kind = kind
    this.agent = agent
    this.text = text
    this.failure = failure
  }
}
