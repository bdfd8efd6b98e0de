/**
 * The policy of this node: pulled, checked, applied, acknowledged. The last one that was applied stays in force whatever
 * comes: a bad signature, an older version, an empty answer, or no answer at all.
 */

import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'
import { counted } from '../../hooks/text/counted.ts'
import { type Bundle, digestOf, openBundle, type SignedBundle } from '../policy-bundle.ts'
import { applyBundle, driftOf, lockMachine } from './apply-policy.ts'
import { type Client, Unreachable } from './client.ts'
import { type Identity, writeIdentity } from './identity.ts'

export interface PolicyState {
  readonly signed: SignedBundle
  readonly version: number
  readonly digest: string
  /** When the service last said that this is the policy. */
  readonly confirmedAt: string
  readonly locked: boolean
}

export interface Pulled {
  readonly version: number
  readonly digest: string
  /** applied, refused, failed, stale, locked or none. */
  readonly state: 'applied' | 'refused' | 'failed' | 'stale' | 'locked' | 'none'
  readonly detail: string
  readonly changed: boolean
  /** Files that were not as the policy left them; they were written again. */
  readonly drift: readonly string[]
}

export interface PullOptions {
  readonly home: string
  /** "/" or a folder that stands for it. */
  readonly root: string
  readonly now?: Date
  /** Shows that the policy holds, once it is applied; its result is acknowledged with it. */
  prove?(pulled: Pulled): Promise<string>
}

const file = (home: string) => join(home, 'policy.json')

export function readPolicyState(home: string): PolicyState | undefined {
  try {
    return JSON.parse(readFileSync(file(home), 'utf8')) as PolicyState
  } catch {
    return undefined // none yet, or not ours: the service sends it again
  }
}

const save = (home: string, state: PolicyState): void => {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeAtomic(file(home), `${JSON.stringify(state)}\n`, { mode: 0o600 })
}

export async function pullPolicy(client: Client, identity: Identity, options: PullOptions): Promise<Pulled> {
  const state = readPolicyState(options.home)
  const pulled = await fetchAndApply(client, await withPublishers(client, identity, options.home), state, options)
  const { version, digest, state: word, detail, drift } = pulled
  const proof = word === 'applied' ? ((await options.prove?.(pulled)) ?? '') : ''
  if (word !== 'none')
    await client
      .ask('POST', '/v1/policy/ack', { version, digest, state: word, detail, drift, proof })
      .catch((cause: unknown) => {
        if (!(cause instanceof Unreachable)) throw cause // reported by the next pull
      })
  return pulled
}

/** A node that enrolled before there was any publisher accepts the first ones that the service names, and keeps them. */
async function withPublishers(client: Client, identity: Identity, home: string): Promise<Identity> {
  if (identity.publishers.length > 0) return identity
  const reply = await client.ask('GET', '/v1/publishers').catch(() => undefined)
  const named: unknown = reply?.body['publishers']
  if (!Array.isArray(named) || named.length === 0 || named.some((pem) => typeof pem !== 'string')) return identity
  const pinned = { ...identity, publishers: named as string[] }
  writeIdentity(home, pinned)
  return pinned
}

async function fetchAndApply(
  client: Client,
  identity: Identity,
  state: PolicyState | undefined,
  options: PullOptions,
): Promise<Pulled> {
  const now = options.now ?? new Date()
  const asked = await client
    .ask('GET', '/v1/policy', undefined, state ? { 'if-none-match': `"${state.digest}"` } : {})
    .catch((cause: unknown) => {
      if (cause instanceof Unreachable) return cause.message
      throw cause
    })
  if (typeof asked === 'string') return keep(state, options, now, asked)
  if (asked.status !== 200 && asked.status !== 204 && asked.status !== 304)
    return keep(state, options, now, `the service answered ${asked.status}`)
  const { payload, signature, keyId } = asked.body
  if (typeof payload !== 'string' || payload === '') return confirmed(state, options, now)
  const signed = { payload, signature: String(signature), keyId: String(keyId) }
  const bundle = openBundle(signed, identity.publishers)
  const isOlder = typeof bundle !== 'string' && state !== undefined && bundle.version <= state.version
  if (typeof bundle === 'string' || isOlder) {
    const why = typeof bundle === 'string' ? bundle : `version ${bundle.version} is not newer than ${state!.version}`
    return {
      ...about(state),
      state: 'refused',
      detail: `${why}; the last known good policy stays`,
      changed: false,
      drift: [],
    }
  }
  const digest = digestOf(payload)
  try {
    await applyBundle(bundle, folderOf(options.home, bundle.version), options.root)
  } catch (cause) {
    return {
      ...about(state),
      state: 'failed',
      detail: `version ${bundle.version}: ${(cause as Error).message}`,
      changed: false,
      drift: [],
    }
  }
  if (bundle.publishers) writeIdentity(options.home, { ...identity, publishers: bundle.publishers })
  save(options.home, { signed, version: bundle.version, digest, confirmedAt: now.toISOString(), locked: false })
  if (state) rmSync(folderOf(options.home, state.version), { recursive: true, force: true })
  return { version: bundle.version, digest, state: 'applied', detail: '', changed: true, drift: [] }
}

const folderOf = (home: string, version: number): string => join(home, `policy-${version}`)

const about = (state: PolicyState | undefined) => ({ version: state?.version ?? 0, digest: state?.digest ?? '' })

/** The policy is still the one: what drifted is written again, and a lock is taken away. */
async function confirmed(state: PolicyState | undefined, options: PullOptions, now: Date): Promise<Pulled> {
  if (!state)
    return {
      version: 0,
      digest: '',
      state: 'none',
      detail: 'no policy is published for this node',
      changed: false,
      drift: [],
    }
  const drift = driftOf(options.root)
  if (drift.length > 0 || state.locked)
    try {
      await applyBundle(bundleOf(state), folderOf(options.home, state.version), options.root)
    } catch (cause) {
      return { ...about(state), state: 'failed', detail: (cause as Error).message, changed: false, drift }
    }
  save(options.home, { ...state, confirmedAt: now.toISOString(), locked: false })
  return { ...about(state), state: 'applied', detail: '', changed: drift.length > 0 || state.locked, drift }
}

const bundleOf = ({ signed }: PolicyState): Bundle => JSON.parse(signed.payload) as Bundle

/** No word from the service: the policy stays, up to its age; a strict one then denies everything. */
async function keep(
  state: PolicyState | undefined,
  { home, root }: PullOptions,
  now: Date,
  why: string,
): Promise<Pulled> {
  if (!state) return { version: 0, digest: '', state: 'none', detail: why, changed: false, drift: [] }
  const { maxAgeHours, strict } = bundleOf(state)
  const hours = (now.getTime() - Date.parse(state.confirmedAt)) / 3_600_000
  const isStale = maxAgeHours !== null && hours > maxAgeHours
  const same = { ...about(state), changed: false, drift: [] }
  if (!isStale) return { ...same, state: state.locked ? 'locked' : 'applied', detail: why }
  const old = `${why}; the policy was confirmed ${counted(Math.floor(hours), 'hour')} ago, and its limit is ${maxAgeHours}`
  if (!strict) return { ...same, state: 'stale', detail: old }
  await lockMachine(root)
  save(home, { ...state, locked: true })
  return { ...same, state: 'locked', detail: `${old}: every tool is denied`, changed: !state.locked }
}
