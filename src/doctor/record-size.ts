/** How large the record is and how fast it grows, in words. */
import { statSync } from 'node:fs'
import { counted } from '../hooks/text/counted.ts'
import { archiveFiles } from '../store/archive/archive.ts'
import type { ReadDb } from '../store/open.ts'
import { type RecordSize, recordSize, shownBytes } from '../store/size.ts'

/** Over so many days growth is averaged, where the record is as old. */
const mostDays = 30
const dayMs = 86_400_000

export function recordSizeNow(db: ReadDb, now = new Date()): RecordSize {
  const { since } = db.get<{ since: string | null }>(
    'SELECT min(created_at) AS since FROM conversations WHERE rowid = 1',
  )!
  const age = since === null ? mostDays : Math.ceil((now.getTime() - Date.parse(`${since.replace(' ', 'T')}Z`)) / dayMs)
  return recordSize(db, now, Math.min(Math.max(age, 1), mostDays))
}

/** `8.8 MB and 2.0 MB in 3 archives, 60,218 rows; 332 KB a day over the last 30 days`. */
export function sizeText(db: ReadDb, { bytes, rows, bytesPerDay, days }: RecordSize): string {
  const files = archiveFiles(db)
  const archived = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
  const beside = files.length === 0 ? '' : ` and ${shownBytes(archived)} in ${counted(files.length, 'archive')}`
  const growth = `${shownBytes(bytesPerDay)} a day over the last ${counted(days, 'day')}`
  const advice = bytes > 1e9 ? '; ona audit archive --older-than 90d compresses what is old' : ''
  return `${shownBytes(bytes)}${beside}, ${counted(rows, 'row')}; ${growth}${advice}`
}

export const walWarning = ({ walBytes, bytes }: RecordSize): string | undefined =>
  walBytes > longWal && walBytes > bytes / 4
    ? `its -wal file holds ${shownBytes(walBytes)}: a program has been reading for long; end it, and the next start shortens the file`
    : undefined
const longWal = 256 * 1024 * 1024
