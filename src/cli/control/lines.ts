/** A line on stdin with `--input-format stream-json`: a user message, a control request, or an answer to one of ours. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { Block } from '../../hooks/steps.ts'
import { readJson } from '../../hooks/text/json-text.ts'

export type StreamLine =
  | PromptLine
  | ControlLine
  | AnswerLine
  | { readonly kind: 'nothing' }
  | { readonly kind: 'wrong'; readonly why: string }

export interface PromptLine {
  readonly kind: 'prompt'
  readonly text: string
  readonly images: readonly Block[]
  readonly message: JsonObject
}

export interface ControlLine {
  readonly kind: 'control'
  readonly id: string
  readonly request: JsonObject
}

export interface AnswerLine {
  readonly kind: 'answer'
  readonly id: string
  readonly answer: { readonly value: unknown } | { readonly problem: string }
}

/** Messages about the stream itself; nothing to do for them. */
const ignored = ['keep_alive', 'control_cancel_request', 'update_environment_variables']

export function readStreamLine(line: string): StreamLine {
  if (line.trim() === '') return { kind: 'nothing' }
  const read = readJson(line)
  if (!read.ok) return { kind: 'wrong', why: `a line on stdin is not JSON: ${read.why}` }
  const message = read.value
  if (!isObject(message)) return { kind: 'wrong', why: 'a line on stdin must be a JSON object' }
  const { type } = message
  if (ignored.includes(String(type))) return { kind: 'nothing' }
  if (type === 'control_response')
    return isObject(message['response']) ? answerOf(message['response']) : { kind: 'nothing' }
  if (type === 'control_request' && isObject(message['request']))
    return {
      kind: 'control',
      id: typeof message['request_id'] === 'object' ? '' : String(message['request_id'] ?? ''),
      request: message['request'],
    }
  const content = type === 'user' && isObject(message['message']) ? message['message']['content'] : undefined
  if (typeof content === 'string') return { kind: 'prompt', text: content, images: [], message }
  if (!Array.isArray(content))
    return { kind: 'wrong', why: 'a line on stdin must be {"type":"user","message":{"role":"user","content":…}}' }
  const blocks = content.filter(isObject)
  const text = blocks
    .map(({ type, text: words }) => (type === 'text' && typeof words === 'string' ? words : ''))
    .join('')
  return { kind: 'prompt', text, images: blocks.flatMap(imageOf), message }
}

const answerOf = ({ request_id, subtype, response, error }: JsonObject): AnswerLine => ({
  kind: 'answer',
  id: String(request_id),
  answer:
    subtype === 'error' ? { problem: typeof error === 'string' ? error : JSON.stringify(error) } : { value: response },
})

function imageOf({ type, source }: JsonObject): Block[] {
  if (type !== 'image' || !isObject(source) || source['type'] !== 'base64') return []
  return [{ type: 'image', mimeType: String(source['media_type']), data: String(source['data']) }]
}
