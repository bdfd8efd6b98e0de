/** What rulings see of the file system: read for each ruling, or remembered for a replay, in which nothing changes it. */
import { type Dirent, existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'

export interface FileView {
  /** Where a path leads, as `real` says. */
  real(path: string): string
  /** Nothing changes as long as it is used, so that what follows from it may be kept too. */
  readonly lasting: boolean
  /** Whether something is there, links followed. */
  there(path: string): boolean
  /** What else was worked out from files; `about` names it. */
  keep<T>(about: string, work: () => T): T
}

/** Looks each time. */
export const freshView: FileView = { real, lasting: false, there: existsSync, keep: (_, work) => work() }

/** For one ruling, or with `lasting` for many: then a folder is listed once for all that is in it. Bounded in size. */
export function rememberingView({ lasting = false }: { readonly lasting?: boolean } = {}): FileView {
  const folders = new Map<string, Folder>()
  let names = 0
  const kept = new Map<string, unknown>()
  const folderAt = (path: string): Folder => {
    const known = folders.get(path)
    if (known) return known
    const found = { real: follow(path), ...(lasting ? lookAt(path) : unseen) }
    if (folders.size >= mostFolders || names > mostNamesInAll) {
      folders.clear()
      names = 0
    }
    names += found.names?.size ?? 0
    folders.set(path, found)
    return found
  }
  /** A folder in one that is not there is not looked for. */
  const lookAt = (path: string): Seen =>
    path !== '/' && folders.get(dirname(path))?.links === nothing ? nothingThere : seenIn(path)
  const follow = (path: string): string => {
    const slash = path.lastIndexOf('/')
    if (sep !== '/' || path[0] !== '/' || !isPlain(path, slash)) return real(path)
    const parent = path.slice(0, slash)
    const name = path.slice(slash + 1)
    const folder = folderAt(parent)
    if (folder.links ? folder.links.has(name) : mayBeLink(path)) return real(path)
    return folder.real === parent ? path : join(folder.real, name)
  }
  const keep = <T>(about: string, work: () => T): T => {
    const before = kept.get(about)
    if (before !== undefined || kept.has(about)) return before as T
    const found = work()
    if (kept.size >= mostKept) kept.clear()
    kept.set(about, found)
    return found
  }
  const there = (path: string): boolean => {
    const slash = lasting ? path.lastIndexOf('/') : 0
    const folder = slash > 0 && isPlain(path, slash) ? folderAt(path.slice(0, slash)) : undefined
    const name = path.slice(slash + 1)
    if (folder?.names && !folder.links?.has(name)) return folder.names.has(name)
    return keep(`there ${path}`, () => existsSync(path))
  }
  return { real: follow, lasting, there, keep }
}

/** Absolute, and what stands after the last slash is a name. */
const isPlain = (path: string, slash: number): boolean =>
  slash > 0 && slash < path.length - 1 && !path.includes('//') && !(path.includes('/.') && goesUpOrStays.test(path))
const goesUpOrStays = /\/\.{1,2}(\/|$)/

const mostFolders = 20_000
const mostKept = 20_000

interface Folder extends Seen {
  readonly real: string
}

/** What a folder's listing tells. */
interface Seen {
  /** Names in it that are links; undefined where only a look at each tells. */
  readonly links: ReadonlySet<string> | undefined
  /** All names in it, unless there are too many. */
  readonly names: ReadonlySet<string> | undefined
}

function seenIn(folder: string): Seen {
  try {
    if (!statSync(folder, { throwIfNoEntry: false })) return nothingThere
    const entries = entriesOf(folder)
    return {
      links: new Set(entries.flatMap((entry) => (entry.isSymbolicLink() ? [entry.name] : []))),
      names: namesTell && entries.length <= mostNames ? new Set(entries.map((entry) => entry.name)) : undefined,
    }
  } catch (error) {
    const { code } = error as { code?: string }
    return code === 'ENOENT' || code === 'ENOTDIR' ? nothingThere : unseen
  }
}

const mostNames = 20_000
const mostNamesInAll = 200_000
/** Elsewhere a file is there under other spellings of its name. */
const namesTell = process.platform === 'linux'
const nothing: ReadonlySet<string> = new Set()
const nothingThere: Seen = { links: nothing, names: nothing }
const unseen: Seen = { links: undefined, names: undefined }

const entriesOf = (folder: string): Dirent[] => readdirSync(folder, { withFileTypes: true })

/** What is in a folder; nothing where it is a file, not there, or not ours to look at: a command finds nothing there either. */
export const entriesIn = (folder: string, files: FileView): readonly Dirent[] =>
  files.keep(`entries ${folder}`, () => {
    try {
      return isThere(folder, files) ? entriesOf(folder) : []
    } catch {
      return []
    }
  })
export const isThere = (path: string, files: FileView = freshView): boolean => files.there(path)

function mayBeLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  } catch {
    return true // through a file, or not ours to look at
  }
}

/** Only `..` makes a difference between tidying a path first and following it as it is written. */
export const goesUp = /(^|[/\\])\.\.([/\\]|$)/

/** Where a path really leads, also when its end does not exist yet or is a link to nothing. */
export function real(path: string): string {
  if (sep !== '/' || goesUp.test(path)) return posix(walk(path))
  try {
    let there = path
    while (there !== '/' && !lstatSync(there, { throwIfNoEntry: false })) there = dirname(there)
    return join(realpathSync.native(there), path.slice(there.length))
  } catch {
    return walk(path) // it leads through a link to nothing, or through what is not ours to look at
  }
}

function walk(path: string): string {
  const waiting = path.split(/[/\\]/).filter((part) => part !== '')
  let at = sep === '/' ? '/' : `${waiting.shift() ?? ''}/`
  for (let links = 0; waiting.length > 0; ) {
    const next = join(at, waiting.shift()!) // `at` goes through no link: `..` is the folder that it lies in
    const target = linkTarget(next)
    if (target === undefined || ++links > 40) at = next
    else {
      waiting.unshift(...target.split('/'))
      if (isAbsolute(target)) at = '/'
    }
  }
  return at
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined // not there, or not ours to look at: then nothing behind it can be reached either
  }
}

export const posix = (path: string): string => (sep === '/' ? path : path.replaceAll('\\', '/'))
