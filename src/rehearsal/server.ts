/**
 * The rehearsal model as a server on loopback. It speaks Chat Completions, Responses, Messages and Gemini, so that ona
 * and other coding agents can be driven by the same script without an account.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import type { Chat, Said } from './chat.ts'
import { chatCompletions } from './dialects/chat-completions.ts'
import type { Dialect, Reply, ServerEvent } from './dialects/dialect.ts'
import { gemini } from './dialects/gemini.ts'
import { messages } from './dialects/messages.ts'
import { responses } from './dialects/responses.ts'
import { asOffered } from './offered-tools.ts'

const dialects: readonly Dialect[] = [chatCompletions, messages, responses, gemini]

/** Decides what the model answers next in a conversation. */
export type Player = (chat: Chat) => Said | Promise<Said>

export interface Rehearsal {
  /** For ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL. */
  readonly url: string
  /** For LM_STUDIO_BASE_URL and OPENAI_BASE_URL: `url` with `/v1`. */
  readonly baseUrl: string
  /** For LM_STUDIO_MODEL. The server answers to every name; this is the one it lists. */
  readonly model: string
  close(): Promise<void>
}

export interface RehearsalOptions {
  /** The plain model by default. */
  readonly player?: Player
  /** Any free port by default. */
  readonly port?: number
  /** Sees every request before it is answered. */
  onRequest?(request: { readonly method: string; readonly path: string; readonly body: string }): void
}

/** Rejects only when the port is taken. */
export async function startRehearsal({ player, port = 0, onRequest }: RehearsalOptions = {}): Promise<Rehearsal> {
  const { createServer } = process.getBuiltinModule('node:http')
  const play = player ?? (async (chat: Chat) => (await import('./plain.ts')).plain(chat))
  const server = createServer((request, response) => {
    answer(request, response, { play, onRequest }).catch((cause: Error) => {
      const message = `the rehearsal model failed: ${cause.message}`
      json(response, 500, chatCompletions.failure({ status: 500, message }))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  // It must not keep a program alive that has nothing else to do.
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    baseUrl: `${url}/v1`,
    model: MODEL,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const MODEL = 'rehearsal'

interface Answering {
  readonly play: Player
  readonly onRequest: RehearsalOptions['onRequest']
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { play, onRequest }: Answering,
): Promise<void> {
  // A page in the user's browser must not be able to use it: browsers always send where they come from.
  if (request.headers.origin !== undefined) return json(response, 403, { error: { message: 'not for web pages' } })
  const { method = 'GET' } = request
  const path = (request.url ?? '').split('?')[0]!
  const text = await textOf(request)
  onRequest?.({ method, path, body: text ?? '' })
  if (method === 'GET' && /\/models$/.test(path)) return json(response, 200, modelList)
  const dialect = dialects.find((each) => each.path.test(path))
  const body = parsed(text)
  if (method === 'POST' && /(?:\/count_tokens|:countTokens)$/.test(path)) {
    const count = tokens(text ?? '')
    return json(response, 200, { input_tokens: count, totalTokens: count })
  }
  if (method !== 'POST' || !dialect)
    return json(response, 404, chatCompletions.failure({ status: 404, message: `nothing is served at ${path}` }))

  const chat = body && dialect.read(body, path)
  if (!chat) return json(response, 400, dialect.failure({ status: 400, message: 'the body is not a request' }))
  const said = await play(chat)
  if (said.fail) {
    if (said.fail.retryAfter !== undefined) response.setHeader('retry-after', String(said.fail.retryAfter))
    return json(response, said.fail.status, dialect.failure(said.fail))
  }
  const reply = replyOf(chat, said)
  if (!chat.stream) return json(response, 200, dialect.whole(reply, chat))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.end(dialect.events(reply, chat).map(written).join(''))
}

/** One list for all: OpenAI and Anthropic read `data`, Gemini `models`, Copilot CLI `capabilities`. */
const modelList = {
  object: 'list',
  data: [
    {
      id: MODEL,
      object: 'model',
      type: 'model',
      name: MODEL,
      display_name: 'Rehearsal (scripted, not a language model)',
      created: 0,
      created_at: '2025-01-01T00:00:00Z',
      owned_by: 'ona: scripted, not a language model',
      capabilities: { type: 'chat', supports: { tool_calls: true, streaming: true }, limits: {} },
    },
  ],
  models: [{ name: `models/${MODEL}`, supportedGenerationMethods: ['generateContent'] }],
  has_more: false,
}

let replies = 0

function replyOf({ model, messages, tools }: Chat, { text = '', calls = [] }: Said): Reply {
  const count = ++replies
  const id = `${process.pid.toString(36)}_${count}`
  return {
    id,
    model,
    created: Math.floor(Date.now() / 1000),
    text,
    calls: calls.map((call, index) => ({ id: `call_${id}_${index + 1}`, ...asOffered(call, tools) })),
    usage: {
      input: messages.reduce((sum, message) => sum + tokens(message.text), 0),
      output: tokens(text) + calls.length * 20,
    },
  }
}

/** As good a guess as any for a model that has no tokens. */
const tokens = (text: string): number => Math.ceil(text.length / 4)

const written = ({ event, data }: ServerEvent): string =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** Undefined when it is too large. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > 64 * 1024 * 1024) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parsed(text: string | undefined): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(text ?? '')
    return isObject(body) ? body : undefined
  } catch {
    return undefined // answered with status 400
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
