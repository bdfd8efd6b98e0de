/** The processes that this one started, theirs included. */
import { execFileSync } from 'node:child_process'

/** Ends them all; those that were started apart from the terminal's group do not hear its Ctrl-C. */
export function endDescendants(): void {
  for (const pid of descendants())
    try {
      process.kill(pid, 'SIGTERM')
    } catch {
      // it has ended
    }
}

function descendants(): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const all = lines.map((line) => line.trim().split(/\s+/).map(Number) as [pid: number, parent: number])
  const found = new Set([process.pid])
  // a child can have a lower number than its parent, so until a pass finds nothing new
  for (let size = 0; size < found.size; ) {
    size = found.size
    for (const [pid, parent] of all) if (found.has(parent)) found.add(pid)
  }
  return [...found].slice(1)
}
