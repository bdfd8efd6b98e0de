/** Output that is bounded while it streams, not after. */
import { counted } from '../hooks/text/counted.ts'

/** What one stream, page or listing may hold (spec 003 §7.1). */
export const streamCap = 1_048_576
export const truncatedMark = '[SDLC_TRUNCATED]'

/** Keeps the first `cap` bytes of what comes and forgets the rest. */
export class Bounded {
  readonly #cap: number
  readonly #chunks: Buffer[] = []
  #kept = 0
  /** How much came in all. */
  seen = 0

  constructor(cap: number = streamCap) {
    this.#cap = cap
  }

  add(chunk: Buffer): void {
    this.seen += chunk.length
    const room = this.#cap - this.#kept
    if (room <= 0) return
    // A copy of the part we keep, so that the rest of a large chunk can go.
    this.#chunks.push(chunk.length > room ? Buffer.from(chunk.subarray(0, room)) : chunk)
    this.#kept += Math.min(room, chunk.length)
  }

  get full(): boolean {
    return this.seen >= this.#cap
  }

  bytes(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }

  /** As text of at most the cap; bytes that are not UTF-8 become U+FFFD. Ends with the mark when something was cut. */
  text(): string {
    if (this.#kept === 0) return ''
    const cut = this.seen > this.#cap
    const text = (cut ? wholeCharacters(this.bytes()) : this.bytes()).toString('utf8')
    const held = capped(text, this.#cap) // a byte that is no character takes three as U+FFFD
    return cut && held === text ? text + truncatedMark : held
  }
}

/** The text, or as much of it as the cap holds, with the mark. */
export function capped(text: string, cap: number = streamCap): string {
  if (text.length * 3 <= cap || Buffer.byteLength(text) <= cap) return text
  return `${wholeCharacters(Buffer.from(text).subarray(0, cap)).toString('utf8')}${truncatedMark}`
}

/** Without the beginning of a character whose end was cut off. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return bytes
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return counted(bytes, 'byte')
  const units = ['KB', 'MB', 'GB', 'TB']
  let value = bytes / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toFixed(1)} ${units[unit]}`
}
