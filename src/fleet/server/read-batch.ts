/** A batch of rows as it comes from outside: every field is checked before anything of it is used. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { chainedTables, rowsIn } from '../../store/chain/chain.ts'
import { type Batch, limits, type RowState, rowStates, type WireConversation, type WireSession } from '../wire.ts'
import { field, Refused } from './request.ts'
import { clean } from './row-facts.ts'

export interface Link {
  readonly id: number
  readonly session: string
  readonly rows: Buffer
  readonly sessionHash: Buffer
  readonly hash: Buffer
  readonly holds: readonly { readonly table: number; readonly id: number; readonly digest: Uint8Array }[]
}

export interface Row {
  readonly table: number
  readonly id: number
  readonly text: string
  readonly state: RowState
}

export interface ReadBatch extends Pick<Batch, 'database' | 'epoch' | 'more' | 'cut' | 'sessions' | 'conversations'> {
  readonly end: { readonly id: number; readonly hash: Buffer }
  readonly links: readonly Link[]
  readonly rows: ReadonlyMap<string, Row>
}

export const rowKey = (table: number, id: number): string => `${table} ${id}`

export function readBatch(body: Record<string, unknown>): ReadBatch {
  const links = list(body, 'links', limits.links).map(linkOf)
  for (const [at, link] of links.entries())
    if (at > 0 && link.id <= links[at - 1]!.id) throw bad('links must be in the order of their ids')
  const held = new Set(links.flatMap(({ holds }) => holds.map(({ table, id }) => rowKey(table, id))))
  const rows = new Map<string, Row>()
  for (const given of list(body, 'rows', limits.rows)) {
    const row = rowOf(given)
    const key = rowKey(row.table, row.id)
    if (!held.has(key)) throw bad(`no link of the batch holds row ${row.id} of ${chainedTables[row.table]!.name}`)
    rows.set(key, row)
  }
  const end = isObject(body['end']) ? body['end'] : {}
  return {
    database: field.uuid(body, 'database'),
    epoch: field.count(body, 'epoch', 1, 1_000_000),
    end: { id: field.count(end, 'id'), hash: hashOf(end['hash']) },
    more: body['more'] === true,
    cut: body['cut'] === true,
    links,
    rows,
    sessions: list(body, 'sessions', limits.links).map(sessionOf),
    conversations: once(list(body, 'conversations', limits.links).map(conversationOf)),
  }
}

const once = <T extends { id: string }>(all: readonly T[]): T[] => [
  ...new Map(all.map((each) => [each.id, each])).values(),
]

const bad = (why: string) => new Refused(400, why)

function list(body: JsonObject, name: string, most: number): unknown[] {
  const value = body[name]
  if (!Array.isArray(value)) throw bad(`"${name}" must be a list`)
  if (value.length > most) throw new Refused(413, `"${name}" has more than ${most} entries; send smaller batches`)
  return value
}

function linkOf(value: unknown): Link {
  if (!isObject(value)) throw bad('a link must be an object')
  const rows = Buffer.from(field.text(value, 'rows', limits.rows * 200), 'base64')
  if (rows.length === 0 || rows.length % 41 !== 0) throw bad('a link must hold rows')
  const holds = [...rowsIn(rows)]
  for (const { table, id } of holds)
    if (!chainedTables[table] || !Number.isSafeInteger(id)) throw bad(`a link names table ${table}, which there is not`)
  return {
    id: field.count(value, 'id', 1),
    session: clean(field.text(value, 'session', 200)),
    rows,
    sessionHash: hashOf(value['sessionHash']),
    hash: hashOf(value['hash']),
    holds,
  }
}

function hashOf(value: unknown): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0)
  if (bytes.length !== 32) throw bad('a hash must be 32 bytes')
  return bytes
}

function rowOf(value: unknown): Row {
  if (!Array.isArray(value)) throw bad('a row must be a list')
  const [table, id, text, state] = value as unknown[]
  if (typeof table !== 'number' || !chainedTables[table]) throw bad('a row must name its table')
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) throw bad('a row must have an id')
  if (typeof text !== 'string' || text.length > limits.rowBytes || text !== clean(text))
    throw bad(`a row must have a text of at most ${limits.rowBytes} characters`)
  if (!rowStates.includes(state as RowState)) throw bad('a row must have a state')
  return { table, id, text, state: state as RowState }
}

function sessionOf(value: unknown): WireSession {
  if (!isObject(value)) throw bad('a session must be an object')
  const maybe = (name: string) => cleaned(field.optional(value, name, 200))
  return {
    id: clean(field.text(value, 'id', 200)),
    conversation: clean(field.text(value, 'conversation', 200)),
    startedAt: clean(field.text(value, 'startedAt', 100)),
    parent: maybe('parent'),
    agentId: maybe('agentId'),
    agentType: maybe('agentType'),
    importedFrom: maybe('importedFrom'),
  }
}

const cleaned = (text: string | undefined): string | null => (text === undefined ? null : clean(text))

function conversationOf(value: unknown): WireConversation {
  if (!isObject(value)) throw bad('a conversation must be an object')
  const text = (name: string, most: number) => clean(field.text(value, name, most))
  return {
    id: text('id', 200),
    projectDir: text('projectDir', 4096),
    title: text('title', 500),
    phase: text('phase', 100),
    createdAt: text('createdAt', 100),
    lastActive: text('lastActive', 100),
  }
}
