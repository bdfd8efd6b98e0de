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
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

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
export function withLock<T>(path: string, work: () => T): T {
  const lock = `${throughLinks(path)}.lock`
  const until = Date.now() + 5000
  while (!take(lock)) {
    if (isLeftOver(lock)) rmSync(lock, { force: true })
    else if (Date.now() > until)
      throw new Error(`${path} is being changed by another process; remove ${lock} if none is running`)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

let counter = 0

function take(lock: string): boolean {
  try {
    const file = openSync(lock, 'wx', 0o600)
    writeSync(file, String(process.pid))
    closeSync(file)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  }
}

/** A lock whose process is gone (it was killed) holds nobody up. */
function isLeftOver(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    if (!pid) return Date.now() - statSync(lock).mtimeMs > 2000 // taken, and not signed yet
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH'
  }
}

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
