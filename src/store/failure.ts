/** What can go wrong with the database file, with the remedy for the user. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

export type StoreFailure =
  | 'bad-path'
  | 'not-a-database'
  | 'other-program'
  | 'newer-schema'
  | 'read-only'
  | 'disk-full'
  | 'locked'
  | 'damaged'
  | 'not-there'
  | 'not-operator'

/** Thrown to `main`, which prints the message and ends with exit code 1. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly kind: StoreFailure
  constructor(kind: StoreFailure, message: string) {
    super(message)
    this.kind = kind
  }
}

/** An error of SQLite as ours where the file or the machine is at fault; undefined where our SQL is. */
export function asStoreError(error: unknown, path: string): StoreError | undefined {
  const code = (error as { errcode?: number }).errcode
  if (code === undefined) return undefined
  const known = codes[code & 0xff]
  if (!known) return undefined
  const full = (known === 'not-there' || known === 'damaged') && code !== CORRUPT && isFull(path)
  const kind = full ? 'disk-full' : known
  return new StoreError(kind, `${path} ${words[kind]}`)
}

const CORRUPT = 11
/** SQLite's primary result codes (sqlite.org/rescode.html). */
const codes: Record<number, keyof typeof words> = {
  5: 'locked',
  6: 'locked',
  8: 'read-only',
  10: 'damaged',
  11: 'damaged',
  13: 'disk-full',
  14: 'not-there',
  26: 'not-a-database',
}

const words = {
  locked: 'has been locked by another program for over 30 seconds; end that program, or try again',
  'read-only': 'cannot be written; make the file and its folder writable, or set AGENT_SDLC_DB to another path',
  damaged:
    'could not be read or written as a database; check the disk, and the file with: sqlite3 FILE "PRAGMA integrity_check"',
  'disk-full': 'cannot grow: the disk is full. Nothing of this step was stored; free some space and try again',
  'not-there': 'cannot be opened; check that its folder exists and is yours',
  'not-a-database': 'is not a SQLite database; it was left as it is. Set AGENT_SDLC_DB to another path',
} satisfies Partial<Record<StoreFailure, string>>

/** SQLite reports some full disks as an input/output error. */
function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize < 64 * 1024
  } catch {
    return false // the folder itself cannot be read: then that is the trouble, not its space
  }
}
