/** Chat Completions as a server speaks it, for tests: its streams, and what it refuses. */
import { isObject } from '../../../src/hooks/shape.ts'
import type { Saying, WireDialect } from './dialect-suite.ts'

const frame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const stops = { length: 'length', refusal: 'content_filter' }
const stopOf = ({ calls, stop }: Saying) => (stop ? stops[stop] : calls ? 'tool_calls' : 'stop')
const head = { id: 'c1', created: 1, model: 'some-model' }
const usage = { prompt_tokens: 14, completion_tokens: 7, total_tokens: 21, prompt_tokens_details: { cached_tokens: 4 } }
export const chunk = (delta: object, finish_reason: string | null = null) =>
  frame({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })

export const openaiWire: WireDialect = {
  provider: 'openai_compatible',
  base: (url) => `${url}/v1/`,
  frames(saying) {
    const { text = [], calls = [] } = saying
    return [
      chunk({ role: 'assistant', content: '' }),
      ': keep-alive\n\n',
      ...text.map((content) => chunk({ content })),
      ...calls.flatMap(({ id, name, args }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...args.map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
      ]),
      chunk({}, stopOf(saying)),
      frame({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
      'data: [DONE]\n\n',
    ]
  },
  whole(saying) {
    const { text, calls } = saying
    const tool_calls = calls?.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args.join('') },
    }))
    const message = { role: 'assistant', content: text?.join('') ?? null, tool_calls }
    return {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: stopOf(saying) }],
      usage,
    }
  },
  errorFrame: (type, message) => frame({ error: { type, message } }),
  usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 4, cacheWriteTokens: null },
  refuses(body) {
    if (!isObject(body) || !Array.isArray(body.messages)) return 'no messages'
    const open: string[] = []
    const used = new Set<string>()
    for (const message of body.messages as {
      role: string
      content: unknown
      tool_call_id?: string
      tool_calls?: { id: string }[]
    }[]) {
      if (message.role === 'tool') {
        if (open.shift() !== message.tool_call_id) return 'a tool message must follow its call'
        continue
      }
      if (open.length > 0) return 'tool_call_ids did not have response messages'
      if (message.content === '' || (message.content === null && !message.tool_calls)) return 'empty content'
      for (const { id } of message.tool_calls ?? []) {
        if (used.has(id)) return `id ${id} twice`
        used.add(id)
        open.push(id)
      }
    }
    return open.length > 0 ? 'tool_call_ids did not have response messages' : undefined
  },
}
