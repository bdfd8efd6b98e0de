/** What a hostile or broken node, network, bundle or moment must not do. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeClient } from '../../src/fleet/node/client.ts'
import { newKeys, readIdentity, writeIdentity } from '../../src/fleet/node/identity.ts'
import { chainOf, nextBatch } from '../../src/fleet/node/outbox.ts'
import { pullPolicy } from '../../src/fleet/node/policy.ts'
import { ship } from '../../src/fleet/node/ship.ts'
import { type Bundle, openBundle, signBundle } from '../../src/fleet/policy-bundle.ts'
import { converse, oneCall, postgresForTests, record } from '../support/fleet.ts'

const postgres = postgresForTests()
const ona = join(import.meta.dirname, '../../bin/ona.mjs')

const bundle = (version: number, files: Record<string, string>): Bundle => ({
  ...{ format: 1, version, ring: 'all', group: null, issuedAt: '', maxAgeHours: null, strict: false },
  ...{ rollbackOf: null, publishers: null, files },
})

test('a node cannot write as another, and batches that are repeated, late or have gaps add nothing twice', async (t) => {
  const it = await postgres.fleet(t)
  const [ada, eve] = [await it.node('ada-1'), await it.node('eve-1')]
  const db = record(t)
  converse(db, 'one', 6)
  const part = (link: number) => nextBatch(db, chainOf(db)!, 1, { link, row: 0 }, { withoutContent: false, rows: 10 })!
  const posing = nodeClient({ ...eve.identity, node: ada.identity.node })
  assert.equal((await posing.ask('POST', '/v1/rows', part(0).batch)).status, 401)
  const first = part(0)
  const second = part(first.next.link)
  const third = part(second.next.link)
  const send = async (batch: object) => (await ada.client.ask('POST', '/v1/rows', batch)).body
  assert.equal((await send(first.batch))['faults'], 0)
  // the third before the second: a gap, which is reported; what comes late is older than what is there
  assert.equal((await send(third.batch))['faults'], 1)
  assert.equal((await send(third.batch))['rows'], 0)
  assert.equal((await send(second.batch))['rows'], 0)
  const faults = await it.rows('SELECT kind, link::int FROM ona_fleet.faults')
  assert.deepEqual(faults, [{ kind: 'gap', link: third.batch.links[0]!.id }])
  const [doubled] = await it.rows('SELECT count(*) - count(DISTINCT (node_id, kind, row_id)) AS n FROM ona_fleet.rows')
  assert.deepEqual(doubled, { n: 0 })
  assert.deepEqual(await it.rows('SELECT 1 FROM ona_fleet.rows WHERE node_id = $1', [eve.identity.node]), [])
  assert.deepEqual(it.errors, [])
})

test('JSON of any depth, and texts that are SQL or markup, are data', async (t) => {
  const it = await postgres.fleet(t)
  const { client, identity } = await it.node("x'); DROP TABLE ona_fleet.nodes; --")
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const token = await it.token('telemetry', 'x', identity.node)
  const post = (path: string, body: string) =>
    fetch(`${it.service.url}${path}`, {
      ...{ method: 'POST', body, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
    }).then(({ status }) => status)
  assert.equal(await post('/v1/logs', deep), 400)
  assert.ok([200, 400].includes(await post('/v1/logs', `{"resourceLogs":${deep}}`)))
  const db = record(t)
  converse(db, "c'; DELETE FROM ona_fleet.rows; --", 1)
  db.run("INSERT INTO events(conversation_id, event_type, detail) VALUES ('x', 'model_reply', ?)", deep)
  assert.deepEqual((await ship(db, client, { withoutContent: false, tries: 1 })).problem, undefined)
  const [count] = await it.rows('SELECT count(*)::int AS n FROM ona_fleet.rows')
  assert.deepEqual(count, { n: 8 })
  assert.deepEqual(it.errors, [])
})

test('connections that say nothing, or a byte at a time, do not keep others out', async (t) => {
  const it = await postgres.fleet(t)
  const slow = Array.from({ length: 200 }, (_, at) => {
    const socket = connect(it.service.port, '127.0.0.1')
    socket.on('error', () => {}) // the service may cut it off
    if (at % 2 === 0) socket.write('POST /v1/rows HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\nona-node: ')
    return socket
  })
  t.after(() => {
    for (const socket of slow) socket.destroy()
  })
  const { client } = await it.node()
  const db = record(t)
  converse(db, 'one', 3)
  assert.equal((await ship(db, client, { withoutContent: false, tries: 1 })).rows, 19)
})

test('a bundle that is cut off, empty, signed by another or that leaves its folder is refused', () => {
  const { publicKey, privateKey } = newKeys()
  const good = signBundle(bundle(1, { 'policy.yaml': 'permissions:\n  deny: [Bash]\n' }), privateKey)
  assert.equal(typeof openBundle(good, [publicKey]), 'object')
  for (const bad of [
    { ...good, payload: good.payload.slice(0, -1) },
    { ...good, payload: '' },
    { ...good, payload: `${good.payload} ` },
    { ...good, signature: good.signature.slice(4) },
    { ...good, signature: '' },
    signBundle(bundle(1, {}), newKeys().privateKey),
  ])
    assert.match(String(openBundle(bad, [publicKey])), /not signed by a publisher/)
  for (const path of [
    '../x',
    '/etc/x',
    'a/../../x',
    'a//x',
    './x',
    'a\\..\\x',
    'a/\0x',
    '',
    'a/',
    `${'a'.repeat(600)}`,
  ])
    assert.match(
      String(openBundle(signBundle(bundle(2, { [path]: 'x' }), privateKey), [publicKey])),
      /not in a format/,
      path,
    )
  for (const odd of [
    { version: 1.5 },
    { version: '2' },
    { ring: 'none' },
    { files: [] },
    { files: { a: 1 } },
    { format: 2 },
  ])
    assert.equal(
      typeof openBundle(signBundle({ ...bundle(2, {}), ...odd } as Bundle, privateKey), [publicKey]),
      'string',
    )
})

test('a pull that is killed at any moment leaves the old policy or the new one, and the next pull is whole', async (t) => {
  const it = await postgres.fleet(t)
  const keys = newKeys()
  const admin = await it.user('admin')
  await admin.ask('POST', '/v1/publishers', { publicKey: keys.publicKey, name: 'ada' })
  const { identity, client } = await it.node('laptop')
  const [home, root] = [mkdtempSync(join(tmpdir(), 'ona-kill-')), mkdtempSync(join(tmpdir(), 'ona-kill-root-'))]
  t.after(() => {
    for (const each of [home, root]) rmSync(each, { recursive: true, force: true })
  })
  writeIdentity(home, { ...identity, publishers: [keys.publicKey] })
  const publish = async (version: number) => {
    const signed = signBundle(
      bundle(version, {
        'policy.yaml': `permissions:\n  deny: ["Bash(v${version} *)"]\n`,
        'settings.json': `{"cleanupPeriodDays": ${version}}`,
      }),
      keys.privateKey,
    )
    assert.equal((await admin.ask('POST', '/v1/policies', signed)).status, 200)
  }
  const rules = (): string =>
    JSON.parse(readFileSync(join(root, 'etc/ona/policy/policy.json'), 'utf8')).permissions.deny[0]
  const pull = () => pullPolicy(client, readIdentity(home), { home, root })
  await publish(1)
  await pull()
  for (let version = 2; version <= 7; version++) {
    const before = rules()
    await publish(version)
    const child = spawn(process.execPath, [ona, 'fleet', 'policy', 'pull', '--root', root], {
      ...{ stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: home, ONA_FLEET_HOME: home, ONA_KEYCHAIN: 'off' } },
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // each time a little later into it: before the request, while files are written, after them
    await Promise.race([sleep(60 * (version - 1)), ended])
    child.kill('SIGKILL')
    await ended
    assert.ok([before, `Bash(v${version} *)`].includes(rules()), rules())
    const { state, version: now } = await pull()
    assert.deepEqual([state, now, rules()], ['applied', version, `Bash(v${version} *)`])
    assert.deepEqual((await pull()).drift, [], 'nothing half-written is left')
  }
  const left = readdirSync(join(root, 'etc/ona'), { recursive: true }).filter((name) => /tmp|\.part/.test(String(name)))
  assert.deepEqual(left, [])
})

test('an edit of a chain that was sent before is found when the node sends on', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const db = record(t)
  converse(db, 'one', 3)
  await ship(db, client, { withoutContent: false, tries: 1 })
  // the links are edited in place, as somebody would who hides a row
  db.run('UPDATE ona_chain SET hash = zeroblob(32) WHERE id = (SELECT max(id) FROM ona_chain)')
  oneCall(db, 'one', 9)
  await ship(db, client, { withoutContent: false, tries: 1 })
  const kinds = await it.rows<{ kind: string }>('SELECT DISTINCT kind FROM ona_fleet.faults ORDER BY 1')
  assert.ok(
    kinds.some(({ kind }) => kind === 'rewritten' || kind === 'link changed'),
    JSON.stringify(kinds),
  )
})
