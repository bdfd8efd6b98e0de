/** A server on loopback for the tests of what speaks HTTP: each request gets the next answer of a list. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Answer = (response: ServerResponse, request: Seen) => void

export interface WireServer {
  readonly url: string
  readonly seen: Seen[]
  /** How many connections were opened. */
  connections(): number
  /** Closes the connections that are kept for later. */
  dropIdle(): void
  close(): Promise<void>
}

/** The last answer is given again when there are more requests than answers. */
export async function wireServer(...answers: Answer[]): Promise<WireServer> {
  const { createServer } = process.getBuiltinModule('node:http')
  const seen: Seen[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one: Seen = { method, path: url, headers, body: Buffer.concat(pieces).toString('utf8') }
      const answer = answers[Math.min(seen.length, answers.length - 1)]!
      seen.push(one)
      answer(response, one)
    })
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    connections: () => connections,
    dropIdle: () => server.closeIdleConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** An event stream, sent in these pieces one after another. */
export const stream =
  (pieces: readonly (string | Buffer)[], type = 'text/event-stream'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': type })
    const next = (at: number): void => {
      const piece = pieces[at]
      if (piece === undefined) response.end()
      else response.write(piece, () => setImmediate(next, at + 1))
    }
    next(0)
  }

/** A stream whose connection is gone after these bytes. */
export const cut =
  (bytes: Buffer): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    response.write(bytes, () => response.destroy())
  }

/** Sends this much and then nothing, for ever. */
export const stall =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text || ': waiting\n\n')
  }

export const status =
  (code: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
