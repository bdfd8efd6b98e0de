/** Settings files may hold secrets (`env`, headers of a server); the database may not. */
import { secretIn } from '../../hooks/secrets/redact.ts'
import { isSecretName } from '../../hooks/secrets/secret-names.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { keepOut } from '../secrets.ts'

/** Stands in the snapshot for a value that only the file holds. */
const KEPT_IN_FILE = '[secret: kept in the settings file]'

/** The settings as they may be stored. What is taken out is also kept out of everything else that is stored. */
export const withoutSecrets = (settings: JsonObject): JsonObject => strip(settings, '') as JsonObject

/** Puts the values back that the snapshot has no copy of. */
export const withSecrets = (snapshot: JsonObject, files: JsonObject): JsonObject => fill(snapshot, files) as JsonObject

/** Where a value is still missing after that. */
export function missingSecrets(value: unknown, path = ''): string[] {
  if (value === KEPT_IN_FILE) return [path]
  if (Array.isArray(value)) return value.flatMap((each, index) => missingSecrets(each, `${path}[${index}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, each]) => missingSecrets(each, path === '' ? key : `${path}.${key}`))
}

function strip(value: unknown, parent: string): unknown {
  if (Array.isArray(value)) return value.map((each) => strip(each, ''))
  if (!isObject(value)) return typeof value === 'string' && isSecret(value) ? KEPT_IN_FILE : value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const named = carriers.has(parent) && isSecretName(key) && typeof each === 'string' && !isPlain(each)
      if (named) keepOut(each)
      return [key, named ? KEPT_IN_FILE : strip(each, key)]
    }),
  )
}

/** Objects whose keys name what they carry. */
const carriers = new Set(['env', 'headers'])

/** A switch, a number, or a reference to a variable is no secret, whatever it is called. */
const isPlain = (value: string) => /^(|true|false|[\d.]+|\$\{?\w+(:-)?\}?)$/.test(value)

function isSecret(text: string): boolean {
  const secret = secretIn(text) ?? text.match(passwordInUrl)?.[1] ?? secretInQuery(text)
  keepOut(secret)
  return secret !== undefined
}

const passwordInUrl = /\/\/[^/\s:@]*:([^/\s:@]+)@/

/** `https://host/?token=…` */
function secretInQuery(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined
  const pairs = [...text.matchAll(/[?&]([\w.-]+)=([^&#\s]+)/g)]
  return pairs.find(([, name, value]) => (isSecretName(name!) || name === 'key') && !isPlain(value!))?.[2]
}

function fill(stored: unknown, file: unknown): unknown {
  if (stored === KEPT_IN_FILE && typeof file === 'string') return file
  if (Array.isArray(stored) && Array.isArray(file)) return stored.map((each, index) => fill(each, file[index]))
  if (!isObject(stored) || !isObject(file)) return stored
  return Object.fromEntries(
    Object.entries(stored).map(([key, each]) => [key, fill(each, Object.hasOwn(file, key) ? file[key] : undefined)]),
  )
}
