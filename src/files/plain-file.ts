/** Files that anyone may have put there: a repository's. A pipe is not waited for, a device not read, a huge file not loaded. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'

/** More than any text that someone writes for a tool to read. */
const largest = 16 * 1024 * 1024

/** The text, or an error as `readFileSync` throws it. Opened before it is judged, so that nothing can be put in its place. */
export function readPlainFile(path: string, mostBytes: number = largest): string {
  return readPlainBytes(path, mostBytes).toString('utf8')
}

export function readPlainBytes(path: string, mostBytes: number = largest): Buffer {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) // a pipe would not open until somebody writes
  try {
    const stat = fstatSync(fd)
    if (stat.isDirectory()) throw problem('EISDIR', 'it is a folder')
    if (!stat.isFile()) throw problem('EINVAL', 'it is a pipe or a device, not a file')
    if (stat.size > mostBytes) throw problem('EFBIG', `it is over ${mostBytes} bytes`)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** What is there, as far as it can be seen: a link in a circle or a name that is too long is nothing. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

export const problem = (code: string, message: string): Error => Object.assign(new Error(message), { code })
