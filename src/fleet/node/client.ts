/** Requests to the service: signed by a node, or with a user's token. Every one has a time limit. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { limits, signRequest } from '../wire.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonObject
}

/** The service cannot be reached, or refuses. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  /** Trying again would change nothing. */
  readonly isFinal: boolean
  constructor(why: string, { isFinal = false } = {}) {
    super(why)
    this.isFinal = isFinal
  }
}

export interface Client {
  ask(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Reply>
}

export interface ClientOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The signature covers the body as sent. A clock that is wrong is corrected by the service's. */
export function nodeClient(
  { url, node, privateKey }: { url: string; node: string; privateKey: string },
  options: ClientOptions = {},
): Client {
  let offset = 0
  const once = async (
    method: string,
    path: string,
    body: object | undefined,
    more: Readonly<Record<string, string>>,
  ) => {
    const bytes = body === undefined ? Buffer.alloc(0) : gzipSync(JSON.stringify(body))
    const time = String(Date.now() + offset)
    const nonce = randomBytes(18).toString('base64url')
    const signature = signRequest(privateKey, { method, path, time, nonce, body: bytes })
    const signed = { 'ona-node': node, 'ona-time': time, 'ona-nonce': nonce, 'ona-signature': signature }
    const zipped: Record<string, string> =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    return exchange(url, method, path, bytes, { ...zipped, ...signed, ...more }, options)
  }
  return {
    async ask(method, path, body, headers = {}) {
      const reply = await once(method, path, body, headers)
      const { clock } = reply.body
      if (reply.status !== 401 || typeof clock !== 'number') return reply
      offset = clock - Date.now()
      return once(method, path, body, headers)
    },
  }
}

export const userClient = (url: string, token: string | undefined, options: ClientOptions = {}): Client => ({
  ask: (method, path, body, headers = {}) =>
    exchange(
      url,
      method,
      path,
      Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      options,
    ),
})

async function exchange(
  url: string,
  method: string,
  path: string,
  body: Buffer,
  headers: Record<string, string>,
  { timeoutMs = 60_000, signal }: ClientOptions,
): Promise<Reply> {
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(new URL(path, url), {
      method,
      headers,
      redirect: 'error', // a signed request or a token goes to nobody else
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    })
    const value = jsonIn(await boundedText(response))
    return { status: response.status, headers: response.headers, body: isObject(value) ? value : { list: value } }
  } catch (cause) {
    if (cause instanceof Unreachable) throw cause
    const { message, cause: inner } = cause as Error & { cause?: Error & { code?: string; errors?: Error[] } }
    const why = inner?.message || inner?.errors?.[0]?.message || inner?.code || message
    throw new Unreachable(`cannot reach ${url}: ${why}`)
  }
}

function jsonIn(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('what answers there is not the service of a fleet')
  }
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > limits.inflatedBytes) throw new Error('the answer is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** What the service says was wrong. */
export const whyOf = ({ status, body }: Reply): string =>
  typeof body['error'] === 'string' ? body['error'] : `the service answered ${status}`
