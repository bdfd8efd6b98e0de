/** A throw-away copy of the project, in which cases run: nothing that they do reaches the project itself. */
import {
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export interface ProjectCopy {
  readonly path: string
  /** The copy of the installed packages, where there are any. */
  readonly packages: string | undefined
  remove(): void
}

/** Copies share one copy of the installed packages; ona's own folder is left out. */
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
  const packages = packagesOf(projectDir)
  if (packages !== undefined) linkPackages(packages, join(path, 'node_modules'))
  return { path, packages, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** By project, the copy of its installed packages, made once a process and again when they change. */
const packageCopies = new Map<string, { readonly stamp: string; readonly folder: string }>()

function packagesOf(projectDir: string): string | undefined {
  const installed = join(projectDir, 'node_modules')
  if (!statSync(installed, { throwIfNoEntry: false })?.isDirectory()) return undefined
  const stamp = [installed, join(installed, '.package-lock.json')]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs)
    .join()
  const known = packageCopies.get(projectDir)
  if (known?.stamp === stamp) return known.folder
  if (packageCopies.size === 0) process.once('exit', removePackageCopies)
  if (known) rmSync(join(known.folder, '..'), { recursive: true, force: true })
  const folder = join(mkdtempSync(join(tmpdir(), 'ona-packages-')), 'node_modules')
  cpSync(installed, folder, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  packageCopies.set(projectDir, { stamp, folder })
  return folder
}

function removePackageCopies(): void {
  for (const { folder } of packageCopies.values()) rmSync(join(folder, '..'), { recursive: true, force: true })
}

/** A folder of links to the packages. Links of a workspace stay as they are: in the copy they lead to the copy's own code. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [there, here] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(there), here)
    else if (entry.isDirectory() && (entry.name.startsWith('@') || entry.name === '.bin')) linkPackages(there, here)
    else symlinkSync(there, here)
  }
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
