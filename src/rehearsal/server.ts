/** The rehearsal model as a server: Chat Completions on loopback, reached through `lm_studio_local` like any other. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Chat, readChat, type Said, streamedReply, wholeReply } from './chat.ts'

/** Says what comes next in a conversation. */
export type Player = (chat: Chat) => Said | Promise<Said>

export interface Rehearsal {
  /** For LM_STUDIO_BASE_URL. */
  readonly baseUrl: string
  /** For LM_STUDIO_MODEL. */
  readonly model: string
  close(): Promise<void>
}

export interface RehearsalOptions {
  /** Who answers; the plain model when nobody is named. */
  readonly player?: Player
  /** Any free one when not given. */
  readonly port?: number
}

/** Rejects only when the port is taken. */
export async function startRehearsal({ player, port = 0 }: RehearsalOptions = {}): Promise<Rehearsal> {
  const { createServer } = process.getBuiltinModule('node:http')
  const play = player ?? (async (chat: Chat) => (await import('./plain.ts')).plain(chat))
  const server = createServer((request, response) => {
    answer(request, response, play).catch((cause: Error) =>
      json(response, 500, { error: { message: `the rehearsal model failed: ${cause.message}`, type: 'server_error' } }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  // It must not keep a program alive that has nothing else to do.
  server.unref()
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: MODEL,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const MODEL = 'rehearsal'

async function answer(request: IncomingMessage, response: ServerResponse, play: Player): Promise<void> {
  // A page in the person's browser must not be able to use it: browsers always send where they come from.
  if (request.headers.origin !== undefined) return json(response, 403, { error: { message: 'not for web pages' } })
  const path = (request.url ?? '').split('?')[0]
  if (request.method === 'GET' && path === '/v1/models') {
    const about = { id: MODEL, object: 'model', created: 0, owned_by: 'ona: scripted, not a language model' }
    return json(response, 200, { object: 'list', data: [about] })
  }
  if (request.method !== 'POST' || path !== '/v1/chat/completions')
    return json(response, 404, { error: { message: `there is nothing at ${path}`, type: 'not_found_error' } })

  const chat = readChat(await bodyOf(request))
  if (!chat) return json(response, 400, { error: { message: 'messages is missing', type: 'invalid_request_error' } })
  const said = await play(chat)
  if (said.fail) {
    if (said.fail.retryAfter !== undefined) response.setHeader('retry-after', String(said.fail.retryAfter))
    return json(response, said.fail.status, { error: { message: said.fail.message } })
  }
  if (!chat.stream) return json(response, 200, wholeReply(chat, said))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.end(streamedReply(chat, said))
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > 64 * 1024 * 1024) return undefined
    pieces.push(piece)
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch {
    return undefined // answered with status 400
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
