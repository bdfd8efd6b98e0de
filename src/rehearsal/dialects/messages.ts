/** Anthropic Messages. */
import type { JsonObject } from '../../hooks/shape.ts'
import type { ChatMessage } from '../chat.ts'
import { type Dialect, errorType, list, object, pieces, type Reply, type ServerEvent, textOf } from './dialect.ts'

export const messages: Dialect = {
  path: /\/messages$/,
  read(body) {
    if (!Array.isArray(body.messages)) return undefined
    const system = textOf(body.system)
    const schema = object(object(body.output_config).format ?? body.output_format).schema
    return {
      model: String(body.model ?? ''),
      stream: body.stream === true,
      messages: [
        ...(system === '' ? [] : [{ role: 'system' as const, text: system }]),
        ...list(body.messages).flatMap(readMessage),
      ],
      tools: list(body.tools).flatMap(({ name, input_schema }) =>
        input_schema ? [{ name: String(name), parameters: object(input_schema) }] : [],
      ),
      ...(schema !== undefined && { answerSchema: schema }),
    }
  },
  whole: (reply) => ({ ...head(reply), content: blocks(reply), stop_reason: stop(reply), usage: usage(reply) }),
  events: (reply) => [
    named('message_start', { message: { ...head(reply), content: [], usage: usage(reply, 1) } }),
    ...blocks(reply).flatMap((block, index) => [
      named('content_block_start', { index, content_block: { ...block, ...empty[block.type] } }),
      ...deltas(block).map((delta) => named('content_block_delta', { index, delta })),
      named('content_block_stop', { index }),
    ]),
    named('message_delta', {
      delta: { stop_reason: stop(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage.output },
    }),
    named('message_stop', {}),
  ],
  failure: ({ status, message }) => ({ type: 'error', error: { type: errorType(status), message } }),
}

/** A message of results and text becomes results first, then the text: the order in which they came. */
function readMessage({ role, content }: JsonObject): ChatMessage[] {
  const text = textOf(typeof content === 'string' ? content : list(content).filter(({ type }) => type === 'text'))
  if (role === 'assistant') {
    const calls = list(content)
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: String(id), name: String(name), input: object(input) }))
    return [{ role: 'assistant', text, calls }]
  }
  const results = list(content)
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id, content, is_error }) => ({
      role: 'tool' as const,
      id: String(tool_use_id),
      text: textOf(content),
      isError: is_error === true,
    }))
  const isSystem = role === 'system'
  return text === '' ? results : [...results, { role: isSystem ? 'system' : 'user', text }]
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }

const empty = { text: { text: '' }, tool_use: { input: {} } }

const blocks = ({ text, calls }: Reply): Block[] => [
  ...(text === '' && calls.length > 0 ? [] : [{ type: 'text' as const, text }]),
  ...calls.map(({ id, name, input }) => ({ type: 'tool_use' as const, id, name, input })),
]

const deltas = (block: Block): object[] =>
  block.type === 'text'
    ? pieces(block.text).map((text) => ({ type: 'text_delta', text }))
    : [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]

const named = (type: string, fields: object): ServerEvent => ({ event: type, data: { type, ...fields } })

const head = ({ id, model }: Reply) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  stop_reason: null,
  stop_sequence: null,
})

const stop = ({ calls }: Reply) => (calls.length > 0 ? 'tool_use' : 'end_turn')

const usage = ({ usage: { input, output } }: Reply, soFar = output) => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: soFar,
})
