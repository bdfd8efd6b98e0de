/** Replaces a file as one act: written beside, flushed, renamed. Nobody sees it half-written. */
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { replaceFile as writeInPlaceOf } from '../../files/atomic-write.ts'
import type { ToolHost } from '../host.ts'
import { absolute, codeOf, leadsTo, openJudged, realTarget, whyOf } from '../paths.ts'
import type { ToolContext } from '../tool.ts'

/** The file a call is about: as named, and where it really lies. */
export interface Target {
  readonly path: string
  readonly real: string
  /** Undefined when there is none yet. */
  readonly stats: Stats | undefined
}

/** Finds the file to change, or says why it cannot be changed. */
export function targetOf(named: string, context: ToolContext): Target | string {
  const path = absolute(context.cwd, named)
  const real = context.judgedPath ?? realTarget(path)
  let stats: Stats | undefined
  try {
    stats = lstatSync(real)
    if (stats.isDirectory()) return `${path} is a directory; name a file in it`
    if (stats.isSymbolicLink()) return swapped(path)
    if (!stats.isFile()) return `${path} is a device, a pipe or a socket, not a file`
    accessSync(real, constants.W_OK)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return `${path} ${whyOf(error)}`
  }
  return { path, real, stats }
}

/** The bytes of the file that was judged; a reason when another one lies there by now. */
export function contentOf({ path, real, stats }: Target): Buffer | string {
  let fd: number | undefined
  try {
    fd = openJudged(real)
    if (fd === undefined || fstatSync(fd).ino !== stats?.ino) return swapped(path)
    return readFileSync(fd)
  } catch (error) {
    return `${path} ${whyOf(error)}`
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Why the model's knowledge of a file is too old to change it, or undefined when it is fresh. */
export function staleness({ path, real, stats }: Target, host: ToolHost): string | undefined {
  if (!stats) return undefined
  const seen = host.files.get(real)
  if (!seen) return `${path} has not been read yet. Read it first, then change it.`
  if (seen.mtimeMs !== stats.mtimeMs || seen.size !== stats.size) {
    return `${path} has been changed since it was read. Read it again, then change it.`
  }
  return undefined
}

/**
 * Writes the content where the target really lies. Parents are made, the mode and owner are kept, what was there
 * is kept by a checkpoint first. Answers why it could not be done; then the file is as it was.
 */
export function replaceFile({ path, real, stats }: Target, content: Uint8Array, host: ToolHost): string | undefined {
  let folder: Folder | undefined
  try {
    const parent = dirname(real)
    mkdirSync(parent, { recursive: true })
    folder = openFolder(parent)
    if (!folder) return swapped(path)
    const file = join(folder.path, basename(real))
    const now = statsOf(file)
    if (now?.mtimeMs !== stats?.mtimeMs || now?.ino !== stats?.ino || now?.size !== stats?.size) {
      return `${path} was changed by someone else just now. Read it again, then change it.`
    }
    host.checkpoint(real)
    writeInPlaceOf(file, content, { mode: 0o666 })
    const written = statSync(file)
    host.files.note(real, { mtimeMs: written.mtimeMs, size: written.size, whole: true })
    return undefined
  } catch (error) {
    return `${path} ${whyOf(error)}`
  } finally {
    if (folder) closeSync(folder.fd)
  }
}

interface Folder {
  readonly fd: number
  /** How its entries are named: on Linux through the descriptor, so that a swapped parent cannot lead us away. */
  readonly path: string
}

function openFolder(parent: string): Folder | undefined {
  if (realpathSync.native(parent) !== parent) return undefined
  const fd = openSync(parent, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  if (!leadsTo(parent, fd)) {
    closeSync(fd)
    return undefined
  }
  return { fd, path: process.platform === 'linux' ? `/proc/self/fd/${fd}` : parent }
}

function statsOf(file: string): Stats | undefined {
  try {
    return lstatSync(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const swapped = (path: string) => `${path} now leads somewhere else than when it was judged; nothing was written`
