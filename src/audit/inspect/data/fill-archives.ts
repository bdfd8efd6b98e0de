/** Archived conversations for the tables of inspect: each is unpacked once. */
import { inOwnReader } from '../../../store/archive/reading.ts'
import { type Db, type ReadDb, StoreError } from '../../../store/open.ts'
import type { Progress } from './shapes.ts'
import { cursor, setCursor } from './tables.ts'

/** Names a frame: a conversation that returns and is archived again has another. */
const frame = "'archive ' || a.file || ':' || a.offset"
const isRead = `EXISTS (SELECT 1 FROM ona_inspect_cursor c WHERE c.name = ${frame})`

export const archivesProgress = (db: Db): Progress =>
  db.get<Progress>(
    `SELECT coalesce(sum(a.rows), 0) AS rows, coalesce(sum(a.rows) FILTER (WHERE ${isRead}), 0) AS read FROM ona_archives a`,
  )!

interface Archive {
  /** Of the conversation. */
  readonly id: string
  readonly name: string
}

/** Archived conversations that have not been looked at. */
export const unreadArchives = (db: Db): Archive[] =>
  db.all(`SELECT a.conversation_id AS id, ${frame} AS name FROM ona_archives a WHERE NOT ${isRead}`)

/** If content was erased meanwhile, the tables were emptied, and it is read again the next time. */
export function readArchive(db: Db, { id, name }: Archive, read: (reader: ReadDb) => void): void {
  const erased = cursor(db, 'ona_tombstones')
  try {
    inOwnReader(db, [id], read)
  } catch (cause) {
    if (!(cause instanceof StoreError && cause.kind === 'damaged')) throw cause // opening the conversation says so
  }
  if (cursor(db, 'ona_tombstones') === erased) setCursor(db, name, 1)
}
