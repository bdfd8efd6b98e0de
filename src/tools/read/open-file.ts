/** A file that Read has open, and what it shows of it. */
import { readSync, type Stats } from 'node:fs'
import type { ToolOutput } from '../output.ts'

export interface ReadInput {
  readonly file_path: string
  readonly offset?: number
  readonly limit?: number
  readonly pages?: string
}

/** A file that is open and known to be a regular one. */
export interface OpenFile {
  readonly path: string
  readonly fd: number
  readonly stats: Stats
  /** Its first bytes. */
  readonly head: Buffer
}

/** What was shown, and whether that was all of the file. */
export interface Shown {
  readonly output: ToolOutput
  readonly whole: boolean
}

export const part = (output: ToolOutput): Shown => ({ output, whole: false })

/** All bytes of it; for kinds that have a size limit of their own. */
export function wholeFile({ fd, stats }: OpenFile): Buffer {
  const bytes = Buffer.allocUnsafe(stats.size)
  let at = 0
  while (at < bytes.length) {
    const got = readSync(fd, bytes, at, bytes.length - at, at)
    if (got === 0) break
    at += got
  }
  return bytes.subarray(0, at)
}
