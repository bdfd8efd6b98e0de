/** Archives one conversation after another, as far as it goes. */
import { type Db, StoreError } from '../open.ts'
import { type Archived, archiveConversation } from './archive.ts'

export interface ArchivedMany extends Archived {
  readonly conversations: number
  /** Conversations that stay in the database; `warn` was told why. */
  readonly skipped: number
}

export function archiveConversations(
  db: Db,
  ids: readonly string[],
  fileName: string,
  before: string,
  warn: (text: string) => void,
): ArchivedMany {
  const done = { conversations: 0, rows: 0, bytes: 0, skipped: 0 }
  for (const [at, id] of ids.entries()) {
    try {
      const { rows, bytes } = withEmptyLog(db, () => archiveConversation(db, id, fileName, before))
      if (rows > 0) done.conversations++
      done.rows += rows
      done.bytes += bytes
    } catch (error) {
      if (!(error instanceof StoreError && (error.kind === 'damaged' || error.kind === 'disk-full'))) throw error
      const isFull = error.kind === 'disk-full'
      const left = isFull ? ids.length - at : 1
      done.skipped += left
      warn(
        `${left === 1 ? `conversation ${id} stays` : `${left} conversations stay`} in the database: ${error.message}`,
      )
      if (isFull) break
    }
  }
  return done
}

/**
 * The write-ahead log grows by every page from which a row is removed. On a disk that is nearly full it is emptied, and the work
 * tried again.
 */
function withEmptyLog<T>(db: Db, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof StoreError && error.kind === 'disk-full')) throw error
    db.get('PRAGMA wal_checkpoint(TRUNCATE)')
    return work()
  }
}
