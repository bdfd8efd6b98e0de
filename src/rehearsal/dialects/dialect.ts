/** What a wire dialect of the rehearsal server is: how a request is read and how a reply is written. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { Chat, ChatTool, Failure, MadeCall } from '../chat.ts'

export interface Dialect {
  /** Matches the path of a request, without its query. */
  readonly path: RegExp
  /** Undefined when the body is not a request of this dialect. */
  read(body: JsonObject, path: string): Chat | undefined
  /** The reply as one JSON object. */
  whole(reply: Reply, chat: Chat): unknown
  /** The same as server-sent events. */
  events(reply: Reply, chat: Chat): readonly ServerEvent[]
  failure(failure: Failure): unknown
}

export interface ServerEvent {
  readonly event?: string
  /** Sent as JSON unless it is a string. */
  readonly data: unknown
}

export interface Reply {
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
  readonly text: string
  readonly calls: readonly OfferedCall[]
  readonly usage: { readonly input: number; readonly output: number }
}

/** A call and, where the request offered it, the tool it is for. */
export interface OfferedCall extends MadeCall {
  readonly tool?: ChatTool
}

/** Words of a text one by one, as a model streams them. */
export const pieces = (text: string): string[] => (text.match(/\S*\s*/g) ?? []).filter((piece) => piece !== '')

export const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const object = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** A string, or the texts of a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n')
}

/** The arguments of a call that stands in the history, as JSON text. */
export function argumentsOf(text: unknown): Record<string, unknown> {
  try {
    return object(JSON.parse(String(text)))
  } catch {
    return {} // the model wrote something other than JSON; players only look at the name of such a call
  }
}

/** A tool's result as text; the dialects without an error flag mark errors in the text. */
export function resultOf(id: string, text: string): { role: 'tool'; id: string; text: string; isError: boolean } {
  if (text.startsWith('Error: ')) return { role: 'tool', id, text: text.slice(7), isError: true }
  return { role: 'tool', id, text, isError: failedCommand.test(text) }
}

/** Codex and Gemini CLI put the exit code of a command into its output. */
const failedCommand = /^(?:Exit code|Exit Code|Process exited with code):? -?[1-9]/m

/** `error.type` of Anthropic and OpenAI. */
export const errorType = (status: number): string =>
  errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')

const errorTypes: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}
