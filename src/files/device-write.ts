/** Writing into what is no file: a pipe, a terminal, /dev/stdout, /dev/null. Such a thing must never be renamed over. */
import { closeSync, constants, openSync, statSync, writeSync } from 'node:fs'
import { problem } from './plain-file.ts'

/** How long a named pipe waits for its reader, and a full one for room. */
const mostWaitMs = 10_000

/** Whether the path leads to something that is written into and not replaced. */
export function isDevice(path: string): boolean {
  if (ownDescriptor(path) !== undefined) return true
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && !stat.isFile() && !stat.isDirectory()
}

export function writeInto(path: string, data: string | Uint8Array): void {
  const own = ownDescriptor(path)
  const file = own ?? retried(['ENXIO'], () => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
  if (file === undefined) throw problem('ENXIO', 'it is a pipe that nobody reads')
  try {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    for (let at = 0; at < bytes.length; ) {
      const written = retried(['EAGAIN'], () => writeSync(file, bytes, at))
      if (written === undefined) throw problem('EAGAIN', 'its reader takes nothing more')
      at += written
    }
  } finally {
    if (own === undefined) closeSync(file)
  }
}

/** The descriptor that a path such as /dev/stdout names: opening it again fails for a socket, and truncates a file. */
function ownDescriptor(path: string): number | undefined {
  if (path === '/dev/stdout') return 1
  if (path === '/dev/stderr') return 2
  const number = /^(?:\/dev|\/proc\/self)\/fd\/(\d+)$/.exec(path)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** Undefined where it failed with one of these codes until the time was over. */
function retried<T>(codes: readonly string[], attempt: () => T): T | undefined {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; waited < mostWaitMs; waited += 10) {
    try {
      return attempt()
    } catch (error) {
      if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
    Atomics.wait(pause, 0, 0, 10)
  }
  return undefined
}
