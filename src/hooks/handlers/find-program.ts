/** Finds a program as a shell would. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first of `names` that a folder of PATH holds. */
export function onPath(
  names: readonly string[],
  { PATH = '' }: { readonly PATH?: string | undefined },
): string | undefined {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const folders = PATH.split(delimiter).filter(Boolean)
  return names.flatMap((name) => folders.map((folder) => join(folder, name + suffix))).find(canRun)
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false // not there, or not ours to run
  }
}
