/** Folders that take long to make, made once per version of what decides their content, and shared by test files. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unlock, waitForLock } from '../../src/files/lock-file.ts'

const root = join(import.meta.dirname, '../..')

interface Wanted {
  /** Of the folder in node_modules/.cache that has the versions. */
  readonly name: string
  /** Files, from the root of the checkout; a change in one of them makes another version. */
  readonly inputs: readonly string[]
  /** What else does. */
  readonly version?: string | Buffer
  make(folder: string): Promise<void>
}

export async function cachedFolder({ name, inputs, version = '', make }: Wanted): Promise<string> {
  const hash = createHash('sha256').update(version)
  for (const file of globSync(['package-lock.json', ...inputs], { cwd: root }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  const folder = join(root, 'node_modules/.cache', name, hash.digest('hex').slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const lock = `${folder}.lock`
  if (!(await waitForLock(lock, 120_000))) throw new Error(`${lock} is held; remove it when no test runs`)
  try {
    if (existsSync(folder)) return folder
    const fresh = `${folder}.new`
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh)
    await make(fresh)
    renameSync(fresh, folder)
    return folder
  } finally {
    unlock(lock)
  }
}
