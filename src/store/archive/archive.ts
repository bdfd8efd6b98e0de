/** Moves old conversations out of the database into compressed files, and back. What is left vouches for what was moved. */
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { addEvent } from '../audit.ts'
import { rowsIn } from '../chain/chain.ts'
import { besideDb, ownPath } from '../database-file.ts'
import { type Db, type ReadDb, readDb, StoreError } from '../open.ts'
import { workerIn } from '../session/session-lock.ts'
import { archiveName } from './archives-in.ts'
import {
  type ArchivedRow,
  appendFrame,
  archivedTables,
  digestOf,
  keepOnly,
  lengthProblem,
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
  return found && { ...found, file: besideDb(db, found.file) }
}

export const archiveFiles = (db: ReadDb): string[] =>
  db.all<{ file: string }>('SELECT DISTINCT file FROM ona_archives ORDER BY file').map(({ file }) => besideDb(db, file))

/** Files that are missing or too short; their content is not read. */
export const archiveProblems = (db: ReadDb): string[] =>
  db
    .all<{ file: string; end: number }>('SELECT file, max(offset + length) AS end FROM ona_archives GROUP BY file')
    .flatMap(({ file, end }) => lengthProblem(besideDb(db, file), end) ?? [])

/**
 * Conversations that were last active before a time (`2026-10-15 00:00:00`), the oldest first, and have rows to move; `only` asks
 * about one. A call that waits for approval, or for a resume after one, or a process that is at work there, keeps a conversation
 * where it is.
 */
export const archivable = (db: Db, before: string, only?: string): string[] =>
  db
    .all<{ id: string }>(
      `SELECT c.id FROM conversations c WHERE c.last_active < ? ${only === undefined ? '' : 'AND c.id = ?'}
         AND NOT EXISTS (SELECT 1 FROM ona_archives a WHERE a.conversation_id = c.id)
         AND NOT EXISTS (SELECT 1 FROM sessions s JOIN ona_approvals w ON w.session_id = s.session_id
           WHERE s.conversation_id = c.id AND w.settled = 0
             AND (w.decision IS NOT NULL OR w.expires_at > datetime('now')))
         AND EXISTS (SELECT 1 FROM sessions s WHERE s.conversation_id = c.id
           AND (EXISTS (SELECT 1 FROM transcript_entries e WHERE e.session_id = s.session_id)
             OR EXISTS (SELECT 1 FROM ona_dispatcher_imports d WHERE d.session_id = s.session_id)))
       ORDER BY c.last_active`,
      ...[before, ...(only === undefined ? [] : [only])],
    )
    .map(({ id }) => id)
    .filter((id) => !isInUse(db, id))

export interface Archived {
  readonly rows: number
  readonly bytes: number
}

/**
 * One transaction. The frame is on the disk before a row is removed. Throws, and changes nothing, when a row is not what the
 * chain says: an archive would hide that. With `before`, moves nothing when the conversation is no longer `archivable`.
 */
export function archiveConversation(db: Db, conversationId: string, fileName: string, before?: string): Archived {
  for (;;) {
    if (before !== undefined && archivable(db, before, conversationId).length === 0) return { rows: 0, bytes: 0 }
    if (!isUnsettled(db, fileName)) db.run('INSERT OR IGNORE INTO ona_unsettled_archives(file) VALUES (?)', fileName)
    // a large conversation takes long to pack, and nobody who writes should wait for it
    const packing = db.snapshot(() => packedRows(db, conversationId))
    const move = () => moveRows(db, conversationId, fileName, packing, before)
    const moved = withoutForeignKeys(db, () => db.transaction(move))
    if (moved) return moved
  }
}

const isUnsettled = (db: Db, fileName: string): boolean =>
  db.get('SELECT 1 FROM ona_unsettled_archives WHERE file = ?', fileName) !== undefined

