/** A throw-away copy of the project, in which cases run: nothing that they do reaches the project itself. */
import {
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isWithin } from '../../permissions/paths/pattern.ts'

export interface ProjectCopy {
  readonly path: string
  /** Where the installed packages are that it links to. */
  readonly packages: string | undefined
  /** Puts another text into a file of it; through links that lead out of the copy nothing is written. */
  write(file: string, text: string): void
  remove(): void
}

export interface CopyOptions {
  /** Other texts for files of the copy. */
  readonly texts?: ReadonlyMap<string, string>
  /** What runs in the copy cannot write outside of its own folder, so the packages themselves may be linked. */
  readonly sandboxed?: boolean
}

/**
 * Without the history, ona's own folder and the installed packages. Those are linked: in the sandbox to where they are,
 * otherwise to one copy for all.
 */
export function copyProject(projectDir: string, { texts, sandboxed }: CopyOptions = {}): ProjectCopy {
  const root = mkdtempSync(join(tmpdir(), 'ona-project-'))
  const path = join(root, basename(projectDir))
  const left = new Set(['.git', 'node_modules', '.ona'].map((name) => join(projectDir, name)))
  cpSync(projectDir, path, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (from) => !left.has(from) && isCopied(from),
  })
  const packages = packagesOf(projectDir, sandboxed === true)
  if (packages !== undefined) linkPackages(packages, join(path, 'node_modules'))
  const write = (file: string, text: string) => {
    const at = realPath(join(path, file))
    if (at !== undefined && isWithin(at, realpathSync(path))) writeFileSync(at, text)
  }
  for (const [file, text] of texts ?? []) write(file, text)
  return { path, packages, write, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** By project, the copy of its installed packages, made once a process and again when they change. */
const packageCopies = new Map<string, { readonly stamp: string; readonly folder: string }>()

function packagesOf(projectDir: string, sandboxed: boolean): string | undefined {
  const installed = join(projectDir, 'node_modules')
  if (!statSync(installed, { throwIfNoEntry: false })?.isDirectory()) return undefined
  if (sandboxed) return realpathSync(installed)
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

/** Sockets, pipes and devices are not; a link is, wherever it leads. */
function isCopied(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat === undefined || stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined // not in the copy
  }
}
