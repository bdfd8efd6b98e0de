/** One process at a time: a lock file, whose owner may die without removing it. */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Runs `work` alone among all processes that use the same path. Works anyway after `patienceMs`, and where no lock can be
 * made (a read-only home): better twice than never.
 */
export async function alone<T>(path: string, work: () => Promise<T>, { patienceMs = 30_000 } = {}): Promise<T> {
  const until = Date.now() + patienceMs
  while (take(path) === 'taken' && Date.now() < until) {
    if (isLeftOver(path, patienceMs)) rmSync(path, { force: true })
    else await new Promise((resolve) => setTimeout(resolve, 25))
  }
  try {
    return await work()
  } finally {
    if (ownerOf(path) === process.pid) rmSync(path, { force: true })
  }
}

function take(path: string): 'ours' | 'taken' | 'impossible' {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, String(process.pid))
    closeSync(file)
    return 'ours'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'taken' : 'impossible'
  }
}

function ownerOf(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return 0 // gone
  }
}

function isLeftOver(path: string, patienceMs: number): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > patienceMs) return true
  } catch {
    return false // gone: the next attempt may take it
  }
  const owner = ownerOf(path)
  if (!owner) return false
  try {
    process.kill(owner, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