interface Packing {
  readonly frame: Uint8Array
  readonly rows: number
  /** Nothing is left of its content. */
  readonly isErased: boolean
  readonly version: string
}

function packedRows(db: Db, conversationId: string): Packing {
  let [rows, isErased] = [0, true]
  const count = (wasErased: () => boolean) => {
    rows++
    isErased &&= wasErased()
  }
  const frame = packed(checkedRows(db, conversationId, count))
  return { frame, rows, isErased, version: versionOf(db, conversationId) }
}

/** Changes when a row is added to the conversation, restored or erased. */
function versionOf(db: Db, conversationId: string): string {
  const counts = archivedTables.map(({ name }) =>
    db.get(
      `SELECT count(*) AS rows, max(id) AS last FROM ${name}
       WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)`,
      conversationId,
    ),
  )
  return JSON.stringify([...counts, db.get('SELECT max(id) AS last FROM ona_tombstones')])
}

/** Undefined: a row changed since they were packed, or the file is not marked as one that is being written to. */
function moveRows(
  db: Db,
  conversationId: string,
  fileName: string,
  { frame, rows, isErased, version }: Packing,
  before?: string,
): Archived | undefined {
  if (before !== undefined && archivable(db, before, conversationId).length === 0) return { rows: 0, bytes: 0 }
  if (!isUnsettled(db, fileName)) return undefined
  if (versionOf(db, conversationId) !== version) return undefined
  const place = appendFrame(besideDb(db, fileName), frame)
  db.run(
    'INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows, erased) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ...[conversationId, fileName, place.offset, place.length, digestOf(frame), rows, Number(isErased)],
  )
  db.run(
    `INSERT OR IGNORE INTO ona_archived_hooks(conversation_id, hook_event, tool_name)
     SELECT conversation_id, '', hex(digest) FROM ona_archives WHERE conversation_id = ?1
     UNION SELECT ?1, hook_event, coalesce(tool_name, '') FROM hook_invocations
     WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?1)`,
    conversationId,
  )
  for (const { name } of archivedTables)
    db.run(
      `DELETE FROM ${name} WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)`,
      conversationId,
    )
  addEvent(db, { conversationId, type: 'archived', detail: { file: fileName, rows } })
  return { rows, bytes: frame.length }
}

/** Puts the rows back with their ids. False: the conversation was not archived. */
export function unarchiveConversation(db: Db, conversationId: string): boolean {
  const isRestored = restoreConversation(db, conversationId)
  if (isRestored) settleArchives(db)
  return isRestored
}

/** The same, and leaves the frame in its file for `settleArchives`: for a transaction that may not be committed yet. */
export function restoreConversation(db: Db, conversationId: string): boolean {
  return db.transaction(() => {
    const place = archiveOf(db, conversationId)
    if (!place) return false
    for (const { table, text } of unpacked(readFrame(place))) {
      const { name, columns } = archivedTables[table]!
      const values = JSON.parse(text) as (string | number | null)[]
      // by its full name: the row has its link already
      db.run(`INSERT INTO main.${name}(${columns}) VALUES (${values.map(() => '?').join()})`, ...values)
    }
    const file = relative(besideDb(db, '.'), place.file)
    db.run('INSERT OR IGNORE INTO ona_unsettled_archives(file) VALUES (?)', file)
    for (const table of ['ona_archives', 'ona_archived_hooks'])
      db.run(`DELETE FROM ${table} WHERE conversation_id = ?`, conversationId)
    addEvent(db, { conversationId, type: 'unarchived', detail: { file: place.file } })
    return true
  })
}

/**
 * Takes out of the files what belongs to no conversation: one that was put back, or one whose process died before it committed.
 * What could not be done, and is tried again the next time. Must not be called inside a transaction.
 */
