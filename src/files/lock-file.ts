/** Lock files: one process at a time, and a process that died holds nobody up. How long to wait is the caller's. */
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** True: the lock is ours, until `unlock`. False: somebody has it. Throws where no file can be made. */
export function tryLock(path: string): boolean {
  if (sign(path)) return true
  return isLeftOver(path) && breakUp(path) && sign(path)
}

export function unlock(path: string): void {
  rmSync(path, { force: true })
}

/** Who holds it; 0 when nobody can be read from it. */
export function holderOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8')) || 0
  } catch {
    return 0 // given back just now
  }
}

let count = 0

/** The file appears with our number already in it: one that is empty cannot be told from one that was left. */
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
 * Removes a lock that was left. Two that both saw it left must not both remove it: the second would take away what the
 * first has just made its own. So one at a time looks again, and removes only what is still left.
 */
function breakUp(path: string): boolean {
  const guard = `${path}.break`
  if (!sign(guard)) {
    if (isLeftOver(guard)) rmSync(guard, { force: true })
    return false
  }
  try {
    if (isLeftOver(path)) rmSync(path, { force: true })
    return true
  } finally {
    rmSync(guard, { force: true })
  }
}

/** Its process is gone; or nobody's number has been in it for a while, so that it is not ours at all. */
function isLeftOver(path: string): boolean {
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
