/** How large the record is and how fast it grows. Reads a few rows, however many there are. */
import { statSync } from 'node:fs'
import { ownPath } from './database-file.ts'
import type { ReadDb } from './open.ts'

export interface RecordSize {
  readonly bytes: number
  /** Of the write-ahead log beside it. */
  readonly walBytes: number
  /** Rows of the four audit tables that were ever added. */
  readonly rows: number
  /** Rows and bytes a day, over the last `days`; bytes by what a row takes on average. */
  readonly rowsPerDay: number
  readonly bytesPerDay: number
  readonly days: number
}

const tables = {
  transcript_entries: 'created_at',
  events: 'timestamp',
  hook_invocations: 'started_at',
  tool_permission_log: 'created_at',
}

/** What is left of an archived row, its link in the chain, takes about a seventh of what the row took. */
const leftOfArchived = 1 / 7

export function recordSize(db: ReadDb, now: Date, days = 30): RecordSize {
  const since = new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 19).replace('T', ' ')
  let rows = 0
  let recent = 0
  let unknown = 0
  for (const [table, time] of Object.entries(tables)) {
    const { last } = db.get<{ last: number }>(`SELECT coalesce(max(id), 0) AS last FROM ${table}`)!
    const { before, first } = boundary(db, table, time, since, last)
    const added = addedTo(db, table)
    rows += added
    recent += last + 1 - first
    unknown += first - before - 1 + (added - last)
  }
  const { archived } = db.get<{ archived: number }>('SELECT coalesce(sum(rows), 0) AS archived FROM ona_archives')!
  const recentlyArchived = db.get<{ rows: number }>(
    `SELECT coalesce(sum(a.rows), 0) AS rows FROM conversations c CROSS JOIN ona_archives a ON a.conversation_id = c.id
     WHERE c.last_active >= ?`,
    since,
  )!.rows
  const bytes = sizeOf(db.path)
  const walBytes = sizeOf(`${ownPath(db.path)}-wal`)
  const rowsPerDay = (recent + Math.min(unknown, recentlyArchived)) / days
  const bytesPerDay = (rowsPerDay * usedBytes(db, bytes)) / Math.max(1, rows - archived + archived * leftOfArchived)
  return { bytes, walBytes, rows, rowsPerDay, bytesPerDay, days }
}

/** As many as SQLite gave ids to (AUTOINCREMENT): the newest of them may be archived. */
const addedTo = (db: ReadDb, table: string): number =>
  db.get<{ seq: number }>('SELECT seq FROM sqlite_sequence WHERE name = ?', table)?.seq ?? 0

/**
 * The last row that is older, and the first that is not: ids and times grow together. Rows between them are gone, and may have
 * been either.
 */
function boundary(db: ReadDb, table: string, time: string, since: string, last: number) {
  const sql = `SELECT id, replace(${time}, 'T', ' ') AS at FROM ${table} WHERE id >= ? ORDER BY id LIMIT 1`
  let [before, first] = [0, last + 1]
  for (let to = last; before < to; ) {
    const middle = Math.ceil((before + to) / 2)
    const { id, at } = db.get<{ id: number; at: string }>(sql, middle)!
    if (at < since) before = id
    else {
      first = id
      to = middle - 1
    }
  }
  return { before, first }
}

/** Without pages that are free, for new rows. */
function usedBytes(db: ReadDb, bytes: number): number {
  const pages = db.get<{ page_count: number }>('PRAGMA page_count')!.page_count
  const free = db.get<{ freelist_count: number }>('PRAGMA freelist_count')!.freelist_count
  return bytes * (1 - free / Math.max(1, pages))
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** `1.1 GB`, `640 KB`. */
export function shownBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let unit = 0
  for (; bytes >= 1000 && unit < units.length - 1; unit++) bytes /= 1000
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`
}
