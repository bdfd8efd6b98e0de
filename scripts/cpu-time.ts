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
  try {
    // utime, stime, cutime and cstime, in hundredths of a second; the name before them may contain spaces
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)!.split(' ').slice(11, 15)
    return fields.reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
  } catch {
    return undefined
  }
}

if (folder !== null && isMainThread && file.endsWith('.test.ts'))
  process.on('exit', () => {
    const ms = cpuMs()
    if (ms !== undefined) writeFileSync(`${folder}/${encodeURIComponent(file)}`, String(ms))
  })
