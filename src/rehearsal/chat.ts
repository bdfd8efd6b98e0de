/** A request to a model and its reply, whatever the wire dialect: what players read and return. */

export interface Chat {
  readonly model: string
  readonly stream: boolean
  /** Chat Completions: whether a stream ends with the token counts. */
  readonly wantsUsage?: boolean
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ChatTool[]
  /** The JSON Schema that the answer must match, where the request has one. */
  readonly answerSchema?: unknown
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly MadeCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string; readonly isError: boolean }

export interface MadeCall {
  readonly id: string
  readonly name: string
  readonly input: Record<string, unknown>
}

export interface ChatTool {
  readonly name: string
  readonly parameters: Record<string, unknown>
  /** Tools of the Responses API whose calls are not function calls. */
  readonly kind?: 'custom' | 'local_shell'
  /** The group of the Responses API that the tool stands in; its name here is `namespace__name`. */
  readonly namespace?: string
}

/** What the model answers: text, calls, or a failure of the server. */
export interface Said {
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly input: Record<string, unknown> }[]
  readonly fail?: Failure
}

export interface Failure {
  readonly status: number
  readonly message: string
  /** Seconds. */
  readonly retryAfter?: number
}
