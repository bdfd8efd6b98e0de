/**
 * Files that no command may create. A mount needs something to lie on, and a placeholder would be seen by everything outside
 * (an empty `.git/commondir` breaks git), so the system reports the moment in which one appears: the command is ended and
 * the file moved out of the way.
 */
import { cpSync, type FSWatcher, lstatSync, mkdirSync, renameSync, rmSync, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isOwnFile } from '../../files/atomic-write.ts'
import { statOf } from './look.ts'
import type { Locked } from './table.ts'

/** What has come into being. */
export const appeared = (paths: readonly string[]): string[] => paths.filter(isForeign)

/** There, and not written by ona itself: a Write that the user approved while a command ran is no breach. */
function isForeign(path: string): boolean {
  const stat = statOf(path)
  return stat !== undefined && !isOwnFile(stat)
}

/** Files that match what a rule locks, and were not there before. */
export const added = (locked: readonly Locked[]): { path: string; why: string }[] =>
  locked.flatMap(({ before, find, why }) =>
    (find() ?? []).filter((path) => !before.has(path) && isForeign(path)).map((path) => ({ path, why })),
  )

let count = 0

/** Moves it to `~/.ona/quarantine`, where the user can look at it; says so. */
export function quarantine(path: string, home: string, why = 'protected'): string {
  const folder = join(home, '.ona', 'quarantine')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const to = join(folder, `${Date.now()}-${process.pid}-${count++}-${basename(path)}`)
  try {
    renameSync(path, to)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EXDEV')
      return `${path} is ${why} and the command created it; it could not be moved away (${message}): look at it and remove it`
    cpSync(path, to, { recursive: true, verbatimSymlinks: true })
    rmSync(path, { recursive: true, force: true })
  }
  return `${path} is ${why} and the command created it; it was moved to ${to}`
}

const lookMs = 250

/** Calls `look` whenever one of the paths may have come into being. Returns what ends it. */
export function watchAbsent(paths: readonly string[], look: () => void): () => void {
  const names = Map.groupBy(paths, (path) => existingFolder(dirname(path)))
  const watchers: FSWatcher[] = []
  for (const [folder, inside] of names) {
    const first = new Set(inside.map((path) => path.slice(folder.length + 1).split('/')[0]))
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === null || first.has(name)) look()
      })
      watcher.on('error', look) // the folder itself is gone
      watchers.push(watcher)
    } catch {
      // no watches left, or the folder has just gone: the last look finds what there is
    }
  }
  // a flood of events loses some, and a folder that has just been made is not watched
  const timer = setInterval(() => appeared(paths).length > 0 && look(), lookMs).unref()
  return () => {
    clearInterval(timer)
    for (const watcher of watchers) watcher.close()
  }
}

/** The deepest folder that is there: a name in one that is missing can only appear with it. */
function existingFolder(folder: string): string {
  let at = folder
  while (at !== dirname(at) && !lstatSync(at, { throwIfNoEntry: false })?.isDirectory()) at = dirname(at)
  return at
}
