/**
 * Whether /proc is the kernel's word on this process and those above it. In a mount namespace of its own, which needs no
 * privileges, a process can mount anything over /proc or over a part of it, also one of its files over another.
 */
import { closeSync, lstatSync, openSync, readFileSync, readlinkSync, renameSync, statfsSync, statSync } from 'node:fs'

const procfs = 0x9fa0
const own = `/proc/${process.pid}`

/**
 * What is wrong with it, and after a semicolon what to do. Mounts that hide nothing of a process do not count: container
 * engines cover /proc/kcore and /proc/sys, and LXC covers /proc/stat.
 */
export function procFault(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return rootFault() ?? mountFault()
  } catch (cause) {
    return `it cannot be read (${(cause as Error).message}); mount a procfs there`
  }
}

/** No file system but procfs has its magic number, and no link in procfs names the number of a process but /proc/self. */
function rootFault(): string | undefined {
  if (statfsSync('/proc').type !== procfs) return 'it is not a procfs; mount one there'
  const self = lstatSync('/proc/self', { throwIfNoEntry: false })
  if (self?.dev === statSync('/proc').dev && readlinkSync('/proc/self') === String(process.pid)) return undefined
  return 'it belongs to another process namespace; mount a procfs of this one there'
}

function mountFault(): string | undefined {
  for (const folder of [own, `${own}/fdinfo`]) if (!isInOneMount(folder, '/proc')) return covered(folder)
  const list = uncovered(`${own}/mountinfo`)
  if (list === undefined) return covered(`${own}/mountinfo`)
  const mounts = list.split('\n').map((line) => line.split(' '))
  const root = withOpen('/proc', mountOf)
  if (!mounts.some(([id, , , top, at]) => id === root && top === '/' && at === '/proc'))
    return 'its mount is not one of this mount namespace; leave the root folder of the other one'
  const over = mounts.find(([, above, , , at]) => above === root && /^\/proc\/(\d+|self)(\/|$)/.test(at ?? ''))
  return over && covered(over[4]!)
}

/** The text of a file in /proc; undefined where something is mounted over it. What is mounted over processes is procFault's. */
export const uncovered = (path: string): string | undefined =>
  withOpen(path, (file) => (mountOf(file) === withOpen('/proc', mountOf) ? readFileSync(file, 'utf8') : undefined))

const covered = (path: string) => `a mount covers ${path}; unmount that`

/** Before all else of a rename the kernel compares the mounts of its two folders. In procfs nothing can be renamed. */
function isInOneMount(folder: string, other: string): boolean {
  try {
    renameSync(`${folder}/-`, `${other}/-`)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== 'EXDEV'
  }
  return false
}

function withOpen<T>(path: string, work: (fd: number) => T): T {
  const fd = openSync(path, 'r')
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

/** The entry of a descriptor is as young as the descriptor, so nothing was mounted over it. */
function mountOf(fd: number): string {
  const [, mount] = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`${own}/fdinfo/${fd}`, 'utf8')) ?? []
  if (mount === undefined) throw new Error('it does not name the mount of an open file')
  return mount
}
