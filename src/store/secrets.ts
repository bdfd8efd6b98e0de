/** Keeps secrets out of the database: what a secret looks like, and which ones this process knows. */
import { credentialVariables } from '../hooks/secrets/secret-names.ts'

const known = new Set<string>()

/** From now on the value is replaced in everything that is stored. Call it with every credential that is resolved. */
export function keepOut(secret: string | undefined): void {
  if (secret && secret.length >= SHORTEST) known.add(secret)
}

/** The credentials that the environment carries. */
export function keepOutEnv(env: NodeJS.ProcessEnv): void {
  for (const name of credentialVariables) keepOut(env[name])
}

/** The text as it may be stored: known secrets are replaced, and what SQLite's tools cannot show is made visible. */
export function storable(text: string): string {
  let safe = text
  for (const secret of known) if (safe.includes(secret)) safe = safe.replaceAll(secret, SECRET)
  return safe.includes('\0') ? safe.replaceAll('\0', '\ufffd') : safe
}

const SECRET = '[secret]'

/** Shorter values would be found in ordinary text by chance. */
const SHORTEST = 12
