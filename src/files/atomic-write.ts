/** Atomic file writes: the data goes to a file beside the target, is flushed, and is renamed into place. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDevice, writeInto } from './device-write.ts'
import { withLock } from './lock-file.ts'
import { problem } from './plain-file.ts'

export interface WriteOptions {
  /** The mode of a new file; one that is replaced keeps its own. */
  readonly mode?: number
  /** Whether the data must survive a power cut. False where the file can be made again from something else. */
  readonly flush?: boolean
}

/**
 * Replaces a file as a whole. Writes through a symbolic link; keeps the mode and owner of the file it replaces. A pipe or
 * a device is written into: renaming a file over /dev/null would take it away from the whole machine.
 */
export function writeAtomic(path: string, data: string | Uint8Array, options: WriteOptions = {}): void {
  if (isDevice(path)) {
    writeInto(path, data)
    return
  }
  const target = throughLinks(path)
  replaceFile(target, data, options)
  if (options.flush ?? true) flushFolder(dirname(target))
}

/** The same for a path that is known to be no link. */
export function replaceFile(target: string, data: string | Uint8Array, options: WriteOptions = {}): void {
  const staged = stageBeside(target, data, options)
  try {
    renameSync(staged, target)
  } catch (error) {
    rmSync(staged, { force: true })
    throw error
  }
}

/** Writes the data beside the target and returns the path of that file, ready to be renamed over the target. */
export function stageBeside(
  target: string,
  data: string | Uint8Array,
  { mode = 0o644, flush = true }: WriteOptions = {},
): string {
  const old = statSync(target, { throwIfNoEntry: false })
  if (old && !old.isFile() && !old.isDirectory()) throw problem('EINVAL', 'it is a pipe or a device, not a file')
  const staged = join(dirname(target), `.${basename(target).slice(0, 200)}.${process.pid}-${counter++}.tmp`)
  const file = openSync(staged, 'wx', 0o600)
  try {
    writeFileSync(file, data)
    fchmodSync(file, old ? old.mode & 0o7777 : mode & ~process.umask())
    if (old) keepOwner(file, old)
    if (flush) fsyncSync(file)
    own.add(identity(fstatSync(file)))
  } catch (error) {
    rmSync(staged, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  return staged
}

/**
 * Changes a file under a lock. `change` receives the present text (undefined: no file) and returns the new text, or
 * undefined to leave the file as it is. Returns whether the file changed.
 */
export function updateFile(
  path: string,
  change: (text: string | undefined) => string | undefined,
  { mode = 0o600 }: { mode?: number } = {},
): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: mode === 0o600 ? 0o700 : 0o755 })
  return withLock(`${throughLinks(path)}.lock`, () => {
    const text = statSync(path, { throwIfNoEntry: false }) && readFileSync(path, 'utf8')
    const changed = change(text)
    if (changed === undefined || changed === text) return false
    writeAtomic(path, changed, { mode })
    return true
  })
}

let counter = 0

/** Files that this process wrote. */
const own = new Set<string>()
const identity = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`

/** Whether this process wrote the file, and not somebody else. */
export const isOwnFile = (stat: Stats): boolean => own.has(identity(stat))

/** The file behind a symbolic link, so that the link itself stays. */
function throughLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // a new file
  }
}

function keepOwner(file: number, old: { uid: number; gid: number }): void {
  try {
    fchownSync(file, old.uid, old.gid)
  } catch {
    // only root may change owners; otherwise the file becomes ours, as with any editor
  }
}

/** So that the rename itself survives a power cut. */
function flushFolder(folder: string): void {
  try {
    const handle = openSync(folder, 'r')
    fsyncSync(handle)
    closeSync(handle)
  } catch {
    // some systems cannot open a folder; the file itself was flushed
  }
}
