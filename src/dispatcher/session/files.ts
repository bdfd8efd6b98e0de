/**
 * The only places where the dispatcher touches the disk. Ordinary trouble (no such file, disk full, read-only
 * folder) is a returned value: a decision must not depend on it.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { problem, readPlainBytes, readPlainFile } from '../../files/plain-file.ts'
import { sleep } from './lock.ts'

export type Read = { ok: true; text: string } | { ok: false; missing: boolean; why: string }

export function readText(path: string): Read {
  try {
    return { ok: true, text: stripBom(readPlainFile(path)) }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    return { ok: false, missing: code === 'ENOENT' || code === 'ENOTDIR', why: message }
  }
}

/** The bytes, or why there are none. */
export function readBytes(path: string): Buffer | string {
  try {
    return readPlainBytes(path)
  } catch (cause) {
    return (cause as Error).message
  }
}

const stripBom = (text: string): string => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)

/** Undefined when the file is not there; `problem` when it is and cannot be used. */
export function readJson(path: string): { value?: unknown; problem?: string } {
  const read = readText(path)
  if (!read.ok) return read.missing ? {} : { problem: read.why }
  try {
    return { value: JSON.parse(read.text) }
  } catch (cause) {
    return { problem: (cause as Error).message }
  }
}

/**
 * Adds lines with one write, so that lines of processes running at once never mix. A last line that a crash cut
 * short is closed first: ours must not be glued to it. False when it could not be written.
 */
export function appendLines(path: string, lines: readonly string[]): boolean {
  if (lines.length === 0) return true
  try {
    return append(path, lines)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return false
  }
  try {
    mkdirSync(dirname(path), { recursive: true })
    return append(path, lines)
  } catch {
    return false // disk full or not writable: what the caller decided stands all the same
  }
}

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants

/** A pipe that somebody has put in the place of a file is not waited for. */
function openPlain(path: string, flags: number): { fd: number; size: number } {
  const fd = openSync(path, flags | O_NONBLOCK)
  const stat = fstatSync(fd)
  if (stat.isFile()) return { fd, size: stat.size }
  closeSync(fd)
  throw problem('EINVAL', 'it is a pipe or a device, not a file')
}

function append(path: string, lines: readonly string[]): boolean {
  const { fd, size } = openPlain(path, O_RDWR | O_APPEND | O_CREAT)
  try {
    const batch = Buffer.from(`${isTorn(fd, size) && staysTorn(fd) ? '\n' : ''}${lines.join('\n')}\n`)
    return writeSync(fd, batch) === batch.length
  } finally {
    closeSync(fd)
  }
}

const lastByte = Buffer.alloc(1)
const isTorn = (fd: number, size: number): boolean =>
  size > 0 && readSync(fd, lastByte, 0, 1, size - 1) === 1 && lastByte[0] !== 10

/**
 * Another process's write can be seen half done. One that is still half done after all this time was cut off: by a crash,
 * or by a full disk.
 */
function staysTorn(fd: number): boolean {
  for (let tries = 0; tries < 25; tries++) {
    sleep(8)
    if (!isTorn(fd, fstatSync(fd).size)) return false
  }
  return true
}

/** Replaces a file as a whole: readers see the old one or the new one. */
export function replaceFile(path: string, text: string): boolean {
  const beside = `${path}.${process.pid}.tmp`
  try {
    const fd = openSync(beside, 'w')
    try {
      const bytes = Buffer.from(text)
      if (writeSync(fd, bytes) !== bytes.length) throw new Error('short write')
    } finally {
      closeSync(fd)
    }
    renameSync(beside, path)
    return true
  } catch {
    try {
      rmSync(beside, { force: true })
    } catch {} // the folder is not writable: there is nothing to clean up
    return false
  }
}

/** Part of a file from `from` on, at most `limit` bytes counted from its end. Empty when it cannot be read. */
export function readFrom(
  path: string,
  from: number,
  limit = Number.POSITIVE_INFINITY,
): { bytes: Buffer; from: number } {
  try {
    const { fd, size } = openPlain(path, O_RDONLY)
    try {
      const start = Math.max(from > size ? 0 : from, size - limit, 0)
      const bytes = Buffer.allocUnsafe(size - start)
      let have = 0
      while (have < bytes.length) {
        const got = readSync(fd, bytes, have, bytes.length - have, start + have)
        if (got === 0) break
        have += got
      }
      return { bytes: bytes.subarray(0, have), from: start }
    } finally {
      closeSync(fd)
    }
  } catch {
    return { bytes: Buffer.alloc(0), from: 0 }
  }
}

/** The lines of a log that hold `word`, parsed; lines that are not whole JSON objects are passed over. */
export function* linesWith(bytes: Buffer, word: string): Generator<Record<string, unknown>> {
  for (let at = bytes.indexOf(word); at >= 0; ) {
    const start = bytes.lastIndexOf(10, at) + 1
    const newline = bytes.indexOf(10, at)
    const end = newline === -1 ? bytes.length : newline
    try {
      const record = JSON.parse(bytes.toString('utf8', start, end))
      if (typeof record === 'object' && record !== null) yield record
    } catch {} // a line torn by a crash
    at = bytes.indexOf(word, end)
  }
}

export function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true })
    return true
  } catch {
    return false // read-only, or a file is in the way
  }
}
