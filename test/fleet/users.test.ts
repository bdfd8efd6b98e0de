/** Users: roles, OpenID Connect, the access log, reports, retention and erasure; and the fleet's record as a file. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { overviews } from '../../src/audit/inspect/overview.ts'
import { recordedCalls } from '../../src/audit/replay/recorded-calls.ts'
import { copyFleet } from '../../src/fleet/copy.ts'
import { ship } from '../../src/fleet/node/ship.ts'
import { readDb } from '../../src/store/open.ts'
import { converse, postgresForTests, query, record } from '../support/fleet.ts'
import { oidcServer } from '../support/oidc-server.ts'

const postgres = postgresForTests()
const plain = { withoutContent: false, tries: 1 }

test('a user signs in with OpenID Connect, gets the role of a claim, and nobody else gets the token', async (t) => {
  let claims: Record<string, unknown> = { sub: '1', email: 'ada@example.com', groups: ['auditors'] }
  const issuer = await oidcServer(t, () => claims)
  const it = await postgres.fleet(t, {
    oidc: {
      issuer,
      clientId: 'ona',
      clientSecret: 's',
      roles: ['groups=auditors:reader', 'email=boss@example.com:admin'],
    },
  })
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  /** What a browser does: follows until it is sent to the user's own machine. */
  const browse = async () => {
    let at = `${it.service.url}/login?port=45678&challenge=${challenge}`
    for (let hops = 0; hops < 5 && !at.startsWith('http://127.0.0.1:45678'); hops++) {
      const answer = await fetch(at, { redirect: 'manual' })
      if (answer.status !== 302)
        return { status: answer.status, why: ((await answer.json()) as { error: string }).error }
      at = answer.headers.get('location')!
    }
    return { code: new URL(at).searchParams.get('code')! }
  }
  const redeem = (code: string | undefined, with_ = verifier) =>
    fetch(`${it.service.url}/v1/login`, { method: 'POST', body: JSON.stringify({ code, verifier: with_ }) })
  const first = await browse()
  assert.equal((await redeem(first.code, 'w'.repeat(43))).status, 403, 'stolen on its way')
  assert.equal((await redeem(first.code)).status, 403, 'and used up by that')
  const { token, actor, role } = (await (await redeem((await browse()).code)).json()) as Record<string, string>
  assert.deepEqual([actor, role], ['ada@example.com', 'reader'])
  const get = (path: string) =>
    fetch(`${it.service.url}${path}`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)
  assert.deepEqual([await get('/v1/status'), await get('/v1/access')], [200, 403])
  claims = { sub: '2', email: 'boss@example.com', email_verified: false }
  assert.deepEqual(await browse(), {
    status: 403,
    why: 'boss@example.com has no role in this fleet; an admin gives one with --oidc-role',
  })
  claims = { sub: '2', email: 'boss@example.com', aud: 'another' }
  assert.equal((await browse()).status, 403, 'a token for somebody else')
  const replayed = await fetch(`${it.service.url}/login/callback?code=x&state=unknown`, { redirect: 'manual' })
  assert.equal(replayed.status, 400)
  const log = await it.rows('SELECT actor, action FROM ona_fleet.access_log ORDER BY id')
  assert.deepEqual(log, [
    { actor: 'ada@example.com', action: 'sign in' },
    { actor: 'ada@example.com', action: 'read status' },
  ])
})

