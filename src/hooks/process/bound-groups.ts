/**
 * Groups that end with this process. A program whose stdin or channel closes can end by itself; one that does not read yet, such
 * as a shell that is still in the profile, cannot.
 */
import type { ChildProcess } from 'node:child_process'
import { signalGroup } from './process-group.ts'

const bound = new Set<ChildProcess>()

/** Until the function that it returns is called, or the child has exited. */
export function bindGroup(child: ChildProcess): () => void {
  if (bound.size === 0) process.on('exit', endAll)
  bound.add(child)
  const release = () => {
    if (bound.delete(child) && bound.size === 0) process.off('exit', endAll)
  }
  child.once('exit', release)
  return release
}

function endAll(): void {
  for (const child of bound) signalGroup(child, 'SIGKILL')
}
