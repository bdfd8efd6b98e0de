/** The processes that one started, theirs included. */
import { execFileSync } from 'node:child_process'

/** Ends them all; those that were started apart from the terminal's group do not hear its Ctrl-C. */
export function endDescendants(of = process.pid, signal: NodeJS.Signals = 'SIGTERM'): void {
  for (const pid of descendants(of))
    try {
      process.kill(pid, signal)
    } catch {
      // it has ended
    }
}

function descendants(of: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const all = lines.map((line) => line.trim().split(/\s+/).map(Number) as [pid: number, parent: number])
  const found = new Set([of])
  // a child can have a lower number than its parent, so until a pass finds nothing new
  for (let size = 0; size < found.size; ) {
    size = found.size
    for (const [pid, parent] of all) if (found.has(parent)) found.add(pid)
  }
  return [...found].slice(1)
}
