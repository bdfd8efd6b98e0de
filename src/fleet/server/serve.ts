/** The service that nodes and users talk to. One process; start several behind a balancer where one is not enough. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Problem } from '../../files/problem.ts'
import { openQueue } from '../jobs/queue.ts'
import { type Fleet, whenReachable } from './database.ts'
import { bury } from './jobs.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { forgetNonces, nodeOf, requireSigned } from './node-access.ts'
import type { OidcOptions } from './oidc.ts'
import { type Answer, type Asked, headOf, Refused, readBody, send } from './request.ts'
import type { Context, Route } from './route.ts'
import { routes } from './routes.ts'
import { userOf } from './user-access.ts'

export interface ServeOptions {
  readonly port?: number
  readonly host?: string
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Requests with rows that are worked on at the same time; the others get Retry-After. */
  readonly ingests?: number
  /** Where the queue is; without it there are no jobs. */
  readonly queueUrl?: string
  readonly heartbeatSeconds?: number
  /** Users sign in with OpenID Connect; by default browsers see the address that is listened on. */
  readonly oidc?: Omit<OidcOptions, 'publicUrl'> & { readonly publicUrl?: string }
  /** Called once when PostgreSQL does not answer yet. */
  onWait?(why: string): void
  /** Hears what went wrong inside. */
  onError?(cause: unknown, path: string): void
}

export interface Serving {
  readonly url: string
  readonly port: number
  readonly metrics: Metrics
  close(): Promise<void>
}

export async function serveFleet(fleet: Fleet, options: ServeOptions = {}): Promise<Serving> {
  const { port = 0, host = '127.0.0.1', tls, onError = () => {} } = options
  const metrics = createMetrics()
  await whenReachable(fleet, 60_000, options.onWait ?? (() => {}))
  await fleet.query('SELECT ona_fleet.ensure_partitions()')
  const queue =
    options.queueUrl === undefined
      ? undefined
      : await openQueue(options.queueUrl, {
          ...(options.heartbeatSeconds !== undefined && { heartbeatSeconds: options.heartbeatSeconds }),
          onDead: (job) => bury(fleet, job),
          onError: (cause) => onError(cause, 'queue'),
        })
  const gate = createGate(options.ingests ?? 16)
  let context: Context = { fleet, metrics, ...(queue && { queue }) }
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    const started = performance.now()
    const { pathname = '/' } = URL.parse(request.url ?? '/', 'http://fleet') ?? {}
    answer(context, gate, request)
      .catch((cause: unknown): Answer => failure(cause, (thrown) => onError(thrown, pathname)))
      .then((reply) => {
        metrics.count(pathname, reply.status, performance.now() - started)
        send(response, reply)
        if (!request.complete) request.resume().socket.unref() // a body that nobody reads any more
      })
      .catch((cause: unknown) => onError(cause, pathname))
  }
  const server = listening(tls, handler)
  // whoever is slow to ask, or does not read the answer, is cut off
  Object.assign(server, {
    headersTimeout: 10_000,
    requestTimeout: 60_000,
    keepAliveTimeout: 15_000,
    maxConnections: 5000,
  })
  const end = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }).then(() => queue?.close())
  const { port: bound } = await listen(server, port, host).catch(async (cause) => {
    await queue?.close()
    throw cause
  })
  const url = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`
  if (options.oidc) {
    const { openOidc } = await import('./oidc.ts')
    const oidc = await openOidc({ publicUrl: url, ...options.oidc }).catch(async (cause) => {
      await end()
      throw cause
    })
    context = { ...context, oidc }
  }
  const housekeeping = setInterval(() => {
    forgetNonces(fleet).catch((cause: unknown) => onError(cause, 'housekeeping'))
    fleet.query('SELECT ona_fleet.ensure_partitions()').catch((cause: unknown) => onError(cause, 'housekeeping'))
  }, 10 * 60_000)
  housekeeping.unref()
  return {
    url,
    port: bound,
    metrics,
    close: () => {
      clearInterval(housekeeping)
      return end()
    },
  }
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; choose another with --port',
  EACCES: 'needs more rights; choose a port above 1023 with --port',
  EADDRNOTAVAIL: 'is not an address of this machine; choose another with --host',
}

const listen = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = listenProblems[cause.code ?? '']
      reject(why ? new Problem(`${host}:${port} ${why}`) : cause)
    })
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })

function listening(
  tls: ServeOptions['tls'],
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  if (!tls) return process.getBuiltinModule('node:http').createServer(handler)
  return process.getBuiltinModule('node:https').createServer({ ...tls, minVersion: 'TLSv1.2' }, handler)
}

/** Lets so many in at a time, and one of each node: the rest get Retry-After. */
function createGate(most: number) {
  const inside = new Map<string, number>()
  let count = 0
  return async <T>(who: string, work: () => Promise<T>): Promise<T> => {
    if (count >= most || (inside.get(who) ?? 0) >= 2)
      throw new Refused(429, 'the service is busy; the rows are safe where they are', {}, { 'retry-after': '1' })
    count++
    inside.set(who, (inside.get(who) ?? 0) + 1)
    try {
      return await work()
    } finally {
      count--
      const left = inside.get(who)! - 1
      if (left > 0) inside.set(who, left)
      else inside.delete(who)
    }
  }
}

type Gate = ReturnType<typeof createGate>

async function answer(context: Context, gate: Gate, request: IncomingMessage): Promise<Answer> {
  const head = headOf(request)
  const { route, parts } = routeOf(head.method, head.url.pathname)
  const most = route.bodyBytes ?? 64 * 1024
  const { fleet } = context
  if (route.for === 'anyone') {
    const asked: Asked = { ...head, raw: await readBody(request, most) }
    return route.run(context, asked, undefined, parts)
  }
  if (route.for === 'node') {
    const work = async (): Promise<Answer> => {
      const node = await nodeOf(fleet, head)
      const raw = await readBody(request, most)
      await requireSigned(fleet, node, head, raw)
      return route.run(context, { ...head, raw }, node, parts)
    }
    return route.isHeavy ? gate(String(head.headers['ona-node']), work) : work()
  }
  const user = await userOf(fleet, head, route.for)
  const asked: Asked = { ...head, raw: await readBody(request, most) }
  return route.run(context, asked, user, parts)
}

function routeOf(method: string, pathname: string): { route: Route; parts: string[] } {
  let isAddress = false
  for (const route of routes) {
    const match = route.path.exec(pathname)
    if (!match) continue
    isAddress = true
    if (route.method === method) return { route, parts: match.slice(1).map((part) => decodeURIComponent(part)) }
  }
  if (isAddress) throw new Refused(405, `${method} is not understood at ${pathname}`)
  throw new Refused(404, `${pathname} is not an address of this service`)
}

/** What is ours to know stays here: the sender hears that it failed, and may try again. */
function failure(cause: unknown, onError: (cause: unknown) => void): Answer {
  if (cause instanceof Refused) {
    const { status, message, more, headers } = cause
    return { status, body: { error: message, ...more }, headers }
  }
  if (cause instanceof URIError) return { status: 400, body: { error: 'the address is not valid' } }
  onError(cause)
  return {
    status: 503,
    body: { error: 'the service could not do that now; try again' },
    headers: { 'retry-after': '2' },
  }
}
