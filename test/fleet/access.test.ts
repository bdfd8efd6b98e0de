/** Who may do what: every route against every role, and PostgreSQL's own roles against what lies in it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { ship } from '../../src/fleet/node/ship.ts'
import { postgresBin } from '../../src/fleet/private-postgres.ts'
import { routes } from '../../src/fleet/server/routes.ts'
import { converse, postgresForTests, record } from '../support/fleet.ts'

const postgres = postgresForTests()

const includes: Record<string, readonly string[]> = {
  reader: ['reader'],
  publisher: ['reader', 'publisher'],
  admin: ['reader', 'publisher', 'admin'],
  telemetry: ['telemetry'],
}
const uuid = '00000000-0000-4000-8000-000000000000'

test('every route answers its own roles, and refuses every other with 401 or 403', async (t) => {
  const it = await postgres.fleet(t, { withQueue: true })
  const node = await it.node('laptop', { worker: true })
  const users = await Promise.all(
    (['reader', 'publisher', 'admin', 'telemetry'] as const).map(async (role) => {
      const token = await it.token(role, role, role === 'telemetry' ? node.identity.node : undefined)
      return [role, { authorization: `Bearer ${token}` }] as const
    }),
  )
  let tried = 0
  for (const route of routes) {
    const path = route.path.source.slice(1, -1).replaceAll('\\/', '/').replaceAll('([^/]{1,200})', uuid)
    const ask = async (headers: Record<string, string>) => {
      const body = route.method === 'GET' ? {} : { body: '{}' }
      const init = { method: route.method, redirect: 'manual' as const, ...body }
      tried++
      return (
        await fetch(`${it.service.url}${path}`, {
          ...init,
          headers: { 'content-type': 'application/json', ...headers },
        })
      ).status
    }
    const place = `${route.method} ${path}`
    const refused = (status: number) => status === 401 || status === 403
    if (route.for === 'anyone') continue
    assert.equal(await ask({}), 401, `nobody: ${place}`)
    for (const [role, headers] of users) {
      const may = includes[role]!.includes(route.for)
      const status = await ask(headers)
      assert.equal(refused(status), !may, `${role}: ${place} was answered ${status}`)
    }
    const { status } = await node.client.ask(route.method, path, route.method === 'GET' ? undefined : {})
    assert.equal(refused(status), route.for !== 'node', `node: ${place} was answered ${status}`)
  }
  assert.ok(tried > 100, `${tried} requests`)
  assert.deepEqual(
    it.errors.map((cause) => (cause as Error).message),
    [],
  )
})

test('with psql: a login as ona_service authenticates and reads nothing of the record; ona_node reaches no other node', async (t) => {
  const it = await postgres.fleet(t)
  const [ada, eve] = [await it.node('ada-1'), await it.node('eve-1')]
  const db = record(t)
  converse(db, 'one', 2)
  await ship(db, ada.client, { withoutContent: false, tries: 1 })
  await it.rows('ALTER ROLE ona_service LOGIN')
  const psql = (sql: string, user = 'ona_service') => {
    try {
      const url = it.url.replace('user=ona', `user=${user}`)
      return execFileSync(join(postgresBin(), 'psql'), [url, '-XAtqc', sql], { encoding: 'utf8', stdio: 'pipe' }).trim()
    } catch (cause) {
      return String((cause as { stderr: string }).stderr).trim()
    }
  }
  for (const table of ['rows', 'calls', 'links', 'conversations', 'policies', 'access_log', 'what_ran', 'faults'])
    assert.match(psql(`SELECT * FROM ona_fleet.${table}`), /permission denied/, table)
  for (const sql of [
    'DELETE FROM ona_fleet.nodes',
    "UPDATE ona_fleet.nodes SET public_key = 'x'",
    "UPDATE ona_fleet.tokens SET role = 'admin'",
    'CREATE TABLE ona_fleet.x (y int)',
    'SELECT ona_fleet.retain(1, $$x$$)',
    'CREATE ROLE x',
  ])
    assert.match(psql(sql), /permission denied/, sql)
  const asNode = (node: string, sql: string) => psql(`SET ROLE ona_node; SET ona.node = '${node}'; ${sql}`)
  const { node } = eve.identity
  for (const sql of [
    'SELECT content FROM ona_fleet.rows',
    'SELECT target FROM ona_fleet.calls',
    'SELECT * FROM ona_fleet.tokens',
  ])
    assert.match(asNode(node, sql), /permission denied/, sql)
  assert.equal(asNode(node, 'SELECT count(*) FROM ona_fleet.streams'), '0')
  assert.equal(asNode('', 'SELECT count(*) FROM ona_fleet.streams'), '0', 'a request that names no node')
  assert.equal(asNode(ada.identity.node, 'SELECT count(*) FROM ona_fleet.streams'), '1')
  await it.rows('ALTER ROLE ona_service NOLOGIN')
})
