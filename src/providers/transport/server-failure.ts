/** What a server's refusal means: one table for both dialects, by error type first and HTTP status second. */
import type { IncomingHttpHeaders } from 'node:http'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { ModelFailure } from '../model.ts'

/** A failure, and whether asking again may help. */
export interface Trouble {
  readonly failure: ModelFailure
  readonly again: boolean
}

type Kind = ModelFailure['kind']

export const trouble = (kind: Kind, message: string, again = retried.has(kind)): Trouble => ({
  failure: { kind, message },
  again,
})

/** A reply whose status was not 200. */
export function refused(status: number, headers: IncomingHttpHeaders, body: string, host: string): Trouble {
  const error = errorOf(body)
  const { type, code, message } = error
  const tooLong = overflowIn(error) ?? (status === 413 ? { contextOverflow: true } : undefined)
  const isTooLong = tooLong !== undefined
  const named = kindOf(type, code, message)
  // "some error" in the body says less than the status: a 401 stays a 401 and is not asked again
  const kind = isTooLong ? 'invalid-request' : named && named !== 'server' ? named : kindOfStatus(status)
  const retryAfterMs = retryAfter(headers)
  const should = headers['x-should-retry']
  return {
    failure: {
      kind,
      message: `${host} answered ${status}${message ? `: ${message}` : ''}`,
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...tooLong,
    },
    again:
      !isTooLong &&
      (should === 'true' || (should !== 'false' && (retried.has(kind) || status === 408 || status === 409))),
  }
}

/** The model stopped because there was no room left: as good as a request that is too long. */
export const windowFull = (host: string): Trouble => ({
  failure: {
    kind: 'invalid-request',
    message: `${host}: the reply did not fit into the model's window`,
    contextOverflow: true,
  },
  again: false,
})

/** An error that came inside a stream whose status was 200. */
export function broken(error: unknown, host: string): Trouble {
  const words = parts(error)
  const { type, code, message } = words
  const tooLong = overflowIn(words)
  const kind = tooLong ? 'invalid-request' : (kindOf(type, code, message) ?? 'server')
  return {
    failure: {
      kind,
      message: `${host} broke off${type ? ` (${type})` : ''}${message ? `: ${message}` : ''}`,
      ...tooLong,
    },
    again: retried.has(kind),
  }
}

const retried: ReadonlySet<Kind> = new Set(['rate-limit', 'overloaded', 'server', 'network'])
/** What servers say of a request that does not fit the window. The test names them. */
const overflow = new RegExp(
  [
    'context_length_exceeded',
    'context_window_exceeded',
    'exceed_context_size',
    'request[ _]too[ _]large',
    'prompt (?:is )?too long',
    'input is too long',
    'maximum (?:context|prompt|allowed input) length',
    'exceed(?:s|ed)? (?:the |this )?(?:available |model )?context',
    'number of (?:input )?tokens(?! per)[^.]{0,40} exceed',
    'exceeds the maximum number of tokens',
    'prompt exceeds max length',
    'token count of \\d+ exceeds the limit of \\d+',
    'exceed the configured limit of \\d+ tokens',
    'exceeded model token limit',
    'context size has been exceeded',
    'context window exceeds',
    'context the overflows',
    "(?:greater|longer) than the (?:model's )?context length",
    'longer than the maximum model length',
    'reduce the length of the messages',
    'range of input length',
    'inputs\\W+(?:must have less than \\d+ tokens|tokens \\+ \\W?max_new_tokens\\W+must be <= \\d+)',
    'n_keep \\(\\d+\\) >= n_ctx',
  ].join('|'),
  'i',
)

