/** What of the local record is still to be sent: batches made from the chain, redacted. The database is only read. */
import { redact } from '../../hooks/secrets/redact.ts'
import { conversationOf, withArchived } from '../../store/archive/reading.ts'
import { chainedTables, rowsIn, rowText } from '../../store/chain/chain.ts'
import { type ReadDb, StoreError } from '../../store/open.ts'
import {
  type Batch,
  limits,
  type RowState,
  sha256,
  type WireConversation,
  type WireLink,
  type WireRow,
  type WireSession,
} from '../wire.ts'

export interface Chain {
  /** The same for as long as the file is: made from its first link. */
  readonly database: string
  readonly end: { readonly id: number; readonly hash: string }
}

/** Undefined: nothing is in the chain yet. */
export function chainOf(db: ReadDb): Chain | undefined {
  const sql = 'SELECT id, hash FROM ona_chain ORDER BY id'
  const first = db.get<{ hash: Uint8Array }>(`${sql} LIMIT 1`)
  const last = db.get<{ id: number; hash: Uint8Array }>(`${sql} DESC LIMIT 1`)
  if (!first || !last) return undefined
  const hex = sha256(first.hash).toString('hex')
  const database = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  return { database, end: { id: last.id, hash: base64(last.hash) } }
}

export const linkHash = (db: ReadDb, id: number): string | undefined => {
  const link = db.get<{ hash: Uint8Array }>('SELECT hash FROM ona_chain WHERE id = ?', id)
  return link && base64(link.hash)
}

export interface BatchOptions {
  readonly withoutContent: boolean
  /** At most about so many bytes and rows. */
  readonly bytes?: number
  readonly rows?: number
  /** How archived rows are read. */
  readonly archived?: typeof withArchived
}

interface LinkRow {
  readonly id: number
  readonly session: string
  readonly rows: Uint8Array
  readonly sessionHash: Uint8Array
  readonly hash: Uint8Array
}

/** Where a batch begins: after a link, and after so many rows of the next. */
export interface Position {
  readonly link: number
  readonly row: number
}

export interface Outgoing {
  readonly batch: Batch
  /** Where the next one begins. */
  readonly next: Position
}

