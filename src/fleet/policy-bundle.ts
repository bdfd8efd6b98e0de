/** A policy bundle: the files of a folder as one signed text, with a version that only grows. */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../files/problem.ts'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { limits, sha256 } from './wire.ts'

export interface Bundle {
  readonly format: 1
  readonly version: number
  readonly ring: 'canary' | 'all'
  readonly group: string | null
  readonly issuedAt: string
  /** After so many hours without word from the service the policy is stale. */
  readonly maxAgeHours: number | null
  /** A stale policy denies every tool. */
  readonly strict: boolean
  readonly rollbackOf: number | null
  /** Keys whose bundles are accepted from now on; null: as before. */
  readonly publishers: readonly string[] | null
  readonly files: Readonly<Record<string, string>>
}

export interface SignedBundle {
  /** The text that was signed. */
  readonly payload: string
  readonly signature: string
  readonly keyId: string
}

const signedText = (payload: string): Buffer => Buffer.from(`ona fleet policy 1\n${payload}`)

export const digestOf = (payload: string): string => sha256(payload).toString('hex')

export const keyIdOf = (publicPem: string): string =>
  sha256(createPublicKey(publicPem).export({ type: 'spki', format: 'der' }))
    .toString('hex')
    .slice(0, 32)

export function signBundle(bundle: Bundle, privatePem: string): SignedBundle {
  const key = createPrivateKey(privatePem)
  const payload = JSON.stringify(bundle)
  if (payload.length > limits.bundleBytes)
    throw new Problem(`the bundle has ${payload.length} bytes; the most is ${limits.bundleBytes}`)
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
  return { payload, signature: sign(null, signedText(payload), key).toString('base64'), keyId: keyIdOf(publicPem) }
}

/** The bundle, or why it is not accepted. Must not throw on what came from outside. */
export function openBundle(
  { payload, signature }: Pick<SignedBundle, 'payload' | 'signature'>,
  publishers: readonly string[],
): Bundle | string {
  const isSigned = publishers.some((pem) => {
    try {
      const key = createPublicKey(pem)
      return (
        key.asymmetricKeyType === 'ed25519' && verify(null, signedText(payload), key, Buffer.from(signature, 'base64'))
      )
    } catch {
      return false
    }
  })
  if (!isSigned) return 'the bundle is not signed by a publisher that this machine knows'
  try {
    const value: unknown = JSON.parse(payload)
    if (isObject(value) && isBundle(value)) return value as unknown as Bundle
  } catch {
    // said below
  }
  return 'the bundle is not in a format that this ona knows; update ona'
}

const isBundle = (value: JsonObject): boolean =>
  value['format'] === 1 &&
  Number.isSafeInteger(value['version']) &&
  (value['ring'] === 'canary' || value['ring'] === 'all') &&
  isObject(value['files']) &&
  Object.entries(value['files']).every(([path, text]) => isPlain(path) && typeof text === 'string')

/** A path that stays inside its folder. */
const isPlain = (path: string): boolean =>
  path.length < 500 &&
  !path.includes('\\') &&
  !path.includes('\0') &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** What a bundle may hold beside policy.yaml and settings.json: roles and the files of their hooks. */
export function readFolder(folder: string): Record<string, string> {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new Problem(`${folder} is not a folder`)
  const files: Record<string, string> = {}
  const visit = (under: string) => {
    for (const { name } of readdirSync(join(folder, under), { withFileTypes: true })) {
      if (name === '.git' || name === 'node_modules') continue
      const path = under === '' ? name : `${under}/${name}`
      const stat = lstatSync(join(folder, path))
      if (stat.isSymbolicLink())
        throw new Problem(`${join(folder, path)} is a symbolic link; a bundle holds plain files`)
      if (stat.isDirectory()) visit(path)
      else files[path] = readFileSync(join(folder, path), 'utf8')
      if (Object.keys(files).length > 500)
        throw new Problem(`${folder} has more than 500 files; a bundle holds a policy`)
    }
  }
  visit('')
  if (
    files['policy.yaml'] === undefined &&
    files['settings.json'] === undefined &&
    !Object.keys(files).some((path) => path.startsWith('.agent/'))
  )
    throw new Problem(`${folder} holds no policy: none of policy.yaml, settings.json and .agent/ is there`)
  return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))
}
