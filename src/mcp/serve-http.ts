/** Our tools over Streamable HTTP, on loopback: for clients that cannot start a process. */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { mcpServer, type Served } from './serve.ts'

export interface HttpOptions {
  /** 0 for any free port. */
  readonly port: number
  /** What the client must send as `Authorization: Bearer`; undefined for none. */
  readonly token: string | undefined
  readonly signal: AbortSignal
  onListening(url: string): void
}

/** No request is larger. */
const mostBytes = 16 * 1_048_576

/** Serves until the signal arrives. Rejects when the port is taken. */
export async function serveHttp(served: Served, { port, token, signal, onListening }: HttpOptions): Promise<void> {
  const server = createServer((request, response) => {
    answer(served, request, response, token).catch(() => {
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  onListening(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  server.close()
  server.closeAllConnections()
}

/** Each request has a server of its own: the session that counts is ona's, and all clients share it. */
async function answer(
  served: Served,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  token: string | undefined,
): Promise<void> {
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  const body = await bodyOf(incoming)
  if (body === undefined) return void outgoing.writeHead(413).end()
  const request = new Request(`http://${incoming.headers.host ?? '127.0.0.1'}${incoming.url ?? '/'}`, {
    method: incoming.method ?? 'GET',
    headers: Object.entries(incoming.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
    ),
    ...(body !== '' && { body }),
    signal: gone.signal,
  })
  const rejected =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    refusal(request, token)
  const response = rejected ?? (await handled(served, request))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body) for await (const chunk of response.body) outgoing.write(chunk)
  outgoing.end()
}

function refusal(request: Request, token: string | undefined): Response | undefined {
  if (new URL(request.url).pathname !== '/mcp') return new Response(null, { status: 404 })
  if (token === undefined) return undefined
  const given = Buffer.from(request.headers.get('authorization') ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  const isRight = given.length === wanted.length && timingSafeEqual(given, wanted)
  return isRight ? undefined : new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
}

async function handled(served: Served, request: Request): Promise<Response> {
  const server = mcpServer(served)
  const transport = new WebStandardStreamableHTTPServerTransport({})
  await server.connect(transport)
  return transport.handleRequest(request)
}

/** Undefined when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > mostBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
