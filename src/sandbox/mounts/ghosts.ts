/**
 * Empty folders and files that stand where a protected one is missing, so that a mount can cover the place. They exist outside
 * while a session that needs them runs. Removing one would lift the mount from every sandbox that uses it, so each
 * process registers what it uses, and the last one removes it.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tryLock, unlock } from '../../files/lock-file.ts'
import type { Ghost } from './table.ts'

export class Ghosts {
  readonly #registry: string
  readonly #own = new Set<string>()
  readonly #foreign = new Set<string>()

  constructor(home: string) {
    this.#registry = join(home, '.ona', 'sandbox')
  }

  /** Makes those that are missing. Throws where one cannot be made: then the place cannot be protected. */
  use(ghosts: readonly Ghost[]): void {
    const fresh = ghosts.filter(({ path, isThere }) => !this.#own.has(path) && !(isThere && this.#isForeign(path)))
    const missing = ghosts.filter(({ path }) => !lstatSync(path, { throwIfNoEntry: false }))
    if (fresh.length === 0 && missing.length === 0) return
    this.#locked(() => {
      for (const { path } of fresh) this.#own.add(path)
      writeFileSync(this.#file(), JSON.stringify([...this.#own]), { mode: 0o600 })
      for (const { path, kind } of missing) {
        if (kind === 'folder') mkdirSync(path)
        else writeFileSync(path, '', { flag: 'wx' })
      }
    })
  }

  /** There before, and made by no session: the user's own, and left alone. One of another session is used together. */
  #isForeign(path: string): boolean {
    if (this.#foreign.has(path)) return true
    const made = readdirSync(this.#registry).some(
      (name) => /^\d+\.json$/.test(name) && readList(join(this.#registry, name)).includes(path),
    )
    if (!made) this.#foreign.add(path)
    return !made
  }

  close(): void {
    if (this.#own.size === 0) return
    this.#locked(() => {
      rmSync(this.#file(), { force: true })
      const used = this.#others()
      for (const path of [...this.#own].reverse()) if (!used.has(path)) removeEmpty(path)
      this.#own.clear()
    })
  }

  /** What live processes use; what dead ones left is removed. */
  #others(): Set<string> {
    const live = new Set<string>()
    const left: string[] = []
    for (const name of readdirSync(this.#registry).filter((each) => /^\d+\.json$/.test(each))) {
      const file = join(this.#registry, name)
      const alive = isAlive(Number.parseInt(name, 10))
      for (const path of readList(file)) {
        if (alive) live.add(path)
        else left.push(path)
      }
      if (!alive) rmSync(file, { force: true })
    }
    for (const path of left.reverse()) if (!live.has(path) && !this.#own.has(path)) removeEmpty(path)
    return live
  }

  #file = (): string => join(this.#registry, `${process.pid}.json`)

  #locked(work: () => void): void {
    mkdirSync(this.#registry, { recursive: true, mode: 0o700 })
    const lock = join(this.#registry, 'lock')
    const until = Date.now() + longestMs
    while (!tryLock(lock)) {
      if (Date.now() > until) throw new Error(`${lock} is held by another process`)
      Atomics.wait(pause, 0, 0, 5)
    }
    try {
      work()
    } finally {
      unlock(lock)
    }
  }
}

const longestMs = 5000
const pause = new Int32Array(new SharedArrayBuffer(4))

function removeEmpty(path: string): void {
  try {
    const stat = lstatSync(path)
    if (stat.isDirectory()) rmdirSync(path)
    else if (stat.isFile() && stat.size === 0) unlinkSync(path)
  } catch {
    // somebody put something there, or it is gone: it is not ours any more
  }
}

function readList(file: string): string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  } catch {
    return [] // being written, or damaged: nothing is removed on its word
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
