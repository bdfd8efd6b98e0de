/**
 * The rows of one conversation as a zstd frame: a line of JSON for each, which holds the very text that the chain hashed.
 * Frames lie one after another in a file, so that `zstd -dc FILE` prints all of them.
 */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { readFault } from '../../files/read-fault.ts'
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

/** A few megabytes of lines at a time: a conversation may be larger than a string can be. */
export function packed(rows: Iterable<ArchivedRow>): Uint8Array {
  const { zstdCompressSync, constants } = zlib()
  const params = { [constants.ZSTD_c_compressionLevel]: 9 }
  const frames: Uint8Array[] = []
  let lines: string[] = []
  let size = 0
  const pack = () => {
    frames.push(zstdCompressSync(lines.join(''), { params }))
    lines = []
    size = 0
  }
  for (const { table, text } of rows) {
    lines.push(`{"table":"${archivedTables[table]!.name}","row":${text}}\n`)
    size += text.length
    if (size > frameChars) pack()
  }
  if (lines.length > 0 || frames.length === 0) pack()
  return Buffer.concat(frames)
}
const frameChars = 8 * 1024 * 1024

export function* unpacked(frame: Uint8Array): Generator<ArchivedRow> {
  for (const line of linesOf(frame)) {
    const [whole, name, text] = /^\{"table":"(\w+)","row":(.*)\}$/s.exec(line) ?? []
    const table = archivedTables.findIndex((each) => each.name === name)
    if (whole === undefined || table < 0) throw new SyntaxError('a line of it is no row of the record')
    yield { table, id: Number(/^\[(\d+)/.exec(text!)?.[1]), text: text! }
  }
}

/** Each frame of zstd holds whole lines, and is unpacked on its own. */
function* linesOf(bytes: Uint8Array): Generator<string> {
  const { zstdDecompressSync } = zlib()
  for (let at = 0; at < bytes.length; ) {
    const end = endOfFrame(bytes, at)
    const text = zstdDecompressSync(bytes.subarray(at, end)).toString('utf8')
    for (const line of text.split('\n')) if (line !== '') yield line
    at = end
  }
}

/**
 * RFC 8878, 3.1.1: a header whose first byte after the magic number tells its size, blocks, and perhaps a checksum. None of our
 * frames has a dictionary.
 */
function endOfFrame(bytes: Uint8Array, begin: number): number {
  const { buffer, byteOffset, byteLength } = bytes
  const view = new DataView(buffer, byteOffset, byteLength)
  const kind = view.getUint8(begin + 4)
  const isSingle = (kind >> 5) & 1
  const contentSize = [isSingle, 2, 4, 8][kind >> 6]!
  let at = begin + 5 + (isSingle ? 0 : 1) + contentSize
  for (let isLast = false; !isLast; ) {
    const head = view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
    isLast = (head & 1) === 1
    const isRepeated = ((head >> 1) & 3) === 1
    at += 3 + (isRepeated ? 1 : head >> 3)
  }
  return at + ((kind >> 2) & 1) * 4
}

/** Appends a frame and waits until it is on the disk. Where it does not fit, the file is as it was. */
export function appendFrame(path: string, frame: Uint8Array): { readonly offset: number; readonly length: number } {
  try {
    return withFile(path, 'a', (file) => {
      const offset = fstatSync(file).size
      try {
        writeFileSync(file, frame) // all of it: a single write may end early on a disk that is nearly full
        fsyncSync(file)
        if (offset === 0) withFile(dirname(path), 'r', fsyncSync) // its name too
      } catch (error) {
        ftruncateSync(file, offset)
        throw error
      }
      return { offset, length: frame.length }
    })
  } catch (error) {
    throw new StoreError(
      'disk-full',
      `the archive ${path} cannot be written: ${(error as Error).message}; the rows stay in the database`,
    )
  }
}

function withFile<T>(path: string, flags: string | number, work: (file: number) => T): T {
  const file = openSync(path, flags, 0o600)
  try {
    return work(file)
  } finally {
    closeSync(file)
  }
}

/** A pipe in the place of a file has no writer to wait for. */
const withoutWaiting = constants.O_RDONLY | constants.O_NONBLOCK

/** Must be what was written there: a file that is missing or was changed is reported, and nothing of it is used. */
export function readFrame({ file, offset, length, digest }: Place): Uint8Array {
  const frame = Buffer.alloc(length)
  try {
    withFile(file, withoutWaiting, (open) => readSync(open, frame, 0, length, offset))
  } catch (error) {
    throw new StoreError('damaged', `the archive ${file} cannot be read: ${readFault(error)}; restore it from a copy`)
  }
  if (Buffer.compare(digestOf(frame), digest) === 0) return frame
  throw new StoreError('damaged', `the archive ${file} was changed at byte ${offset}; restore it from a copy`)
}

/** What is wrong with an archive that must reach to `end`, without reading it. */
export function lengthProblem(file: string, end: number): string | undefined {
  const { size } = statSync(file, { throwIfNoEntry: false }) ?? {}
  if (size === undefined) return `the archive ${file} is missing; restore it from a copy`
  return size < end ? `the archive ${file} was cut off at byte ${size}; restore it from a copy` : undefined
}

/** Leaves nothing in a file but the frames at these places, which are in order. Without any, there is no file. */
export function keepOnly(path: string, places: readonly Pick<Place, 'offset' | 'length'>[]): void {
  if (places.length === 0) {
    rmSync(path, { force: true })
    return
  }
  withFile(path, 'r+', (file) => {
    let at = 0
    for (const { offset, length } of places) {
      if (offset > at) blank(file, at, offset - at)
      at = offset + length
    }
    if (fstatSync(file).size > at) ftruncateSync(file, at)
    fsyncSync(file)
  })
}

/** Puts frames that say nothing in their place, so that the rest of the file is still one stream. Those that are there stay. */
function blank(file: number, offset: number, length: number): void {
  const end = offset + length
  const begin = endOfBlank(file, offset, end)
  if (begin === end) return
  const head = Buffer.alloc(8)
  head.writeUInt32LE(skippable, 0)
  head.writeUInt32LE(end - begin - 8, 4)
  const zeros = Buffer.alloc(Math.min(end - begin - 8, 1_048_576))
  for (let at = begin + 8; at < end; ) at += writeSync(file, zeros, 0, Math.min(zeros.length, end - at), at)
  writeSync(file, head, 0, 8, begin) // last: what has it is empty
}

/** Conversations are mostly erased in the order in which they were archived: what is empty grows at its end. */
function endOfBlank(file: number, offset: number, end: number): number {
  const head = Buffer.alloc(8)
  for (let at = offset; at + 8 <= end; at += 8 + head.readUInt32LE(4)) {
    readSync(file, head, 0, 8, at)
    if (head.readUInt32LE(0) !== skippable || at + 8 + head.readUInt32LE(4) > end) return at
  }
  return end
}

/** The magic number of a skippable frame (RFC 8878, 3.1.2). */
const skippable = 0x184d2a50

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
