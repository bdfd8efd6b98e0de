/** Policies out: signed, versioned, by ring and group; a node keeps the last good one whatever comes. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Client } from '../../src/fleet/node/client.ts'
import { newKeys, readIdentity, writeIdentity } from '../../src/fleet/node/identity.ts'
import { pullPolicy } from '../../src/fleet/node/policy.ts'
import { type Bundle, keyIdOf, readFolder, signBundle } from '../../src/fleet/policy-bundle.ts'
import { postgresForTests, type TestFleet } from '../support/fleet.ts'

const postgres = postgresForTests()

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'ona-policy-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function publisher(it: TestFleet) {
  const keys = newKeys()
  const admin = await it.user('admin')
  await admin.ask('POST', '/v1/publishers', { publicKey: keys.publicKey, name: 'ada' })
  const client = await it.user('publisher', 'ada')
  const publish = async (rule: string, change: Partial<Bundle> = {}, key = keys.privateKey) => {
    const next = ((await client.ask('GET', '/v1/policies')).body['list'] as { version: number }[])[0]?.version ?? 0
    const bundle: Bundle = {
      ...{
        format: 1,
        version: Number(next) + 1,
        ring: 'all',
        group: null,
        issuedAt: '',
        maxAgeHours: null,
        strict: false,
      },
      ...{ rollbackOf: null, publishers: null },
      files: { 'policy.yaml': `permissions:\n  deny: ["${rule}"]\n`, 'settings.json': `{"cleanupPeriodDays": 30}` },
      ...change,
    }
    return client.ask('POST', '/v1/policies', { ...signBundle(bundle, key), keyId: keyIdOf(keys.publicKey) })
  }
  return { keys, client, publish }
}

/** A node with a folder that stands for its machine. */
async function machine(t: TestContext, it: TestFleet, name: string, wanted = {}) {
  const { identity, client } = await it.node(name, wanted)
  const [home, root] = [folder(t), folder(t)]
  writeIdentity(home, identity)
  const pull = (through: Client = client, now?: Date) =>
    pullPolicy(through, readIdentity(home), { home, root, ...(now && { now }) })
  const rules = () => JSON.parse(readFileSync(join(root, 'etc/ona/policy/policy.json'), 'utf8')).permissions.deny
  const managed = () => JSON.parse(readFileSync(join(root, 'etc/ona/managed-settings.d/60-fleet.json'), 'utf8'))
  return { identity, client, home, root, pull, rules, managed }
}

const offline: Client = {
  ask: async () => {
    const { Unreachable } = await import('../../src/fleet/node/client.ts')
    throw new Unreachable('the network is down')
  },
}

test('rings and groups, ETag, acknowledgement, drift and rollback', async (t) => {
  const it = await postgres.fleet(t)
  const { publish, client } = await publisher(it)
  const stable = await machine(t, it, 'stable')
  const canary = await machine(t, it, 'canary', { ring: 'canary', groups: ['eu'] })
  assert.deepEqual((await stable.pull()).state, 'none')

  assert.equal((await publish('Bash(one *)')).status, 200)
  assert.deepEqual([(await stable.pull()).version, (await canary.pull()).version], [1, 1])
  assert.deepEqual([stable.rules(), stable.managed()], [['Bash(one *)'], { cleanupPeriodDays: 30 }])
  const again = await stable.pull()
  assert.deepEqual([again.state, again.changed], ['applied', false])

  await publish('Bash(two *)', { ring: 'canary' })
  assert.deepEqual([(await stable.pull()).version, (await canary.pull()).version], [1, 2])
  await publish('Bash(eu *)', { group: 'eu' })
  assert.deepEqual([(await stable.pull()).version, (await canary.pull()).version], [1, 3])

  // somebody edits what was applied: it is reported, and written again
  writeFileSync(join(stable.root, 'etc/ona/managed-settings.d/60-fleet.json'), '{}')
  const drifted = await stable.pull()
  assert.deepEqual(drifted.drift, ['/etc/ona/managed-settings.d/60-fleet.json is drifted'])
  assert.deepEqual(stable.managed(), { cleanupPeriodDays: 30 })

  const reader = await it.user('reader')
  const status = async () =>
    ((await reader.ask('GET', '/v1/policy-status')).body['list'] as Record<string, unknown>[])
      .map(({ node, version, wanted_version, state, drift, ok }) => ({
        node,
        version,
        wanted_version,
        state,
        drift: (drift as string[]).length,
        ok,
      }))
      .sort((a, b) => String(a.node).localeCompare(String(b.node)))
  assert.deepEqual(await status(), [
    { node: 'canary', version: 3, wanted_version: 3, state: 'applied', drift: 0, ok: true },
    { node: 'stable', version: 1, wanted_version: 1, state: 'applied', drift: 1, ok: false },
  ])
  await stable.pull()
  assert.equal((await status())[1]!.ok, true)

  // back to what version 1 was, by a new signed version
  const { payload } = (await client.ask('GET', '/v1/policies/1')).body
  await publish('', { ...(JSON.parse(String(payload)) as Bundle), version: 4, rollbackOf: 1 })
  assert.deepEqual([(await canary.pull()).version, canary.rules()], [4, ['Bash(one *)']])
  const log = await it.rows<{ action: string }>(
    "SELECT DISTINCT action FROM ona_fleet.access_log WHERE action LIKE '%polic%' ORDER BY 1",
  )
  assert.deepEqual(
    log.map(({ action }) => action),
    ['list policies', 'policy drift', 'publish policy', 'read policy', 'read policy status'],
  )
  assert.deepEqual(it.errors, [])
})