test('reports, faults, revocation, erasure by user and retention by month, each on record', async (t) => {
  const it = await postgres.fleet(t)
  const ada = await it.node('ada-1', { person: 'ada', team: 'core' })
  const bob = await it.node('bob-1', { person: 'bob', team: 'web' })
  const [one, two] = [record(t), record(t)]
  converse(one, 'a', 5)
  one.run("UPDATE events SET detail = '{}' WHERE id = 2")
  converse(two, 'b', 10)
  await ship(one, ada.client, plain)
  await ship(two, bob.client, plain)
  const admin = await it.user('admin', 'root')
  const status = async () => (await admin.ask('GET', '/v1/status')).body as Record<string, never>
  const report = (await status()) as unknown as {
    nodes: Record<string, unknown>[]
    gaps: { kind: string }[]
    totals: Record<string, unknown>
  }
  assert.deepEqual(
    report.nodes.map(({ node, rows, faults, hooks }) => [node, rows, faults, hooks]),
    [
      ['ada-1', 31, 1, 5],
      ['bob-1', 61, 0, 10],
    ],
  )
  assert.deepEqual([report.gaps.map(({ kind }) => kind), report.totals['denied']], [['changed'], 3])
  const cost = await it.rows(
    'SELECT team, person, tokens::int, round(cost_usd::numeric, 2)::text AS cost FROM ona_fleet.cost_by_team ORDER BY 1',
  )
  assert.deepEqual(cost, [
    { team: 'core', person: 'ada', tokens: 75, cost: '0.05' },
    { team: 'web', person: 'bob', tokens: 150, cost: '0.10' },
  ])
  const counts = async () =>
    (
      await it.rows(
        'SELECT (SELECT count(*) FROM ona_fleet.what_ran)::int AS ran, (SELECT count(*) FROM ona_fleet.who_approved)::int AS approved, (SELECT count(*) FROM ona_fleet.what_was_denied)::int AS denied',
      )
    )[0]
  assert.deepEqual(await counts(), { ran: 12, approved: 12, denied: 3 })
  assert.deepEqual((await admin.ask('POST', '/v1/faults/acknowledge', { node: ada.identity.node })).body, { faults: 1 })
  assert.deepEqual((await status())['gaps'], [])

  assert.deepEqual((await admin.ask('POST', '/v1/erase', { person: 'ada', reason: 'asked' })).body, { rows: 31 })
  const left = await it.rows(
    "SELECT DISTINCT r.content, r.state FROM ona_fleet.rows r JOIN ona_fleet.nodes n ON n.id = r.node_id WHERE n.person = 'ada'",
  )
  assert.deepEqual(left, [{ content: '[]', state: 'erased' }])
  assert.deepEqual(await counts(), { ran: 12, approved: 12, denied: 3 }, 'who, when and what was decided stay')
  assert.equal((await admin.ask('POST', `/v1/nodes/${bob.identity.node}/revoke`)).status, 200)
  assert.match((await ship(two, bob.client, plain)).problem ?? '', /revoked/)

  // a month that is long over
  await query(
    it.url,
    "CREATE TABLE ona_fleet.rows_2020_01 PARTITION OF ona_fleet.rows FOR VALUES FROM ('2020-01-01') TO ('2020-02-01')",
  )
  assert.deepEqual((await admin.ask('POST', '/v1/retain', { months: 12 })).body, { dropped: 1 })
  assert.equal((await admin.ask('POST', '/v1/retain', { months: 0 })).status, 400)
  for (const role of ['reader', 'publisher'] as const) {
    const user = await it.user(role)
    for (const path of ['/v1/erase', '/v1/retain', '/v1/tokens', '/v1/enrol-tokens', '/v1/publishers'])
      assert.equal((await user.ask('POST', path, {})).status, 403, `${role} ${path}`)
  }
  const log = (await admin.ask('GET', '/v1/access')).body['list'] as { actor: string; action: string }[]
  for (const action of ['erase', 'retain', 'revoke node', 'acknowledge faults', 'read status'])
    assert.ok(
      log.some((row) => row.action === action && row.actor === 'root'),
      action,
    )
  const change = it.fleet.as('admin', undefined, (sql) => sql.query("UPDATE ona_fleet.access_log SET actor = 'nobody'"))
  await assert.rejects(change, /permission denied/)
  assert.deepEqual(it.errors, [])
})

test('the record of all nodes as a file that inspect and replay read', async (t) => {
  const it = await postgres.fleet(t)
  for (const [name, id, calls] of [
    ['one', 'a', 4],
    ['two', 'b', 6],
  ] as const) {
    const { client } = await it.node(name)
    const db = record(t)
    converse(db, id, calls)
    await ship(db, client, plain)
  }
  const copied = await copyFleet(it.url, { purpose: 'inspect' })
  t.after(copied.remove)
  const db = readDb(copied.path)
  t.after(() => db.close())
  const found = overviews(db)
  assert.deepEqual(
    found
      .map(({ id, project_dir, calls, refused, hooks }) => ({ id, project_dir, calls, refused, hooks }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    [
      { id: 'a', project_dir: 'one:/repo', calls: 4, refused: 0, hooks: 4 },
      { id: 'b', project_dir: 'two:/repo', calls: 6, refused: 1, hooks: 6 },
    ],
  )
  const calls = [...recordedCalls(db)]
  assert.deepEqual([calls.length, calls.filter(({ was }) => was?.decision === 'deny').length], [10, 1])
  const one = await copyFleet(it.url, { purpose: 'inspect', conversation: 'a' })
  assert.equal(one.rows, 25)
  one.remove()
  // with a reader's rights it is enough
  await query(
    it.url,
    'DO $$ BEGIN CREATE ROLE auditor LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT ona_reader TO auditor',
  )
  const asAuditor = await copyFleet(it.url.replace('user=ona', 'user=auditor'), { purpose: 'replay' })
  assert.equal(asAuditor.rows, copied.rows)
  asAuditor.remove()
  const log = await it.rows<{ actor: string; action: string }>(
    'SELECT actor, action FROM ona_fleet.access_log ORDER BY id DESC LIMIT 1',
  )
  assert.match(log[0]!.actor, /^auditor/)
  assert.equal(log[0]!.action, 'replay')
})