export function settleArchives(db: Db): string[] {
  const unsettled = db.all<{ file: string }>('SELECT file FROM ona_unsettled_archives')
  if (unsettled.length === 0) return []
  flush(db)
  return unsettled.flatMap(({ file }) => {
    const cannot = (why: unknown) => `the archive ${file} cannot be emptied: ${(why as Error).message}`
    const owner = otherOwner(db, file)
    if (owner instanceof StoreError) return cannot(owner)
    try {
      // whoever appends holds the same lock
      db.transaction(() => {
        const sql = 'SELECT offset, length FROM ona_archives WHERE file = ? ORDER BY offset'
        if (!owner) keepOnly(besideDb(db, file), db.all(sql, file))
        db.run('DELETE FROM ona_unsettled_archives WHERE file = ?', file)
      })
      return []
    } catch (error) {
      if (error instanceof StoreError || !(error as NodeJS.ErrnoException).code) throw error
      return cannot(error)
    }
  })
}

/**
 * Whether the file is another database's: a copy of a database refers to the same files, and leaves them as they are. They are those of
 * the database that they are named after, as long as that one refers to them. An error: it cannot be read.
 */
function otherOwner(db: Db, file: string): boolean | StoreError {
  const owner = besideDb(db, file.replace(archiveName, ''))
  if (!existsSync(owner) || ownPath(owner) === ownPath(db.path)) return false
  try {
    const other = readDb(owner)
    try {
      return other.get('SELECT 1 FROM ona_archives WHERE file = ?', file) !== undefined
    } finally {
      other.close()
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return noRecord.has(error.kind) ? false : error
  }
}
const noRecord: ReadonlySet<string> = new Set(['not-there', 'not-a-database', 'other-program'])

/** Rows that were put back must outlive a loss of power before their frame is gone: other commits are flushed later. */
function flush(db: Db): void {
  db.get('PRAGMA synchronous = FULL')
  try {
    db.transaction(() => db.run('UPDATE ona_unsettled_archives SET file = file'))
  } finally {
    db.get('PRAGMA synchronous = NORMAL')
  }
}

function isInUse(db: Db, conversationId: string): boolean {
  const sql = 'SELECT session_id AS id FROM sessions WHERE conversation_id = ?'
  return db
    .all<{ id: string }>(sql, conversationId)
    .some(({ id }) => workerIn({ db, id, conversationId }) !== undefined)
}

/** Before a session is resumed: its rows must be in the database before one is added. */
export function unarchiveSession(db: Db, sessionId: string): boolean {
  const isRestored = restoreSession(db, sessionId)
  if (isRestored) settleArchives(db)
  return isRestored
}

/** As `restoreConversation`, of the session's. */
export function restoreSession(db: Db, sessionId: string): boolean {
  const sql = `SELECT a.conversation_id AS id FROM ona_archives a JOIN sessions s ON s.conversation_id = a.conversation_id
    WHERE s.session_id = ?`
  const found = db.get<{ id: string }>(sql, sessionId)
  return found !== undefined && restoreConversation(db, found.id)
}

function* checkedRows(
  db: Db,
  conversationId: string,
  count: (wasErased: () => boolean) => void,
): Generator<ArchivedRow> {
  const digests = new Map<string, Uint8Array>()
  for (const { rows: linked } of db.each<{ rows: Uint8Array }>(
    'SELECT rows FROM ona_chain WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)',
    conversationId,
  ))
    for (const { table, id, digest } of rowsIn(linked)) digests.set(`${table}:${id}`, digest)
  for (const row of rowsOf(db, conversationId)) {
    const { table, id, text } = row
    const wanted = digests.get(`${table}:${id}`)
    const { name } = archivedTables[table]!
    const wasErased = () =>
      db.get('SELECT 1 FROM ona_tombstones WHERE table_name = ? AND row_id = ?', name, id) !== undefined
    if (wanted !== undefined && Buffer.compare(digestOf(text), wanted) !== 0 && !wasErased())
      throw new StoreError('damaged', `${name} row ${id} is not as it was written; ona audit verify says more`)
    count(wasErased)
    yield row
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