test('a bad signature, an older version, a broken policy and an empty answer leave the last good one', async (t) => {
  const it = await postgres.fleet(t)
  const { publish, keys } = await publisher(it)
  const node = await machine(t, it, 'one')
  await publish('Bash(one *)')
  await publish('Bash(two *)')
  await node.pull()
  const said = (status: number, body: object): Client => ({
    ask: async (method, ...rest) =>
      method === 'GET' ? { status, headers: new Headers(), body: body as never } : node.client.ask(method, ...rest),
  })
  const bundle = (version: number): Bundle => ({
    ...{
      format: 1,
      version,
      ring: 'all',
      group: null,
      issuedAt: '',
      maxAgeHours: null,
      strict: false,
      rollbackOf: null,
      publishers: null,
    },
    files: { 'policy.yaml': 'permissions:\n  deny: ["Bash(evil *)"]\n' },
  })
  const forged = await node.pull(said(200, signBundle(bundle(9), newKeys().privateKey)))
  assert.deepEqual([forged.state, /not signed by a publisher/.test(forged.detail)], ['refused', true])
  const old = await node.pull(said(200, signBundle(bundle(1), keys.privateKey)))
  assert.deepEqual([old.state, /version 1 is not newer than 2/.test(old.detail)], ['refused', true])
  const signed = signBundle(bundle(9), keys.privateKey)
  const edited = await node.pull(said(200, { ...signed, payload: signed.payload.replace('evil', 'good') }))
  assert.equal(edited.state, 'refused')
  const broken = { ...bundle(9), files: { 'policy.yaml': 'permissions:\n  dney: ["Bash(x *)"]\n' } }
  assert.deepEqual((await node.pull(said(200, signBundle(broken, keys.privateKey)))).state, 'failed')
  const escaping = { ...bundle(9), files: { '../../evil': 'x' } }
  assert.equal((await node.pull(said(200, signBundle(escaping, keys.privateKey)))).state, 'refused')
  for (const status of [200, 204, 304]) assert.equal((await node.pull(said(status, {}))).state, 'applied')
  assert.equal((await node.pull(said(500, {}))).state, 'applied')
  assert.equal((await node.pull(offline)).state, 'applied')
  assert.deepEqual(node.rules(), ['Bash(two *)'])

  // at the centre: only a publisher's key, only the next version
  assert.equal((await publish('x', {}, newKeys().privateKey)).status, 400)
  assert.deepEqual(
    [(await publish('Bash(x *)', { version: 7 })).status, (await publish('Bash(x *)', { version: 2 })).status],
    [409, 409],
  )
  const reader = await it.user('reader')
  assert.equal((await reader.ask('POST', '/v1/policies', signed)).status, 403)
})

test('an old policy is reported as stale; a strict one denies every tool until the service is back', async (t) => {
  const it = await postgres.fleet(t)
  const { publish } = await publisher(it)
  const node = await machine(t, it, 'one')
  await publish('Bash(one *)', { maxAgeHours: 24 })
  await node.pull()
  const later = (hours: number) => new Date(Date.now() + hours * 3_600_000)
  assert.equal((await node.pull(offline, later(23))).state, 'applied')
  assert.equal((await node.pull(offline, later(25))).state, 'stale')
  assert.deepEqual(node.rules(), ['Bash(one *)'])
  await publish('Bash(one *)', { maxAgeHours: 24, strict: true })
  await node.pull()
  const locked = await node.pull(offline, later(25))
  assert.equal(locked.state, 'locked')
  assert.equal(node.rules().includes('Bash'), true)
  assert.deepEqual([(await node.pull()).state, node.rules()], ['applied', ['Bash(one *)']])
})

test('a node that enrolled before any publisher accepts the first, and no later one unless a bundle says so', async (t) => {
  const it = await postgres.fleet(t)
  const node = await machine(t, it, 'early')
  assert.deepEqual(node.identity.publishers, [])
  const ada = await publisher(it)
  await ada.publish('Bash(one *)')
  assert.equal((await node.pull()).state, 'applied')
  const eve = await publisher(it)
  await eve.publish('Bash(two *)')
  assert.equal((await node.pull()).state, 'refused')
  await ada.publish('Bash(three *)', { publishers: [ada.keys.publicKey, eve.keys.publicKey] })
  assert.equal((await node.pull()).version, 3)
  await eve.publish('Bash(four *)')
  assert.deepEqual([(await node.pull()).version, node.rules()], [4, ['Bash(four *)']])
})

test('a folder with a link or without a policy is no bundle', (t) => {
  const at = folder(t)
  assert.throws(() => readFolder(at), /holds no policy/)
  mkdirSync(join(at, '.agent/repo=x/role=y'), { recursive: true })
  writeFileSync(join(at, '.agent/repo=x/role=y/readme.md'), 'x')
  assert.deepEqual(readFolder(at), { '.agent/repo=x/role=y/readme.md': 'x' })
})
