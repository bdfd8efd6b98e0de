/** Whether anything in a folder is what a rule is about. */
import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import { entriesOf } from './view.ts'

/** So many entries are looked at; a folder with more may hold anything. */
const most = 5000

/** `test` is given each entry's path, and the same path relative to the folder. Links are not followed. */
export function treeHolds(folder: string, visible: boolean, test: (path: string, below: string) => boolean): boolean {
  const waiting = ['']
  for (let seen = 0; waiting.length > 0; ) {
    const below = waiting.pop()!
    for (const entry of entries(join(folder, below))) {
      if (visible && entry.name.startsWith('.')) continue
      if (++seen > most) return true
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      if (test(join(folder, name), name)) return true
      if (entry.isDirectory()) waiting.push(name)
    }
  }
  return false
}

function entries(folder: string): Dirent[] {
  try {
    return entriesOf(folder)
  } catch {
    return [] // a file, not there, or not ours to look at: then the command finds nothing there either
  }
}
