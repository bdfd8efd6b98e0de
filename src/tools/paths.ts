/** Paths as the tools see them: whole, and with symlinks resolved before anything is judged. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'

/** `~` is the user's home; anything else that is not absolute starts at `cwd`. */
export function absolute(cwd: string, path: string): string {
  if (path === '~' || path.startsWith('~/')) return join(process.env['HOME'] ?? '/', path.slice(1))
  return resolve(cwd, path)
}

/**
 * Where a path leads once every symlink is followed, also when the last parts of it are not there yet: a dangling
 * link counts as what it points at, because writing through it would create that.
 */
export function realTarget(path: string, hops = 40): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || hops === 0) return path
  }
  try {
    return realTarget(resolve(dirname(path), readlinkSync(path)), hops - 1)
  } catch {
    // not a link, so simply not there: its folder decides
  }
  const parent = dirname(path)
  return parent === path ? path : join(realTarget(parent, hops), basename(path))
}

/**
 * Opens a file that `realTarget` gave, for reading. Undefined when the path now leads somewhere else: a link was
 * swapped after the rules had judged it. A FIFO does not hang us: it is opened without waiting.
 */
export function openJudged(target: string): number | undefined {
  const fd = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  if (leadsTo(target, fd)) return fd
  closeSync(fd)
  return undefined
}

/** Whether the path, free of links, is still the very file or folder behind the descriptor. */
export function leadsTo(target: string, fd: number): boolean {
  try {
    if (realpathSync.native(target) !== target) return false
    const now = lstatSync(target)
    const open = fstatSync(fd)
    return now.ino === open.ino && now.dev === open.dev
  } catch {
    return false // it was removed or moved meanwhile
  }
}

/** For the user and the model: inside `cwd` without it, outside in full. */
export function shown(cwd: string, path: string): string {
  const inside = relative(cwd, path)
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

/** Names in the same folder that look like the one that is not there. */
export function similarNames(path: string): string[] {
  const wanted = basename(path).toLowerCase()
  const stem = wanted.replace(/\.[^.]*$/, '')
  try {
    return readdirSync(dirname(path))
      .filter((name) => {
        const other = name.toLowerCase()
        return other === wanted || other.replace(/\.[^.]*$/, '') === stem || oneEditApart(other, wanted)
      })
      .slice(0, 5)
      .map((name) => join(dirname(path), name))
  } catch {
    return [] // the folder is not there either
  }
}

export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** `EACCES` and the like as text; the caller adds the path. */
export function whyOf(error: unknown): string {
  return words[codeOf(error)] ?? (error instanceof Error ? error.message : String(error))
}

const words: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be touched: permission denied',
  EPERM: 'may not be touched: operation not permitted',
  EISDIR: 'is a directory',
  ENOTDIR: 'leads through something that is not a directory',
  ELOOP: 'is, or leads through, a symbolic link that turned up after the path was judged',
  ENAMETOOLONG: 'is too long a name for this file system',
  EROFS: 'lies on a read-only file system',
  ENOSPC: 'cannot be written: the disk is full',
  EAGAIN: 'has nothing to read now and would wait for ever',
  ENXIO: 'is a socket or a pipe, not a file',
}

function oneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const [restA, restB] = [a.slice(start), b.slice(start)]
  return (
    restA.slice(1) === restB.slice(1) ||
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    (restA.length === restB.length &&
      restA[0] === restB[1] &&
      restA[1] === restB[0] &&
      restA.slice(2) === restB.slice(2))
  )
}
