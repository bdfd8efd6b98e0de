/** The parts of a request as bytes: what every later request repeats is written once. */
import type { JsonObject } from '../../hooks/shape.ts'
import type { Message, ToolDefinition } from '../model.ts'
import { commonLength } from '../transport/history.ts'

/** `write` runs once per object, for as long as the object is alive. */
export function bytesOnce<T extends object>(write: (value: T) => string): (value: T) => Buffer {
  const known = new WeakMap<T, Buffer>()
  return (value) => {
    let bytes = known.get(value)
    if (bytes === undefined) {
      bytes = Buffer.from(withWholeCharacters(write(value)))
      known.set(value, bytes)
    }
    return bytes
  }
}

/**
 * JSON without halves of characters. A text that was cut, or that a tool or a model made up, may have them; servers reject such a
 * request, and with it every later one of the conversation.
 */
export function withWholeCharacters(json: string): string {
  if (!json.includes('\\ud')) return json // a half is the only character that JSON.stringify writes like this
  return json.replaceAll(/(\\\\)|\\ud[89a-f][0-9a-f]{2}/g, (_, backslash?: string) => backslash ?? '\ufffd')
}

/** The `tools` field; empty where there are none. */
export const toolsField = (inDialect: (tool: ToolDefinition) => JsonObject) =>
  bytesOnce((tools: readonly ToolDefinition[]) =>
    tools.length === 0 ? '' : `,"tools":${JSON.stringify(tools.map(inDialect))}`,
  )

/** JSON in parts, which are sent one after another and never copied into one. */
export const bytesOf = (...parts: readonly (string | Buffer)[]): Buffer[] =>
  parts
    .filter(({ length }) => length > 0)
    .map((part) => (typeof part === 'string' ? Buffer.from(withWholeCharacters(part)) : part))

interface Written {
  readonly messages: Message[]
  /** Where each message ends in `bytes`. */
  readonly ends: number[]
  bytes: Buffer
}

/**
 * The messages of a conversation, each with a comma before it. A conversation grows at its end, so its bytes are kept in one
 * block, by its first message, and a turn adds its own. Bytes that were handed out are never overwritten: a connection may
 * still be sending them. `write` returns nothing for a message that has nothing to say on the wire.
 */
export function conversationBytes(write: (message: Message) => string): (messages: readonly Message[]) => Buffer {
  const conversations = new WeakMap<Message, Written>()
  return (messages) => {
    const [first] = messages
    if (!first) return nothing
    const written = conversations.get(first) ?? { messages: [], ends: [], bytes: nothing }
    conversations.set(first, written)
    const same = commonLength(written.messages, messages)
    let end = written.ends[same - 1] ?? 0
    if (same < written.messages.length) {
      written.bytes = grown(written.bytes.subarray(0, end), end)
      written.messages.length = written.ends.length = same
    }
    for (const message of messages.slice(same)) {
      const text = withWholeCharacters(write(message))
      if (text !== '') {
        const size = Buffer.byteLength(text) + 1
        if (end + size > written.bytes.length) written.bytes = grown(written.bytes.subarray(0, end), end + size)
        written.bytes.write(`,${text}`, end)
        end += size
      }
      written.messages.push(message)
      written.ends.push(end)
    }
    return written.bytes.subarray(0, end)
  }
}

const nothing = Buffer.alloc(0)

function grown(bytes: Buffer, least: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.ceil(least * 1.25) + 4096)
  bytes.copy(larger)
  return larger
}
