/**
 * Ends a server's process with all that it started: one that goes on without its input gets a signal, and then the last one,
 * also where ona exits before that. Only Linux tells what a process has started; elsewhere it is the server alone.
 */
import { descendantsOf, isRunning, type Process, processOf } from '../files/process-tree.ts'

const termMs = 100
/** A browser that a server drives takes a second or more to end. */
const killMs = 2000
const betweenLooksMs = 2

/** Servers that have not ended, by their process. */
const servers = new Map<number, Process>()
const isLinux = process.platform === 'linux'

/** Until `serverEnded` is called for it. */
export function bindServer(pid: number): void {
  if (servers.size === 0) process.on('exit', endAll)
  servers.set(pid, processOf(pid) ?? { pid, parent: process.pid, ticks: 0, name: '' })
}

export function serverEnded(pid: number): void {
  if (servers.delete(pid) && servers.size === 0) process.off('exit', endAll)
}

/** `close` closes its input and waits for its end. */
export async function endServer(pid: number, close: () => Promise<void>): Promise<void> {
  const server = servers.get(pid)
  const family = server ? familyOf(server) : []
  const timers = [setTimeout(signalAll, termMs, family, 'SIGTERM'), setTimeout(signalAll, killMs, family, 'SIGKILL')]
  await close()
  for (const timer of timers) clearTimeout(timer)
  if (isLinux) signalAll(family, 'SIGKILL') // what outlived the server
  serverEnded(pid)
}

function endAll(): void {
  const families = [...servers.values()].flatMap(familyOf)
  signalAll(families, 'SIGTERM')
  if (!isLinux) return
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; waited < killMs - termMs && families.some(isRunning); waited += betweenLooksMs)
    Atomics.wait(pause, 0, 0, betweenLooksMs)
  signalAll(families, 'SIGKILL')
}

const familyOf = (server: Process): Process[] => [server, ...descendantsOf(server.pid)]

function signalAll(family: readonly Process[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const each of family) {
    try {
      if (!isLinux || isRunning(each)) process.kill(each.pid, signal)
    } catch {
      // it has just ended
    }
  }
}
