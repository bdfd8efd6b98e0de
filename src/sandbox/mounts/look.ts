/** How a path is now. None of these throws. */
import { accessSync, constants, lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs'

export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // through a file, or not ours to look at: a command cannot reach it either
  }
}

/** A folder without entries, or a file without content. */
export function isEmpty(path: string, kind: 'folder' | 'file'): boolean {
  try {
    const stat = lstatSync(path)
    return kind === 'folder' ? stat.isDirectory() && readdirSync(path).length === 0 : stat.isFile() && stat.size === 0
  } catch {
    return false // gone, or not ours to list
  }
}

export function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

export function real(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path // not there (yet)
  }
}
