/** One process at a time, for as long as a person would wait. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { holderOf, tryLock, unlock } from '../files/lock-file.ts'

/**
 * Runs `work` alone among all processes that use the same path. Works anyway after `patienceMs`, and where no lock can be
 * made (a read-only home): better twice than never.
 */
export async function alone<T>(path: string, work: () => Promise<T>, { patienceMs = 30_000 } = {}): Promise<T> {
  const until = Date.now() + patienceMs
  while (!mine(path) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 25))
  try {
    return await work()
  } finally {
    if (holderOf(path) === process.pid) unlock(path)
  }
}

function mine(path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return tryLock(path)
  } catch {
    return true // nowhere to put a lock
  }
}
