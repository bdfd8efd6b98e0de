/** The Ed25519 key that signs checkpoints and attestations: made when first needed, kept in a file that only its owner reads. */
import { mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'

export interface Signer {
  /** SHA-256 of the public key, as hex: how a signature names its key. */
  readonly keyId: string
  readonly publicPem: string
  sign(bytes: Uint8Array): Buffer
}

export const defaultKeyFile = (env: NodeJS.ProcessEnv = process.env): string =>
  join(env['HOME'] || homedir(), '.ona', 'keys', 'audit.pem')

/** Reads the private key, and makes it (and `.pub` beside it) where there is none. */
export function openSigner(file: string): Signer {
  const crypto = process.getBuiltinModule('node:crypto')
  let pem = readText(file)
  if (pem === undefined) {
    const pair = crypto.generateKeyPairSync('ed25519')
    pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeAtomic(file, pem, { mode: 0o600 })
    writeAtomic(`${file}.pub`, pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(), { mode: 0o644 })
  }
  const key = crypto.createPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError(`${file} is no Ed25519 key`)
  const publicPem = crypto.createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
  return { keyId: keyIdOf(publicPem), publicPem, sign: (bytes) => crypto.sign(null, bytes, key) }
}

export const keyIdOf = (publicPem: string): string => {
  const crypto = process.getBuiltinModule('node:crypto')
  return crypto.hash('sha256', crypto.createPublicKey(publicPem).export({ type: 'spki', format: 'der' }))
}

/** Must not throw on what a file holds: a key or signature that is none does not verify. */
export function isSignedBy(publicPem: string, bytes: Uint8Array, signature: string): boolean {
  try {
    const crypto = process.getBuiltinModule('node:crypto')
    const key = crypto.createPublicKey(publicPem)
    return key.asymmetricKeyType === 'ed25519' && crypto.verify(null, bytes, key, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}
