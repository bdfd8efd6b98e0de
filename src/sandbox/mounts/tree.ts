/**
 * The files below a folder that a sandbox treats in a way of its own, found again for every command: only folders that
 * changed since the last search are read again.
 */
import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What becomes of an entry: `down` goes into a folder, `skip` leaves it, anything else is a find. */
export type Sort<Kind extends string> = (path: string, name: string, isFolder: boolean) => Kind | 'down' | 'skip'

export interface Find<Kind extends string> {
  readonly path: string
  readonly kind: Kind
}

interface Folder<Kind extends string> {
  readonly mtimeMs: number
  readonly readAt: number
  readonly below: readonly string[]
  readonly finds: readonly Find<Kind>[]
}

/** More entries than this are not searched for every command. */
const mostFolders = 50_000
/** A folder that changed this shortly before it was read may change again within the same tick of the clock. */
const settledMs = 100

export class Tree<Kind extends string> {
  readonly #sort: Sort<Kind>
  readonly #known = new Map<string, Folder<Kind>>()

  constructor(sort: Sort<Kind>) {
    this.#sort = sort
  }

  /** Undefined when the tree is too large to search. */
  finds(root: string): Find<Kind>[] | undefined {
    const found: Find<Kind>[] = []
    const waiting = [root]
    for (let count = 0; waiting.length > 0; count++) {
      if (count >= mostFolders) return undefined
      const folder = this.#folder(waiting.pop()!)
      if (!folder) continue
      waiting.push(...folder.below)
      found.push(...folder.finds)
    }
    return found
  }

  #folder(path: string): Folder<Kind> | undefined {
    try {
      const { mtimeMs } = lstatSync(path)
      const known = this.#known.get(path)
      if (known?.mtimeMs === mtimeMs && mtimeMs < known.readAt - settledMs) return known
      const readAt = Date.now()
      const folder = { mtimeMs, readAt, ...this.#sorted(path, readdirSync(path, { withFileTypes: true })) }
      this.#known.set(path, folder)
      return folder
    } catch {
      return undefined // gone, or not readable by this user: then a command cannot read it either
    }
  }

  #sorted(folder: string, entries: readonly Dirent[]): Pick<Folder<Kind>, 'below' | 'finds'> {
    const below: string[] = []
    const finds: Find<Kind>[] = []
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const isFolder = entry.isDirectory()
      const kind = this.#sort(path, entry.name, isFolder)
      if (kind === 'down') {
        if (isFolder) below.push(path)
      } else if (kind !== 'skip') finds.push({ path, kind })
    }
    return { below, finds }
  }
}
