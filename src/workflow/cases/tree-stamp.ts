/** Whether a script that no sandbox held changed the project itself instead of its copy. */
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Installed packages and history are large, and neither is what a case would be graded by; `.ona` is ours to write. */
const passedOver = new Set(['node_modules', '.git', '.ona'])

export type TreeStamp = ReadonlyMap<string, string>

/** Every file by its identity, size and time of change. */
export function treeStamp(root: string): TreeStamp {
  const found = new Map<string, string>()
  const waiting = ['']
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entries(join(root, folder))) {
      if (folder === '' && passedOver.has(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      const stat = lstatSync(join(root, path), { throwIfNoEntry: false, bigint: true })
      if (stat && !entry.isDirectory()) found.set(path, `${stat.ino} ${stat.size} ${stat.ctimeNs}`)
    }
  }
  return found
}

/** Files that were added, changed or removed. */
export const changedSince = (before: TreeStamp, after: TreeStamp): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).sort()

function entries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // removed meanwhile, or not readable: its files count as gone
  }
}
