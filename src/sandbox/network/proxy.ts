/**
 * The one way from a sandbox to the network: HTTP requests, CONNECT and SOCKS5 on one port. Each connection is judged by
 * the host it asks for, resolved here, and connected to the address that was judged.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { plainHost } from '../../permissions/rules/rule.ts'
import type { NetworkProfile } from '../profile.ts'
import { largestHello, readHello } from './client-hello.ts'
import { addressesOf, type HostVerdict, judgeHost } from './hosts.ts'
import { readSocks, socksAnswer } from './socks.ts'

export interface ProxyOptions {
  /** The lists of the session as they are now. */
  lists(): Pick<NetworkProfile, 'allowed' | 'denied'>
  lookup?(host: string): Promise<readonly string[]>
  /** Prompts for a host that no list mentions; the connection waits. */
  ask?(host: string): Promise<boolean>
  /** Called for every connection that was refused. */
  denied(host: string, why: string): void
}

const waitMs = 30_000

/** Serves the connections of a listening socket. */
export function serveProxy(server: Server, options: ProxyOptions): { close(): void } {
  const proxy = new ProxyServer(options)
  // a client may close its side when it has asked, and still wait for the answer
  ;(server as Server & { allowHalfOpen: boolean }).allowHalfOpen = true
  server.on('connection', (socket) => proxy.accept(socket))
  return {
    close() {
      server.close()
      proxy.close()
    },
  }
}

type Target = { readonly host: string; readonly port: number }

class ProxyServer {
  readonly #options: ProxyOptions
  readonly #http: HttpServer
  readonly #open = new Set<Socket>()

