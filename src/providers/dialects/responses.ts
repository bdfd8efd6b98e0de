/** OpenAI's Responses API: like Chat Completions, with reasoning that is kept from turn to turn. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { ContentBlock, Message, ModelRequest, ModelUsage, Part, Reply } from '../model.ts'
import { broken, type Trouble } from '../transport/server-failure.ts'
import { asNumber, type Dialect, noUsage, type ReplyReader, stopOf, toolUse, withFreshIds } from './dialect.ts'
import { bytesOf, conversationBytes, toolsField, withWholeCharacters } from './request-bytes.ts'
import { realName, wireName } from './tool-names.ts'

export const responses = ({ host, headers }: { host: string; headers: Record<string, string> }): Dialect => ({
  path: '/responses',
  modelsPath: '/models',
  headers: ({ key, bearer }) => ({ authorization: `Bearer ${bearer ?? key ?? ''}`, ...headers }),
  body,
  reader: (request, on) => reader(request, on, host),
  adapt: () => false,
})

/** The server keeps nothing: what the model reasoned comes back encrypted, and is sent again with the next request. */
function body(request: ModelRequest): Buffer[] {
  const { model, maxTokens, system, tools, messages, thinking, effort } = request
  const instructions = system
    .map(({ text }) => text)
    .filter((text) => text.trim() !== '')
    .join('\n\n')
  return bytesOf(
    `{"model":${JSON.stringify(model)},"max_output_tokens":${maxTokens},"stream":true,"store":false`,
    thinking || effort ? ',"include":["reasoning.encrypted_content"]' : '',
    thinking || effort ? `,"reasoning":${JSON.stringify({ ...(effort && { effort }), summary: 'auto' })}` : '',
    instructions === '' ? '' : `,"instructions":${JSON.stringify(instructions)}`,
    writtenTools(tools),
    ',"input":[',
    writtenMessages(messages).subarray(1),
    ']}',
  )
}

const writtenTools = toolsField(({ name, description, inputSchema }) => ({
  type: 'function',
  name: wireName(name),
  description,
  parameters: inputSchema,
  strict: false,
}))

/** One of ours may be several of theirs. */
const writtenMessages = conversationBytes(({ role, content }) =>
  content
    .map((block) => wireItem(role, block))
    .filter((item) => item !== undefined)
    .map((item) => JSON.stringify(item))
    .join(','),
)

function wireItem(role: Message['role'], block: ContentBlock): JsonObject | undefined {
  switch (block.type) {
    case 'text': {
      const type = role === 'user' ? 'input_text' : 'output_text'
      return block.text.trim() === '' ? undefined : { type: 'message', role, content: [{ type, text: block.text }] }
    }
    case 'image': {
      const image_url = `data:${block.mediaType};base64,${block.data}`
      return { type: 'message', role, content: [{ type: 'input_image', image_url }] }
    }
    case 'tool_use':
      return {
        type: 'function_call',
        call_id: block.id,
        name: wireName(block.name),
        arguments: withWholeCharacters(JSON.stringify(block.input)),
      }
    case 'tool_result': {
      const output = block.is_error ? `Error: ${block.content}` : block.content
      return { type: 'function_call_output', call_id: block.tool_use_id, output }
    }
    case 'reasoning':
      return block.wire.type === 'reasoning' ? block.wire : undefined
  }
}

interface Item {
  type: string
  id: string
  name: string
  /** A message's text, or a call's arguments as they were written. */
  text: string
  /** A reasoning item, whole. */
  wire?: JsonObject
}

