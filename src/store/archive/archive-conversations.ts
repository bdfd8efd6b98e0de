/** Archives conversations, or puts them back, one after another, as far as it goes. */
import { type Db, StoreError } from '../open.ts'
import { type Archived, archiveConversation, restoreConversation } from './archive.ts'

export interface Reports {
  warn(text: string): void
  /** Hears how many are done. */
  onDone?(conversations: number): void
}

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
  reports: Reports,
): ArchivedMany {
  const done = { conversations: 0, rows: 0, bytes: 0 }
  const skipped = oneByOne(db, ids, 'in the database', reports, (id) => {
    const { rows, bytes } = archiveConversation(db, id, fileName, before)
    if (rows > 0) done.conversations++
    done.rows += rows
    done.bytes += bytes
  })
  return { ...done, skipped }
}

export interface RestoredMany {
  readonly conversations: number
  /** Conversations that stay archived; `warn` got the reason. */
  readonly skipped: number
}

/** What they leave in the files is for `settleArchives`. */
export function restoreConversations(db: Db, ids: readonly string[], reports: Reports): RestoredMany {
  let conversations = 0
  const skipped = oneByOne(db, ids, 'archived', reports, (id) => {
    if (restoreConversation(db, id)) conversations++ // another process may have been quicker
  })
  return { conversations, skipped }
}

/** How many were left where they are: one that is damaged alone, with a full disk all the others too. */
function oneByOne(
  db: Db,
  ids: readonly string[],
  where: string,
  { warn, onDone }: Reports,
  work: (id: string) => void,
): number {
  let skipped = 0
  for (const [at, id] of ids.entries()) {
    try {
      withEmptyLog(db, () => work(id))
      onDone?.(at + 1)
    } catch (error) {
      if (!(error instanceof StoreError && (error.kind === 'damaged' || error.kind === 'disk-full'))) throw error
      const isFull = error.kind === 'disk-full'
      const left = isFull ? ids.length - at : 1
      skipped += left
      warn(`${left === 1 ? `conversation ${id} stays` : `${left} conversations stay`} ${where}: ${error.message}`)
      if (isFull) break
    }
  }
  return skipped
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
