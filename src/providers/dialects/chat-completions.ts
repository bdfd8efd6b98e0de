/** Chat Completions, as OpenAI and the many servers that speak like it. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { ContentBlock, Message, ModelFailure, ModelRequest, ModelUsage, Part, Reply } from '../model.ts'
import { broken, type Trouble } from '../transport/server-failure.ts'
import { asNumber, type Dialect, noUsage, type ReplyReader, stopOf, toolUse, withFreshIds } from './dialect.ts'
import { bytesOf, conversationBytes, toolsField, withWholeCharacters } from './request-bytes.ts'
import { realName, wireName } from './tool-names.ts'

type LimitName = 'max_tokens' | 'max_completion_tokens'

export function openai({ host, headers }: { host: string; headers: Record<string, string> }): Dialect {
  // What this server has shown that it wants otherwise.
  let streamOptions = true
  let swapped = false

  function body({ model, maxTokens, system, tools, messages }: ModelRequest): Buffer[] {
    const usage = streamOptions ? ',"stream_options":{"include_usage":true}' : ''
    const first = writtenSystem(system)
    return bytesOf(
      `{"model":${JSON.stringify(model)},"${limitName(model, swapped)}":${maxTokens},"stream":true${usage}`,
      writtenTools(tools),
      ',"messages":[',
      first,
      writtenMessages(messages).subarray(first === '' ? 1 : 0),
      ']}',
    )
  }

  function adapt({ status, message }: ModelFailure): boolean {
    if (status !== 400 && status !== 422) return false
    if (streamOptions && /stream_options|include_usage/.test(message)) {
      streamOptions = false
      return true
    }
    if (!swapped && /max_(?:completion_)?tokens/.test(message) && unknownParameter.test(message)) {
      swapped = true
      return true
    }
    return false
  }

  return {
    path: '/chat/completions',
    modelsPath: '/models',
    headers: ({ key, bearer }) => ({ authorization: `Bearer ${bearer ?? key ?? ''}`, ...headers }),
    body,
    reader: (request, on) => reader(request, on, host),
    adapt,
  }
}

const unknownParameter = /unsupported|not supported|unknown|unrecogni[sz]ed|not permitted|not allowed|unexpected|extra/i

/** The newer name is demanded by OpenAI's reasoning models and unknown to many other servers. */
function limitName(model: string, swapped: boolean): LimitName {
  const names: [LimitName, LimitName] = ['max_tokens', 'max_completion_tokens']
  return names[Number(/^(?:o\d|gpt-5)/.test(model) !== swapped)]!
}

function writtenSystem(system: ModelRequest['system']): string {
  const content = system
    .map(({ text }) => text)
    .filter((text) => text.trim() !== '')
    .join('\n\n')
  return content === '' ? '' : JSON.stringify({ role: 'system', content })
}

/** One of ours may be several of theirs. */
const writtenMessages = conversationBytes((message) => {
  const wire = message.role === 'assistant' ? [fromAssistant(message)] : fromUser(message)
  const texts = wire.filter((each) => each !== undefined).map((each) => JSON.stringify(each))
  return texts.join(',')
})

function fromAssistant({ content }: Message): JsonObject | undefined {
  const text = joined(content)
  const calls = content
    .filter((block) => block.type === 'tool_use')
    .map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name: wireName(name), arguments: withWholeCharacters(JSON.stringify(input)) },
    }))
  if (text === '' && calls.length === 0) return undefined
  return { role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 && { tool_calls: calls }) }
}

function fromUser({ content }: Message): JsonObject[] {
  const results: JsonObject[] = content
    .filter((block) => block.type === 'tool_result')
    .map(({ tool_use_id, content, is_error }) => ({
      role: 'tool',
      tool_call_id: tool_use_id,
      content: is_error ? `Error: ${content}` : content,
    }))
  const text = joined(content)
  const images = content
    .filter((block) => block.type === 'image')
    .map(({ mediaType, data }) => ({ type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }))
  if (images.length > 0) {
    const words = text === '' ? [] : [{ type: 'text', text }]
    results.push({ role: 'user', content: [...words, ...images] })
  } else if (text !== '') results.push({ role: 'user', content: text })
  return results
}

const joined = (content: readonly ContentBlock[]): string =>
  content
    .filter((block) => block.type === 'text')
    .map(({ text }) => text)
    .filter((text) => text.trim() !== '')
    .join('\n\n')

