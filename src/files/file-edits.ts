/** Files changed together: each by one rename, all of them or none. */
import { isUtf8 } from 'node:buffer'
import { existsSync, lstatSync, mkdirSync, realpathSync, renameSync, rmdirSync, rmSync, unlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { stageBeside } from './atomic-write.ts'
import { busy, tryLock, unlock, waitForLock } from './lock-file.ts'
import { readPlainBytes } from './plain-file.ts'
import { Problem } from './problem.ts'

export interface FileEdit {
  readonly path: string
  /** null: the file was not there. */
  readonly before: string | null
  /** null: the file goes. */
  readonly after: string | null
}

/** The file's text, or null when there is none. */
export function readText(path: string): string | null {
  const bytes = attempt(path, 'read', () => readPlainBytes(realOf(path)), ['ENOENT', 'ENOTDIR'])
  if (bytes && !isUtf8(bytes)) throw new Problem(`${path} is not UTF-8 text; nothing was written`)
  return bytes?.toString('utf8') ?? null
}

/** Makes the edits, or leaves everything as it was and throws. Must be called under the locks of the files. */
export function writeAll(edits: readonly FileEdit[]): void {
  const changed = edits.filter(({ before, after }) => before !== after)
  const staged: { edit: FileEdit; target: string; temporary: string | null; made: string | undefined }[] = []
  const done: typeof staged = []
  try {
    for (const edit of changed) {
      const target = realOf(edit.path)
      const made =
        edit.after === null
          ? undefined
          : attempt(edit.path, 'make the folder of', () => mkdirSync(dirname(target), { recursive: true }))
      const stage = { edit, target, temporary: null as string | null, made }
      staged.push(stage)
      if (edit.after !== null)
        stage.temporary = attempt(edit.path, 'write', () => stageBeside(target, edit.after!, { mode: 0o666 }))
    }
    for (const stage of staged) {
      attempt(stage.edit.path, 'write', () =>
        stage.temporary ? renameSync(stage.temporary, stage.target) : unlinkSync(stage.target),
      )
      done.push(stage)
    }
  } catch (thrown) {
    for (const { edit, target } of done.reverse()) {
      if (edit.before === null) rmSync(target, { force: true })
      else renameSync(stageBeside(target, edit.before, { mode: 0o666 }), target)
    }
    for (const { target, temporary, made } of staged.reverse()) {
      if (temporary) rmSync(temporary, { force: true })
      if (made) removeEmpty(dirname(target), made)
    }
    throw thrown
  }
}

/** Runs the work while no other process of ours changes the same files. */
export async function locked<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
  const locks: string[] = []
  const made: [string, string][] = []
  const there: string[] = []
  try {
    // one order for all, so that two processes cannot wait for each other
    for (const path of paths.map(realOf).sort()) {
      const folder = attempt(path, 'make the folder of', () => mkdirSync(dirname(path), { recursive: true }))
      if (folder) made.push([dirname(path), folder])
      if (existsSync(path)) there.push(path)
      locks.push(await lock(`${path}.lock`))
    }
    return await work()
  } finally {
    for (const held of locks) unlock(held)
    for (const [folder, top] of made) removeEmpty(folder, top)
    for (const path of there) if (!existsSync(path)) removeEmpty(dirname(path))
  }
}

const patienceMs = 10_000

async function lock(path: string): Promise<string> {
  const taken = attempt(path, 'lock', () => tryLock(path)) || (await waitForLock(path, patienceMs))
  if (!taken) throw new Problem(busy(path, patienceMs).message)
  return path
}

/** The file itself, behind a symbolic link; a link to nothing is not ours to make into something. */
function realOf(path: string): string {
  const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  if (!link) {
    const folder = attempt(path, 'find', () => realpathSync(dirname(path)), ['ENOENT', 'ENOTDIR'])
    return folder ? resolve(folder, path.slice(dirname(path).length + 1)) : path
  }
  return attempt(path, 'follow the link', () => realpathSync(path))
}

/** Takes away a folder that is empty now, and those above it up to `top` as long as they are. */
function removeEmpty(folder: string, top = folder): void {
  try {
    rmdirSync(folder)
    if (folder !== top) removeEmpty(dirname(folder), top)
  } catch {
    // something is in it, which is its reason to stay
  }
}

function attempt<T>(path: string, what: string, work: () => T): T
function attempt<T>(path: string, what: string, work: () => T, fine: readonly string[]): T | undefined
function attempt(path: string, what: string, work: () => unknown, fine: readonly string[] = []): unknown {
  try {
    return work()
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    if (code && fine.includes(code)) return undefined
    throw new Problem(`cannot ${what} ${path}: ${message.split(',')[0]}; nothing was written`)
  }
}
