/** Serves the pages of `ona inspect` to the person who started it, on this machine, and to nobody else. */
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ReadDb, StoreError } from '../../store/open.ts'
import { conversationPage, listPage } from './page.ts'

export interface Served {
  /** Holds the token, which opens the door once. */
  readonly url: string
  close(): Promise<void>
}

/** `path`: the page to begin with. */
export async function serveInspect(db: ReadDb, path = '/'): Promise<Served> {
  const { createServer } = process.getBuiltinModule('node:http')
  const door = openDoor()
  const server = createServer({ headersTimeout: 10_000 }, (request, response) => {
    const { port } = server.address() as AddressInfo
    const { status, headers = {}, body = '' } = answer(db, door, request, port)
    response.writeHead(status, { ...always, 'content-type': 'text/plain; charset=utf-8', ...headers })
    response.end(request.method === 'HEAD' ? '' : body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${path}?token=${door.token}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The token is for the first who comes with it; from then on a cookie that the page cannot read is the key. */
interface Door {
  readonly token: string
  readonly key: string
  used: boolean
}

function openDoor(): Door {
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  const secret = () => randomBytes(24).toString('base64url')
  return { token: secret(), key: secret(), used: false }
}

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const always = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

function answer(db: ReadDb, door: Door, { method, url = '/', headers }: IncomingMessage, port: number): Answer {
  // a page of somebody else's can make its own name lead here: only the address itself is answered
  const host = `127.0.0.1:${port}`
  if (headers.host !== host) return { status: 421, body: `this is ${host} and nothing else\n` }
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' } }
  const asked = URL.parse(url, `http://${host}`)
  if (!asked) return { status: 400 }
  const { pathname, searchParams } = asked
  const cookie = `ona_inspect_${port}` // cookies know hosts and no ports
  const isKnown = (headers.cookie ?? '').split(/; */).some((each) => same(each, `${cookie}=${door.key}`))
  if (!isKnown) {
    if (door.used || !same(searchParams.get('token') ?? '', door.token))
      return { status: 403, body: 'this address opens once, and has been opened; run ona inspect again\n' }
    door.used = true
    const key = `${cookie}=${door.key}; HttpOnly; SameSite=Strict; Path=/`
    return { status: 303, headers: { location: pathname, 'set-cookie': key } }
  }
  const page = Number(searchParams.get('page') ?? 1)
  if (!Number.isSafeInteger(page) || page < 1) return { status: 404, body: 'there is no such page\n' }
  const text = textAt(db, pathname, page)
  if (text instanceof StoreError) return { status: 500, body: `${text.message}\n` }
  if (text === undefined) return { status: 404, body: 'there is no such page\n' }
  const rules = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text)![1]!
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${rules}; frame-ancestors 'none'`,
    },
    body: text,
  }
}

function textAt(db: ReadDb, pathname: string, page: number): string | StoreError | undefined {
  try {
    if (pathname === '/') return listPage(db, page)
    const [, id] = /^\/c\/([^/]+)$/.exec(pathname) ?? []
    return id === undefined ? undefined : conversationPage(db, decodeURIComponent(id), page)
  } catch (cause) {
    if (cause instanceof URIError) return undefined // no name of anything
    if (cause instanceof StoreError) return cause
    throw cause
  }
}

/** Takes as long whatever differs. */
function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && process.getBuiltinModule('node:crypto').timingSafeEqual(a, b)
}
