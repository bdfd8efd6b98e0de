/** Requests to a model and its replies, whatever the wire dialect. */
import type { JsonObject, JsonSchema } from '../hooks/shape.ts'
import type { Effort } from './models/models.ts'
import type { ListedModel } from './models/spec.ts'

export interface Provider {
  /** Must not throw: a failure is a reply whose stop is 'error'. Aborting gives what came so far, stop 'cancelled'. */
  reply(request: ModelRequest, on: (part: Part) => void): Promise<Reply>
  /** The models that the server lists; empty where it lists none. */
  models(signal?: AbortSignal): Promise<string[]>
  /** The same with what the server says about each. */
  list?(signal?: AbortSignal): Promise<ListedModel[]>
  /** Searches the web by the provider's own tool. Undefined, or answering so: it has none. Must not throw either. */
  search?(request: SearchRequest): Promise<SearchReply | undefined>
}

export interface SearchRequest extends Domains {
  readonly query: string
  readonly model: string
  readonly signal: AbortSignal
}

/** Bare host names; at most one of the two lists has entries. */
export interface Domains {
  readonly allowed: readonly string[]
  readonly blocked: readonly string[]
}

export interface SearchReply {
  readonly found: readonly WebSource[]
  /** What the model says about it. */
  readonly text: string
  /** Set when nothing could be found out. */
  readonly problem?: string
  readonly reply: Reply
}

/** A page that a search named, and the words of it that were cited. */
export interface WebSource {
  readonly title: string
  readonly url: string
  readonly excerpt: string
}

export interface ModelRequest {
  /** The name on the wire. */
  readonly model: string
  /** Sections of the system prompt; the ones before the last marked `cache` change least. */
  readonly system: readonly { readonly text: string; readonly cache?: boolean }[]
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDefinition[]
  readonly maxTokens: number
  /** `budget`: at most this many tokens. Undefined: the model answers at once. */
  readonly thinking?: { readonly type: 'adaptive' } | { readonly type: 'budget'; readonly tokens: number }
  readonly effort?: Effort
  /** The provider's own web search, in the place of `tools`; only where `Provider.search` is. */
  readonly webSearch?: Domains
  readonly signal: AbortSignal
}

export type Message = { readonly role: 'user' | 'assistant'; readonly content: readonly ContentBlock[] }

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | ToolUse
  | Reasoning
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: string; readonly is_error: boolean }

export interface ToolUse {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Record<string, unknown>
  /** The model's words where they were not a JSON object; such a call is answered with an error result. */
  readonly malformed?: string
}

/**
 * What the model thought, as its server sent it, with its signature or encrypted. Sent back unchanged, and to the same
 * model alone: another one refuses it.
 */
export interface Reasoning {
  readonly type: 'reasoning'
  /** The wire model that was asked. */
  readonly model: string
  readonly wire: JsonObject
}

export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

/** What a user can watch while the reply streams in. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string }
  /** The request is sent again: the parts reported so far are void. */
  | {
      readonly type: 'retry'
      readonly attempt: number
      /** How many there may be. */
      readonly most: number
      readonly waitMs: number
      readonly failure: ModelFailure
    }

export interface Reply {
  /** Calls are in it only where stop is 'tool_use': of a reply that was cut off, the words alone are kept. */
  readonly content: readonly ({ readonly type: 'text'; readonly text: string } | ToolUse | Reasoning)[]
  readonly stop: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal' | 'cancelled' | 'error'
  readonly usage: ModelUsage
  /** The wire model that answered. */
  readonly model: string
  readonly failure?: ModelFailure
  /** Where the request let the provider search the web. */
  readonly webSearch?: { readonly found: readonly WebSource[]; readonly problem?: string }
}

/** As both dialects are counted here, the three input counts are disjoint; their sum is what the model read. */
export interface ModelUsage {
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
}

export interface ModelFailure {
  readonly kind:
    | 'authentication'
    | 'billing'
    | 'rate-limit'
    | 'overloaded'
    | 'invalid-request'
    | 'server'
    | 'max-output-tokens'
    | 'network'
    | 'unknown'
  /** For users; never holds a key or token. */
  readonly message: string
  readonly status?: number
  readonly retryAfterMs?: number
  /** The conversation is longer than the model can read: compacting it helps, asking again does not. */
  readonly contextOverflow?: boolean
  /** As many tokens as the model can read, where the server says so with an overflow. */
  readonly contextWindow?: number
}
