/** What a wire dialect knows: how a request is written down, and how a reply is read. */
import type { Secret } from '../../auth/credential.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { ModelFailure, ModelRequest, ModelUsage, Part, Reply, ToolUse } from '../model.ts'
import type { Trouble } from '../transport/server-failure.ts'

export interface Dialect {
  readonly path: string
  readonly modelsPath: string
  headers(secret: Secret): Record<string, string>
  /** The request as JSON, in parts to send one after another. Called once a try. */
  body(request: ModelRequest): readonly Buffer[]
  reader(request: ModelRequest, on: (part: Part) => void): ReplyReader
  /** A refusal that another way of asking may avoid: true when the next body will differ. */
  adapt(failure: ModelFailure): boolean
}

/** Takes in one reply. */
export interface ReplyReader {
  /** The data of one event of a stream. True: the reply is whole, or broken. */
  event(data: string): boolean
  /** A reply that came in one piece, from a server that does not stream. */
  whole(message: JsonObject): void
  /** What an error inside the reply means. */
  trouble(): Trouble | undefined
  /** Whether the reply has all its parts. */
  complete(): boolean
  reply(): Reply
}

export const noUsage: ModelUsage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
}

/** A call whose arguments came as text. Text that is no JSON object is kept for the error that the model will read. */
export function toolUse(id: string, name: string, args: string): ToolUse {
  if (args.trim() === '') return { type: 'tool_use', id, name, input: {} }
  try {
    const input: unknown = JSON.parse(args)
    if (isObject(input)) return { type: 'tool_use', id, name, input }
  } catch {
    // The model wrote something other than JSON; the error result says so.
  }
  return { type: 'tool_use', id, name, input: {}, malformed: args }
}

/** Ids that the conversation has not used yet: a server may repeat them, and the next request may not. */
export function withFreshIds(content: Reply['content'], request: ModelRequest): Reply['content'] {
  const wanted = content.flatMap((block) => (block.type === 'tool_use' ? [block.id || 'call'] : []))
  if (wanted.length === 0) return content
  const taken = new Set<string>()
  // of a long conversation's ids only those that may be in the way
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue
    for (const block of message.content)
      if (block.type === 'tool_use' && wanted.some((id) => block.id.startsWith(id))) taken.add(block.id)
  }
  return content.map((block) => {
    if (block.type !== 'tool_use') return block
    let id = block.id || 'call_1'
    for (let count = 2; taken.has(id); count++) id = `${block.id || 'call'}_${count}`
    taken.add(id)
    return id === block.id ? block : { ...block, id }
  })
}

/** Decided by the calls that came: some servers name another reason beside them. */
export const stopOf = (named: Reply['stop'] | undefined, content: Reply['content']): Reply['stop'] => {
  if (named !== 'max_tokens' && content.some(({ type }) => type === 'tool_use')) return 'tool_use'
  return named === undefined || named === 'tool_use' ? 'end_turn' : named
}

export const asNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null
