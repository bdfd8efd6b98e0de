/**
 * Loaded before each test file, with a folder in its query: when the process ends, the CPU time of the process and of the
 * children that it waited for is in that folder, in milliseconds. Linux only: elsewhere nothing reports children.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.argv[1] ?? ''
const folder = new URL(import.meta.url).searchParams.get('to')

/** Of this process and its children so far, in milliseconds; undefined where the system does not report it. */
export function cpuMs(): number | undefined {
  const own = ticksOf('self')
  return own && running().reduce((sum, pid) => sum + (ticksOf(pid) ?? 0), own) * 10
}

/** Hundredths of a second, of a process and the children that it waited for; undefined when it has ended. */
function ticksOf(pid: string): number | undefined {
  try {
    // utime, stime, cutime and cstime; the name before them may contain spaces
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ').slice(11, 15)
    return fields.reduce((sum, ticks) => sum + Number(ticks), 0)
  } catch {
    return undefined
  }
}

/** Process ids of children. */
function running(): string[] {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').match(/\d+/g) ?? []
  } catch {
    return [] // a kernel that does not list them
  }
}

if (folder !== null && isMainThread && file.endsWith('.test.ts'))
  process.on('exit', () => {
    const ms = cpuMs()
    if (ms !== undefined) writeFileSync(`${folder}/${encodeURIComponent(file)}`, String(ms))
  })
