/**
 * The chain that makes an edit of the record visible. Every row that this program adds to an audit table is hashed in the
 * transaction that adds it; the hashes of one commit are a link, chained to the link before it in its session and in the
 * database. `ona audit verify` walks it.
 */
import { sha256 } from './sha256.ts'

/** The tables that are chained, by the number that a link knows them by. Add at the end, never change one. */
export const chainedTables = [
  {
    name: 'transcript_entries',
    columns: 'id, session_id, sequence, parent_entry_id, entry_type, payload_json, tool_use_id, created_at',
  },
  { name: 'events', columns: 'id, conversation_id, session_id, timestamp, event_type, detail' },
  {
    name: 'hook_invocations',
    columns:
      'id, session_id, conversation_id, hook_event, hook_ordinal, matcher, command, tool_use_id, tool_name, input_json, exit_code, stdout_text, stderr_text, started_at, completed_at, skipped_reason',
  },
  { name: 'tool_permission_log', columns: 'id, session_id, tool_use_id, tool_name, decision, reason_json, created_at' },
  { name: 'ona_tombstones', columns: 'id, session_id, table_name, row_id, hex(digest), reason, created_at' },
] as const

/** A row as the text that is hashed: every column, in order. */
export const rowText = (table: number): string => `json_array(${chainedTables[table]!.columns})`

/** Which table an INSERT adds to, for statements that are prepared; -1: none that is chained. */
export function tableAddedTo(sql: string): number {
  const [, name] = /^\s*INSERT(?:\s+OR\s+\w+)?\s+INTO\s+(\w+)/i.exec(sql) ?? []
  return name === undefined ? -1 : chainedTables.findIndex((table) => table.name === name)
}

export interface Added {
  readonly table: number
  readonly first: number
  readonly last: number
}

/** What the sealer needs of a connection; its statements are prepared and kept. */
interface Statements {
  get<Row>(sql: string, ...values: (string | number | Uint8Array)[]): Row | undefined
  arrays<Columns extends readonly unknown[]>(sql: string, ...values: (string | number | Uint8Array)[]): Columns[]
  run(sql: string, ...values: (string | number | Uint8Array)[]): unknown
}

const ROW = 41 // table, id, digest
const encoder = new TextEncoder()

/** The end of the chain as a connection last saw it: still so, as long as no other connection has written. */
export interface ChainEnd {
  version: number
  id: number
  hash: Uint8Array
  readonly sessions: Map<string, Uint8Array>
}

export const unknownEnd = (): ChainEnd => ({ version: -1, id: 0, hash: none, sessions: new Map() })

/**
 * Links what a transaction added. Called inside it, as its last act. A link holds rows of one session; where sessions take
 * turns, each turn is a link, so that along the chain the ids of every table only grow.
 */
export function seal(db: Statements, added: readonly Added[], end: ChainEnd): void {
  const { data_version: version } = db.get<{ data_version: number }>('PRAGMA data_version')!
  if (version !== end.version) {
    const last = db.get<{ id: number; hash: Uint8Array }>('SELECT id, hash FROM ona_chain ORDER BY id DESC LIMIT 1')
    Object.assign(end, { version, id: last?.id ?? 0, hash: last?.hash ?? none })
    end.sessions.clear()
  }
  let session = ''
  let entries: Uint8Array[] = []
  for (const { table, first, last } of added)
    for (let id = first; id <= last; id++) {
      const [row] = db.arrays<[session: string | null, text: string]>(selects[table]!, id)
      if (!row) continue // added and taken away again within the transaction
      if (entries.length > 0 && (row[0] ?? '') !== session) {
        link(db, session, concat(entries), end)
        entries = []
      }
      session = row[0] ?? ''
      entries.push(entryOf(table, id, row[1]))
    }
  if (entries.length > 0) link(db, session, concat(entries), end)
}

function entryOf(table: number, id: number, text: string): Uint8Array {
  const entry = new Uint8Array(ROW)
  entry[0] = table
  new DataView(entry.buffer).setBigUint64(1, BigInt(id))
  entry.set(digest(text), 9)
  return entry
}

const selects = chainedTables.map(({ name }, table) => `SELECT session_id, ${rowText(table)} FROM ${name} WHERE id = ?`)

function link(db: Statements, session: string, rows: Uint8Array, end: ChainEnd): void {
  const before =
    end.sessions.get(session) ??
    db.get<{ hash: Uint8Array }>(
      'SELECT session_hash AS hash FROM ona_chain WHERE session_id = ? ORDER BY id DESC LIMIT 1',
      session,
    )?.hash ??
    none
  const id = end.id + 1
  const sessionHash = sessionLink(before, rows)
  const hash = databaseLink(end.hash, id, session, sessionHash)
  db.run(
    'INSERT INTO ona_chain(id, session_id, rows, session_hash, hash) VALUES (?, ?, ?, ?, ?)',
    ...[id, session, rows, sessionHash, hash],
  )
  Object.assign(end, { id, hash })
  if (end.sessions.size > 1000) end.sessions.clear()
  end.sessions.set(session, sessionHash)
}

const none = new Uint8Array(32)

/** How one link follows another; `hash` may be a faster SHA-256 where many links are checked. */
export const sessionLink = (before: Uint8Array, rows: Uint8Array, hash: Hash = digest): Uint8Array =>
  hash(concat([before, rows]))

export const databaseLink = (
  before: Uint8Array,
  id: number,
  session: string,
  sessionHash: Uint8Array,
  hash: Hash = digest,
): Uint8Array => hash(concat([before, encoder.encode(`${id}\n${session}\n`), sessionHash]))

export type Hash = (bytes: Uint8Array) => Uint8Array

/** Once a process has hashed so much, loading node:crypto is cheaper than hashing here. */
const LONG = 256 * 1024
let hashed = 0
function digest(of: Uint8Array | string): Uint8Array {
  hashed += of.length
  if (hashed < LONG) return sha256(typeof of === 'string' ? encoder.encode(of) : of)
  return process.getBuiltinModule('node:crypto').hash('sha256', of, 'buffer')
}

/** The rows that a link holds. */
export function* rowsIn(rows: Uint8Array): Generator<{ table: number; id: number; digest: Uint8Array }> {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.byteLength)
  for (let at = 0; at + ROW <= rows.length; at += ROW)
    yield { table: rows[at]!, id: Number(view.getBigUint64(at + 1)), digest: rows.subarray(at + 9, at + ROW) }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