const writtenTools = toolsField(({ name, description, inputSchema }) => ({
  type: 'function',
  function: { name: wireName(name), description, parameters: inputSchema },
}))

const stops: Record<string, Reply['stop']> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
}

interface Call {
  id: string
  name: string
  args: string
  announced: boolean
}

function reader(request: ModelRequest, on: (part: Part) => void, host: string): ReplyReader {
  let text = ''
  const calls: Call[] = []
  /** A server's index for a call, and where that call stands in `calls`. */
  const places = new Map<number, Call>()
  let usage: ModelUsage = noUsage
  let model = request.model
  let stop: Reply['stop'] | undefined
  let ended = false
  let trouble: Trouble | undefined

  const count = (wire: unknown) => {
    if (!isObject(wire)) return
    const prompt = asNumber(wire.prompt_tokens)
    const details = isObject(wire.prompt_tokens_details) ? wire.prompt_tokens_details : {}
    const cached = asNumber(details.cached_tokens)
    usage = {
      inputTokens: prompt === null ? usage.inputTokens : Math.max(0, prompt - (cached ?? 0)),
      outputTokens: asNumber(wire.completion_tokens) ?? usage.outputTokens,
      cacheReadTokens: cached ?? usage.cacheReadTokens,
      cacheWriteTokens: null,
    }
  }
  /** The call that a fragment belongs to: by index, unless the server gives several calls the same one, or none. */
  const callOf = (index: unknown, id: string, name: string): Call => {
    const known = typeof index === 'number' ? places.get(index) : calls.at(-1)
    const another = known && id !== '' && known.id !== '' && known.id !== id && name !== ''
    if (known && !another) return known
    const call: Call = { id: '', name: '', args: '', announced: false }
    calls.push(call)
    if (typeof index === 'number') places.set(index, call)
    return call
  }
  const fragment = (wire: JsonObject) => {
    const made = isObject(wire.function) ? wire.function : {}
    const id = typeof wire.id === 'string' ? wire.id : ''
    const name = typeof made.name === 'string' ? made.name : ''
    const call = callOf(wire.index, id, name)
    if (call.id === '') call.id = id
    // Most servers name the call once; some repeat the name, a few send it in pieces.
    if (name !== '' && name !== call.name) call.name = call.args === '' ? call.name + name : call.name || name
    if (typeof made.arguments === 'string') call.args += made.arguments
    else if (isObject(made.arguments)) call.args = JSON.stringify(made.arguments)
    if (!call.announced && call.args !== '') announce(call)
  }
  const announce = (call: Call) => {
    call.announced = true
    on({ type: 'tool-call', id: call.id, name: realName(call.name, request.tools) })
  }
  const grow = (delta: JsonObject) => {
    const piece = textOf(delta.content) || textOf(delta.refusal)
    if (piece !== '') {
      text += piece
      on({ type: 'text', text: piece })
    }
    const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning)
    if (thought !== '') on({ type: 'thinking', text: thought })
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) if (isObject(call)) fragment(call)
  }
  const chunk = (wire: JsonObject) => {
    if (wire.error) {
      trouble = broken(wire.error, host)
      return
    }
    if (typeof wire.model === 'string' && wire.model !== '') model = wire.model
    const choice: unknown = Array.isArray(wire.choices) ? wire.choices[0] : undefined
    if (isObject(choice)) {
      const said = choice.delta ?? choice.message
      if (isObject(said)) grow(said)
      if (typeof choice.finish_reason === 'string') {
        stop = stops[choice.finish_reason] ?? 'end_turn'
        for (const call of calls) if (!call.announced) announce(call)
      }
    }
    if (wire.usage) count(wire.usage)
  }

  return {
    event(data) {
      if (data === '[DONE]') ended = true
      else {
        const wire: unknown = JSON.parse(data)
        if (isObject(wire)) chunk(wire)
      }
      return ended || trouble !== undefined
    },
    whole(message) {
      chunk(message)
      ended = Array.isArray(message.choices)
    },
    trouble: () => trouble,
    complete: () => ended || stop !== undefined,
    reply() {
      const content: Reply['content'] = [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...calls.map((call) => toolUse(call.id, realName(call.name, request.tools), call.args)),
      ]
      return { content: withFreshIds(content, request), stop: stopOf(stop, content), usage, model }
    },
  }
}

/** Text, which a few servers send as a list of parts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}
