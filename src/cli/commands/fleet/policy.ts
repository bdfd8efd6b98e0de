/** `ona fleet policy`: one signed policy for every machine of the fleet. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { Problem } from '../../../files/problem.ts'
import { readFault } from '../../../files/read-fault.ts'
import { type Client, nodeClient } from '../../../fleet/node/client.ts'
import { fleetHome, newKeys, readIdentity, writeIdentity } from '../../../fleet/node/identity.ts'
import type { Pulled } from '../../../fleet/node/policy.ts'
import { type Bundle, readFolder, signBundle } from '../../../fleet/policy-bundle.ts'
import { family } from '../../command.ts'
import { noted, paint, said, saidJson, table, warned, wrong } from '../../print.ts'
import { proofOf } from './proof.ts'
import { answered, fleetCommand, requireOperator, untilStopped, userFlags, userHelp, userOf } from './shared.ts'

const help = `ona fleet policy: signed, versioned policies for every machine of the fleet.

  ona fleet policy key --name ada                       make this machine's publishing key, and register it (admin)
  ona fleet policy publish ./policy --ring canary       to the machines that go first
  ona fleet policy publish ./policy --ring all
  ona fleet policy status                               every node: version, last seen, drift, hooks fired, proof
  ona fleet policy rollback                             publish the version before again, as a new one
  ona fleet policy trust publisher.pem.pub              on a node: accept this publisher too
  sudo ona fleet policy pull --watch                    on a node: fetch, check, apply, acknowledge

The folder holds policy.yaml (rules, as for ona enforce), settings.json (managed settings of ona) and .agent/ (roles), or some of
them.

  --ring R           canary or all
  --group NAME       only nodes of this group
  --key FILE         the publisher's private key (default: ~/.ona/fleet/publisher.pem)
  --max-age-hours N  after so long without word from the service the policy is stale
  --accept FILE      publish: from this version on nodes accept this publisher's key and those of the other --accept, and no other
  --strict           a stale policy denies every tool, instead of a warning
  --to VERSION       rollback: to this version
  --watch, --every SECONDS   pull: again and again (60)
  --root DIR         pull: write under DIR instead of /
  --prove            pull: run ona prove, and report its result
${userHelp}
Exit code: 0 done, 1 it failed; status: 1 when a node has another policy than it should; 2 wrong usage.
`

const keyFile = (given: string | undefined) =>
  given === undefined ? join(fleetHome(), 'publisher.pem') : resolve(given)

const key = fleetCommand(
  'ona fleet policy key',
  { help, flags: { ...userFlags, key: 'value', name: 'value' } },
  async (given) => {
    requireOperator('making a publishing key')
    const file = keyFile(given.key)
    const { mkdirSync } = process.getBuiltinModule('node:fs')
    const { createPrivateKey, createPublicKey } = process.getBuiltinModule('node:crypto')
    if (!existsSync(file)) {
      mkdirSync(fleetHome(), { recursive: true, mode: 0o700 })
      writeAtomic(file, newKeys().privateKey, { mode: 0o600 })
    }
    const publicKey = createPublicKey(createPrivateKey(privateKeyIn(file)))
      .export({ type: 'spki', format: 'pem' })
      .toString()
    writeAtomic(`${file}.pub`, publicKey, { mode: 0o644 })
    const name = given.name ?? userInfo().username
    const { keyId } = await answered(userOf(given).client.ask('POST', '/v1/publishers', { publicKey, name }))
    return given.json
      ? saidJson({ keyId, file })
      : said(`${file}: publisher ${keyId}; nodes that enrol from now on accept it`)
  },
)

type Content = Pick<Bundle, 'ring' | 'group' | 'maxAgeHours' | 'strict' | 'rollbackOf' | 'publishers' | 'files'>

const contentOf = ({ ring, group, maxAgeHours, strict, rollbackOf, publishers, files }: Bundle): Content => ({
  ...{ ring, group, maxAgeHours, strict, rollbackOf, publishers, files },
})

async function publishBundle(
  client: Client,
  content: Content,
  file: string,
): Promise<{ version: number; digest: string }> {
  const privateKey = privateKeyIn(file)
  const newest = async () =>
    Number(((await answered(client.ask('GET', '/v1/policies')))['list'] as { version: number }[])[0]?.version ?? 0)
  const bundle: Bundle = { format: 1, version: (await newest()) + 1, issuedAt: new Date().toISOString(), ...content }
  const done = await answered(client.ask('POST', '/v1/policies', signBundle(bundle, privateKey)))
  return { version: Number(done['version']), digest: String(done['digest']) }
}

const publish = fleetCommand(
  'ona fleet policy publish',
  {
    help,
    words: 1,
    flags: {
      ...userFlags,
      ring: { kind: 'value', oneOf: ['canary', 'all'] },
      ...{ group: 'value', key: 'value', 'max-age-hours': 'value', strict: 'flag', accept: 'each' },
    },
  },
  async (given, [folder]) => {
    if (folder === undefined) return wrong('ona fleet policy publish', 'name the folder of the policy')
    if (given.ring === undefined) return wrong('ona fleet policy publish', '--ring canary or --ring all is needed')
    const hours = given['max-age-hours'] === undefined ? null : Number(given['max-age-hours'])
    if (hours !== null && !(hours > 0))
      return wrong('ona fleet policy publish', '--max-age-hours must be a number of hours')
    if (given.strict && hours === null) return wrong('ona fleet policy publish', '--strict needs --max-age-hours')
    requireOperator('publishing a policy')
    const files = readFolder(folder)
    if (files['policy.yaml'] !== undefined) {
      // a policy that cannot be read is found here, not on a thousand machines
      const { makePolicy, readPolicyFile } = await import('../../../brains/enforce/policy.ts')
      makePolicy([await readPolicyFile(join(folder, 'policy.yaml'))], [])
    }
    const { version, digest } = await publishBundle(
      userOf(given).client,
      {
        ...{ ring: given.ring as 'canary' | 'all', group: given.group ?? null, maxAgeHours: hours },
        ...{ strict: given.strict === true, rollbackOf: null, files },
        publishers: given.accept?.map((file) => publicKeyIn(file)) ?? null,
      },
      keyFile(given.key),
    )
    if (given.json) return saidJson({ version, digest })
    return said(
      `version ${version} (${digest.slice(0, 12)}) published to ${given.ring}${given.group ? `, group ${given.group}` : ''}`,
    )
  },
)

const rollback = fleetCommand(
  'ona fleet policy rollback',
  { help, flags: { ...userFlags, to: 'value', key: 'value' } },
  async (given) => {
    requireOperator('rolling a policy back')
    const { client } = userOf(given)
    const { list } = (await answered(client.ask('GET', '/v1/policies'))) as {
      list: { version: number; ring: string; group: string | null }[]
    }
    const newest = list[0]
    if (!newest) throw new Problem('no policy is published')
    const to =
      given.to === undefined
        ? list.find(
            ({ version, ring, group }) => version < newest.version && ring === newest.ring && group === newest.group,
          )?.version
        : Number(given.to)
    if (to === undefined || !list.some(({ version }) => version === to))
      throw new Problem(
        given.to === undefined
          ? `no version before ${newest.version} went to ring ${newest.ring}${newest.group ? `, group ${newest.group}` : ''}; name one with --to VERSION`
          : `there is no version ${given.to}`,
      )
    const { payload } = await answered(client.ask('GET', `/v1/policies/${to}`))
    const old = JSON.parse(String(payload)) as Bundle
    const ring = newest.ring as 'canary' | 'all'
    const { version, digest } = await publishBundle(
      client,
      { ...contentOf(old), ring, group: newest.group, rollbackOf: to },
      keyFile(given.key),
    )
    return given.json
      ? saidJson({ version, digest, rollbackOf: to })
      : said(`version ${version} is version ${to} again; nodes take it with their next pull`)
  },
)

interface StatusRow {
  readonly [name: string]: unknown
  readonly node: string
  readonly ok: boolean
  readonly drift: readonly string[] | null
}

const status = fleetCommand('ona fleet policy status', { help, flags: userFlags }, async (given) => {
  const { list } = (await answered(userOf(given).client.ask('GET', '/v1/policy-status'))) as unknown as {
    list: StatusRow[]
  }
  const bad = list.filter(({ ok }) => !ok)
  if (given.json) saidJson(list)
  else if (list.length > 0)
    said(
      table(
        ['node', 'ring', 'version', 'wanted', 'state', 'drift', 'hooks', 'proof', 'last seen'],
        list.map((row) => [
          row.node,
          text(row['ring']),
          text(row['version']),
          text(row['wanted_version']),
          row.ok ? text(row['state']) : paint('red', text(row['state'])),
          String(row.drift?.length ?? 0),
          text(row['hooks']),
          text(row['proof']) || '-',
          text(row['last_seen']).slice(0, 19).replace('T', ' '),
        ]),
      ),
    )
  for (const row of bad)
    warned(
      `${row.node}: ${text(row['detail']) || `has version ${text(row['version'])}, should have ${text(row['wanted_version'])}`}${row.drift?.length ? `; ${row.drift.join(', ')}` : ''}`,
    )
  return bad.length > 0 ? 1 : 0
})

/** An Ed25519 private key, as PEM, that only its owner can read. */
function privateKeyIn(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat) throw new Problem(`${file} is missing; ona fleet policy key makes it`)
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    throw new Problem(
      `${file} can be read by others; run chmod 600 ${file}, and make another key if somebody may have read it`,
    )
  const { createPrivateKey } = process.getBuiltinModule('node:crypto')
  try {
    const text = readFileSync(file, 'utf8')
    if (createPrivateKey(text).asymmetricKeyType === 'ed25519') return text
  } catch {
    // said below
  }
  throw new Problem(`${file} is not an Ed25519 private key; ona fleet policy key makes one`)
}

