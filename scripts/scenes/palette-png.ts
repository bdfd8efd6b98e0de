/** A PNG of at most 256 colours: a picture of text takes a third of what its true colours take. */
import { crc32, deflateSync } from 'node:zlib'

export function palettePng({ width, height, rgba }: { width: number; height: number; rgba: Buffer }): Buffer {
  const colours = new Map<number, number>()
  for (let at = 0; at < rgba.length; at += 4) {
    const colour = coarse(rgba, at)
    colours.set(colour, (colours.get(colour) ?? 0) + 1)
  }
  const palette = [...colours]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 256)
    .map(([colour]) => colour)
  const places = new Map(palette.map((colour, place) => [colour, place]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const colour = coarse(rgba, (row * width + column) * 4)
      const place = places.get(colour) ?? nearest(palette, colour)
      places.set(colour, place)
      rows[row * (width + 1) + 1 + column] = place
    }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8) // eight bits, by palette
  const plte = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const data = deflateSync(rows, { level: 9 })
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', plte),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Shades that no eye tells apart are one colour. */
const coarse = (rgba: Buffer, at: number): number =>
  ((rgba[at]! & 0xf8) << 16) | ((rgba[at + 1]! & 0xf8) << 8) | (rgba[at + 2]! & 0xf8)

function nearest(palette: readonly number[], colour: number): number {
  const distance = (other: number) =>
    Math.abs((other >> 16) - (colour >> 16)) +
    Math.abs(((other >> 8) & 255) - ((colour >> 8) & 255)) +
    Math.abs((other & 255) - (colour & 255))
  let best = 0
  for (const [place, other] of palette.entries()) if (distance(other) < distance(palette[best]!)) best = place
  return best
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body) >>> 0, body.length + 4)
  return framed
}
