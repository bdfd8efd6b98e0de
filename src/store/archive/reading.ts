/** Archived rows for a reader: in tables of its own connection, under the names that every query uses. */
import { type ReadDb, readDb } from '../open.ts'
import { archiveOf } from './archive.ts'
import { archivedTables, readFrame, unpacked } from './frame.ts'

const brought = new WeakMap<ReadDb, Set<string>>()

/** After this, queries of the connection see the rows of these conversations, archived or not. */
export function bringArchived(db: ReadDb, conversationIds: Iterable<string>): void {
  for (const id of conversationIds) {
    if (brought.get(db)?.has(id)) continue
    const place = archiveOf(db, id)
    if (!place) continue
    if (!brought.has(db)) openShadows(db)
    for (const { table, text } of unpacked(readFrame(place))) {
      const { name } = archivedTables[table]!
      const values = JSON.parse(text) as (string | number | null)[]
      db.runTemp(`INSERT INTO temp.kept_${name} VALUES (${values.map(() => '?').join()})`, ...values)
    }
    brought.get(db)!.add(id)
  }
}

/** What `work` gives, with the rows of these conversations: through another connection where some are archived and not brought yet. */
export function withArchived<T>(db: ReadDb, conversationIds: readonly string[], work: (db: ReadDb) => T): T {
  if (!conversationIds.some((id) => !brought.get(db)?.has(id) && archiveOf(db, id))) return work(db)
  const reader = readDb(db.path)
  try {
    bringArchived(reader, conversationIds)
    return work(reader)
  } finally {
    reader.close()
  }
}

/** Frees what was loaded, for a caller that reads one conversation after another. */
export function dropArchived(db: ReadDb): void {
  if (!brought.get(db)?.size) return
  for (const { name } of archivedTables) db.runTemp(`DELETE FROM temp.kept_${name}`)
  brought.get(db)!.clear()
}

/** Of hooks: at this event, on calls of this tool. */
interface About {
  readonly event: string | undefined
  readonly toolName: string | undefined
}

/**
 * Rows of hooks in archived conversations, the newest conversation first, until there are `enough` of them or much was unpacked.
 * Only archives that hold such a hook are unpacked, and older ones, of which that is not known. `left`: conversations that were
 * not looked into.
 */
export function archivedHooks<T>(
  db: ReadDb,
  enough: number,
  { event, toolName }: About,
  read: (conversationId: string) => readonly T[],
): { rows: T[]; left: number } {
  const archives = db.all<{ id: string; length: number }>(
    `SELECT a.conversation_id AS id, a.length FROM ona_archives a JOIN conversations c ON c.id = a.conversation_id
     WHERE a.conversation_id IN (
       SELECT conversation_id FROM ona_archived_hooks
       WHERE ${event === undefined ? "hook_event > ''" : 'hook_event = ?1'} AND (?2 IS NULL OR tool_name = ?2))
     OR NOT EXISTS (SELECT 1 FROM ona_archived_hooks WHERE hook_event = '' AND tool_name = hex(a.digest))
     ORDER BY c.last_active DESC, c.rowid DESC`,
    ...[event ?? null, toolName ?? null],
  )
  const rows: T[] = []
  let unpacked = 0
  let looked = 0
  for (const { id, length } of archives) {
    if (rows.length >= enough || unpacked + length > mostUnpacked) break
    unpacked += length
    looked++
    bringArchived(db, [id])
    rows.push(...read(id))
    dropArchived(db)
  }
  return { rows, left: rows.length >= enough ? 0 : archives.length - looked }
}
/** Compressed; about ten times as much is read. */
const mostUnpacked = 4 * 1024 * 1024

/** '' for a session that there is not. */
export const conversationOf = (db: ReadDb, sessionId: string | undefined): string =>
  db.get<{ id: string }>('SELECT conversation_id AS id FROM sessions WHERE session_id = ?', sessionId ?? '')?.id ?? ''

/** Every archived conversation that may have a row since a time, for what reads the whole record. */
export const archivedConversations = (db: ReadDb, since = ''): string[] =>
  db
    .all<{ id: string }>('SELECT conversation_id AS id FROM ona_archives WHERE archived_at >= ? ORDER BY rowid', since)
    .map(({ id }) => id)

function openShadows(db: ReadDb): void {
  for (const { name, columns } of archivedTables) {
    db.runTemp(`CREATE TEMP TABLE kept_${name} AS SELECT ${columns} FROM main.${name} WHERE 0`)
    db.runTemp(`CREATE UNIQUE INDEX temp.kept_${name}_id ON kept_${name}(id)`)
    const order = name === 'transcript_entries' ? 'session_id, sequence' : 'session_id, id'
    db.runTemp(`CREATE INDEX temp.kept_${name}_session ON kept_${name}(${order})`)
    db.runTemp(
      `CREATE TEMP VIEW ${name} AS SELECT ${columns} FROM main.${name} UNION ALL SELECT ${columns} FROM temp.kept_${name}`,
    )
  }
  brought.set(db, new Set())
}
