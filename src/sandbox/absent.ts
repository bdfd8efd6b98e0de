/** Paths that no command may create: looked for while it runs and when it ends, and moved out of the way. */
import { cpSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

/** What has come into being. */
export const appeared = (paths: readonly string[]): string[] =>
  paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }))

let count = 0

/** Moves it to `~/.ona/quarantine`, where the user can look at it; says so. */
export function quarantine(path: string, home: string): string {
  const folder = join(home, '.ona', 'quarantine')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const to = join(folder, `${Date.now()}-${process.pid}-${count++}-${basename(path)}`)
  try {
    renameSync(path, to)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EXDEV')
      return `${path} is protected and the command created it; it could not be moved away (${message}): look at it and remove it`
    cpSync(path, to, { recursive: true, verbatimSymlinks: true })
    rmSync(path, { recursive: true, force: true })
  }
  return `${path} is protected and the command created it; it was moved to ${to}`
}
