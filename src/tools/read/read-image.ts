/** Images: what their first bytes say of them; the model is sent the image itself. */
import { sizeInWords } from '../bounded.ts'
import { failed, said } from '../output.ts'
import { type OpenFile, part, type Shown, wholeFile } from './open-file.ts'

export interface ImageFacts {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** Undefined when the header is damaged. */
  readonly size: { readonly width: number; readonly height: number } | undefined
}

/** What the model providers take: base64 of 5 MB, and 8000 pixels a side. */
const byteLimit = 3_932_160
const sideLimit = 8000

export function readImage(file: OpenFile, { mediaType, size }: ImageFacts): Shown {
  const bytes = file.stats.size
  const kind = mediaType.slice('image/'.length).toUpperCase()
  if (!size) return part(failed(`${file.path} begins like a ${kind} image, but its header is damaged`))
  const { width, height } = size
  const facts = `${kind} image, ${width} × ${height} pixels, ${sizeInWords(bytes)}`
  if (bytes > byteLimit || width > sideLimit || height > sideLimit) {
    const limits = `${sizeInWords(byteLimit)} and ${sideLimit} pixels a side`
    return part(failed(`${file.path}: ${facts}, more than can be shown (${limits}); make a smaller copy and read that`))
  }
  const content = `${file.path}: ${facts}`
  const base64 = wholeFile(file).toString('base64')
  const dimensions = { originalWidth: width, originalHeight: height, displayWidth: width, displayHeight: height }
  return {
    output: {
      ...said(content, { kind: 'text', summary: `Read ${facts}` }),
      images: [{ mediaType, data: base64 }],
      response: () => ({ type: 'image', file: { base64, type: mediaType, originalSize: bytes, dimensions } }),
    },
    whole: true,
  }
}

/** By the bytes, never by the name. */
export function sniffImage(head: Buffer): ImageFacts | undefined {
  const word = (at: number, length: number) => head.subarray(at, at + length).toString('latin1')
  if (word(0, 8) === '\x89PNG\r\n\x1a\n')
    return {
      mediaType: 'image/png',
      size: head.length < 24 ? undefined : pair(head.readUInt32BE(16), head.readUInt32BE(20)),
    }
  if (word(0, 6) === 'GIF87a' || word(0, 6) === 'GIF89a') {
    return {
      mediaType: 'image/gif',
      size: head.length < 10 ? undefined : pair(head.readUInt16LE(6), head.readUInt16LE(8)),
    }
  }
  if (word(0, 4) === 'RIFF' && word(8, 4) === 'WEBP') return { mediaType: 'image/webp', size: webpSize(head) }
  if (head.length > 3 && head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff)
    return { mediaType: 'image/jpeg', size: jpegSize(head) }
  return undefined
}

const pair = (width: number, height: number) => (width > 0 && height > 0 ? { width, height } : undefined)

function webpSize(head: Buffer) {
  if (head.length < 30) return undefined
  const kind = head.subarray(12, 16).toString('latin1')
  if (kind === 'VP8X') return pair(head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1)
  if (kind === 'VP8 ') return pair(head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff)
  if (kind !== 'VP8L') return undefined
  const bits = head.readUInt32LE(21)
  return pair((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)
}

/** A JPEG is a row of segments, each with its length; the frame header among them holds the size. */
function jpegSize(head: Buffer) {
  let at = 2
  while (at + 9 < head.length) {
    if (head[at] !== 0xff) return undefined
    const marker = head[at + 1]!
    if (marker === 0xff) {
      at++
      continue
    }
    const frame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (frame) return pair(head.readUInt16BE(at + 7), head.readUInt16BE(at + 5))
    at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}
