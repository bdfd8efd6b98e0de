/** One holder at a time within a session, across processes; waits a little, and never for good. */
import { closeSync, openSync, statSync, unlinkSync } from 'node:fs'

/** Nobody needs the lock for longer than a few milliseconds: a lock this old was left by a killed process. */
const staleAfterMs = 1500

/**
 * Runs `work` alone. False when the lock could not be had within `patienceMs` (or the folder cannot be written);
 * `work` is then not run. A thief who robs a slow holder does no harm: what is written under the lock is
 * always a fold of the log up to some point, and the next reader folds on from there.
 */
export function alone(lockFile: string, patienceMs: number, work: () => void): boolean {
  const until = Date.now() + patienceMs
  for (let wait = 1; ; wait = Math.min(wait * 2, 20)) {
    const taken = take(lockFile)
    if (taken === 'never') return false
    if (taken === 'yes') break
    if (Date.now() >= until) return false
    sleep(wait * (0.5 + Math.random()))
  }
  try {
    work()
  } finally {
    remove(lockFile)
  }
  return true
}

/** Holds this thread, and nothing else, up. */
export const sleep = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

function take(lockFile: string): 'yes' | 'later' | 'never' {
  try {
    closeSync(openSync(lockFile, 'wx'))
    return 'yes'
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') return 'never'
  }
  try {
    if (Math.abs(Date.now() - statSync(lockFile).mtimeMs) > staleAfterMs) remove(lockFile)
  } catch {} // given back in between
  return 'later'
}

function remove(lockFile: string): void {
  try {
    unlinkSync(lockFile)
  } catch {} // already taken away
}
