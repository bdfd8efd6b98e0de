/** Which folders the user has trusted to run things. Stored outside of them, in `~/.ona/trust.json`. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { updateFile } from '../../files/atomic-write.ts'
import { isObject } from '../../hooks/shape.ts'
import { requireOperator } from '../operator.ts'

export interface TrustPlaces {
  readonly home: string
  /** Folders that managed settings trust. */
  readonly managed?: readonly string[]
}

/** A folder is trusted when it, or one that it lies in, was. */
export function isTrusted(projectDir: string, { home, managed = [] }: TrustPlaces): boolean {
  const folder = real(projectDir)
  return [...trustedFolders(home), ...managed.map(real)].some((trusted) => isWithin(folder, trusted))
}

const trustFile = (home: string): string => join(home, '.ona', 'trust.json')

/**
 * Remembers that the folder's repository is trusted. False where that would be too much to remember: trusting the home
 * folder, or one above it, would trust everything in it, so it holds for this run alone.
 */
export function trust(projectDir: string, { home }: TrustPlaces): boolean {
  requireOperator('trusting a folder', { home })
  const folder = repositoryOf(real(projectDir))
  if (isWithin(real(home), folder)) return false
  updateFile(trustFile(home), (text) => {
    const folders = parseFolders(text)
    return folders.includes(folder) ? undefined : `${JSON.stringify({ folders: [...folders, folder] }, null, 2)}\n`
  })
  return true
}

function trustedFolders(home: string): string[] {
  try {
    return parseFolders(readFileSync(trustFile(home), 'utf8'))
  } catch {
    return [] // no file yet, or one that cannot be read: nothing is trusted
  }
}

/** A damaged file trusts nothing. */
function parseFolders(text: string | undefined): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '')
    const folders = isObject(value) ? value['folders'] : undefined
    return Array.isArray(folders) ? folders.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

/** The nearest folder above (or the folder itself) with a `.git`; without one, the folder. */
function repositoryOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git')) && isOwn(at)) return at
    if (dirname(at) === at) return folder
  }
}

/** In a folder that all may write to, such as /tmp, anyone can put a `.git`: to trust one project there must not trust all. */
function isOwn(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  return (mode & 0o002) === 0 && (process.getuid === undefined || uid === process.getuid())
}

/** Whether `folder` is `outer` or lies in it. */
function isWithin(folder: string, outer: string): boolean {
  const way = relative(outer, folder)
  return way.split(sep)[0] !== '..' && !isAbsolute(way)
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // not there (yet): its name is all there is to compare
  }
}
