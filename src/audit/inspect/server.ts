/** Serves the pages of `ona inspect` to the operator who started it, on this machine, and to nobody else. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decideApproval } from '../../store/approvals.ts'
import { keepArchived } from '../../store/archive/reading.ts'
import { type Db, StoreError } from '../../store/open.ts'
import { senderProblem } from '../../store/operator.ts'
import { asset } from './assets.ts'
import { dashboard } from './data/api.ts'
import { filterFrom } from './data/filter.ts'
import type { FleetPages } from './data/fleet-shapes.ts'
import { search } from './data/search.ts'
import type { Schema } from './data/tables.ts'
import { enter, isOwnPage, openDoor } from './door.ts'
import { type Live, openLive } from './live.ts'
import { conversationPage, fleetPage, overviewPage } from './page.ts'

export interface Served {
  /** Holds the token, which opens the door once. */
  readonly url: string
  close(): Promise<void>
}

export interface Serving {
  /** Where the index is kept; `temp` for a database that cannot be written. */
  readonly schema?: Schema
  /** The page to begin with. */
  readonly path?: string
  /** Who decides on approvals, where the page names nobody else. */
  readonly operator: string
  /** The record is that of a fleet, and its pages are read from there. */
  readonly fleet?: FleetPages | undefined
}

export async function serveInspect(db: Db, { schema = 'main', path = '/', operator, fleet }: Serving): Promise<Served> {
  const { createServer } = process.getBuiltinModule('node:http')
  const door = openDoor()
  const live = openLive(db, schema)
  const archived = keepArchived()
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, async (request, response) => {
    const { port } = server.address() as AddressInfo
    const entry = enter(door, request, port)
    if (entry.may === 'not') return send(response, { status: entry.status, body: `${entry.why}\n` })
    const { method } = request
    if (entry.may === 'take the key')
      return send(response, { status: 303, headers: { location: entry.to, 'set-cookie': entry.cookie } })
    try {
      const here: Here = { db, live, archived, operator, port, fleet, asked: entry.asked, request }
      if (entry.asked.pathname === '/api/live' && method === 'GET') return follow(here, response)
      send(response, await answer(here), method === 'HEAD')
    } catch (cause) {
      if (!(cause instanceof StoreError)) throw cause
      send(response, { status: 500, body: `${cause.message}\n` })
    }
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
        live.close()
        archived.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Here {
  readonly db: Db
  readonly live: Live
  /** Archived conversations that were looked at. */
  readonly archived: ReturnType<typeof keepArchived>
  readonly operator: string
  readonly port: number
  readonly fleet: FleetPages | undefined
  readonly asked: URL
  readonly request: IncomingMessage
}

interface Answer {
  readonly status: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Nothing but what this server itself serves is loaded or run, and nothing inline. */
const always = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

function send(response: ServerResponse, { status, type = 'text/plain', headers, body = '' }: Answer, isHead = false) {
  response.writeHead(status, { ...always, 'content-type': `${type}; charset=utf-8`, ...headers })
  response.end(isHead ? '' : body)
}

function follow({ live }: Here, response: ServerResponse): void {
  response.writeHead(200, { ...always, 'content-type': 'text/event-stream' })
  live.follow(response)
}

const noSuchPage: Answer = { status: 404, body: 'there is no such page\n' }
const notAllowed = (allow: string): Answer => ({ status: 405, headers: { allow } })
const json = (value: unknown, status = 200): Answer => ({
  ...{ status, type: 'application/json', body: JSON.stringify(value) },
})
const htmlOr404 = (body: string | undefined): Answer =>
  body === undefined ? noSuchPage : { status: 200, type: 'text/html', body }

async function answer(here: Here): Promise<Answer> {
  const { db, live, asked, request, fleet } = here
  const { pathname, searchParams } = asked
  const [, decided] = /^\/api\/approvals\/([0-9a-f-]+)$/.exec(pathname) ?? []
  if (decided !== undefined) return request.method === 'POST' ? decide(here, decided) : notAllowed('POST')
  if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed('GET, HEAD')
  const file = asset(pathname)
  if (file) return { status: 200, ...file }
  const page = Number(searchParams.get('page') || 1)
  if (!Number.isSafeInteger(page) || page < 1) return noSuchPage
  const isFleet = fleet !== undefined
  const filter = filterFrom(searchParams, isFleet)
  if (pathname === '/api/overview') return json(dashboard(db, live.refresh(), filter, page, isFleet))
  if (pathname === '/api/search') {
    live.refresh()
    return json(search(db, searchParams.get('q') ?? '', filter))
  }
  if (pathname === '/') return htmlOr404(overviewPage(db, page, live.refresh()))
  if (fleet && (pathname === '/fleet' || pathname.startsWith('/api/fleet'))) return fleetAnswer(fleet, asked)
  const id = nameIn(/^\/c\/([^/]+)$/.exec(pathname)?.[1])
  return htmlOr404(id === undefined ? undefined : conversationPage(db, id, page, live.refresh(), here.archived.with))
}

async function fleetAnswer(fleet: FleetPages, { pathname, searchParams }: URL): Promise<Answer> {
  if (pathname === '/fleet') return htmlOr404(fleetPage())
  const text = (name: string) => searchParams.get(name) || undefined
  const [, job] = /^\/api\/fleet\/jobs\/([0-9a-f-]{36})$/.exec(pathname) ?? []
  try {
    if (job !== undefined) {
      const log = await fleet.job(job)
      return log ? json(log) : noSuchPage
    }
    if (pathname !== '/api/fleet') return noSuchPage
    const { from } = filterFrom(searchParams)
    return json(await fleet.view({ node: text('node'), team: text('team'), state: text('state'), from }))
  } catch (cause) {
    return { status: 503, body: `${(cause as Error).message}\n` } // the record at hand can still be read
  }
}

function nameIn(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return undefined // no name of anything
  }
}

/** An operator's act: a page of this server asks for it; an agent's process neither serves nor sends it. */
async function decide({ db, operator, port, request }: Here, id: string): Promise<Answer> {
  if (!isOwnPage(request, port)) return { status: 403, body: 'decisions come from the page itself\n' }
  if (request.headers['content-type'] !== 'application/json') return { status: 415, body: 'send JSON\n' }
  const held = senderProblem('deciding an approval', { db }, request.socket)
  if (held) return json({ problem: held }, 403)
  const said = readDecision(await bodyOf(request))
  if (!said) return { status: 400, body: 'send {"allow": true or false, "as": NAME, "note": TEXT}\n' }
  const problem = decideApproval(db, id, {
    ...{ allow: said.allow, by: said.as || operator },
    ...(said.note && { note: said.note }),
  })
  return problem ? json({ problem }, 409) : json({ decided: said.allow ? 'approved' : 'denied' })
}

function readDecision(text: string): { allow: boolean; as: string; note: string } | undefined {
  try {
    const { allow, as = '', note = '' } = JSON.parse(text) as Record<string, unknown>
    return typeof allow === 'boolean' && typeof as === 'string' && typeof note === 'string'
      ? { allow, as: as.trim().slice(0, 200), note: note.trim().slice(0, 2000) }
      : undefined
  } catch {
    return undefined
  }
}

/** What is longer than any decision is cut off, and then is no JSON. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) {
    text += piece
    if (text.length > 10_000) break
  }
  return text
}
