/** Policies out: published by whoever holds a publisher's key, delivered by ring and group, acknowledged by digest. */
import { digestOf, keyIdOf, openBundle } from '../policy-bundle.ts'
import { limits } from '../wire.ts'
import type { Fleet } from './database.ts'
import { ed25519, type NodeKey } from './node-access.ts'
import { type Answer, type Asked, field, jsonOf, Refused } from './request.ts'
import { forNode, forUser, ok, type Route } from './route.ts'
import { clean } from './row-facts.ts'
import { acting, logAccess, type User } from './user-access.ts'

export const policyRoutes: readonly Route[] = [
  forNode('GET /v1/policy', async ({ fleet }, { headers }, node) => deliver(fleet, node, headers['if-none-match'])),
  forNode('POST /v1/policy/ack', async ({ fleet }, asked, node) => acknowledge(fleet, asked, node)),
  forNode('GET /v1/publishers', async ({ fleet }, _, node) =>
    ok(
      await fleet.as('node', node.id, async (sql) => {
        const { rows } = await sql.query<{ pem: string }>(
          'SELECT public_key AS pem FROM ona_fleet.publishers WHERE revoked_at IS NULL ORDER BY added_at',
        )
        return { publishers: rows.map(({ pem }) => pem) }
      }),
    ),
  ),
  forUser('admin', 'POST /v1/publishers', async ({ fleet }, asked, user) => addPublisher(fleet, asked, user)),
  forUser('publisher', 'GET /v1/policies', async ({ fleet }, _, user) =>
    ok(
      await acting(fleet, user, 'list policies', '', async (sql) => {
        const { rows } = await sql.query(
          `SELECT version, ring, group_name AS "group", digest, published_by AS "publishedBy", published_at AS "publishedAt"
           FROM ona_fleet.policies ORDER BY version DESC LIMIT 200`,
        )
        return rows
      }),
    ),
  ),
  forUser('publisher', 'GET /v1/policies/:version', async ({ fleet }, _, user, [version = '']) => {
    if (!/^\d{1,15}$/.test(version)) throw new Refused(400, 'a version is a number')
    const { rows } = await acting(fleet, user, 'read policy', version, (sql) =>
      sql.query('SELECT payload, signature, key_id AS "keyId" FROM ona_fleet.policies WHERE version = $1', [version]),
    )
    if (!rows[0]) throw new Refused(404, `there is no policy version ${version}`)
    return ok(rows[0])
  }),
  forUser('publisher', 'POST /v1/policies', async ({ fleet }, asked, user) => publish(fleet, asked, user), {
    bodyBytes: 2 * limits.bundleBytes,
  }),
  forUser('reader', 'GET /v1/policy-status', async ({ fleet }, _, user) =>
    ok(
      await acting(fleet, user, 'read policy status', '', async (sql) => {
        const { rows } = await sql.query('SELECT * FROM ona_fleet.policy_status ORDER BY ok, node LIMIT 20000')
        return rows
      }),
    ),
  ),
]

async function deliver(fleet: Fleet, { id }: NodeKey, known: string | undefined): Promise<Answer> {
  const found = await fleet.as('node', id, async (sql) => {
    await sql.query('UPDATE ona_fleet.nodes SET last_seen = now() WHERE id = $1', [id])
    const { rows } = await sql.query<{ digest: string; payload: string; signature: string; keyId: string }>(
      `SELECT p.digest, CASE WHEN p.digest = $2 THEN '' ELSE p.payload END AS payload, p.signature, p.key_id AS "keyId"
       FROM ona_fleet.policies p, ona_fleet.nodes n
       WHERE n.id = $1 AND (p.ring = 'all' OR p.ring = n.ring) AND (p.group_name IS NULL OR p.group_name = ANY (n.groups))
       ORDER BY p.version DESC LIMIT 1`,
      [id, /^"([0-9a-f]{64})"$/.exec(known ?? '')?.[1] ?? ''],
    )
    return rows[0]
  })
  if (!found) return { status: 204 }
  const { digest, ...bundle } = found
  const headers = { etag: `"${digest}"` }
  return bundle.payload === '' ? { status: 304, headers } : { status: 200, body: bundle, headers }
}