/** Links after `from`, with their rows, as far as a batch holds. A link with more rows goes in parts. */
export function nextBatch(
  db: ReadDb,
  chain: Chain,
  epoch: number,
  from: Position,
  options: BatchOptions,
): Outgoing | undefined {
  const { bytes: mostBytes = 4 * 1024 * 1024, rows: mostRows = 2000 } = options
  const links: WireLink[] = []
  const rows: WireRow[] = []
  const sessions = new Set<string>()
  let size = 0
  let next = from
  let more = false
  for (const link of db.each<LinkRow>(
    `SELECT id, session_id AS session, rows, session_hash AS sessionHash, hash FROM ona_chain WHERE id > ? ORDER BY id LIMIT ${limits.links}`,
    from.link,
  )) {
    if (links.length > 0 && (size >= mostBytes || rows.length >= mostRows)) break
    links.push({
      id: link.id,
      session: link.session,
      rows: base64(link.rows),
      sessionHash: base64(link.sessionHash),
      hash: base64(link.hash),
    })
    sessions.add(link.session)
    let at = 0
    for (const { table, id, digest } of rowsIn(link.rows)) {
      if (at++ < (link.id === from.link + 1 ? from.row : 0)) continue
      const row = outgoingRow(db, link.session, { table, id, digest }, options)
      if (!row) continue // it was removed; the service reports that
      if (rows.length >= mostRows || (size > 0 && size + row[2].length > mostBytes)) {
        more = true
        at--
        break
      }
      rows.push(row)
      size += row[2].length
    }
    next = more ? { link: link.id - 1, row: at } : { link: link.id, row: 0 }
    if (more) break
  }
  if (links.length === 0) return undefined
  const about = sessionsOf(db, [...sessions])
  const conversations = conversationsOf(db, [...new Set(about.map(({ conversation }) => conversation))], options)
  return { batch: { ...chain, cut: false, epoch, links, rows, more, sessions: about, conversations }, next }
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')

const selects = chainedTables.map(({ name }, table) => `SELECT ${rowText(table)} AS text FROM ${name} WHERE id = ?`)
const columns = chainedTables.map((table) => table.columns.split(', '))
/** What is left out of a row that is sent without content. */
const content = new Set(['payload_json', 'detail', 'input_json', 'stdout_text', 'stderr_text', 'command', 'reason'])

function outgoingRow(
  db: ReadDb,
  session: string,
  { table, id, digest }: LinkedRow,
  { withoutContent, archived = withArchived }: BatchOptions,
): WireRow | undefined {
  if (!chainedTables[table]) return undefined
  const read = (reader: ReadDb) => reader.get<{ text: string }>(selects[table]!, id)
  const found = read(db) ?? orRemoved(() => archived(db, [conversationOf(db, session)], read))
  if (!found) return undefined
  const { text } = found
  const isErased =
    !sha256(text).equals(digest) &&
    db.get('SELECT 1 FROM ona_tombstones WHERE table_name = ? AND row_id = ?', chainedTables[table]!.name, id) !==
      undefined
  const shown = withoutContent ? blank(table, text) : redact(text)
  const state: RowState = isErased ? 'erased' : shown === text ? 'exact' : 'redacted'
  if (shown.length > limits.rowBytes || shown !== shown.toWellFormed())
    return [table, id, blank(table, text), 'omitted']
  return [table, id, shown, state]
}

/** What is in an archive that is missing or was changed is not there either. */
function orRemoved<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'damaged') return undefined
    throw error
  }
}

interface LinkedRow {
  readonly table: number
  readonly id: number
  readonly digest: Uint8Array
}

/** The row without what was said, written or printed; what a model used stays, for costs. */
function blank(table: number, text: string): string {
  const values = JSON.parse(text) as unknown[]
  const names = columns[table]!
  const isReply = values[names.indexOf('event_type')] === 'model_reply'
  return JSON.stringify(values.map((value, at) => (content.has(names[at]!) && value !== null && !isReply ? '' : value)))
}

const sessionsOf = (db: ReadDb, ids: readonly string[]): WireSession[] =>
  db.all<WireSession>(
    `SELECT s.session_id AS id, s.conversation_id AS conversation, s.started_at AS startedAt, a.parent_session_id AS parent,
       a.agent_id AS agentId, a.agent_type AS agentType, i.agent AS importedFrom
     FROM sessions s LEFT JOIN ona_subagents a ON a.session_id = s.session_id LEFT JOIN ona_imports i ON i.session_id = s.session_id
     WHERE s.session_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
  )

function conversationsOf(db: ReadDb, ids: readonly string[], { withoutContent }: BatchOptions): WireConversation[] {
  const found = db.all<WireConversation & { prompt: string | null }>(
    `SELECT c.id, c.project_dir AS projectDir, c.phase, c.created_at AS createdAt, c.last_active AS lastActive,
       coalesce((SELECT value FROM state WHERE conversation_id = c.id AND key = 'name'), '') AS title,
       (SELECT iif(json_valid(payload_json), payload_json ->> '$.content[0].text', NULL) FROM transcript_entries e
        JOIN sessions s ON s.session_id = e.session_id WHERE s.conversation_id = c.id AND entry_type = 'user'
        ORDER BY s.rowid, e.sequence LIMIT 1) AS prompt
     FROM conversations c WHERE c.id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
  )
  return found.map(({ prompt, title, ...about }) => ({
    ...about,
    title: withoutContent
      ? ''
      : redact(title || (prompt ?? '').trim().split('\n', 1)[0]!)
          .slice(0, 200)
          .toWellFormed(),
  }))
}
