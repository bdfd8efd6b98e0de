/** Processes that a test left behind: one that outlived its parent belongs to init, so only what it carries tells whose it is. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Ends each process that has the folder in its environment, its command line or as its working directory. Linux only. */
export function endProcessesOf(folder: string): void {
  if (!existsSync('/proc/self/environ')) return
  for (const pid of readdirSync('/proc').map(Number))
    if (pid > 0 && pid !== process.pid && carries(pid, folder)) end(pid)
}

const carries = (pid: number, folder: string): boolean =>
  [
    () => readFileSync(`/proc/${pid}/environ`, 'latin1'),
    () => readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
    () => readlinkSync(`/proc/${pid}/cwd`),
  ].some((read) => {
    try {
      return read().includes(folder)
    } catch {
      return false // it has ended, or belongs to another user
    }
  })

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {} // it has ended
}
