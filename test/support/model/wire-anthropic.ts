/** The Messages API as a server speaks it, for tests: its streams, and what it refuses. */
import { isObject } from '../../../src/hooks/shape.ts'
import type { Saying, WireDialect } from './dialect-suite.ts'

const frame = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const stops = { length: 'max_tokens', refusal: 'refusal' }
const stopOf = ({ calls, stop }: Saying) => (stop ? stops[stop] : calls ? 'tool_use' : 'end_turn')

export const anthropicWire: WireDialect = {
  provider: 'claude_code_subscription',
  base: (url) => url,
  frames(saying) {
    const { text, calls = [] } = saying
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content: [],
      stop_reason: null,
    }
    const usage = { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 1 }
    const frames = [frame({ type: 'message_start', message: { ...message, usage } }), frame({ type: 'ping' })]
    let index = 0
    const block = (content_block: object, deltas: object[]) => {
      frames.push(frame({ type: 'content_block_start', index, content_block }))
      for (const delta of deltas) frames.push(frame({ type: 'content_block_delta', index, delta }))
      frames.push(frame({ type: 'content_block_stop', index }))
      index++
    }
    // The first delta directly follows the ping: a server may leave out an empty start.
    if (text) {
      const [first = '', ...rest] = text
      block(
        { type: 'text', text: first },
        rest.map((text) => ({ type: 'text_delta', text })),
      )
    }
    for (const { id, name, args } of calls) {
      const deltas = args.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
      block({ type: 'tool_use', id, name, input: {} }, deltas)
    }
    const delta = { stop_reason: stopOf(saying), stop_sequence: null }
    frames.push(frame({ type: 'message_delta', delta, usage: { output_tokens: 7 } }), frame({ type: 'message_stop' }))
    return frames
  },
  whole(saying) {
    const { text, calls = [] } = saying
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content: [
        ...(text ? [{ type: 'text', text: text.join('') }] : []),
        ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args.join('')) })),
      ],
      stop_reason: stopOf(saying),
      usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 7 },
    }
  },
  errorFrame: (type, message) => frame({ type: 'error', error: { type, message } }),
  usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 4, cacheWriteTokens: 2 },
  refuses(body) {
    if (!isObject(body) || !Array.isArray(body.messages)) return 'no messages'
    const messages = body.messages as {
      role: string
      content: { type: string; id?: string; tool_use_id?: string; text?: string }[]
    }[]
    if (messages[0]?.role !== 'user') return 'the first message must be the user’s'
    const used = new Set<string>()
    for (const [at, { role, content }] of messages.entries()) {
      if (content.length === 0) return 'empty content'
      if (content.some(({ type, text }) => type === 'text' && text!.trim() === '')) return 'empty text'
      const calls = content.flatMap(({ type, id }) => (type === 'tool_use' ? [id!] : []))
      for (const id of calls) if (used.size === used.add(id).size) return `tool_use id ${id} is not unique`
      const next = messages[at + 1]?.content ?? []
      if (calls.some((id, index) => next[index]?.tool_use_id !== id))
        return 'tool_use without tool_result immediately after'
      const before =
        at === 0 ? [] : messages[at - 1]!.content.flatMap(({ type, id }) => (type === 'tool_use' ? [id!] : []))
      const results = content.flatMap(({ type, tool_use_id }) => (type === 'tool_result' ? [tool_use_id!] : []))
      if (role === 'user' && results.some((id) => !before.includes(id))) return 'tool_result without tool_use'
    }
    return undefined
  },
}
