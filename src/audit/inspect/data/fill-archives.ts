/** Archived conversations in the tables of inspect: each is unpacked once, and what it holds is added as if it were read in time. */
import { withArchived } from '../../../store/archive/reading.ts'
import { type Db, StoreError } from '../../../store/open.ts'
import type { Progress } from './shapes.ts'
import { setCursor, textStride } from './tables.ts'

/** Names a frame: a conversation that returns and is archived again has another. */
const frame = "'archive ' || a.file || ':' || a.offset"
const isRead = `EXISTS (SELECT 1 FROM ona_inspect_cursor c WHERE c.name = ${frame})`

export const archivesProgress = (db: Db): Progress =>
  db.get<Progress>(
    `SELECT coalesce(sum(a.rows), 0) AS rows, coalesce(sum(a.rows) FILTER (WHERE ${isRead}), 0) AS read FROM ona_archives a`,
  )!

/** An archived conversation that has not been looked at. */
export const nextArchive = (db: Db): { readonly id: string; readonly name: string } | undefined =>
  db.get(`SELECT a.conversation_id AS id, ${frame} AS name FROM ona_archives a WHERE NOT ${isRead} LIMIT 1`)

interface Source {
  readonly table: string
  readonly columns: string
  /** `isText`: only what can be searched, of a row whose other facts are counted. */
  read(row: never, isText: boolean): void
}

/** The rows of a conversation that was read in part before it was archived count once: of those, texts that are missing are added. */
export function readArchive(db: Db, { id, name }: { id: string; name: string }, sources: readonly Source[]): void {
  const number = db.get<{ number: number }>('SELECT number FROM ona_inspect_conversations WHERE id = ?', id)?.number
  try {
    withArchived(db, [id], (reader) => {
      for (const { table, columns, read } of sources) {
        const isText = table === 'transcript_entries'
        if (number !== undefined && !isText) continue
        const sql = `SELECT ${columns} FROM ${table} WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)`
        for (const row of reader.each<{ id: number }>(sql, id))
          if (number === undefined) read(row as never, false)
          else if (!isIndexed(db, number * textStride + row.id)) read(row as never, true)
      }
    })
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause // a damaged archive: opening the conversation says so
  }
  setCursor(db, name, 1)
}

const isIndexed = (db: Db, place: number): boolean =>
  db.get('SELECT 1 FROM ona_inspect_text_docsize WHERE id = ?', place) !== undefined
