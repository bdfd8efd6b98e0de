/** Reads a growing JSONL file in batches of whole lines. Memory stays flat, however long the file or a line is. */
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs'

export interface Batch {
  readonly lines: readonly Buffer[]
  /** Where the next batch begins, in bytes of the (unpacked) text. */
  readonly end: number
  /** Lines longer than we read; they count as unreadable. */
  readonly tooLong: number
}

const CHUNK = 1024 * 1024
/** A batch is one transaction: other processes wait for the lock no longer than it takes. */
const BATCH = 2 * 1024 * 1024
const LONGEST = 64 * 1024 * 1024

/** Whole lines from `from` on. A last line without its end is left for the next time. */
export async function* batches(path: string, from: number): AsyncGenerator<Batch> {
  const collect = collector(from)
  const chunks = path.endsWith('.zst') ? unpacked(path, from) : plain(path, from)
  for await (const chunk of chunks) yield* collect.add(chunk)
  yield* collect.end()
}

function* plain(path: string, from: number): Generator<Buffer> {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    for (let at = from; at < size; ) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size - at))
      const got = readSync(fd, chunk, 0, chunk.length, at)
      if (got === 0) return
      at += got
      yield chunk.subarray(0, got)
    }
  } finally {
    closeSync(fd)
  }
}

/** What precedes `from` has to be unpacked again, and is dropped. */
async function* unpacked(path: string, from: number): AsyncGenerator<Buffer> {
  const { createZstdDecompress } = process.getBuiltinModule('node:zlib')
  let left = from
  for await (const chunk of createReadStream(path).pipe(createZstdDecompress()) as AsyncIterable<Buffer>) {
    const dropped = Math.min(left, chunk.length)
    left -= dropped
    if (dropped < chunk.length) yield chunk.subarray(dropped)
  }
}

function collector(from: number) {
  let lines: Buffer[] = []
  let bytes = 0
  let tooLong = 0
  let end = from
  let pieces: Buffer[] = []
  let pending = 0
  const batch = (): Batch => {
    const made = { lines, end, tooLong }
    lines = []
    bytes = 0
    tooLong = 0
    return made
  }
  return {
    *add(chunk: Buffer): Generator<Batch> {
      let begin = 0
      for (let newline = chunk.indexOf(10); newline >= 0; newline = chunk.indexOf(10, begin)) {
        const last = chunk.subarray(begin, newline)
        const length = pending + last.length
        if (length > LONGEST) tooLong++
        else if (length > 0) lines.push(pieces.length === 0 ? last : Buffer.concat([...pieces, last]))
        end += length + 1
        bytes += length
        pieces = []
        pending = 0
        begin = newline + 1
        if (bytes >= BATCH) yield batch()
      }
      const rest = chunk.subarray(begin)
      if (rest.length === 0) return
      pending += rest.length
      if (pending > LONGEST) pieces = []
      else pieces.push(rest)
    },
    *end(): Generator<Batch> {
      if (lines.length > 0 || tooLong > 0) yield batch()
    },
  }
}
