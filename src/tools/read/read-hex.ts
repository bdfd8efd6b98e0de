/** A binary file, sixteen bytes a row: position, hex, and the characters that can be printed. */
import { readSync } from 'node:fs'
import { sizeInWords } from '../bounded.ts'
import { said } from '../output.ts'
import { readLimits } from './limits.ts'
import type { OpenFile, ReadInput, Shown } from './open-file.ts'

export function readHex({ path, fd, stats }: OpenFile, input: ReadInput): Shown {
  const first = Math.max(1, input.offset ?? 1)
  const rows = Math.min(input.limit ?? readLimits.hexRows, readLimits.lines)
  const bytes = Buffer.alloc(rows * 16)
  const start = (first - 1) * 16
  const shown = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start))
  const all = Math.ceil(stats.size / 16)
  const last = first - 1 + Math.ceil(shown.length / 16)
  const size = sizeInWords(stats.size)
  if (shown.length === 0) {
    return { output: said(`${path}: binary, ${size}, ${all} rows; offset ${first} is past its end`), whole: false }
  }
  const onward = last < all ? `; on with offset ${last + 1}` : ''
  const header = `${path}: binary, ${size}; rows ${first}-${last} of ${all}, sixteen bytes each${onward}`
  const body = hexRows(shown, start).join('\n')
  return {
    output: said(`${header}\n${body}`, { kind: 'text', summary: `Read ${size} of binary`, full: body }),
    whole: first === 1 && last >= all,
  }
}

function hexRows(bytes: Buffer, start: number): string[] {
  const rows: string[] = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16)
    const hex = row.toString('hex').replace(/../g, '$& ').padEnd(48)
    const text = row.toString('latin1').replace(/[^ -~]/g, '.')
    rows.push(`${(start + at).toString(16).padStart(8, '0')}  ${hex.slice(0, 24)} ${hex.slice(24)} |${text}|`)
  }
  return rows
}
