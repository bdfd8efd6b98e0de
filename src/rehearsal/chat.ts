/** A request as Chat Completions sends it, and the replies that go back. */
import { isObject } from '../hooks/shape.ts'

export interface Chat {
  readonly model: string
  readonly stream: boolean
  readonly wantsUsage: boolean
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ChatTool[]
  /** The JSON Schema that the answer must fit, where one was asked for. */
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
}

/** What the model says next: words, calls, or a failure of the server. */
export interface Said {
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly input: Record<string, unknown> }[]
  readonly fail?: { readonly status: number; readonly message: string; readonly retryAfter?: number }
}

export function readChat(body: unknown): Chat | undefined {
  if (!isObject(body) || !Array.isArray(body.messages)) return undefined
  const format = isObject(body.response_format) ? body.response_format : {}
  const schema = isObject(format.json_schema) ? format.json_schema.schema : undefined
  return {
    model: String(body.model ?? ''),
    stream: body.stream === true,
    wantsUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    messages: body.messages.filter(isObject).map(readMessage),
    tools: (Array.isArray(body.tools) ? body.tools : []).flatMap((tool): ChatTool[] => {
      const made = isObject(tool) && isObject(tool.function) ? tool.function : undefined
      return made ? [{ name: String(made.name), parameters: isObject(made.parameters) ? made.parameters : {} }] : []
    }),
    ...(schema !== undefined && { answerSchema: schema }),
  }
}

function readMessage(message: Record<string, unknown>): ChatMessage {
  const text = textOf(message.content)
  if (message.role === 'tool') {
    const isError = text.startsWith('Error: ')
    return { role: 'tool', id: String(message.tool_call_id ?? ''), text: isError ? text.slice(7) : text, isError }
  }
  if (message.role === 'assistant') return { role: 'assistant', text, calls: readCalls(message.tool_calls) }
  return { role: message.role === 'user' ? 'user' : 'system', text }
}

function readCalls(calls: unknown): MadeCall[] {
  if (!Array.isArray(calls)) return []
  return calls.filter(isObject).map((call) => {
    const made = isObject(call.function) ? call.function : {}
    return { id: String(call.id ?? ''), name: String(made.name ?? ''), input: readInput(made.arguments) }
  })
}

function readInput(args: unknown): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(String(args))
    return isObject(input) ? input : {}
  } catch {
    return {} // a history may hold a call that was no JSON; only its name matters here
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('\n')
}

/** The reply as one JSON object, for those who did not ask for a stream. */
export function wholeReply(chat: Chat, said: Said): unknown {
  const { head, calls, finish, usage } = wire(chat, said)
  const message = { role: 'assistant', content: said.text ?? null, ...(calls.length > 0 && { tool_calls: calls }) }
  return { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage }
}

/** The same as the text of an event stream. */
export function streamedReply(chat: Chat, said: Said): string {
  const { head, calls, finish, usage } = wire(chat, said)
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const chunks: unknown[] = [chunk({ role: 'assistant', content: '' })]
  for (const piece of (said.text ?? '').match(/\S*\s*/g) ?? []) if (piece !== '') chunks.push(chunk({ content: piece }))
  for (const [index, call] of calls.entries()) {
    const { name, arguments: args } = call.function
    chunks.push(chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name, arguments: '' } }] }))
    chunks.push(chunk({ tool_calls: [{ index, function: { arguments: args } }] }))
  }
  chunks.push(chunk({}, finish))
  if (chat.wantsUsage) chunks.push({ ...head, object: 'chat.completion.chunk', choices: [], usage })
  return `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`
}

let replies = 0

function wire({ model, messages }: Chat, { text = '', calls = [] }: Said) {
  const reply = ++replies
  const made = calls.map(({ name, input }, index) => ({
    id: `call_${process.pid.toString(36)}_${reply}_${index + 1}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  const prompt_tokens = messages.reduce((sum, message) => sum + tokens(message.text), 0)
  const completion_tokens = tokens(text) + made.length * 20
  return {
    head: { id: `rehearsal-${reply}`, created: Math.floor(Date.now() / 1000), model },
    calls: made,
    finish: made.length > 0 ? 'tool_calls' : 'stop',
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  }
}

/** As good a guess as any for a model that has no tokens. */
const tokens = (text: string): number => Math.ceil(text.length / 4)
