/** OpenAI Chat Completions. */
import type { JsonObject } from '../../hooks/shape.ts'
import type { ChatMessage } from '../chat.ts'
import { argumentsOf, type Dialect, errorType, list, object, pieces, type Reply, resultOf, textOf } from './dialect.ts'

export const chatCompletions: Dialect = {
  path: /\/chat\/completions$/,
  read(body) {
    if (!Array.isArray(body.messages)) return undefined
    const format = object(body.response_format)
    const schema = format.type === 'json_object' ? { type: 'object' } : object(format.json_schema).schema
    return {
      model: String(body.model ?? ''),
      stream: body.stream === true,
      wantsUsage: object(body.stream_options).include_usage === true,
      messages: list(body.messages).map(readMessage),
      tools: list(body.tools).flatMap(({ function: made }) =>
        object(made).name ? [{ name: String(object(made).name), parameters: object(object(made).parameters) }] : [],
      ),
      ...(schema !== undefined && { answerSchema: schema }),
    }
  },
  whole(reply) {
    const calls = wireCalls(reply)
    const message = { role: 'assistant', content: reply.text || null, ...(calls.length > 0 && { tool_calls: calls }) }
    return {
      ...head(reply),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finish(reply) }],
      usage: usage(reply),
    }
  },
  events(reply, { wantsUsage }) {
    const base = { ...head(reply), object: 'chat.completion.chunk' }
    const chunk = (delta: unknown, finish_reason: string | null = null) => ({
      data: { ...base, choices: [{ index: 0, delta, finish_reason }] },
    })
    return [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(reply.text).map((content) => chunk({ content })),
      ...wireCalls(reply).flatMap(({ id, function: { name, arguments: args } }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: args } }] }),
      ]),
      chunk({}, finish(reply)),
      ...(wantsUsage ? [{ data: { ...base, choices: [], usage: usage(reply) } }] : []),
      { data: '[DONE]' },
    ]
  },
  failure: ({ status, message }) => ({ error: { message, type: errorType(status), param: null, code: null } }),
}

function readMessage(message: JsonObject): ChatMessage {
  const text = textOf(message.content)
  if (message.role === 'tool') return resultOf(String(message.tool_call_id ?? ''), text)
  if (message.role !== 'assistant') return { role: message.role === 'user' ? 'user' : 'system', text }
  const calls = list(message.tool_calls).map(({ id, function: made }) => ({
    id: String(id ?? ''),
    name: String(object(made).name ?? ''),
    input: argumentsOf(object(made).arguments),
  }))
  return { role: 'assistant', text, calls }
}

const head = ({ id, created, model }: Reply) => ({ id: `chatcmpl-${id}`, created, model })

const wireCalls = ({ calls }: Reply) =>
  calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }))

const finish = ({ calls }: Reply) => (calls.length > 0 ? 'tool_calls' : 'stop')

const usage = ({ usage: { input, output } }: Reply) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})