  constructor(options: ProxyOptions) {
    this.#options = options
    const { createServer } = process.getBuiltinModule('node:http')
    this.#http = createServer({ requireHostHeader: false }, (request, response) => {
      void this.#forward(request, response, undefined)
    })
    this.#http.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head)
      void this.#connect(request, socket)
    })
    this.#http.on('clientError', (_error, socket) => void socket.destroy())
  }

  accept(socket: Socket): void {
    this.#keep(socket)
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null
      if (!first) return void socket.destroy()
      socket.unshift(first)
      if (first[0] === 5) void this.#socks(socket)
      else this.#http.emit('connection', socket)
    })
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
    this.#http.close()
  }

  #keep(socket: Socket): void {
    this.#open.add(socket)
    socket.setTimeout(10 * 60_000, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#open.delete(socket))
  }

  /** The address to connect to, or why not. */
  async #judge({ host }: Target): Promise<{ ok: true; address: string } | { ok: false; why: string }> {
    const verdict = await this.#verdict(host)
    if (!verdict.ok) return this.#refused(host, verdict.why)
    const found = await addressesOf(host, verdict, this.#options.lookup ?? lookupAll)
    return found.ok ? { ok: true, address: found.addresses[0]! } : this.#refused(host, found.why)
  }

  /** The user's word opens a public name, never a private address behind it: `*` covers none. */
  async #verdict(host: string): Promise<HostVerdict> {
    const verdict = judgeHost(host, this.#options.lists())
    if (verdict.ok || verdict.unlisted === undefined || !this.#options.ask) return verdict
    return (await this.#options.ask(verdict.unlisted))
      ? { ok: true, by: { host: '*', why: 'the user allowed it' } }
      : verdict
  }

  #refused(host: string, why: string): { ok: false; why: string } {
    this.#options.denied(plainHost(host), why)
    return { ok: false, why }
  }

  async #connect(request: IncomingMessage, socket: Socket): Promise<void> {
    this.#keep(socket)
    const target = targetOf(request.url ?? '')
    const judged = target ? await this.#judge(target) : { ok: false as const, why: 'CONNECT needs host:port' }
    if (!target || !judged.ok) {
      socket.end(refusal((judged as { why: string }).why))
      return
    }
    const up = await dial(judged.address, target.port)
    if (!up) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      return
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    this.#tunnel(socket, up, target)
  }

  async #socks(socket: Socket): Promise<void> {
    const target = await readSocks(socket)
    if (!target) return void socket.destroy()
    const judged = await this.#judge(target)
    if (!judged.ok) return void socket.end(socksAnswer('not-allowed'))
    const up = await dial(judged.address, target.port)
    if (!up) return void socket.end(socksAnswer('unreachable'))
    socket.write(socksAnswer('ok'))
    this.#tunnel(socket, up, target)
  }

  /** The first bytes tell what is spoken: TLS must name the host, HTTP is judged request by request, the rest passes. */
  #tunnel(socket: Socket, up: Socket, target: Target): void {
    this.#keep(up)
    const drop = (why: string) => {
      this.#refused(target.host, why)
      socket.destroy()
      up.destroy()
    }
    const follow = () => socket.destroySoon()
    let early = Buffer.alloc(0)
    const join = () => {
      socket.removeListener('data', look)
      up.write(early)
      socket.pipe(up)
    }
    const look = (chunk: Buffer) => {
      early = Buffer.concat([early, chunk])
      if (early[0] === 22) {
        const hello = readHello(early)
        if (hello.kind === 'partial' && early.length <= largestHello) return
        if (hello.kind !== 'hello') return drop(`a connection to ${target.host} sent a malformed TLS greeting`)
        if (!namesHost(hello.name, target.host))
          return drop(`a connection to ${target.host} asked for the server name ${hello.name ?? '(none)'}`)
        join()
      } else if (/^[A-Z]{3}/.test(early.toString('latin1', 0, 3))) {
        if (!early.includes('\n') && early.length < 8) return
        if (early.toString('latin1', 0, 3) === 'PRI')
          return drop(`a connection to ${target.host} speaks HTTP/2 without TLS`)
        socket.removeListener('data', look)
        socket.pause()
        socket.unshift(early)
        up.unpipe(socket)
        up.removeListener('close', follow)
        up.destroy() // each request gets a connection of its own
        this.#plain(socket, target)
      } else if (early.length >= 3) join()
    }
    socket.on('data', look)
    up.pipe(socket)
    socket.once('close', () => up.destroy())
    up.once('close', follow)
  }

  /** HTTP inside a tunnel: every request goes through the same door, and must name the tunnel's host. */
  #plain(socket: Socket, target: Target): void {
    const { createServer } = process.getBuiltinModule('node:http')
    const server = createServer((request, response) => void this.#forward(request, response, target))
    server.on('clientError', () => socket.destroy())
    server.emit('connection', socket)
    socket.resume()
  }

  async #forward(request: IncomingMessage, response: ServerResponse, tunnel: Target | undefined): Promise<void> {
    const answer = (why: string, status = 403) => {
      response.writeHead(status, { 'content-type': 'text/plain', 'x-ona-sandbox': 'denied', connection: 'close' })
      response.end(`ona sandbox: ${why}\n`)
    }
    const url = URL.parse(tunnel ? `http://${hostPort(tunnel)}${request.url}` : (request.url ?? ''))
    if (url?.protocol !== 'http:') return answer('the request needs an absolute http:// address', 400)
    const target = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) }
    const named = request.headersDistinct['host'] ?? []
    if (named.length > 1 || !named.every((each) => sameHost(each, target))) {
      const why = `a request to ${target.host} names the host ${named.join(', ')}`
      this.#refused(target.host, why)
      return answer(why)
    }
    const judged = await this.#judge(target)
    if (!judged.ok) return answer(judged.why)
    const { request: ask } = process.getBuiltinModule('node:http')
    const up = ask({
      host: judged.address,
      port: target.port,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...withoutHops(request.headers), host: hostPort(target), connection: 'close' },
      setHost: false,
      agent: false,
      timeout: waitMs,
    })
    up.on('response', (got) => {
      response.writeHead(got.statusCode ?? 502, withoutHops(got.headers))
      got.pipe(response)
    })
    up.on('timeout', () => up.destroy())
    up.on('error', () => (response.headersSent ? response.destroy() : answer(`${target.host} did not answer`, 502)))
    response.on('close', () => up.destroy())
    request.pipe(up)
  }
}

const hopByHop = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authorization', 'proxy-authenticate'],
])
const withoutHops = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)))

const refusal = (why: string): string => {
  const body = `ona sandbox: ${why}\n`
  return `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nX-Ona-Sandbox: denied\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}

/** A name that TLS asks for must be the host of the tunnel; for an address there is no name to ask for. */
const namesHost = (name: string | undefined, host: string): boolean =>
  name === undefined ? /^[\d.]+$|:/.test(plainHost(host)) : plainHost(name) === plainHost(host)

const hostPort = ({ host, port }: Target): string =>
  `${host.includes(':') ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`

function sameHost(header: string, { host, port }: Target): boolean {
  const url = URL.parse(`http://${header}`)
  return url !== null && plainHost(url.hostname) === plainHost(host) && Number(url.port || 80) === port
}

function targetOf(text: string): Target | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  return match && port > 0 && port < 65_536 ? { host: match[1] ?? match[2]!, port } : undefined
}

async function lookupAll(host: string): Promise<string[]> {
  const { lookup } = process.getBuiltinModule('node:dns').promises
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

function dial(address: string, port: number): Promise<Socket | undefined> {
  const { connect } = process.getBuiltinModule('node:net')
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: waitMs })
    const fail = () => {
      socket.destroy()
      resolve(undefined)
    }
    socket.once('error', fail)
    socket.once('timeout', fail)
    socket.once('connect', () => {
      socket.removeListener('error', fail)
      socket.removeListener('timeout', fail)
      resolve(socket)
    })
  })
}
