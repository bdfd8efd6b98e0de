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

/** Is told of what could hold sessions and is not read: a folder that may not be read, a link, a pipe, a device. */
export type Skipped = (path: string, why: string, isFailure: boolean) => void

/** Paths below `root` whose path relative to it (with `/`) matches; `root` itself when it is a file. */
export function filesBelow(root: string, wanted: RegExp, skipped: Skipped = () => {}): Found[] {
  const found = statSync(root, { throwIfNoEntry: false })
  if (found?.isFile()) return [{ path: root, name: basename(root), base: basename(root) }]
  if (!found?.isDirectory()) return []
  const files: Found[] = []
  const folders = [root]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of entriesOf(folder, skipped)) {
      const path = join(folder, entry.name)
      const name = relative(root, path).replaceAll(sep, '/')
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) {
        if (wanted.test(name)) files.push({ path, name, base: entry.name })
      } else if (entry.isSymbolicLink()) {
        if (wanted.test(name) || leadsToFolder(path)) skipped(path, 'links are not followed', false)
      } else if (wanted.test(name)) skipped(path, 'it is not a file', false)
    }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function entriesOf(folder: string, skipped: Skipped) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    skipped(folder, (cause as Error).message, true)
    return []
  }
}

function leadsToFolder(link: string): boolean {
  try {
    return statSync(link).isDirectory()
  } catch {
    return false // it leads nowhere, or to itself
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
