/** One request over HTTP and its reply as it comes in. Node's own client, loaded late; connections are kept over turns. */
import type { Agent, ClientRequest, IncomingHttpHeaders } from 'node:http'

export interface HttpClient {
  /** Must not throw: what goes wrong is an outcome. */
  send(request: HttpRequest, on: HttpListener): Promise<HttpOutcome>
  /** Lets go of idle connections. */
  close(): void
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** Follows the client's base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** In parts, sent one after another. */
  readonly body?: readonly Buffer[]
  readonly signal: AbortSignal
}

export interface HttpListener {
  head(status: number, headers: IncomingHttpHeaders): void
  /** A piece of the body. True: that was all that is needed, and the end is waited for only a moment. */
  text(piece: string): boolean
}

export type HttpOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'network'; readonly why: string }

export interface HttpLimits {
  /** Until the first byte of the reply. */
  readonly answerMs: number
  /** Between two pieces of the reply. */
  readonly idleMs: number
  readonly wholeMs: number
  readonly bytes: number
}

const usualLimits: HttpLimits = {
  answerMs: 600_000,
  idleMs: 90_000,
  wholeMs: 3_600_000,
  bytes: 40 * 1024 * 1024,
}

export interface ClientOptions {
  readonly base: URL
  /** A local proxy that speaks plain HTTP; the base address then only names the host. */
  readonly socketPath?: string
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read. */
  readonly env: NodeJS.ProcessEnv
  readonly limits?: Partial<HttpLimits>
}

export function createClient({ base, socketPath, env, limits: given }: ClientOptions): HttpClient {
  const limits = { ...usualLimits, ...given }
  const secure = base.protocol === 'https:' && !socketPath
  const prefix = base.pathname.replace(/\/+$/, '')
  const host = base.hostname.replace(/^\[|\]$/g, '')
  let agent: Agent | undefined

  function open(request: HttpRequest): ClientRequest {
    const { request: start, Agent: NewAgent } = process.getBuiltinModule(secure ? 'node:https' : 'node:http')
    agent ??= new NewAgent({ keepAlive: true, ...(behindProxy(host, env, socketPath) && { proxyEnv: env }) })
    return start({
      agent,
      method: request.method,
      path: prefix + request.path,
      headers: { host: base.host, ...request.headers, ...lengthOf(request.body) },
      ...(socketPath ? { socketPath } : { host, port: base.port || (secure ? 443 : 80) }),
    })
  }

  function send(request: HttpRequest, on: HttpListener): Promise<HttpOutcome> {
    if (request.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    return new Promise((resolve) => {
      let outgoing: ClientRequest
      try {
        outgoing = open(request)
      } catch (cause) {
        return resolve({
          kind: 'network',
          why: `${base.host}: the request cannot be sent: ${(cause as Error).message}`,
        })
      }
      let settled = false
      let answered = false
      let size = 0
      let enough: NodeJS.Timeout | undefined

      const settle = (outcome: HttpOutcome, { keep = false } = {}) => {
        if (settled) return
        settled = true
        clearTimeout(overall)
        clearTimeout(enough)
        request.signal.removeEventListener('abort', abort)
        if (!keep) outgoing.destroy()
        resolve(outcome)
      }
      const abort = () => settle({ kind: 'aborted' })
      const network = (why: string) => settle({ kind: 'network', why })
      const overall = setTimeout(() => network(`the reply took longer than ${seconds(limits.wholeMs)}`), limits.wholeMs)
      request.signal.addEventListener('abort', abort)

      outgoing.on('error', (cause: NodeJS.ErrnoException) => {
        // The server closed a kept connection just as we used it again: no fault of anyone's, so once more, at once.
        if (!answered && !settled && outgoing.reusedSocket && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE')) {
          clearTimeout(overall)
          request.signal.removeEventListener('abort', abort)
          settled = true
          resolve(send(request, on))
        } else network(words(cause, base.host))
      })
      outgoing.setTimeout(limits.answerMs, () =>
        network(
          answered
            ? `${base.host} sent nothing for ${seconds(limits.idleMs)}`
            : `${base.host} did not answer within ${seconds(limits.answerMs)}`,
        ),
      )
      outgoing.on('response', (incoming) => {
        answered = true
        outgoing.setTimeout(limits.idleMs)
        incoming.setEncoding('utf8')
        on.head(incoming.statusCode ?? 0, incoming.headers)
        incoming.on('data', (piece: string) => {
          if (settled || enough) return
          size += piece.length
          if (size > limits.bytes) settle({ kind: 'too-large', limit: limits.bytes })
          else if (on.text(piece)) enough ??= setTimeout(settle, GRACE_MS, { kind: 'done' })
        })
        incoming.on('end', () => settle({ kind: 'done' }, { keep: true }))
        incoming.on('error', (cause: NodeJS.ErrnoException) => network(words(cause, base.host)))
        incoming.on('close', () => network(`${base.host} closed the connection in the middle of the reply`))
      })
      for (const part of request.body ?? []) outgoing.write(part)
      outgoing.end()
    })
  }

  return { send, close: () => agent?.destroy() }
}

const lengthOf = (body: readonly Buffer[] | undefined) =>
  body && { 'content-length': String(body.reduce((sum, { length }) => sum + length, 0)) }

/** After the last event only the end of the body is due, and with it the connection can be used again. */
const GRACE_MS = 50

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || host.startsWith('127.')

const behindProxy = (host: string, env: NodeJS.ProcessEnv, socketPath: string | undefined) =>
  !socketPath &&
  !isLoopback(host) &&
  ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => (env[name] ?? '') !== '')

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`

function words(cause: NodeJS.ErrnoException, host: string): string {
  const known: Record<string, string> = {
    ECONNREFUSED: `nothing answers at ${host}; is the server running?`,
    ENOTFOUND: `${host} has no address; check the name and the network`,
    EAI_AGAIN: `the name ${host} could not be looked up; check the network`,
    ECONNRESET: `${host} closed the connection`,
    EPIPE: `${host} closed the connection`,
    ETIMEDOUT: `${host} did not answer in time`,
    ENOENT: 'the socket of ANTHROPIC_UNIX_SOCKET is not there',
  }
  return known[cause.code ?? ''] ?? `${host}: ${cause.message}`
}
