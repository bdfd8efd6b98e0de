/** A throw-away copy of the project, in which cases run: nothing that they do reaches the project itself. */
import { constants, cpSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export interface ProjectCopy {
  readonly path: string
  remove(): void
}

/** Installed packages are shared with the project by a link; ona's own folder is left out. */
export function copyProject(projectDir: string): ProjectCopy {
  const root = mkdtempSync(join(tmpdir(), 'ona-project-'))
  const path = join(root, basename(projectDir) || 'project')
  const left = new Set(['node_modules', '.ona'].map((name) => join(projectDir, name)))
  cpSync(projectDir, path, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (from) => !left.has(from) && isCopied(from),
  })
  const packages = join(projectDir, 'node_modules')
  if (existsSync(packages)) symlinkSync(packages, join(path, 'node_modules'))
  return { path, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** Sockets, pipes and devices are not. */
function isCopied(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined || stat.isFile() || stat.isDirectory()
}

/** The project without the change: its files are there, and say nothing. */
export function emptied(projectDir: string, files: Iterable<string>): ProjectCopy {
  const copy = copyProject(projectDir)
  for (const file of files) {
    const path = join(copy.path, file)
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) truncateSync(path)
  }
  return copy
}