/** No model reads less: a smaller number counts something else. */
const leastWindow = 1024
/** Around the number of tokens that the model can read. */
const windowIn = new RegExp(
  [
    '(?:>|length of only|length of|(?<!current )length is|length:|limit of|limit is|token limit:|less than|<=) (\\d+)',
    '(?:context length|size|allowed|window limit) \\(?(\\d+)',
    '(?:limit|exceed) (\\d+)',
    'n_ctx:? \\(?(\\d+)',
    'context window of (\\d+)',
    'with (\\d+) maximum context',
    '\\[1, (\\d+)\\]',
  ].join('|'),
  'i',
)

function overflowIn({
  type,
  code,
  message,
  window,
}: ErrorParts): Pick<ModelFailure, 'contextOverflow' | 'contextWindow'> | undefined {
  if (!overflow.test(`${type} ${code} ${message}`)) return undefined
  const contextWindow = window ?? Number(windowIn.exec(message)?.slice(1).find(Boolean))
  return { contextOverflow: true, ...(contextWindow >= leastWindow && { contextWindow }) }
}

const kinds: Record<string, Kind> = {
  authentication_error: 'authentication',
  permission_error: 'authentication',
  invalid_api_key: 'authentication',
  billing_error: 'billing',
  insufficient_quota: 'billing',
  rate_limit_error: 'rate-limit',
  rate_limit_exceeded: 'rate-limit',
  overloaded_error: 'overloaded',
  invalid_request_error: 'invalid-request',
  not_found_error: 'invalid-request',
  request_too_large: 'invalid-request',
  model_not_found: 'invalid-request',
  context_length_exceeded: 'invalid-request',
  api_error: 'server',
  timeout_error: 'server',
  server_error: 'server',
}

function kindOf(type: string, code: string, message: string): Kind | undefined {
  if (/credit balance is too low/i.test(message)) return 'billing'
  return kinds[code] ?? kinds[type]
}

function kindOfStatus(status: number): Kind {
  if (status === 401 || status === 403) return 'authentication'
  if (status === 402) return 'billing'
  if (status === 429) return 'rate-limit'
  if (status === 503 || status === 529) return 'overloaded'
  if (status >= 500) return 'server'
  if (status >= 300) return 'invalid-request'
  return 'unknown'
}

interface ErrorParts {
  readonly type: string
  readonly code: string
  readonly message: string
  /** Tokens that the model can read. */
  readonly window?: number
}

function errorOf(body: string): ErrorParts {
  try {
    const parsed: unknown = JSON.parse(body)
    const first = Array.isArray(parsed) ? parsed[0] : parsed // as Gemini's OpenAI-compatible endpoint sends it
    return isObject(first) ? parts(first.error ?? first) : parts(undefined)
  } catch {
    // Not JSON: a proxy's page. Its words, without its markup, still say more than nothing.
    return { type: '', code: '', message: short(body.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')) }
  }
}

function parts(error: unknown): ErrorParts {
  if (typeof error === 'string') return { type: '', code: '', message: short(error) }
  const fields: JsonObject = isObject(error) ? error : {}
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  // OpenRouter's own message does not say what the provider's did
  const raw = isObject(fields.metadata) ? text(fields.metadata.raw) : ''
  const message = short([text(fields.message) || listed(fields), raw].filter(Boolean).join(': '))
  const { n_ctx: window } = fields
  return { type: text(fields.type), code: text(fields.code), message, ...(typeof window === 'number' && { window }) }
}

/** As FastAPI and Cloudflare say it: what else is in the list may be the request itself. */
function listed({ detail, errors }: JsonObject): string {
  if (typeof detail === 'string') return detail
  const first = [detail, errors].flat().find(isObject)
  const said = first?.msg ?? first?.message
  return typeof said === 'string' ? said : ''
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}

function retryAfter(headers: IncomingHttpHeaders): number | undefined {
  const ms = Number(headers['retry-after-ms'])
  if (headers['retry-after-ms'] && Number.isFinite(ms) && ms >= 0) return ms
  const value = headers['retry-after']
  if (!value) return undefined
  const delay = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(delay) ? Math.max(0, Math.round(delay)) : undefined
}
