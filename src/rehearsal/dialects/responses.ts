/** OpenAI Responses. */
import type { JsonObject } from '../../hooks/shape.ts'
import type { ChatMessage, ChatTool } from '../chat.ts'
import {
  argumentsOf,
  type Dialect,
  errorType,
  list,
  type OfferedCall,
  object,
  pieces,
  type Reply,
  resultOf,
  type ServerEvent,
  textOf,
} from './dialect.ts'

export const responses: Dialect = {
  path: /\/responses$/,
  read(body) {
    if (typeof body.input !== 'string' && !Array.isArray(body.input)) return undefined
    const schema = object(object(body.text).format).schema
    const system = textOf(body.instructions)
    return {
      model: String(body.model ?? ''),
      stream: body.stream === true,
      messages: [
        ...(system === '' ? [] : [{ role: 'system' as const, text: system }]),
        ...(typeof body.input === 'string'
          ? [{ role: 'user' as const, text: body.input }]
          : list(body.input).flatMap(readItem)),
      ],
      tools: list(body.tools).flatMap(readTool),
      ...(schema !== undefined && { answerSchema: schema }),
    }
  },
  whole: (reply) => ({ ...head(reply), status: 'completed', output: items(reply), usage: usage(reply) }),
  events(reply) {
    const begun = head(reply)
    const all: [string, object][] = [
      ['response.created', { response: begun }],
      ['response.in_progress', { response: begun }],
      ...items(reply).flatMap(itemEvents),
      [
        'response.completed',
        { response: { ...begun, status: 'completed', output: items(reply), usage: usage(reply) } },
      ],
    ]
    return all.map(
      ([type, fields], sequence_number): ServerEvent => ({ event: type, data: { type, sequence_number, ...fields } }),
    )
  },
  failure: ({ status, message }) => ({ error: { message, type: errorType(status), param: null, code: null } }),
}

function readItem(item: JsonObject): ChatMessage[] {
  const { type = 'message', role, content, call_id, namespace, arguments: args, input, output } = item
  const name = namespace ? `${namespace}__${item.name}` : item.name
  const id = String(call_id ?? '')
  const call = (name: string, input: Record<string, unknown>): ChatMessage[] => [
    { role: 'assistant', text: '', calls: [{ id, name, input }] },
  ]
  if (type === 'message') {
    const text = textOf(content)
    if (role === 'assistant') return [{ role: 'assistant', text, calls: [] }]
    return [{ role: role === 'user' ? 'user' : 'system', text }]
  }
  if (type === 'function_call') return call(String(name), argumentsOf(args))
  if (type === 'custom_tool_call') return call(String(name), { input })
  if (type === 'local_shell_call') return call('local_shell', object(item.action))
  if (String(type).endsWith('_call_output')) return [resultOf(id, outputOf(output))]
  return []
}

/** Codex wraps a command's output in JSON with its exit code. */
function outputOf(output: unknown): string {
  if (typeof output !== 'string') return textOf(output)
  const wrapped = output.startsWith('{') ? argumentsOf(output) : {}
  if (typeof wrapped.output !== 'string') return output
  const code = object(wrapped.metadata).exit_code
  return code ? `Error: ${wrapped.output}` : wrapped.output
}

function readTool({ type, name, parameters, tools }: JsonObject): ChatTool[] {
  if (type === 'function') return [{ name: String(name), parameters: object(parameters) }]
  if (type === 'custom') return [{ name: String(name), parameters: {}, kind: 'custom' }]
  if (type === 'namespace')
    return list(tools)
      .flatMap(readTool)
      .map((tool) => ({ ...tool, name: `${name}__${tool.name}`, namespace: String(name) }))
  if (type === 'local_shell') return [{ name: 'local_shell', parameters: localShell, kind: 'local_shell' }]
  return []
}

const localShell = { properties: { command: { type: 'array' } }, required: ['command'] }

type Item = { readonly type: string; readonly id: string } & JsonObject

const items = ({ id, text, calls }: Reply): Item[] => [
  ...(text === '' && calls.length > 0
    ? []
    : [
        {
          type: 'message',
          id: `msg_${id}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]),
  ...calls.map(callItem),
]

function callItem({ id, name, input, tool }: OfferedCall): Item {
  const base = { id: `item_${id}`, call_id: id, status: 'completed' }
  if (tool?.kind === 'local_shell')
    return { ...base, type: 'local_shell_call', action: { type: 'exec', command: input.command, env: {} } }
  if (tool?.kind === 'custom')
    return { ...base, type: 'custom_tool_call', name, input: String(input.input ?? JSON.stringify(input)) }
  // a tool that is found by search first is in no list
  const namespace = tool?.namespace ?? /^mcp__.+?(?=__)/.exec(name)?.[0]
  const grouped = namespace && { namespace, name: name.slice(namespace.length + 2) }
  return { ...base, type: 'function_call', name, ...grouped, arguments: JSON.stringify(input) }
}

function itemEvents(item: Item, output_index: number): [string, object][] {
  const at = { item_id: item.id, output_index }
  const started = { ...item, status: 'in_progress' }
  const done: [string, object] = ['response.output_item.done', { output_index, item }]
  if (item.type === 'message') {
    const [part] = list(item.content)
    const text = String(part?.text)
    const inPart = { ...at, content_index: 0 }
    return [
      ['response.output_item.added', { output_index, item: { ...started, content: [] } }],
      ['response.content_part.added', { ...inPart, part: { ...part, text: '' } }],
      ...pieces(text).map((delta): [string, object] => ['response.output_text.delta', { ...inPart, delta }]),
      ['response.output_text.done', { ...inPart, text }],
      ['response.content_part.done', { ...inPart, part }],
      done,
    ]
  }
  if (item.type !== 'function_call') return [['response.output_item.added', { output_index, item: started }], done]
  return [
    ['response.output_item.added', { output_index, item: { ...started, arguments: '' } }],
    ['response.function_call_arguments.delta', { ...at, delta: item.arguments }],
    ['response.function_call_arguments.done', { ...at, arguments: item.arguments }],
    done,
  ]
}

const head = ({ id, created, model }: Reply) => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: created,
  model,
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
})

const usage = ({ usage: { input, output } }: Reply) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
})
