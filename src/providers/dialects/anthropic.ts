/** Anthropic's Messages API. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { ContentBlock, ModelRequest, ModelUsage, Part, Reply } from '../model.ts'
import { broken, type Trouble, windowFull } from '../transport/server-failure.ts'
import { searchTool, sourcesReader } from './anthropic-search.ts'
import { asNumber, type Dialect, noUsage, type ReplyReader, stopOf, toolUse, withFreshIds } from './dialect.ts'
import { bytesOf, bytesOnce, conversationBytes, toolsField } from './request-bytes.ts'
import { realName, wireName } from './tool-names.ts'

export function anthropic({
  host,
  betas = [],
  headers,
}: {
  host: string
  betas?: readonly string[]
  headers: Record<string, string>
}): Dialect {
  return {
    path: '/v1/messages',
    modelsPath: '/v1/models?limit=1000',
    headers: ({ key, bearer, beta }) => ({
      'anthropic-version': '2023-06-01',
      ...(key && { 'x-api-key': key }),
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...betaHeader([beta, ...betas, headers['anthropic-beta']]),
      ...withoutBeta(headers),
    }),
    body,
    reader: (request, on) => reader(request, on, host),
    adapt: () => false,
  }
}

const betaHeader = (betas: readonly (string | undefined)[]): Record<string, string> => {
  const named = betas.filter((beta) => beta)
  return named.length === 0 ? {} : { 'anthropic-beta': named.join(',') }
}

const withoutBeta = ({ 'anthropic-beta': _beta, ...headers }: Record<string, string>) => headers

const cacheHere = ',"cache_control":{"type":"ephemeral"}'

function body(request: ModelRequest): Buffer[] {
  const { model, maxTokens, system, tools, webSearch, messages } = request
  const written = writtenMessages(messages).subarray(1)
  return bytesOf(
    `{"model":${JSON.stringify(model)},"max_tokens":${maxTokens},"stream":true`,
    reasoningFields(request),
    writtenSystem(system),
    webSearch ? searchTool(webSearch) : writtenTools(tools),
    ',"messages":[',
    // Everything up to here is what the next request will begin with. A message ends in `}]}`: the mark goes into its last block.
    ...(written.length > 0 ? [written.subarray(0, -3), cacheHere, '}]}'] : []),
    ']}',
  )
}

function reasoningFields({ thinking, effort }: ModelRequest): string {
  const wire = thinking?.type === 'budget' ? { type: 'enabled', budget_tokens: thinking.tokens } : thinking
  return (
    (wire ? `,"thinking":${JSON.stringify(wire)}` : '') +
    (effort ? `,"output_config":${JSON.stringify({ effort })}` : '')
  )
}

const writtenMessages = conversationBytes(({ role, content }) => {
  const blocks = content.map(wireBlock).filter((block) => block !== undefined)
  return blocks.length === 0 ? '' : JSON.stringify({ role, content: blocks })
})

function wireBlock(block: ContentBlock): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? undefined : { type: 'text', text: block.text }
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: block.mediaType, data: block.data } }
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: wireName(block.name), input: block.input }
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: block.tool_use_id,
        content: block.content,
        ...(block.is_error && { is_error: true }),
      }
    case 'reasoning':
      return block.wire.type === 'reasoning' ? undefined : block.wire
  }
}

const writtenSystem = bytesOnce((system: ModelRequest['system']) => {
  const sections = system.filter(({ text }) => text.trim() !== '')
  const marked = sections.findLastIndex(({ cache }) => cache)
  const blocks = sections.map(({ text }, index) => ({
    type: 'text',
    text,
    ...(index === marked && { cache_control: { type: 'ephemeral' } }),
  }))
  return blocks.length === 0 ? '' : `,"system":${JSON.stringify(blocks)}`
})

const writtenTools = toolsField(({ name, description, inputSchema }) => ({
  name: wireName(name),
  description,
  input_schema: inputSchema,
}))

const stops: Record<string, Reply['stop']> = {
  end_turn: 'end_turn',
  stop_sequence: 'end_turn',
  pause_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  refusal: 'refusal',
}

interface Block {
  readonly type: string
  readonly id: string
  readonly name: string
  /** A text block's text, a call's arguments as they were written, or a thought. */
  text: string
  /** Of a thought: what proves that it is the model's own. */
  signature: string
  /** A thought that the server keeps to itself. */
  readonly redacted?: string
}