function reader(request: ModelRequest, on: (part: Part) => void, host: string): ReplyReader {
  const items: Item[] = []
  let usage: ModelUsage = noUsage
  let model = request.model
  let stop: Reply['stop'] | undefined
  let ended = false
  let trouble: Trouble | undefined

  const count = (wire: unknown) => {
    if (!isObject(wire)) return
    const input = asNumber(wire.input_tokens)
    const cached = asNumber(isObject(wire.input_tokens_details) ? wire.input_tokens_details.cached_tokens : undefined)
    usage = {
      inputTokens: input === null ? usage.inputTokens : Math.max(0, input - (cached ?? 0)),
      outputTokens: asNumber(wire.output_tokens) ?? usage.outputTokens,
      cacheReadTokens: cached ?? usage.cacheReadTokens,
      cacheWriteTokens: null,
    }
  }
  const start = (at: number, wire: JsonObject) => {
    items[at] = { type: String(wire.type), id: String(wire.call_id ?? ''), name: String(wire.name ?? ''), text: '' }
    if (wire.type === 'function_call')
      on({ type: 'tool-call', id: items[at].id, name: realName(items[at].name, request.tools) })
  }
  const grow = (at: number, delta: unknown, type: Item['type']) => {
    if (typeof delta !== 'string') return
    items[at] ??= { type, id: '', name: '', text: '' }
    items[at].text += delta
    if (type === 'message') on({ type: 'text', text: delta })
  }
  /** The whole item at its end goes before the pieces; a server that sends no pieces is heard here. */
  const finish = (at: number, wire: JsonObject) => {
    const known = items[at]
    if (!known) start(at, wire)
    const item = items[at]!
    if (wire.type === 'reasoning') item.wire = wire
    if (wire.type === 'function_call' && typeof wire.arguments === 'string') item.text = wire.arguments
    if (wire.type !== 'message' || item.text !== '') return
    grow(at, partsOf(wire.content), 'message')
  }
  const complete = (response: unknown) => {
    if (!isObject(response)) return
    if (typeof response.model === 'string') model = response.model
    count(response.usage)
    if (response.error) trouble = broken(response.error, host)
    const output: unknown[] = Array.isArray(response.output) ? response.output : []
    for (const [at, item] of output.entries()) if (isObject(item) && !isWhole(items[at])) finish(at, item)
    const reason = isObject(response.incomplete_details) ? response.incomplete_details.reason : undefined
    if (reason !== undefined) stop = reason === 'content_filter' ? 'refusal' : 'max_tokens'
    ended = true
  }
  const isWhole = (item: Item | undefined) => item !== undefined && (item.text !== '' || item.wire !== undefined)

  const events: Record<string, (event: JsonObject) => void> = {
    'response.output_item.added': ({ output_index, item }) => {
      if (isObject(item)) start(Number(output_index), item)
    },
    'response.output_text.delta': ({ output_index, delta }) => grow(Number(output_index), delta, 'message'),
    'response.refusal.delta': ({ output_index, delta }) => {
      grow(Number(output_index), delta, 'message')
      stop = 'refusal'
    },
    'response.function_call_arguments.delta': ({ output_index, delta }) =>
      grow(Number(output_index), delta, 'function_call'),
    'response.reasoning_summary_text.delta': ({ delta }) => {
      if (typeof delta === 'string') on({ type: 'thinking', text: delta })
    },
    'response.output_item.done': ({ output_index, item }) => {
      if (isObject(item)) finish(Number(output_index), item)
    },
    'response.completed': ({ response }) => complete(response),
    'response.incomplete': ({ response }) => complete(response),
    'response.failed': ({ response }) => {
      complete(response)
      trouble ??= broken(undefined, host)
    },
    error: (event) => {
      trouble = broken(event.error ?? event, host)
    },
  }

  return {
    event(data) {
      if (data === '[DONE]') return true
      const event: unknown = JSON.parse(data)
      if (isObject(event) && typeof event.type === 'string' && Object.hasOwn(events, event.type))
        events[event.type]!(event)
      return ended || trouble !== undefined
    },
    whole(message) {
      if (Array.isArray(message.output)) complete(message)
      else if (message.error) trouble = broken(message.error, host)
    },
    trouble: () => trouble,
    complete: () => ended,
    reply() {
      const content = items.flatMap((item): Reply['content'] => {
        if (item.wire) return [{ type: 'reasoning', model: request.model, wire: item.wire }]
        if (item.type === 'function_call') return [toolUse(item.id, realName(item.name, request.tools), item.text)]
        return item.type === 'message' && item.text !== '' ? [{ type: 'text', text: item.text }] : []
      })
      return { content: withFreshIds(content, request), stop: stopOf(stop, content), usage, model }
    },
  }
}

/** The text of a message's parts; a refusal is text too. */
const partsOf = (content: unknown): string =>
  (Array.isArray(content) ? content.filter(isObject) : [])
    .map(({ text, refusal }) => (typeof text === 'string' ? text : typeof refusal === 'string' ? refusal : ''))
    .join('')
