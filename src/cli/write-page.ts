/** A page that a person asked for, in the file that they named. */
import { dirname, resolve } from 'node:path'
import { writeAtomic } from '../files/atomic-write.ts'
import { statOf } from '../files/plain-file.ts'

/** Undefined when it is written; otherwise why not. */
export function writePage(file: string, text: string): string | undefined {
  const path = resolve(file)
  if (!statOf(dirname(path))?.isDirectory()) return `${file} cannot be written: there is no folder ${dirname(path)}`
  try {
    writeAtomic(path, text, { mode: 0o600 })
  } catch (cause) {
    return `${file} cannot be written: ${(cause as Error).message}`
  }
  return undefined
}
