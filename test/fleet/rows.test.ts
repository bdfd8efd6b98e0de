/** Rows to the centre: exactly once in effect, checked against the chain, redacted, and never readable by a node. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { nodeClient } from '../../src/fleet/node/client.ts'
import { newKeys } from '../../src/fleet/node/identity.ts'
import { chainOf, nextBatch } from '../../src/fleet/node/outbox.ts'
import { ship } from '../../src/fleet/node/ship.ts'
import { initFleet } from '../../src/fleet/server/init.ts'
import { signRequest } from '../../src/fleet/wire.ts'
import { archiveConversation } from '../../src/store/archive/archive.ts'
import { type Db, openDb } from '../../src/store/open.ts'
import { converse, oneCall, postgresForTests, record, type TestFleet } from '../support/fleet.ts'

const postgres = postgresForTests()
const plain = { withoutContent: false, tries: 1 }

const counts = (db: Db) =>
  Object.fromEntries(
    ['transcript_entries', 'events', 'hook_invocations', 'tool_permission_log'].map((name) => [
      name,
      db.get<{ n: number }>(`SELECT count(*) AS n FROM ${name}`)!.n,
    ]),
  )
const received = async (it: TestFleet) =>
  Object.fromEntries(
    (await it.rows<{ kind: string; n: number }>('SELECT kind, count(*)::int AS n FROM ona_fleet.rows GROUP BY 1')).map(
      ({ kind, n }) => [kind, n],
    ),
  )
const faults = (it: TestFleet) =>
  it.rows<{ kind: string; link: number; table_name: string; row_id: number }>(
    'SELECT kind, link::int, table_name, row_id::int FROM ona_fleet.faults ORDER BY id',
  )

test('init again changes nothing', async (t) => {
  const it = await postgres.fleet(t)
  const { applied } = await initFleet(it.url)
  assert.equal(applied, 0)
})

test('every row arrives once, however often it is sent', async (t) => {
  const it = await postgres.fleet(t)
  const { client, identity } = await it.node()
  const db = record(t)
  converse(db, 'one', 10)
  const first = await ship(db, client, { ...plain, batchRows: 7 })
  assert.deepEqual([first.rows, first.faults, first.problem], [61, 0, undefined])
  assert.deepEqual(await received(it), counts(db))
  assert.equal((await ship(db, client, plain)).rows, 0)

  const chain = chainOf(db)!
  const { batch } = nextBatch(db, chain, 1, { link: 0, row: 0 }, { withoutContent: false })!
  const stale = {
    ...batch,
    end: { id: batch.links[3]!.id, hash: batch.links[3]!.hash },
    links: batch.links.slice(0, 3),
    rows: [],
  }
  assert.equal((await client.ask('POST', '/v1/rows', stale)).body['faults'], 0, 'another process of the node saw less')
  const again = await client.ask('POST', '/v1/rows', batch)
  assert.deepEqual([again.status, again.body['rows'], again.body['faults']], [200, 0, 0])

  oneCall(db, 'one', 10)
  converse(db, 'two', 5)
  // two processes of one node at the same time
  await Promise.all([ship(db, client, { ...plain, tries: 9 }), ship(db, nodeClient(identity), { ...plain, tries: 9 })])
  assert.deepEqual(await received(it), counts(db))
  const [about] = await it.rows(
    "SELECT title, entries::int, prompts::int, calls::int, refused::int, hooks::int, tokens::int, round(cost_usd::numeric, 2)::text AS cost FROM ona_fleet.conversations WHERE id = 'one'",
  )
  assert.deepEqual(about, {
    ...{ title: 'do one', entries: 23, prompts: 1, calls: 11, refused: 2, hooks: 11, tokens: 165, cost: '0.11' },
  })
  assert.deepEqual(await faults(it), [])
  assert.deepEqual(it.errors, [])
})

test('what was archived before it was sent arrives as it was; what an archive has lost is reported as removed', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const db = record(t)
  for (const name of ['one', 'two', 'three']) converse(db, name, 4)
  const wanted = counts(db)
  for (const name of ['one', 'three']) archiveConversation(db, name, `archive-${name}.zst`)
  assert.equal((await ship(db, client, { ...plain, batchRows: 9 })).problem, undefined)
  assert.deepEqual(await faults(it), [])
  const { events, ...others } = await received(it)
  assert.deepEqual({ ...others, events: Number(events) - 2 }, wanted)

  converse(db, 'four', 4)
  archiveConversation(db, 'four', 'archive-four.zst')
  rmSync(join(dirname(db.path), 'archive-four.zst'))
  assert.equal((await ship(db, client, plain)).problem, undefined)
  assert.deepEqual(new Set((await faults(it)).map(({ kind }) => kind)), new Set(['removed']))
})

test('a commit that is larger than a batch arrives in parts, once', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const db = record(t)
  db.transaction(() => converse(db, 'big', 40))
  assert.equal(chainOf(db)!.end.id, 1, 'one link')
  // the first part arrives and the node dies
  const { batch } = nextBatch(db, chainOf(db)!, 1, { link: 0, row: 0 }, { withoutContent: false, rows: 30 })!
  assert.equal(batch.more, true)
  assert.equal((await client.ask('POST', '/v1/rows', batch)).body['rows'], 30)
  await ship(db, client, { ...plain, batchRows: 50 })
  assert.deepEqual(await received(it), counts(db))
  assert.deepEqual(await faults(it), [])
  const [about] = await it.rows("SELECT calls::int FROM ona_fleet.conversations WHERE id = 'big'")
  assert.deepEqual(about, { calls: 40 })
})

test('an edit, a removed row and a removed link are reported, and the rest arrives', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const db = record(t)
  converse(db, 'one', 6)
  db.run("UPDATE events SET detail = '{}' WHERE id = 3")
  db.run('DELETE FROM tool_permission_log WHERE id = 2')
  const { faults: found } = await ship(db, client, plain)
  assert.equal(found, 2)
  db.run('DELETE FROM ona_chain WHERE id = 15')
  for (let n = 6; n < 9; n++) oneCall(db, 'one', n)
  db.run('DELETE FROM ona_chain WHERE id = 16')
  await ship(db, client, plain)
  assert.deepEqual(await faults(it), [
    { kind: 'changed', link: 4, table_name: 'events', row_id: 3 },
    { kind: 'removed', link: 5, table_name: 'tool_permission_log', row_id: 2 },
    { kind: 'gap', link: 17, table_name: '', row_id: 0 },
  ])
  const [changed] = await it.rows("SELECT state FROM ona_fleet.rows WHERE kind = 'events' AND row_id = 3")
  assert.deepEqual(changed, { state: 'changed' })
})

test('a chain that was rewritten or cut off is reported, and received again', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const db = record(t)
  converse(db, 'one', 4)
  await ship(db, client, plain)
  for (const name of ['events', 'transcript_entries', 'hook_invocations', 'tool_permission_log'])
    db.run(`DELETE FROM ${name} WHERE id > 3`)
  db.run('DELETE FROM ona_chain WHERE id > 3')
  assert.equal((await ship(db, client, plain)).faults, 1)
  const reopened = openDb(db.path)
  t.after(() => reopened.close())
  oneCall(reopened, 'one', 77)
  assert.equal((await ship(db, client, plain)).problem, undefined)
  const kinds = (await faults(it)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['cut off', 'rewritten'])
  const [stream] = await it.rows('SELECT epoch, last_link::int AS last FROM ona_fleet.streams')
  assert.deepEqual(stream, { epoch: 2, last: chainOf(db)!.end.id })
})

test('secrets stay on the node; without content, so does everything that was said', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const db = record(t)
  const secret = `sk-ant-api03-${'a1B2'.repeat(8)}`
  converse(db, 'one', 1, { secret })
  await ship(db, client, plain)
  const other = await it.node('private')
  const quiet = record(t)
  converse(quiet, 'two', 1, { secret: 'SAIDHERE' })
  await ship(quiet, other.client, { ...plain, withoutContent: true })
  const all = JSON.stringify([
    await it.rows('SELECT content, state FROM ona_fleet.rows'),
    await it.rows('SELECT title FROM ona_fleet.conversations'),
  ])
  assert.equal(all.includes(secret), false)
  assert.equal(all.includes('SAIDHERE'), false)
  const states = await it.rows(
    'SELECT state, count(*)::int AS n FROM ona_fleet.rows WHERE node_id = $1 GROUP BY 1 ORDER BY 1',
    [(await it.rows<{ id: string }>("SELECT id FROM ona_fleet.nodes WHERE name = 'laptop'"))[0]!.id],
  )
  assert.deepEqual(states, [
    { state: 'exact', n: 6 },
    { state: 'redacted', n: 1 },
  ])
  assert.deepEqual(await faults(it), [])
})

test('only a signed request of an enrolled node is accepted, and once', async (t) => {
  const it = await postgres.fleet(t)
  const { identity, client } = await it.node()
  const path = '/v1/cursor?database=00000000-0000-4000-8000-000000000000'
  assert.equal((await client.ask('GET', path)).status, 200)
  const stranger = nodeClient({ ...identity, privateKey: newKeys().privateKey })
  assert.equal((await stranger.ask('GET', path)).status, 401)
  const unknown = nodeClient({ ...identity, node: '11111111-1111-4111-8111-111111111111' })
  assert.equal((await unknown.ask('GET', path)).status, 401)

  // the very bytes of a request, sent again; then with another path, another body and an old time
  const signed = (change: { time?: string; nonce?: string } = {}) => {
    const body = gzipSync('{}')
    const facts = { method: 'POST', path: '/v1/rows', time: String(Date.now()), nonce: 'n'.repeat(20), body, ...change }
    return {
      'ona-node': identity.node,
      'ona-time': facts.time,
      'ona-nonce': facts.nonce,
      'ona-signature': signRequest(identity.privateKey, facts),
      'content-encoding': 'gzip',
    }
  }
  const post = async (to: string, headers: Record<string, string>, body = gzipSync('{}')) =>
    (await fetch(`${it.service.url}${to}`, { method: 'POST', headers, body })).status
  const headers = signed()
  assert.equal(await post('/v1/rows', headers), 400, 'signed, and not a batch')
  assert.equal(await post('/v1/rows', headers), 401, 'received before')
  assert.equal(await post('/v1/rows?x=1', signed({ nonce: 'a'.repeat(20) })), 401, 'another address')
  assert.equal(await post('/v1/rows', signed({ nonce: 'b'.repeat(20) }), gzipSync('{"a":1}')), 401, 'another body')
  const old = String(Date.now() - 10 * 60_000)
  assert.equal(await post('/v1/rows', signed({ nonce: 'c'.repeat(20), time: old })), 401, 'an old one')

  await it.rows('UPDATE ona_fleet.nodes SET revoked_at = now() WHERE id = $1', [identity.node])
  assert.equal((await client.ask('GET', path)).status, 403)
})

test('a node whose clock is wrong is understood, and the enrolment token works once', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const { now } = Date
  t.after(() => {
    Date.now = now
  })
  const real = now()
  // the service's clock is the process's too: the client is told another time first
  Date.now = () => real + (new Error().stack!.includes('client.ts') ? 3_600_000 : 0)
  assert.equal((await client.ask('GET', '/v1/cursor?database=00000000-0000-4000-8000-000000000000')).status, 200)
  Date.now = now

  const token = await it.enrolToken()
  const body = JSON.stringify({ token, name: 'x', publicKey: newKeys().publicKey })
  const enrol = () => fetch(`${it.service.url}/v1/enrol`, { method: 'POST', body }).then(({ status }) => status)
  assert.deepEqual((await Promise.all([enrol(), enrol(), enrol()])).sort(), [200, 403, 403])
  assert.equal((await it.rows('SELECT 1 FROM ona_fleet.nodes')).length, 2)
})

test('a bomb, a giant, a fake and a stranger are refused', async (t) => {
  const it = await postgres.fleet(t)
  const { client, identity } = await it.node()
  const bomb = { database: identity.node, pad: 'x'.repeat(60 * 1024 * 1024) }
  assert.equal((await client.ask('POST', '/v1/rows', bomb)).status, 413)
  const db = record(t)
  converse(db, 'one', 2)
  const { batch } = nextBatch(db, chainOf(db)!, 1, { link: 0, row: 0 }, { withoutContent: false })!
  const status = async (change: object) => (await client.ask('POST', '/v1/rows', { ...batch, ...change })).status
  assert.equal(await status({ rows: [[0, 999, '[]', 'exact']] }), 400, 'a row that no link holds')
  assert.equal(await status({ database: "'; DROP TABLE x" }), 400)
  assert.equal(await status({ links: new Array(3000).fill(batch.links[0]) }), 413)
  assert.equal(await status({ links: [batch.links[1], batch.links[0]] }), 400, 'out of order')
  assert.equal(await status({ rows: [[0, 1, 'a\0b', 'exact']] }), 400)
  const quoted = { ...batch.conversations[0]!, title: "x'); DROP TABLE ona_fleet.rows; --" }
  assert.equal(await status({ conversations: [quoted, quoted] }), 200)
  const [about] = await it.rows('SELECT title FROM ona_fleet.conversations')
  assert.deepEqual(about, { title: quoted.title })
  const plainGet = (path: string, init: RequestInit = {}) =>
    fetch(`${it.service.url}${path}`, init).then((answer) => answer.status)
  assert.deepEqual(
    [await plainGet('/nothing'), await plainGet('/v1/rows'), await plainGet('/metrics'), await plainGet('/health')],
    [404, 405, 401, 200],
  )
  assert.deepEqual(it.errors, [])
})

test('with the rights of a node nothing of the record can be read, and of other nodes nothing at all', async (t) => {
  const it = await postgres.fleet(t)
  const [ada, eve] = [await it.node('ada'), await it.node('eve')]
  const db = record(t)
  converse(db, 'one', 2)
  await ship(db, ada.client, plain)
  const as = (node: string, sql: string) =>
    it.fleet.as('node', node, async (client) => (await client.query(sql)).rows).catch((cause: Error) => cause.message)
  for (const sql of [
    'SELECT content FROM ona_fleet.rows',
    'SELECT * FROM ona_fleet.calls',
    'SELECT * FROM ona_fleet.what_ran',
  ])
    for (const node of [ada, eve]) assert.match(String(await as(node.identity.node, sql)), /permission denied/)
  for (const sql of [
    'SELECT public_key FROM ona_fleet.nodes',
    'SELECT * FROM ona_fleet.tokens',
    'SELECT * FROM ona_fleet.access_log',
    'DELETE FROM ona_fleet.rows',
    "UPDATE ona_fleet.rows SET content = ''",
    'DELETE FROM ona_fleet.faults',
    'SELECT ona_fleet.retain(1, $$eve$$)',
    'SELECT * FROM ona_fleet.jobs',
  ])
    assert.match(String(await as(eve.identity.node, sql)), /permission denied/, sql)
  assert.deepEqual(await as(eve.identity.node, 'SELECT * FROM ona_fleet.streams'), [])
  assert.deepEqual(await as(eve.identity.node, 'SELECT * FROM ona_fleet.conversations'), [])
  assert.deepEqual(await as(eve.identity.node, 'SELECT hash FROM ona_fleet.links'), [])
  const forged = `INSERT INTO ona_fleet.sessions(node_id, database_id, session_id, conversation_id, started_at)
    VALUES ('${ada.identity.node}', '${ada.identity.node}', 's', 'c', '')`
  assert.match(String(await as(eve.identity.node, forged)), /row-level security/)
  assert.equal(((await as(ada.identity.node, 'SELECT last_link FROM ona_fleet.streams')) as unknown[]).length, 1)
})
