/**
 * Takes variables out of what `/proc/PID/environ` shows. Linux shows the block that a process was started with, wherever the
 * process keeps its variables since; the values in that block are overwritten, and the process goes on with its own copy.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

/**
 * For this process, and for a bash that has started: both keep copies. Other programs read the block itself and would lose
 * the values. False where the system has no such file or does not allow it.
 */
export function hideVariables(pid: number, names: readonly string[]): boolean {
  let memory: number | undefined
  try {
    const [start, end] = blockOf(pid)
    if (pid === process.pid) for (const name of names) copy(name)
    memory = openSync(`/proc/${pid}/mem`, 'r+')
    const block = Buffer.alloc(end - start)
    readSync(memory, block, 0, block.length, start)
    for (const { from, to } of valuesIn(block, names))
      writeSync(memory, Buffer.alloc(to - from, '*'), 0, to - from, start + from)
    return true
  } catch {
    return false // no Linux, or a kernel that keeps memory from being written this way
  } finally {
    if (memory !== undefined) closeSync(memory)
  }
}

/** Set again, a variable gets memory of its own. */
function copy(name: string): void {
  const value = process.env[name]
  if (value) process.env[name] = value
}

/** Where the block of variables lies in the memory of a process: the fields `env_start` and `env_end` of proc(5). */
function blockOf(pid: number): [start: number, end: number] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [Number(fields[47]), Number(fields[48])]
}

function valuesIn(block: Buffer, names: readonly string[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  for (let from = 0; from < block.length; ) {
    const zero = block.indexOf(0, from)
    const to = zero < 0 ? block.length : zero
    const equals = block.indexOf('=', from)
    if (equals > from && equals < to && names.includes(block.toString('latin1', from, equals)))
      found.push({ from: equals + 1, to })
    from = to + 1
  }
  return found
}
