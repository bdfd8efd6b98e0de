/** Lists session files: below a folder, by name, without following links out of it. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { isObject, type JsonObject } from '../../hooks/shape.ts'

export interface Found {
  readonly path: string
  /** From the root, with `/`. */
  readonly name: string
  /** The file's own name. */
  readonly base: string
}

/** Paths below `root` whose path relative to it (with `/`) matches; `root` itself when it is a file. */
export function filesBelow(root: string, wanted: RegExp): Found[] {
  const found = statSync(root, { throwIfNoEntry: false })
  if (found?.isFile()) return [{ path: root, name: basename(root), base: basename(root) }]
  if (!found?.isDirectory()) return []
  const files: Found[] = []
  const folders = [root]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) {
        const name = relative(root, path).replaceAll(sep, '/')
        if (wanted.test(name)) files.push({ path, name, base: entry.name })
      }
    }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // a folder that may not be read holds nothing for us
  }
}

/** A small JSON file beside a session; {} when it is missing or is no object. */
export function jsonFile(path: string): JsonObject {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
