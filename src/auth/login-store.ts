/**
 * The login of `ona login`, kept outside the project and the database: in the system's keychain where one answers,
 * otherwise in a file that only its owner can read. A note beside it, without a secret, says which of the two.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeAtomic } from '../files/atomic-write.ts'
import { requireOperator } from '../store/operator.ts'
import { keepOut } from '../store/secrets.ts'
import { lastFour } from './credential.ts'

export type Login =
  | { readonly kind: 'api_key'; readonly key: string }
  | {
      readonly kind: 'oauth'
      readonly accessToken: string
      readonly refreshToken?: string
      /** Milliseconds since 1970; undefined when the server did not say. */
      readonly expiresAt?: number
      readonly scopes: readonly string[]
      /** Where the tokens came from: they are renewed there and nowhere else, whatever the settings say later. */
      readonly tokenUrl: string
      readonly clientId: string
      readonly beta?: string
      readonly account?: string
    }

export interface LoginNote {
  readonly kind: Login['kind']
  readonly kept: 'keychain' | 'file'
  readonly lastFour: string
  readonly account?: string
  readonly savedAt: string
}

/** Without a note there is no login, and the keychain is not even asked. */
export function loginNote(env: NodeJS.ProcessEnv): LoginNote | undefined {
  return readJson(notePath(env)) as LoginNote | undefined
}

export async function readLogin(env: NodeJS.ProcessEnv): Promise<Login | undefined> {
  const note = loginNote(env)
  if (!note) return undefined
  const text = note.kept === 'keychain' ? await (await keychain(env))?.read() : readText(secretPath(env))
  const login = text ? (parsed(text) as Login | undefined) : undefined
  for (const secret of secretsOf(login)) keepOut(secret)
  return login
}

/** Registers what lies in the file for redaction, whichever credential this process uses: a tool may read the file. */
export function withholdStored(env: NodeJS.ProcessEnv): void {
  if (loginNote(env)?.kept !== 'file') return
  for (const secret of secretsOf(parsed(readText(secretPath(env)) ?? '') as Login | undefined)) keepOut(secret)
}

export async function saveLogin(login: Login, env: NodeJS.ProcessEnv): Promise<LoginNote> {
  const text = JSON.stringify(login)
  const chain = await keychain(env)
  const kept = (await chain?.write(text)) ? 'keychain' : 'file'
  if (kept === 'file') writePrivate(secretPath(env), text)
  else rmSync(secretPath(env), { force: true })
  const note: LoginNote = {
    kind: login.kind,
    kept,
    lastFour: lastFour(login.kind === 'oauth' ? login.accessToken : login.key),
    ...(login.kind === 'oauth' && login.account && { account: login.account }),
    savedAt: new Date().toISOString(),
  }
  writePrivate(notePath(env), JSON.stringify(note))
  for (const secret of secretsOf(login)) keepOut(secret)
  return note
}

/** 'kept': the keychain would not let go of it, so that it is still there. */
export async function forgetLogin(env: NodeJS.ProcessEnv): Promise<'forgotten' | 'nothing' | 'kept'> {
  requireOperator('removing a credential', { home: dirname(loginFolder(env)) })
  const note = loginNote(env)
  if (!note) return 'nothing'
  if (note.kept === 'keychain' && !(await (await keychain(env))?.remove())) return 'kept'
  rmSync(secretPath(env), { force: true })
  rmSync(notePath(env), { force: true })
  return 'forgotten'
}

/** In words for `ona status`. */
export const whereKept = ({ kept }: LoginNote, env: NodeJS.ProcessEnv): string =>
  kept === 'keychain'
    ? "the system's keychain"
    : `${secretPath(env)} (no keychain answered: not encrypted, readable by your user alone)`

export const loginFolder = (env: NodeJS.ProcessEnv): string => join(env['HOME'] || homedir(), '.ona')

const notePath = (env: NodeJS.ProcessEnv) => join(loginFolder(env), 'login.json')
const secretPath = (env: NodeJS.ProcessEnv) => join(loginFolder(env), 'credentials.json')

function secretsOf(login: Login | undefined): (string | undefined)[] {
  if (!login) return []
  return login.kind === 'api_key' ? [login.key] : [login.accessToken, login.refreshToken]
}

/** Each answers false or undefined where the keychain does not do it. */
interface Keychain {
  read(): Promise<string | undefined>
  write(text: string): Promise<boolean>
  remove(): Promise<boolean>
}

/** The keychain library, loaded only here. `ONA_KEYCHAIN=off` leaves the keychain alone. */
export async function keychain(env: NodeJS.ProcessEnv, account = 'anthropic'): Promise<Keychain | undefined> {
  if (env['ONA_KEYCHAIN'] === 'off') return undefined
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring')
    // Not the kernel's keyring, to which the library would fall back: it forgets all at the next start.
    const entry = new AsyncEntry('ona', account, { linux: { store: 'secret-service' } })
    const read = async () => (await entry.getPassword(limit()).catch(() => null)) ?? undefined
    const done = (work: Promise<unknown>) =>
      work.then(
        () => true,
        () => false,
      )
    return {
      read,
      // Some keychains take a secret and lose it: only what can be read back counts as kept.
      write: async (text) => (await done(entry.setPassword(text, limit()))) && (await read()) === text,
      remove: () => done(entry.deletePassword(limit())),
    }
  } catch {
    return undefined // no library for this platform, or no keychain on this machine
  }
}

/** A locked keychain may wait for a user who is not there. */
const limit = () => AbortSignal.timeout(10_000)

/** Never readable by others, not even where the file was before. */
function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeAtomic(path, text, { mode: 0o600 })
  chmodSync(path, 0o600)
}

const readJson = (path: string): unknown => parsed(readText(path) ?? '')

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // not there: nobody has logged in
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // empty or damaged: as good as no login, and the next one rewrites it
  }
}
