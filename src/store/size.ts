/** How large the record is and how fast it grows. Reads a few rows, however many there are. */
import { statSync } from 'node:fs'
import type { ReadDb } from './open.ts'

export interface RecordSize {
  readonly bytes: number
  /** Of the write-ahead log beside it. */
  readonly walBytes: number
  /** Rows of the four audit tables that were ever added. */
  readonly rows: number
  /** Rows and bytes a day, over the last `days`; bytes by what a row of the file takes on average. */
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

export function recordSize(db: ReadDb, now: Date, days = 30): RecordSize {
  const since = new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 19).replace('T', ' ')
  let rows = 0
  let recent = 0
  for (const [table, time] of Object.entries(tables)) {
    const { last } = db.get<{ last: number }>(`SELECT coalesce(max(id), 0) AS last FROM ${table}`)!
    rows += last
    recent += last - lastBefore(db, table, time, since, last)
  }
  const { archived } = db.get<{ archived: number }>('SELECT coalesce(sum(rows), 0) AS archived FROM ona_archives')!
  const bytes = sizeOf(db.path)
  const walBytes = sizeOf(`${db.path}-wal`)
  const rowsPerDay = recent / days
  const bytesPerDay = (rowsPerDay * bytes) / Math.max(1, rows - archived)
  return { bytes, walBytes, rows, rowsPerDay, bytesPerDay, days }
}

/** The highest id that is older: ids and times grow together. */
function lastBefore(db: ReadDb, table: string, time: string, since: string, last: number): number {
  const sql = `SELECT replace(${time}, 'T', ' ') AS at FROM ${table} WHERE id >= ? ORDER BY id LIMIT 1`
  let [from, to] = [0, last]
  while (from < to) {
    const middle = Math.ceil((from + to) / 2)
    const { at } = db.get<{ at: string }>(sql, middle) ?? { at: since }
    if (at < since) from = middle
    else to = middle - 1
  }
  return from
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** `1.1 GB`, `640 KB`. */
export function shownBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let unit = 0
  for (; bytes >= 1000 && unit < units.length - 1; unit++) bytes /= 1000
  return `${unit === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`
}
