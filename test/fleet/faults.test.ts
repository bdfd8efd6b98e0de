/** Networks cut, stall and repeat; services and databases die. No row is lost, and none is doubled. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeClient } from '../../src/fleet/node/client.ts'
import { ship } from '../../src/fleet/node/ship.ts'
import { converse, oneCall, postgresForTests, record } from '../support/fleet.ts'
import { type Fault, tcpProxy } from '../support/tcp-proxy.ts'

const postgres = postgresForTests()

test('through a network that cuts, slows, stalls and repeats, every row arrives once', async (t) => {
  const it = await postgres.fleet(t)
  const { identity } = await it.node()
  const proxy = await tcpProxy(t, it.service.port)
  const client = nodeClient({ ...identity, url: proxy.url }, { timeoutMs: 1500 })
  const db = record(t)
  converse(db, 'one', 5)
  const all: Fault[] = ['cut request', 'cut answer', 'half-open', 'duplicate', 'slow', 'cut answer', 'none']
  let n = 100
  for (const fault of all) {
    for (let more = 0; more < 4; more++) oneCall(db, 'one', n++)
    proxy.set(fault)
    await ship(db, client, { withoutContent: false, tries: 2, batchRows: 10 })
  }
  assert.equal((await ship(db, client, { withoutContent: false, tries: 3 })).problem, undefined)
  const [local] = db.all<{ n: number }>(
    `SELECT (SELECT count(*) FROM transcript_entries) + (SELECT count(*) FROM events) + (SELECT count(*) FROM hook_invocations)
       + (SELECT count(*) FROM tool_permission_log) AS n`,
  )
  const [far] = await it.rows(
    'SELECT count(*)::int AS n, count(DISTINCT (kind, row_id))::int AS different FROM ona_fleet.rows',
  )
  assert.deepEqual(far, { n: local!.n, different: local!.n })
  assert.deepEqual(await it.rows('SELECT kind FROM ona_fleet.faults'), [])
  const [about] = await it.rows('SELECT calls::int FROM ona_fleet.conversations')
  assert.deepEqual(about, { calls: 33 })
})

test('while PostgreSQL is down the service says so; afterwards everything goes on by itself', async (t) => {
  const it = await postgres.fleet(t)
  const { client } = await it.node()
  const db = record(t)
  converse(db, 'one', 3)
  await ship(db, client, { withoutContent: false, tries: 1 })
  await postgres.server().stop('immediate')
  converse(db, 'two', 3)
  const down = await ship(db, client, { withoutContent: false, tries: 1 })
  assert.match(down.problem ?? '', /could not do that now; try again/)
  await postgres.server().restart('immediate')
  assert.deepEqual(await ship(db, client, { withoutContent: false, tries: 8 }), { rows: 19, batches: 1, faults: 0 })
})

test('a service that is busy puts nodes off, and a busy node is put off before others', async (t) => {
  const it = await postgres.fleet(t, { ingests: 1 })
  const nodes = await Promise.all([1, 2, 3].map((n) => it.node(`n${n}`)))
  const records = nodes.map(() => record(t))
  for (const [at, db] of records.entries()) converse(db, `c${at}`, 10)
  const shipped = await Promise.all(
    nodes.map(({ client }, at) => ship(records[at]!, client, { withoutContent: false, tries: 30, batchRows: 20 })),
  )
  assert.deepEqual(
    shipped.map(({ rows, problem }) => [rows, problem]),
    nodes.map(() => [61, undefined]),
  )
  assert.match(it.service.metrics.text(), /path="\/v1\/rows",status="429"/)
})
