/** Whether anything in a folder is what a rule is about. */
import { entriesIn, type FileView, freshView } from './view.ts'

/** A path that needs no tidying: both parts are tidy. */
export const below = (folder: string, name: string): string => (folder === '/' ? `/${name}` : `${folder}/${name}`)

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
    const at = waiting.pop()!
    for (const entry of entriesIn(at === '' ? folder : below(folder, at), files)) {
      if (visible && entry.name.startsWith('.')) continue
      if (++seen > most) return true
      const name = at === '' ? entry.name : `${at}/${entry.name}`
      if (test(below(folder, name), name)) return true
      if (entry.isDirectory()) waiting.push(name)
    }
  }
  return false
}
