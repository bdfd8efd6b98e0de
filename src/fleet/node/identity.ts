/** Who this machine is in a fleet: a key pair that never leaves it, in files that only their owner reads. */
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'
import { Problem } from '../../files/problem.ts'

export interface Identity {
  readonly url: string
  readonly node: string
  readonly name: string
  readonly privateKey: string
  /** Public keys whose policies are applied. */
  readonly publishers: readonly string[]
  /** Rows are shipped without prompts, inputs and outputs. */
  readonly withoutContent: boolean
}

export const fleetHome = (env: NodeJS.ProcessEnv = process.env): string =>
  env['ONA_FLEET_HOME'] || join(env['HOME'] || homedir(), '.ona', 'fleet')

const file = (home: string) => join(home, 'node.json')

export function newKeys(): { publicKey: string; privateKey: string } {
  return generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}

export function writeIdentity(home: string, identity: Identity): void {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  chmodSync(home, 0o700)
  writeAtomic(file(home), `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600 })
  chmodSync(file(home), 0o600)
}

export const isEnrolled = (home: string): boolean => existsSync(file(home))

export const removeIdentity = (home: string): void => rmSync(file(home), { force: true })

/** A key that others could have read or replaced is not used. */
export function readIdentity(home: string): Identity {
  const path = file(home)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat)
    throw new Problem(`this machine is in no fleet (${path} is missing); run ona fleet enrol URL --token TOKEN`)
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    throw new Problem(
      `${path} can be read by others; run chmod 600 ${path}, and enrol again if somebody may have read it`,
    )
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Identity
    if (typeof value.url === 'string' && typeof value.node === 'string' && typeof value.privateKey === 'string')
      return value
  } catch {
    // said below
  }
  throw new Problem(`${path} is not what ona fleet enrol wrote; enrol again`)
}
