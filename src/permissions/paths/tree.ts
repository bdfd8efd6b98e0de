/** Whether anything in a folder is what a rule is about. */
import { join } from 'node:path'
import { entriesIn, type FileView, freshView } from './view.ts'

/** So many entries are looked at; a folder with more may hold anything. */
const most = 5000

/** `test` is given each entry's path, and the same path relative to the folder. Links are not followed. */
export function treeHolds(
  folder: string,
  visible: boolean,
  test: (path: string, below: string) => boolean,
  files: FileView = freshView,
): boolean {
  const waiting = ['']
  for (let seen = 0; waiting.length > 0; ) {
    const below = waiting.pop()!
    for (const entry of entriesIn(join(folder, below), files)) {
      if (visible && entry.name.startsWith('.')) continue
      if (++seen > most) return true
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      if (test(join(folder, name), name)) return true
      if (entry.isDirectory()) waiting.push(name)
    }
  }
  return false
}
