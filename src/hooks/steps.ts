/** The 14 steps of a turn at which it can be changed: what is shown of each, and what an answer may change. */

export const stepNames = [
  'after_session_enter',
  'after_turn_enter',
  'before_ingest',
  'after_ingest',
  'before_compact',
  'after_compact',
  'before_generate',
  'after_generate',
  'before_permission',
  'after_permission',
  'before_tool_apply',
  'after_tool_apply',
  'after_tool_batch',
  'before_turn_end',
] as const

export type StepName = (typeof stepNames)[number]

/** Why a turn stopped, in the words of the Agent Client Protocol. */
export type StopReason = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled'

/** A word on control. */
export type Control =
  | { readonly kind: 'proceed' }
  | { readonly kind: 'break'; readonly reason: StopReason }
  | { readonly kind: 'continue' }
  | { readonly kind: 'skip' }

export type Block = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }
export type Safety = 'read_only' | 'mutating' | 'destructive' | 'network'
export type ToolResultBody =
  | { kind: 'text'; text: string }
  | { kind: 'json'; value: unknown }
  | { kind: 'content'; blocks: readonly Block[] }

/** The state of each step. Plain fields may be written; readonly ones are facts. */
export interface Steps {
  after_session_enter: { readonly cwd: string; readonly source: 'new' | 'resume'; additionalContext: Block[] }
  after_turn_enter: { readonly isSubagent: boolean; readonly agentType: string | null; additionalContext: Block[] }
  before_ingest: { readonly source: 'user' | 'continuation' | 'background'; input: Block[] }
  after_ingest: { readonly committedLen: number; additionalContext: Block[] }
  before_compact: { readonly tokenEstimate: number; readonly threshold: number }
  after_compact: { readonly tokensBefore: number; readonly tokensAfter: number; additionalContext: Block[] }
  before_generate: {
    model: string
    readonly messageCount: number
    readonly attempt: number
    /** Filled: the model is not called, this is its answer. */
    assistantText: string | null
  }
  after_generate: {
    readonly model: string
    readonly usage: Usage
    readonly stop: StopReason
    readonly error: string | null
  }
  before_permission: {
    readonly tool: string
    readonly decision: 'allow' | 'ask' | 'deny'
    /** When set, the user is not prompted. Answers an ask only. */
    resolved: boolean | null
  }
  after_permission: { readonly tool: string; readonly granted: boolean }
  before_tool_apply: {
    readonly toolName: string
    readonly safety: Safety
    args: unknown
    /** Filled: the tool is not run, this is its result. */
    result: { readonly body: ToolResultBody; readonly isError: boolean } | null
  }
  after_tool_apply: {
    readonly toolName: string
    readonly isError: boolean
    readonly output: ToolResultBody
    additionalContext: Block[]
  }
  after_tool_batch: {
    readonly results: readonly { readonly tool: string; readonly isError: boolean }[]
    additionalContext: Block[]
  }
  before_turn_end: {
    readonly stopReason: StopReason
    readonly continuesSoFar: number
    readonly voluntary: boolean
    feedback: Block[]
  }
}

export interface Usage {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cache_read_input_tokens: number | null
  readonly cache_creation_input_tokens: number | null
}