async function acknowledge(fleet: Fleet, asked: Asked, { id }: NodeKey): Promise<Answer> {
  const body = await jsonOf(asked)
  const text = (name: string, most: number) => clean(field.text(body, name, most))
  const drift = field.texts(body, 'drift').map(clean)
  const [state, detail] = [text('state', 50), text('detail', 2000)]
  await fleet.as('node', id, async (sql) => {
    await sql.query(
      `INSERT INTO ona_fleet.policy_state(node_id, version, digest, state, detail, drift, proof) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (node_id) DO UPDATE SET version = excluded.version, digest = excluded.digest, state = excluded.state,
         detail = excluded.detail, drift = excluded.drift, reported_at = now(),
         proof = CASE WHEN excluded.proof = '' AND policy_state.digest = excluded.digest THEN policy_state.proof ELSE excluded.proof END`,
      [id, field.count(body, 'version'), text('digest', 64), state, detail, drift, text('proof', 2000)],
    )
    if (drift.length > 0 || state !== 'applied')
      await logAccess(sql, {
        ...{ actor: `node ${id}`, role: 'node', action: `policy ${drift.length > 0 ? 'drift' : state}` },
        ...{ target: id, detail: drift.join(', ') || detail, address: asked.address },
      })
  })
  return ok({})
}

async function addPublisher(fleet: Fleet, asked: Asked, user: User): Promise<Answer> {
  const body = await jsonOf(asked)
  const publicKey = ed25519(field.text(body, 'publicKey', 1000))
  const [name, keyId] = [field.text(body, 'name', 200), keyIdOf(publicKey)]
  await acting(fleet, user, 'add publisher', `${name} ${keyId}`, (sql) =>
    sql.query('INSERT INTO ona_fleet.publishers(key_id, public_key, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      keyId,
      publicKey,
      name,
    ]),
  )
  return ok({ keyId })
}

async function publish(fleet: Fleet, asked: Asked, user: User): Promise<Answer> {
  const body = await jsonOf(asked)
  const payload = field.text(body, 'payload', limits.bundleBytes)
  const signature = field.text(body, 'signature', 200)
  const keyId = field.text(body, 'keyId', 64)
  const digest = digestOf(payload)
  const version = await acting(fleet, user, 'publish policy', digest, async (sql) => {
    // one at a time: versions have no gaps and no twins
    await sql.query("SELECT pg_advisory_xact_lock(hashtext('ona_fleet publish'))")
    const { rows } = await sql.query<{ pem: string }>(
      'SELECT public_key AS pem FROM ona_fleet.publishers WHERE key_id = $1 AND revoked_at IS NULL',
      [keyId],
    )
    if (!rows[0])
      throw new Refused(403, `the key ${keyId} is not a publisher's; an admin adds it with ona fleet policy key`)
    const bundle = openBundle({ payload, signature }, [rows[0].pem])
    if (typeof bundle === 'string') throw new Refused(400, bundle)
    const last = await sql.query<{ version: number }>(
      'SELECT coalesce(max(version), 0) AS version FROM ona_fleet.policies',
    )
    const next = Number(last.rows[0]!.version) + 1
    if (bundle.version !== next)
      throw new Refused(409, `the next version is ${next}, and the bundle is signed as ${bundle.version}`, { next })
    await sql.query(
      `INSERT INTO ona_fleet.policies(version, ring, group_name, digest, payload, signature, key_id, published_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [next, bundle.ring, bundle.group, digest, payload, signature, keyId, user.actor],
    )
    return next
  })
  return ok({ version, digest })
}
