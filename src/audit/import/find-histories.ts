/** What histories are on this machine, and how large they are: looked at, not read. */
import { statSync } from 'node:fs'
import type { HistoryFile, HistoryReader } from '../../hosts/history/record.ts'

export interface Found {
  readonly reader: HistoryReader
  readonly roots: readonly string[]
  readonly files: readonly (HistoryFile & { readonly bytes: number; readonly modifiedMs: number })[]
  /** What could hold sessions and is not read, with why. */
  readonly skipped: readonly { readonly path: string; readonly why: string; readonly isFailure: boolean }[]
}

/** Files that were last written at `sinceMs` or later. `path`: there and nowhere else. */
export function findHistories(
  readers: readonly HistoryReader[],
  { path, sinceMs, env, home }: { path?: string; sinceMs: number; env: NodeJS.ProcessEnv; home: string },
): Found[] {
  return readers.flatMap((reader) => {
    const roots = path === undefined ? reader.roots(env, home) : [path]
    const skipped: Found['skipped'][number][] = []
    const files = roots
      .flatMap((root) => reader.files(root, (each, why, isFailure) => skipped.push({ path: each, why, isFailure })))
      .flatMap((file) => {
        const { size, mtimeMs } = sizeOf(file.path, reader.rows !== undefined)
        return size > 0 && mtimeMs >= sinceMs ? [{ ...file, bytes: size, modifiedMs: mtimeMs }] : []
      })
    return files.length > 0 || skipped.length > 0 ? [{ reader, roots, files, skipped }] : []
  })
}

/** The newest changes of a SQLite file are in its -wal file. */
function sizeOf(path: string, isDatabase: boolean): { size: number; mtimeMs: number } {
  const stats = [path, ...(isDatabase ? [`${path}-wal`] : [])].map((each) => statSync(each, { throwIfNoEntry: false }))
  const size = stats.reduce((sum, each) => sum + (each?.size ?? 0), 0)
  return { size, mtimeMs: Math.max(0, ...stats.map((each) => each?.mtimeMs ?? 0)) }
}
