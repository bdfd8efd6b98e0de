/** The file of the database: where it lies, and whether it can be one. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { StoreError } from './failure.ts'

/** Where the database lies: AGENT_SDLC_DB, which must be absolute, else `~/.ona/agent.db`. */
export function dbPath(env: NodeJS.ProcessEnv = process.env): string {
  const path = env['AGENT_SDLC_DB']
  if (!path) return join(env['HOME'] || homedir(), '.ona', 'agent.db')
  if (isAbsolute(path)) return path
  throw new StoreError('bad-path', `AGENT_SDLC_DB is "${path}"; it must be an absolute path such as ${resolve(path)}`)
}

/** Makes an empty file for a new database; looks at an old one without touching it. Says whether it is new. */
export function claim(path: string): boolean {
  let header: Buffer
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile()
    if (isFile === undefined) {
      closeSync(openSync(path, 'ax', 0o600))
      return true
    }
    if (!isFile) throw notFile(path)
    accessSync(path, constants.R_OK | constants.W_OK)
    accessSync(dirname(path), constants.W_OK)
    header = firstBytes(path)
  } catch (error) {
    throw asFileError(error, path)
  }
  if (header.length > 0 && !header.equals(Buffer.from('SQLite format 3\0')))
    throw new StoreError(
      'not-a-database',
      `${path} is not a SQLite database; it was left as it is. Set AGENT_SDLC_DB to another path`,
    )
  return false
}

/** The file itself, whatever links lead to it: SQLite keeps its log beside that, and we our archives. */
export const ownPath = (path: string): string => (existsSync(path) ? realpathSync.native(path) : path)

export const besideDb = ({ path }: { readonly path: string }, name: string): string =>
  join(dirname(ownPath(path)), name)

export const notFile = (path: string): StoreError =>
  new StoreError('not-a-database', `${path} is not a file; set AGENT_SDLC_DB to the path of one`)

function firstBytes(path: string): Buffer {
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(16)
  const length = readSync(file, bytes)
  closeSync(file)
  return bytes.subarray(0, length)
}

function asFileError(error: unknown, path: string): unknown {
  const { code } = error as { code?: string }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new StoreError(
      'read-only',
      `${path} cannot be written; make the file and its folder writable, or set AGENT_SDLC_DB to another path`,
    )
  if (code === 'ENOSPC') return new StoreError('disk-full', `${path} cannot be made: the disk is full. Free some space`)
  if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'ELOOP' || code === 'ENAMETOOLONG')
    return new StoreError('bad-path', `${path} cannot be made: ${(error as Error).message}`)
  return error
}
