/** The mounts of one sandbox while they are planned: which path lies on which, what must not be renamed, and why. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { isWithin } from '../../permissions/paths/pattern.ts'
import type { NamedPath } from '../profile.ts'
import { isEmpty, statOf } from './look.ts'

export type Mount =
  | { readonly op: 'ro' | 'rw'; readonly at: string; readonly from: string }
  /** An empty folder; `seal` makes it read-only when everything is in its place. `blank` is one that stands in for what is missing. */
  | { readonly op: 'empty' | 'seal' | 'blank'; readonly at: string }
  /** Nothing can be read, written or listed there. */
  | { readonly op: 'deny'; readonly at: string; readonly folder: boolean }

export interface Plan {
  readonly mounts: readonly Mount[]
  /** What must exist outside before the sandbox starts, so that it can be covered; parents before children. */
  readonly ghosts: readonly Ghost[]
  /** Paths that must not come into being while the command runs. */
  readonly absent: readonly string[]
  /** Files that a rule locks by a pattern: none may be added. */
  readonly locked: readonly Locked[]
  /** What stands in a command's way, and why: for messages. */
  readonly fences: readonly Fenced[]
  readonly prompts: readonly string[]
  /** Why no sandbox can be made of this profile. */
  readonly problem?: string
}

/** An empty folder or file that stands where a protected one is missing. */
export interface Ghost {
  readonly path: string
  readonly kind: 'folder' | 'file'
  /** It is there, and empty: made by this session or another one, or the user's own. */
  readonly isThere?: boolean
}

export interface Locked {
  readonly why: string
  /** What there was before the command. */
  readonly before: ReadonlySet<string>
  /** What there is now; undefined when it cannot be searched. */
  find(): readonly string[] | undefined
}

export interface Fenced {
  readonly path: string
  readonly kind: 'read' | 'write'
  readonly why: string
}

export class MountTable {
  readonly #at = new Map<string, Mount>()
  /** Folders that are mounted on themselves, only so that they cannot be renamed. */
  readonly #anchors = new Set<string>()
  readonly ghosts = new Map<string, Ghost>()
  readonly absent = new Set<string>()
  readonly fences = new Map<string, Fenced>()
  readonly prompts: string[]
  /** What is shown below a folder that is not. */
  readonly opens: string[] = []
  /** What commands may write. */
  roots: readonly NamedPath[] = []

  constructor(prompts: readonly string[]) {
    this.prompts = [...prompts]
  }

  get paths(): readonly string[] {
    return [...this.#at.keys()]
  }
  has = (path: string): boolean => this.#at.has(path)
  remove = (path: string): boolean => this.#at.delete(path)

  /** Parents before children; nothing below what is denied, unless it was opened by name; no anchor below what is read-only. */
  settled(): Mount[] {
    const settled: Mount[] = []
    const above = (at: string) => settled.findLast((mount) => isWithin(at, mount.at))
    for (const at of [...this.#at.keys()].sort()) {
      let mount = this.#at.get(at)!
      const cover = above(at)
      if (this.#anchors.has(at) && cover?.op !== 'rw') continue
      if (cover?.op === 'deny' || cover?.op === 'blank') continue
      if (mount.op === 'deny' && this.opens.some((open) => open !== at && isWithin(open, at)))
        mount = { op: 'empty', at }
      settled.push(mount)
    }
    return settled.map((mount) =>
      mount.op === 'empty' && !holdsAnother(settled, mount) ? { op: 'blank', at: mount.at } : mount,
    )
  }

  isHidden(path: string): boolean {
    const cover = this.coverOf(path)
    return cover?.op === 'empty' || cover?.op === 'deny' || (cover?.op === 'rw' && cover.from !== cover.at)
  }
  isShown = (path: string): boolean => !this.isHidden(path)

  /** The mount that a path lies on. */
  coverOf(path: string): Mount | undefined {
    for (let at = path; ; at = dirname(at)) {
      const mount = this.#at.get(at)
      if (mount) return mount
      if (at === dirname(at)) return undefined
    }
  }

  fence(fenced: Fenced): void {
    this.fences.set(fenced.path, fenced)
  }

  set(mount: Mount): void {
    this.#at.set(mount.at, mount)
  }

  deny(path: string, why: string): void {
    const stat = statOf(path)
    if (!stat) return
    this.set({ op: 'deny', at: path, folder: stat.isDirectory() })
    this.fence({ path, kind: 'read', why })
    this.anchor(path)
    if (stat.isFile() && stat.nlink > 1)
      this.prompts.push(`${path} has other names (hard links), and ${why} covers them, too`)
  }

  /** Shows nothing of a folder. */
  hide(path: string, why: string): void {
    this.set({ op: 'empty', at: path })
    this.fence({ path, kind: 'read', why })
    this.anchor(path)
  }

  readOnly(path: string, why: string): void {
    if (this.#at.get(path)?.op === 'deny') return
    this.set({ op: 'ro', at: path, from: path })
    this.fence({ path, kind: 'write', why })
    this.anchor(path)
  }

  /** Whoever could rename a folder above could put another in its place: each becomes a mount point, which cannot be renamed. */
  anchor(path: string): void {
    const root = this.roots.find((each) => isWithin(path, each.path))
    if (!root) return
    for (let at = dirname(path); at !== root.path && isWithin(at, root.path); at = dirname(at))
      if (!this.#at.has(at)) {
        this.set({ op: 'rw', at, from: at })
        this.#anchors.add(at)
      }
  }

  protectPath(path: string, { why, unreadable, create }: { why: string; unreadable: boolean; create: Create }): void {
    const stat = statOf(path)
    if (!stat) {
      if ((create === 'folder' || create === 'file') && this.#hasPlace(path)) this.ghost(path, why, create)
      else if (create !== 'allowed') this.absent.add(path)
      return
    }
    if (stat.isSymbolicLink()) {
      this.prompts.push(`${path} is a symbolic link, which a sandbox cannot protect (${why})`)
      return
    }
    if (stat.isFile() && stat.nlink > 1)
      this.prompts.push(`${path} has other names (hard links), which a sandbox cannot protect`)
    if (unreadable) this.deny(path, why)
    else if ((create === 'folder' || create === 'file') && isEmpty(path, create)) this.ghost(path, why, create)
    else this.readOnly(path, why)
  }

  /** A folder above may be missing too, one deep: it is made, and can be written like any other. */
  #hasPlace = (path: string): boolean => existsSync(dirname(path)) || existsSync(dirname(dirname(path)))

  ghost(path: string, why: string, kind: Ghost['kind'] = 'folder'): void {
    const above = dirname(path)
    if (!existsSync(above)) this.ghosts.set(above, { path: above, kind: 'folder' })
    this.ghosts.set(path, { path, kind, ...(existsSync(path) && { isThere: true }) })
    this.set(kind === 'folder' ? { op: 'blank', at: path } : { op: 'ro', at: path, from: path })
    this.fence({ path, kind: 'write', why })
    this.anchor(path)
  }
}

/** What becomes of a protected path that is missing: an empty stand-in is covered, it is watched for, or anybody may create it. */
export type Create = Ghost['kind'] | 'absent' | 'allowed'

/** A folder with mounts in it is made read-only when they are in place; an empty one is made so, which costs half as much. */
const holdsAnother = (mounts: readonly Mount[], { at }: Mount): boolean =>
  mounts.some((each) => each.at !== at && isWithin(each.at, at))
