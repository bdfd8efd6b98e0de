/** Requests read within limits, and answers. What is too big, too slow or not understood is refused. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGunzip, createInflate } from 'node:zlib'
import { limits } from '../wire.ts'

/** Refuses a request: the status and a sentence for whoever sent it. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly more: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  constructor(
    status: number,
    why: string,
    more: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(why)
    this.status = status
    this.more = more
    this.headers = headers
  }
}

export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly address: string
  /** As it came, perhaps compressed. */
  readonly raw: Buffer
}

export interface Answer {
  readonly status: number
  readonly body?: unknown
  /** Sent as it is. */
  readonly text?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What is known before the body is read: enough to refuse strangers without reading theirs. */
export type Head = Omit<Asked, 'raw'>

export function headOf(request: IncomingMessage): Head {
  const { method = 'GET', url = '/', headers, socket } = request
  const parsed = url.startsWith('/') ? URL.parse(url, 'http://fleet') : null
  if (!parsed) throw new Refused(400, 'the address is not valid')
  return { method, path: url, url: parsed, headers, address: socket.remoteAddress ?? '' }
}

export async function readBody(request: IncomingMessage, most: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooBig(most)
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > most) throw tooBig(most)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const tooBig = (most: number) =>
  new Refused(413, `the request is longer than ${most} bytes; send smaller batches`, {}, { connection: 'close' })

/** The body, inflated where it is compressed; a small body that would become a huge one is refused on the way. */
export async function bodyOf({ raw, headers }: Asked, most: number = limits.inflatedBytes): Promise<Buffer> {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') {
    if (raw.length > most) throw tooBig(most)
    return raw
  }
  if (encoding !== 'gzip' && encoding !== 'deflate')
    throw new Refused(415, `content-encoding ${encoding} is not understood; use gzip`)
  const inflating = encoding === 'gzip' ? createGunzip() : createInflate()
  const pieces: Buffer[] = []
  let size = 0
  inflating.end(raw)
  try {
    for await (const piece of inflating as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > most) throw tooBig(most)
      pieces.push(piece)
    }
  } catch (cause) {
    if (cause instanceof Refused) throw cause
    throw new Refused(400, 'the body is not valid gzip')
  }
  return Buffer.concat(pieces)
}

export async function jsonOf(asked: Asked, most?: number): Promise<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse((await bodyOf(asked, most)).toString('utf8'))
  } catch (cause) {
    if (cause instanceof Refused) throw cause
    throw new Refused(400, 'the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refused(400, 'the body must be a JSON object')
  return value as Record<string, unknown>
}

export function send(response: ServerResponse, { status, body, text, type, headers = {} }: Answer): void {
  const payload = text ?? (body === undefined ? '' : `${JSON.stringify(body)}\n`)
  response.writeHead(status, {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'content-type': type ?? 'application/json',
    'content-length': Buffer.byteLength(payload),
    ...headers,
  })
  response.end(payload)
}

/** A field of a body, as the type that it must be. */
export const field = {
  text(body: Record<string, unknown>, name: string, most = 10_000): string {
    const value = body[name]
    if (typeof value !== 'string' || value.length > most || value.includes('\0'))
      throw new Refused(400, `"${name}" must be a text of at most ${most} characters`)
    return value
  },
  optional(body: Record<string, unknown>, name: string, most = 10_000): string | undefined {
    return body[name] === undefined || body[name] === null ? undefined : field.text(body, name, most)
  },
  count(body: Record<string, unknown>, name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
    const value = body[name]
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most)
      throw new Refused(400, `"${name}" must be a whole number from ${least} to ${most}`)
    return value
  },
  number(body: Record<string, unknown>, name: string): number | undefined {
    const value = body[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'number' || !Number.isFinite(value)) throw new Refused(400, `"${name}" must be a number`)
    return value
  },
  texts(body: Record<string, unknown>, name: string, most = 100): string[] {
    const value = body[name] ?? []
    if (
      !Array.isArray(value) ||
      value.length > most ||
      value.some((each) => typeof each !== 'string' || each.length > 500)
    )
      throw new Refused(400, `"${name}" must be a list of at most ${most} texts`)
    return value
  },
  uuid(body: Record<string, unknown>, name: string): string {
    const value = body[name]
    if (typeof value !== 'string' || !uuidPattern.test(value)) throw new Refused(400, `"${name}" must be a UUID`)
    return value
  },
}

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
