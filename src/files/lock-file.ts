/** Lock files: one process at a time; a lock whose process has died is broken. */
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** True: the lock is ours until `unlock`. False: another process holds it. Throws where no file can be created. */
export function tryLock(path: string): boolean {
  if (sign(path)) return true
  return isAbandoned(path) && breakLock(path) && sign(path)
}

export function unlock(path: string): void {
  rmSync(path, { force: true })
}

/** The process id of the holder; 0 when the file has none. */
export function holderOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) || 0
  } catch {
    return 0 // released just now
  }
}

/** Runs short work under a lock, blocking this thread for at most `patienceMs`. */
export function withLock<T>(path: string, work: () => T, { patienceMs = 5000 } = {}): T {
  const until = Date.now() + patienceMs
  while (!tryLock(path)) {
    if (Date.now() > until) throw busy(path, patienceMs)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
  try {
    return work()
  } finally {
    unlock(path)
  }
}

/** Waits for a lock without blocking the thread. Resolves false when it is still taken after `patienceMs`. */
export async function waitForLock(path: string, patienceMs: number): Promise<boolean> {
  const until = Date.now() + patienceMs
  while (!tryLock(path)) {
    if (Date.now() > until) return false
    await sleep(15 + Math.random() * 20)
  }
  return true
}

export const busy = (path: string, patienceMs: number): Error =>
  new Error(`another process has held ${path} for ${patienceMs / 1000} s; if none is running, remove that file`)

let count = 0

/** The file appears with our process id already in it: an empty one could not be told from an abandoned one. */
function sign(path: string): boolean {
  const draft = `${path}.${process.pid}-${count++}`
  writeFileSync(draft, String(process.pid), { mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Removes an abandoned lock. Two processes that both saw it abandoned must not both remove it: the second would remove
 * the lock that the first has just taken. So they take turns, and each checks again before it removes.
 */
function breakLock(path: string): boolean {
  const guard = `${path}.break`
  if (!sign(guard)) {
    if (isAbandoned(guard)) rmSync(guard, { force: true })
    return false
  }
  try {
    if (isAbandoned(path)) rmSync(path, { force: true })
    return true
  } finally {
    rmSync(guard, { force: true })
  }
}

/** Its process has died; or it has held no process id for a while, so it is not one of our locks. */
function isAbandoned(path: string): boolean {
  const holder = holderOf(path)
  if (holder === 0) {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat !== undefined && Date.now() - stat.mtimeMs > 2000
  }
  try {
    process.kill(holder, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