function reader(request: ModelRequest, on: (part: Part) => void, host: string): ReplyReader {
  const blocks: Block[] = []
  const sources = request.webSearch && sourcesReader()
  let usage: ModelUsage = noUsage
  let model = request.model
  let stop: Reply['stop'] | undefined
  let ended = false
  let trouble: Trouble | undefined

  const count = (wire: unknown) => {
    if (!isObject(wire)) return
    usage = {
      inputTokens: asNumber(wire.input_tokens) ?? usage.inputTokens,
      outputTokens: asNumber(wire.output_tokens) ?? usage.outputTokens,
      cacheReadTokens: asNumber(wire.cache_read_input_tokens) ?? usage.cacheReadTokens,
      cacheWriteTokens: asNumber(wire.cache_creation_input_tokens) ?? usage.cacheWriteTokens,
    }
  }
  const start = (index: number, wire: JsonObject) => {
    sources?.block(wire)
    const given = wire.input
    const block: Block = {
      type: String(wire.type),
      id: String(wire.id ?? ''),
      name: realName(String(wire.name ?? ''), request.tools),
      text:
        wire.type === 'tool_use'
          ? hasKeys(given)
            ? JSON.stringify(given)
            : ''
          : String(wire.text ?? wire.thinking ?? ''),
      signature: String(wire.signature ?? ''),
      ...(typeof wire.data === 'string' && { redacted: wire.data }),
    }
    blocks[index] = block
    if (block.type === 'tool_use') on({ type: 'tool-call', id: block.id, name: block.name })
    else if (block.type === 'text' && block.text !== '') on({ type: 'text', text: block.text })
  }
  const grow = (index: number, delta: JsonObject) => {
    const block = blocks[index]
    if (delta.type === 'citations_delta') sources?.citation(delta.citation)
    if (typeof delta.text === 'string') {
      if (block) block.text += delta.text
      else blocks[index] = { type: 'text', id: '', name: '', text: delta.text, signature: '' }
      on({ type: 'text', text: delta.text })
    } else if (typeof delta.partial_json === 'string') {
      if (block) block.text += delta.partial_json
    } else if (typeof delta.thinking === 'string') {
      if (block) block.text += delta.thinking
      on({ type: 'thinking', text: delta.thinking })
    } else if (typeof delta.signature === 'string' && block) block.signature += delta.signature
  }
  const finish = (wire: JsonObject) => {
    if (wire.stop_reason === 'model_context_window_exceeded') trouble = windowFull(host)
    if (typeof wire.stop_reason === 'string') stop = stops[wire.stop_reason] ?? 'end_turn'
  }

  const events: Record<string, (event: JsonObject) => void> = {
    message_start({ message }) {
      if (!isObject(message)) return
      if (typeof message.model === 'string') model = message.model
      count(message.usage)
    },
    content_block_start({ index, content_block }) {
      if (isObject(content_block)) start(Number(index), content_block)
    },
    content_block_delta({ index, delta }) {
      if (isObject(delta)) grow(Number(index), delta)
    },
    message_delta({ delta, usage }) {
      if (isObject(delta)) finish(delta)
      count(usage)
    },
    message_stop() {
      ended = true
    },
    error({ error }) {
      trouble = broken(error, host)
    },
  }

  return {
    event(data) {
      const event: unknown = JSON.parse(data)
      if (isObject(event) && typeof event.type === 'string' && Object.hasOwn(events, event.type))
        events[event.type]?.(event)
      return ended || trouble !== undefined
    },
    whole(message) {
      if (message.error) return events.error!(message)
      if (!Array.isArray(message.content)) return
      if (typeof message.model === 'string') model = message.model
      for (const [index, block] of message.content.entries()) if (isObject(block)) start(index, block)
      count(message.usage)
      finish(message)
      ended = true
    },
    trouble: () => trouble,
    complete: () => ended,
    reply() {
      const content = blocks.flatMap((block): Reply['content'] => {
        if (block.type === 'tool_use') return [toolUse(block.id, block.name, block.text)]
        const wire = thoughtOf(block)
        if (wire) return [{ type: 'reasoning', model: request.model, wire }]
        return block.type === 'text' && block.text !== '' ? [{ type: 'text', text: block.text }] : []
      })
      return {
        content: withFreshIds(content, request),
        stop: stopOf(stop, content),
        usage,
        model,
        ...(sources && { webSearch: sources.all() }),
      }
    },
  }
}

/** A thought without its signature cannot be sent back. */
function thoughtOf({ type, text, signature, redacted }: Block): JsonObject | undefined {
  if (type === 'redacted_thinking') return { type, data: redacted }
  return type === 'thinking' && signature !== '' ? { type, thinking: text, signature } : undefined
}

const hasKeys = (value: unknown): value is JsonObject => isObject(value) && Object.keys(value).length > 0
