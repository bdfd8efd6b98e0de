/** The Responses API as a server speaks it, for tests: its streams, and what it refuses. */
import { isObject } from '../../../src/hooks/shape.ts'
import type { Saying, WireDialect } from './dialect-suite.ts'

let sequence_number = 0
export const event = (type: string, more: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...more })}\n\n`

const usage = { input_tokens: 14, input_tokens_details: { cached_tokens: 4 }, output_tokens: 7, total_tokens: 21 }
const reasons = { length: 'max_output_tokens', refusal: 'content_filter' }

function whole({ text, calls = [], stop }: Saying) {
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: text?.join(''), annotations: [] }],
  }
  const output = [
    ...(text ? [message] : []),
    ...calls.map(({ id, name, args }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: args.join(''),
    })),
  ]
  return {
    id: 'resp_1',
    object: 'response',
    model: 'some-model',
    status: stop ? 'incomplete' : 'completed',
    incomplete_details: stop ? { reason: reasons[stop] } : null,
    error: null,
    output,
    usage,
  }
}

export const responsesWire: WireDialect = {
  provider: 'openai_compatible',
  options: { openaiDialect: 'responses' },
  base: (url) => `${url}/v1/`,
  frames(saying) {
    const { text, calls = [], stop } = saying
    const response = whole(saying)
    const first = text ? 1 : 0
    return [
      event('response.created', { response: { ...response, status: 'in_progress', output: [], usage: null } }),
      ...(text
        ? [
            event('response.output_item.added', {
              output_index: 0,
              item: { type: 'message', id: 'msg_1', content: [] },
            }),
            ...text.map((delta) => event('response.output_text.delta', { output_index: 0, content_index: 0, delta })),
            event('response.output_item.done', { output_index: 0, item: response.output[0] }),
          ]
        : []),
      ...calls.flatMap(({ name, id, args }, at) => [
        event('response.output_item.added', {
          output_index: first + at,
          item: { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: '' },
        }),
        ...args.map((delta) =>
          event('response.function_call_arguments.delta', { output_index: first + at, item_id: `fc_${id}`, delta }),
        ),
        event('response.output_item.done', { output_index: first + at, item: response.output[first + at] }),
      ]),
      event(stop ? 'response.incomplete' : 'response.completed', { response }),
    ]
  },
  whole,
  errorFrame: (code, message) => event('error', { code, message }),
  usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 4, cacheWriteTokens: null },
  refuses(body) {
    if (!isObject(body) || !Array.isArray(body.input)) return 'no input'
    const open = new Set<string>()
    const used = new Set<string>()
    for (const item of body.input as { type: string; call_id: string; content?: unknown[] }[]) {
      if (item.type === 'function_call') {
        if (used.has(item.call_id)) return `call_id ${item.call_id} twice`
        used.add(item.call_id)
        open.add(item.call_id)
      } else if (item.type === 'function_call_output') {
        if (!open.delete(item.call_id))
          return `No tool call found for function call output with call_id ${item.call_id}`
      } else if (item.type === 'message') {
        if (open.size > 0) return 'No tool output found for function call'
        if (!item.content?.length) return 'empty content'
      }
    }
    return open.size > 0 ? 'No tool output found for function call' : undefined
  },
}
