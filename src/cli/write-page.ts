/** Writes what the user asked for into the file, pipe or device that they named. */
import { dirname, resolve } from 'node:path'
import { writeAtomic } from '../files/atomic-write.ts'
import { statOf } from '../files/plain-file.ts'

/** Undefined when it is written; otherwise why not. */
export function writePage(file: string, data: string | Uint8Array, mode = 0o600): string | undefined {
  const path = resolve(file)
  if (!statOf(dirname(path))?.isDirectory()) return `${file} cannot be written: there is no folder ${dirname(path)}`
  try {
    writeAtomic(path, data, { mode })
  } catch (cause) {
    return `${file} cannot be written: ${(cause as Error).message}`
  }
  return undefined
}
