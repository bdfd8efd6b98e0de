/** The archives that lie beside a database, by their names: for what must not be changed, without opening the database. */
import { readdirSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { ownPath } from '../database-file.ts'

/** `DATABASE-archive-20261119T155845.zst`. The database may have been renamed since. */
export const archiveName = /-archive-\d{8}T\d{6}\.zst$/

const none: readonly string[] = []
const known = new Map<string, { readonly changedAt: number; readonly archives: readonly string[] }>()

/** Absolute paths; the same list as long as they are the same. The folder is read again when a name in it changed. */
export function archivesIn(database: string): readonly string[] {
  if (!isAbsolute(database)) return none // in memory
  const folder = dirname(ownPath(database))
  const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs
  if (changedAt === undefined) return none
  const before = known.get(folder)
  if (before?.changedAt === changedAt) return before.archives
  const found = namesIn(folder)
    .filter((name) => archiveName.test(name))
    .map((name) => join(folder, name))
    .sort()
  const archives = before?.archives.join('\0') === found.join('\0') ? before.archives : found
  known.set(folder, { changedAt, archives })
  return archives
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // a folder that may not be listed: the database itself is still known by its name
  }
}
