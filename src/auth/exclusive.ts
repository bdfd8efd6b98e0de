/** One process at a time, for as long as a user would wait. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { holderOf, unlock, waitForLock } from '../files/lock-file.ts'

/**
 * Runs `work` alone among all processes that use the same path. Works anyway after `patienceMs`, and where no lock can be
 * made (a read-only home): better twice than never.
 */
export async function exclusively<T>(path: string, work: () => Promise<T>, { patienceMs = 30_000 } = {}): Promise<T> {
  await lock(path, patienceMs)
  try {
    return await work()
  } finally {
    if (holderOf(path) === process.pid) unlock(path)
  }
}

async function lock(path: string, patienceMs: number): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    await waitForLock(path, patienceMs)
  } catch {
    // nowhere to put a lock
  }
}
