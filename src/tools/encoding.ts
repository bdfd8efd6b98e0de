/** Which characters the bytes of a text file are, and back again, so that an edit keeps the file's encoding. */
import { isUtf8 } from 'node:buffer'
import { wholeCharacters } from './bounded.ts'

export type Encoding = 'utf8' | 'utf8-bom' | 'utf16le' | 'utf16be' | 'latin1'

export const encodingNames: Record<Encoding, string> = {
  utf8: 'UTF-8',
  'utf8-bom': 'UTF-8 with BOM',
  utf16le: 'UTF-16 LE',
  utf16be: 'UTF-16 BE',
  latin1: 'not UTF-8; shown as ISO 8859-1',
}

/** How many bytes from the start decide. */
export const sampleSize = 65_536

/** The encoding that the first bytes speak of, or 'binary'. `whole`: nothing comes after them. */
export function sniff(sample: Buffer, whole: boolean): Encoding | 'binary' {
  if (sample[0] === 0xef && sample[1] === 0xbb && sample[2] === 0xbf) return 'utf8-bom'
  const first = sample.length >= 2 ? sample.readUInt16BE(0) : 0
  const utf32 = sample.length >= 4 && sample[2] === 0 && sample[3] === 0
  if (first === 0xfffe && !utf32) return 'utf16le'
  if (first === 0xfeff) return 'utf16be'
  if (sample.includes(0)) return utf16WithoutMark(sample) ?? 'binary'
  if (controls(sample.subarray(0, 8192)) > Math.min(sample.length, 8192) / 20) return 'binary'
  return isUtf8(whole ? sample : wholeCharacters(sample)) ? 'utf8' : 'latin1'
}

export function decode(bytes: Buffer, encoding: Encoding): string {
  if (encoding === 'utf8') return bytes.toString('utf8')
  if (encoding === 'utf8-bom') return bytes.subarray(3).toString('utf8')
  if (encoding === 'latin1') return bytes.toString('latin1')
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
  const text = (encoding === 'utf16le' ? even : Buffer.from(even).swap16()).toString('utf16le')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Undefined when the encoding has no way to write one of the characters. `marked`: the file had a UTF-16 BOM. */
export function encode(text: string, encoding: Encoding, marked = true): Buffer | undefined {
  if (encoding === 'utf8') return Buffer.from(text, 'utf8')
  if (encoding === 'utf8-bom') return Buffer.from(`\uFEFF${text}`, 'utf8')
  if (encoding === 'latin1') return /[^\0-\xff]/.test(text) ? undefined : Buffer.from(text, 'latin1')
  const bytes = Buffer.from(marked ? `\uFEFF${text}` : text, 'utf16le')
  return encoding === 'utf16le' ? bytes : bytes.swap16()
}

/** Whether UTF-16 bytes begin with their mark. */
export const hasMark = (bytes: Buffer): boolean =>
  bytes.length >= 2 && (bytes.readUInt16BE(0) === 0xfffe || bytes.readUInt16BE(0) === 0xfeff)

/** Mostly ASCII in 16 bits each: a NUL in every second byte and none in the others. */
function utf16WithoutMark(sample: Buffer): Encoding | undefined {
  if (sample.length < 4) return undefined
  let even = 0
  let odd = 0
  for (let at = 0; at + 1 < sample.length; at += 2) {
    if (sample[at] === 0) even++
    if (sample[at + 1] === 0) odd++
  }
  const most = (sample.length >> 1) * 0.8
  if (odd >= most && even === 0) return 'utf16le'
  if (even >= most && odd === 0) return 'utf16be'
  return undefined
}

/** How many control characters there are that text does not have. By a pattern: a loop that runs once is not compiled. */
const controls = (sample: Buffer): number => sample.toString('latin1').match(notInText)?.length ?? 0

const notInText = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/g