/** An Ed25519 public key, as PEM. */
function publicKeyIn(file: string): string {
  const { createPublicKey } = process.getBuiltinModule('node:crypto')
  try {
    const key = createPublicKey(readFileSync(file, 'utf8'))
    if (key.asymmetricKeyType === 'ed25519') return key.export({ type: 'spki', format: 'pem' }).toString()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall) throw new Problem(`${file} cannot be read: ${readFault(cause)}`)
  }
  throw new Problem(`${file} is not an Ed25519 public key; ona fleet policy key writes one beside the private key`)
}

const trust = fleetCommand(
  'ona fleet policy trust',
  { help, words: 1, flags: { json: 'flag' } },
  ({ json }, [file]) => {
    if (file === undefined) return wrong('ona fleet policy trust', 'name the file of the public key')
    requireOperator('trusting a publisher')
    const identity = readIdentity(fleetHome())
    const publishers = [...new Set([...identity.publishers, publicKeyIn(file)])]
    writeIdentity(fleetHome(), { ...identity, publishers })
    return json ? saidJson({ publishers: publishers.length }) : said(`policies signed with ${file} are accepted`)
  },
)

const text = (value: unknown): string => (value === null || value === undefined ? '-' : String(value))

const pull = fleetCommand(
  'ona fleet policy pull',
  { help, flags: { watch: 'flag', every: 'value', root: 'value', prove: 'flag', json: 'flag' } },
  async (given) => {
    const seconds = Number(given.every ?? 60)
    if (!(seconds > 0)) return wrong('ona fleet policy pull', '--every must be a number of seconds')
    requireOperator('changing the policy of this machine')
    const { pullPolicy } = await import('../../../fleet/node/policy.ts')
    const signal = untilStopped()
    const [home, root] = [fleetHome(), resolve(given.root ?? '/')]
    let proof: string | undefined
    const once = async () => {
      const identity = readIdentity(home)
      return pullPolicy(nodeClient(identity, { signal, timeoutMs: 30_000 }), identity, {
        ...{ home, root },
        ...(given.prove && {
          prove: async ({ changed }: Pulled) => {
            if (!changed && proof !== undefined) return '' // proved before, and nothing has changed
            noted('proving that the policy holds in the agents that are installed…')
            proof = await proofOf(root, signal)
            noted(`proof: ${proof}`)
            return proof
          },
        }),
      })
    }
    const report = ({ version, digest, state, detail, changed, drift }: Awaited<ReturnType<typeof once>>) => {
      if (given.json) saidJson({ version, digest, state, detail, changed, drift })
      else said(`version ${version}: ${state}${detail ? `; ${detail}` : changed ? '' : ', unchanged'}`)
      for (const each of drift) warned(`${each}; ${state === 'applied' ? 'written again' : 'not written'}`)
    }
    let done = await once()
    report(done)
    const good = () => ['applied', 'none'].includes(done.state) && (proof?.startsWith('passed') ?? true)
    if (!given.watch) return good() ? 0 : 1
    noted('Ctrl-C ends it')
    while (!signal.aborted) {
      // not all at once: after an outage a thousand nodes would ask in the same second
      await sleep(seconds * 1000 * (0.75 + Math.random() / 4), undefined, { signal }).catch(() => {})
      if (signal.aborted) break
      const before = JSON.stringify([done.version, done.state, done.detail])
      done = await once()
      if (done.changed || JSON.stringify([done.version, done.state, done.detail]) !== before) report(done)
    }
    return 0
  },
)

export const policy = family('ona fleet policy', help, { key, publish, pull, status, rollback, trust })
