/** Files changed whole or not at all: written beside, flushed, and put in place with one rename. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { tryLock, unlock } from './lock-file.ts'

/** Keeps the mode of the file that it replaces; a new one gets `mode`. Writes through a symbolic link. */
export function writeAtomic(path: string, data: string | Uint8Array, { mode = 0o644 }: { mode?: number } = {}): void {
  const target = throughLinks(path)
  const old = statSync(target, { throwIfNoEntry: false })
  const beside = join(dirname(target), `.${basename(target).slice(0, 200)}.${process.pid}-${counter++}.tmp`)
  const file = openSync(beside, 'wx', 0o600)
  try {
    writeFileSync(file, data)
    fchmodSync(file, old ? old.mode & 0o7777 : mode & ~process.umask())
    if (old) keepOwner(file, old)
    fsyncSync(file)
    closeSync(file)
    renameSync(beside, target)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
  flushFolder(dirname(target))
}

/**
 * Changes a file by its old text (undefined: there is none), alone among processes: a lock lies beside it meanwhile.
 * `change` gives the new text, or undefined to leave it as it is. Says whether the file changed.
 */
export function updateFile(
  path: string,
  change: (text: string | undefined) => string | undefined,
  { mode = 0o600 }: { mode?: number } = {},
): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: mode === 0o600 ? 0o700 : 0o755 })
  return withLock(path, () => {
    const text = statSync(path, { throwIfNoEntry: false }) && readFileSync(path, 'utf8')
    const changed = change(text)
    if (changed === undefined || changed === text) return false
    writeAtomic(path, changed, { mode })
    return true
  })
}

/** Must be short work: others wait for it, at most five seconds. */
function withLock<T>(path: string, work: () => T): T {
  const lock = `${throughLinks(path)}.lock`
  const until = Date.now() + 5000
  while (!tryLock(lock)) {
    if (Date.now() > until)
      throw new Error(`${path} is being changed by another process; remove ${lock} if none is running`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
  try {
    return work()
  } finally {
    unlock(lock)
  }
}

let counter = 0

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
    // only root may give files away; then the file is ours, as with any editor
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
