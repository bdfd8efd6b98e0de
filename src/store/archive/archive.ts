/** Moves old conversations out of the database into compressed files, and back. What is left vouches for what was moved. */
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addEvent } from '../audit.ts'
import { rowsIn } from '../chain/chain.ts'
import { type Db, type ReadDb, StoreError } from '../open.ts'
import {
  type ArchivedRow,
  appendFrame,
  archivedTables,
  blankFrame,
  digestOf,
  type Place,
  packed,
  readFrame,
  rowsOf,
  unpacked,
} from './frame.ts'

/** Where the rows of an archived conversation are. The file is named relative to the database. */
export function archiveOf(db: ReadDb, conversationId: string): Place | undefined {
  const sql = 'SELECT file, offset, length, digest FROM ona_archives WHERE conversation_id = ?'
  const found = db.get<Place>(sql, conversationId)
  return found && { ...found, file: join(dirname(db.path), found.file) }
}

/** Conversations that were last active before a time (`2026-10-15 00:00:00`), the oldest first, and have rows to move. */
export const archivable = (db: ReadDb, before: string): string[] =>
  db
    .all<{ id: string }>(
      `SELECT c.id FROM conversations c WHERE c.last_active < ?
         AND NOT EXISTS (SELECT 1 FROM ona_archives a WHERE a.conversation_id = c.id)
         AND c.id NOT IN (SELECT conversation_id FROM ona_approvals WHERE settled = 0)
         AND EXISTS (SELECT 1 FROM sessions s JOIN transcript_entries e ON e.session_id = s.session_id
           WHERE s.conversation_id = c.id)
       ORDER BY c.last_active`,
      before,
    )
    .map(({ id }) => id)

export interface Archived {
  readonly rows: number
  readonly bytes: number
}

/**
 * One transaction. The frame is on the disk before a row is removed. Throws, and changes nothing, when a row is not what the
 * chain says: an archive would hide that.
 */
export function archiveConversation(db: Db, conversationId: string, fileName: string): Archived {
  return withoutForeignKeys(db, () =>
    db.transaction(() => {
      const rows = [...rowsOf(db, conversationId)]
      checkRows(db, conversationId, rows)
      const frame = packed(rows)
      const place = appendFrame(join(dirname(db.path), fileName), frame)
      db.run(
        'INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES (?, ?, ?, ?, ?, ?)',
        ...[conversationId, fileName, place.offset, place.length, digestOf(frame), rows.length],
      )
      for (const { name } of archivedTables)
        db.run(
          `DELETE FROM ${name} WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)`,
          conversationId,
        )
      addEvent(db, { conversationId, type: 'archived', detail: { file: fileName, rows: rows.length } })
      return { rows: rows.length, bytes: frame.length }
    }),
  )
}

/** Puts the rows back with their ids. False: the conversation was not archived. */
export function unarchiveConversation(db: Db, conversationId: string): boolean {
  const place = archiveOf(db, conversationId)
  if (!place) return false
  const rows = unpacked(readFrame(place))
  withoutForeignKeys(db, () =>
    db.transaction(() => {
      for (const { table, text } of rows) {
        const { name, columns } = archivedTables[table]!
        const values = JSON.parse(text) as (string | number | null)[]
        // by its full name: the row has its link already
        db.run(`INSERT INTO main.${name}(${columns}) VALUES (${values.map(() => '?').join()})`, ...values)
      }
      db.run('DELETE FROM ona_archives WHERE conversation_id = ?', conversationId)
      addEvent(db, { conversationId, type: 'unarchived', detail: { file: place.file } })
    }),
  )
  const others = db.get('SELECT 1 FROM ona_archives WHERE file = ?', place.file.slice(dirname(db.path).length + 1))
  if (others) blankFrame(place)
  else rmSync(place.file, { force: true })
  return true
}

/** Before a session is resumed: its rows must be in the database before one is added. */
export function unarchiveSession(db: Db, sessionId: string): boolean {
  const sql = `SELECT a.conversation_id AS id FROM ona_archives a JOIN sessions s ON s.conversation_id = a.conversation_id
    WHERE s.session_id = ?`
  const found = db.get<{ id: string }>(sql, sessionId)
  return found !== undefined && unarchiveConversation(db, found.id)
}

function checkRows(db: Db, conversationId: string, rows: readonly ArchivedRow[]): void {
  const digests = new Map<string, Uint8Array>()
  for (const { rows: linked } of db.each<{ rows: Uint8Array }>(
    'SELECT rows FROM ona_chain WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)',
    conversationId,
  ))
    for (const { table, id, digest } of rowsIn(linked)) digests.set(`${table}:${id}`, digest)
  for (const { table, id, text } of rows) {
    const wanted = digests.get(`${table}:${id}`)
    if (wanted === undefined || Buffer.compare(digestOf(text), wanted) === 0) continue
    const { name } = archivedTables[table]!
    if (db.get('SELECT 1 FROM ona_tombstones WHERE table_name = ? AND row_id = ?', name, id)) continue
    throw new StoreError('damaged', `${name} row ${id} is not as it was written; ona audit verify says more`)
  }
}

/** Entries refer to each other within a session, and leave and return together; looking for each of them reads the table. */
function withoutForeignKeys<T>(db: Db, work: () => T): T {
  db.get('PRAGMA foreign_keys = OFF')
  try {
    return work()
  } finally {
    db.get('PRAGMA foreign_keys = ON')
  }
}
