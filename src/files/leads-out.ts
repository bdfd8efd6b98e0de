/** Links in a folder that somebody else wrote: where a path of it really leads. */
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'

/**
 * Whether a link takes the path out of the folder. What is not there yet is judged by the nearest folder above it that is; a
 * link to nothing, or in a circle, leads nowhere that we would vouch for.
 */
export function leadsOut(folder: string, path: string): boolean {
  if (!existsSync(folder)) return false
  try {
    let at = resolve(folder, path)
    while (!lstatSync(at, { throwIfNoEntry: false })) at = dirname(at)
    const way = relative(realpathSync(folder), realpathSync(at))
    return way.split(sep)[0] === '..' || isAbsolute(way)
  } catch {
    return true
  }
}
