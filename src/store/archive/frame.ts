/**
 * The rows of one conversation as a zstd frame: a line of JSON for each, which holds the very text that the chain hashed.
 * Frames lie one after another in a file, so that `zstd -dc FILE` prints all of them.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { chainedTables, rowText } from '../chain/chain.ts'
import { type ReadDb, StoreError } from '../open.ts'

/** The tables whose rows are archived; links and tombstones stay in the database and vouch for them. */
export const archivedTables = chainedTables.slice(0, 4)

export interface ArchivedRow {
  readonly table: number
  readonly id: number
  /** As the chain hashes it: a JSON array of every column. */
  readonly text: string
}

export interface Place {
  readonly file: string
  readonly offset: number
  readonly length: number
  readonly digest: Uint8Array
}

/** Rows that name a session of the conversation. Events without one stay where they are. */
export function* rowsOf(db: ReadDb, conversationId: string): Generator<ArchivedRow> {
  for (const [table, { name }] of archivedTables.entries())
    for (const { id, text } of db.each<{ id: number; text: string }>(
      `SELECT id, ${rowText(table)} AS text FROM ${name}
       WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?) ORDER BY id`,
      conversationId,
    ))
      yield { table, id, text }
}

export function packed(rows: Iterable<ArchivedRow>): Uint8Array {
  const lines = Array.from(rows, ({ table, text }) => `{"table":"${archivedTables[table]!.name}","row":${text}}\n`)
  const { zstdCompressSync, constants } = zlib()
  return zstdCompressSync(lines.join(''), { params: { [constants.ZSTD_c_compressionLevel]: 9 } })
}

export function* unpacked(frame: Uint8Array): Generator<ArchivedRow> {
  for (const line of zlib().zstdDecompressSync(frame).toString('utf8').split('\n')) {
    if (line === '') continue
    const [whole, name, text] = /^\{"table":"(\w+)","row":(.*)\}$/s.exec(line) ?? []
    const table = archivedTables.findIndex((each) => each.name === name)
    if (whole === undefined || table < 0) throw new SyntaxError('a line of it is no row of the record')
    yield { table, id: Number(/^\[(\d+)/.exec(text!)?.[1]), text: text! }
  }
}

/** Appends a frame and waits until it is on the disk. Where it does not fit, the file is as it was. */
export function appendFrame(path: string, frame: Uint8Array): { readonly offset: number; readonly length: number } {
  return withFile(path, 'a', (file) => {
    const offset = fstatSync(file).size
    try {
      writeFileSync(file, frame) // all of it: a single write may end early on a disk that is nearly full
      fsyncSync(file)
    } catch (error) {
      ftruncateSync(file, offset)
      throw new StoreError(
        'disk-full',
        `the archive ${path} cannot be written: ${(error as Error).message}; the rows stay in the database`,
      )
    }
    return { offset, length: frame.length }
  })
}

function withFile<T>(path: string, flags: string, work: (file: number) => T): T {
  const file = openSync(path, flags, 0o600)
  try {
    return work(file)
  } finally {
    closeSync(file)
  }
}

/** Must be what was written there: a file that is missing or was changed is reported, and nothing of it is used. */
export function readFrame({ file, offset, length, digest }: Place): Uint8Array {
  const frame = Buffer.alloc(length)
  try {
    withFile(file, 'r', (open) => readSync(open, frame, 0, length, offset))
  } catch (error) {
    throw new StoreError('damaged', `the archive ${file} cannot be read: ${(error as Error).message}; restore it`)
  }
  if (Buffer.compare(digestOf(frame), digest) === 0) return frame
  throw new StoreError('damaged', `the archive ${file} was changed at byte ${offset}; restore it from a copy`)
}

/** Puts a frame that says nothing in its place, so that the rest of the file is still one stream. */
export function blankFrame({ file, offset, length }: Place): void {
  const blank = Buffer.alloc(length)
  blank.writeUInt32LE(0x184d2a50, 0) // the magic number of a skippable frame (RFC 8878, 3.1.2)
  blank.writeUInt32LE(length - 8, 4)
  withFile(file, 'r+', (open) => {
    writeSync(open, blank, 0, length, offset)
    fsyncSync(open)
  })
}

export const digestOf = (bytes: Uint8Array | string): Uint8Array =>
  process.getBuiltinModule('node:crypto').hash('sha256', bytes, 'buffer')

function zlib() {
  const found = process.getBuiltinModule('node:zlib')
  if (typeof found.zstdCompressSync === 'function') return found
  throw new StoreError(
    'damaged',
    `archives need zstd, which Node ${process.versions.node} lacks; use Node 22.15 or newer`,
  )
}
