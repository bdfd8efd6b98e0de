/**
 * Walks a folder: every file in it, links never followed, version control's own folders left out, and, when asked,
 * what .gitignore, .ignore and .rgignore name, by the same rules as ripgrep.
 */
import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { readPlainFile } from '../../files/plain-file.ts'

export const versionControl: readonly string[] = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl']

/** For picomatch. `s`: a name may hold a line break. */
export const globOptions = { dot: true, nonegate: true, flags: 's' } as const

export interface WalkOptions {
  readonly root: string
  /** Leave out what the ignore files name. */
  readonly ignoring: boolean
  /** False: nothing under this folder is wanted. The path is relative to the root, with `/`. */
  enter?(folder: string): boolean
  /** What the caller chose or left out by itself; it wins over the ignore files. */
  choose?(path: string, folder: boolean): 'in' | 'out' | undefined
  readonly signal?: AbortSignal
}

/** Calls `visit` with each file's path relative to the root. Must not be given a file as root. */
export async function walk(options: WalkOptions, visit: (path: string) => void): Promise<void> {
  const { root, enter, choose, signal } = options
  const first = options.ignoring ? await ignoresAbove(root) : undefined
  const folders: { path: string; ignores: Ignores | undefined }[] = [{ path: '', ignores: first }]
  let seen = 0
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    if (seen > slice) {
      await new Promise(setImmediate)
      seen = 0
    }
    if (signal?.aborted) return
    const entries = entriesOf(folder.path === '' ? root : `${root}/${folder.path}`)
    seen += 1 + entries.length
    const ignores = folder.ignores && extend(folder.ignores, join(root, folder.path), entries)
    const wanted = (path: string, isFolder: boolean) => {
      if (!choose && !ignores) return true
      const chosen = choose?.(path, isFolder)
      if (chosen) return chosen === 'in'
      return !ignores || !isIgnored(ignores, join(root, path), isFolder)
    }
    for (const entry of entries) {
      const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`
      if (entry.isDirectory()) {
        if (versionControl.includes(entry.name) || enter?.(path) === false) continue
        if (wanted(path, true)) folders.push({ path, ignores })
      } else if (entry.isFile() && wanted(path, false)) visit(path)
    }
  }
}

/** So many entries are looked at before the terminal gets its turn. */
const slice = 5_000

/** A folder that may not be read, or is gone by now, has nothing for us. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** The ignore files in force in a folder, nearest first. */
interface Ignores {
  readonly make: (options: import('ignore').Options) => import('ignore').Ignore
  /** Whether a repository was seen here or above: only then does .gitignore count. */
  readonly inRepository: boolean
  readonly files: readonly { folder: string; kind: string; rules: import('ignore').Ignore }[]
}

/** Later ones win over earlier ones, wherever they lie. */
const kinds = ['.rgignore', '.ignore', '.gitignore'] as const

async function ignoresAbove(root: string): Promise<Ignores> {
  const { default: make } = await import('ignore')
  const above: string[] = []
  for (let folder = dirname(root); folder !== above[0]; folder = dirname(folder)) above.unshift(folder)
  let ignores: Ignores = { make, inRepository: false, files: [] }
  for (const folder of above) {
    const names = [...kinds, '.git'].filter((name) => existsSync(join(folder, name)))
    ignores = extend(
      ignores,
      folder,
      names.map((name) => ({ name })),
    )
  }
  // The root itself was asked for, so the folders on the way to it count as not ignored.
  for (const { folder, rules } of ignores.files) {
    const steps = relative(folder, root).split('/')
    rules.add(steps.map((_, index) => `!/${asPattern(steps.slice(0, index + 1).join('/'))}`))
  }
  return ignores
}

const asPattern = (path: string): string => path.replace(/[\\*?[\]! #]/g, '\\$&')

function extend(ignores: Ignores, folder: string, entries: readonly { name: string }[]): Ignores {
  let here = ignores
  // A repository does not heed the .gitignore files of what lies around it.
  if (entries.some(({ name }) => name === '.git')) {
    here = { ...here, inRepository: true, files: here.files.filter(({ kind }) => kind !== '.gitignore') }
  }
  const found = kinds.filter((kind) => entries.some(({ name }) => name === kind))
  if (found.length === 0) return here
  const files = found.flatMap((kind) => {
    try {
      return [{ folder, kind, rules: here.make({ allowRelativePaths: true }).add(readPlainFile(join(folder, kind))) }]
    } catch {
      return [] // a folder of that name, or one we may not read
    }
  })
  return { ...here, files: [...files, ...here.files] }
}

function isIgnored({ files, inRepository }: Ignores, path: string, folder: boolean): boolean {
  for (const kind of kinds) {
    if (kind === '.gitignore' && !inRepository) continue
    for (const file of files) {
      if (file.kind !== kind) continue
      const answer = file.rules.test(relative(file.folder, path) + (folder ? '/' : ''))
      if (answer.ignored) return true
      if (!answer.unignored) continue
      if (folder) takeBack(files, path)
      return false
    }
  }
  return false
}

/** What a file says of a folder that another one took back must not reach what is in the folder. */
function takeBack(files: Ignores['files'], path: string): void {
  for (const { folder, rules } of files) {
    const below = relative(folder, path)
    if (rules.test(`${below}/`).ignored) rules.add([`!/${asPattern(below)}/`]) // a list is not split into lines
  }
}
