/** Ends the processes of a fence before what protects files from them is taken away. */
import { readdirSync, readFileSync } from 'node:fs'

const longestMs = 2000
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Ends every bubblewrap whose arguments name one of these folders, with all that runs inside, and waits for it. False when some
 * would not go.
 */
export function endSandboxes(folders: readonly string[]): boolean {
  const found = processIds().filter((pid) => {
    const words = wordsOf(pid)
    return words[0]?.endsWith('bwrap') && words.some((word) => folders.includes(word))
  })
  for (const pid of found) kill(pid)
  const until = Date.now() + longestMs
  while (found.some(isRunning)) {
    if (Date.now() > until) return false
    Atomics.wait(pause, 0, 0, 1)
  }
  return true
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch {
    return [] // no /proc: then there is no sandbox either
  }
}

function wordsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // it has just ended
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has just ended
  }
}

/** The first process of a sandbox is a zombie only after all others in it have gone. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
