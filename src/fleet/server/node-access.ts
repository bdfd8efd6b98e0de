/** Nodes: enrolment by a one-time token, and requests that are signed with the node's key and accepted once. */
import { createPublicKey, randomBytes, randomUUID } from 'node:crypto'
import { isSigned, limits, sha256 } from '../wire.ts'
import type { Fleet, Sql } from './database.ts'
import { field, type Head, Refused, uuidPattern } from './request.ts'

export interface NodeKey {
  readonly id: string
  readonly publicKey: string
  readonly worker: boolean
}

/** Looks at the headers alone, so that a stranger's body is not read. */
export async function nodeOf(fleet: Fleet, { headers }: Head): Promise<NodeKey> {
  const id = String(headers['ona-node'] ?? '')
  const stranger = new Refused(401, 'the request is not signed by an enrolled node; run ona fleet enrol')
  if (!uuidPattern.test(id)) throw stranger
  const apart = Math.abs(Date.now() - Number(headers['ona-time']))
  if (!(apart <= limits.skewMs))
    throw new Refused(401, 'the clocks of this node and the service are more than five minutes apart', {
      clock: Date.now(),
    })
  const [node] = await fleet.query<{ publicKey: string; revoked: boolean; worker: boolean }>(
    'SELECT public_key AS "publicKey", revoked_at IS NOT NULL AS revoked, worker FROM ona_fleet.nodes WHERE id = $1',
    [id],
  )
  if (!node) throw stranger
  if (node.revoked) throw new Refused(403, 'this node was revoked; an admin can enrol it again')
  return { id, publicKey: node.publicKey, worker: node.worker }
}

/** The signature covers method, path, time, nonce and body; a second request with the same nonce is refused. */
export async function requireSigned(
  fleet: Fleet,
  { id, publicKey }: NodeKey,
  { method, path, headers }: Head,
  body: Buffer,
): Promise<void> {
  const [time, nonce] = [String(headers['ona-time']), String(headers['ona-nonce'] ?? '')]
  const signature = String(headers['ona-signature'] ?? '')
  if (!/^[\w-]{16,64}$/.test(nonce) || !isSigned(publicKey, { method, path, time, nonce, body }, signature))
    throw new Refused(401, 'the request is not signed by an enrolled node; run ona fleet enrol')
  const added = await fleet.query(
    'INSERT INTO ona_fleet.nonces(node_id, nonce) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1 AS new',
    [id, nonce],
  )
  if (added.length === 0) throw new Refused(401, 'this request was received before')
}

/** What is older than any request that would still be accepted. */
export const forgetNonces = (fleet: Fleet): Promise<unknown> =>
  fleet.query(`DELETE FROM ona_fleet.nonces WHERE at < now() - interval '${(2 * limits.skewMs) / 1000 + 60} seconds'`)

export interface NewNode {
  readonly person: string
  readonly team: string
  readonly groups: readonly string[]
  readonly ring: 'canary' | 'all'
  readonly worker: boolean
  readonly hours: number
}

/** Returns the token; only its digest is stored. */
export async function addEnrolToken(sql: Sql, actor: string, wanted: NewNode): Promise<string> {
  const token = `ona_enrol_${randomBytes(24).toString('base64url')}`
  const { person, team, groups, ring, worker, hours } = wanted
  await sql.query(
    `INSERT INTO ona_fleet.enrol_tokens(hash, person, team, groups, ring, worker, created_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))`,
    [sha256(token), person, team, groups, ring, worker, actor, hours * 3600],
  )
  return token
}

export interface Enrolled {
  readonly node: string
  readonly publishers: readonly string[]
}

/** Uses the token up. Two that come with one token at the same time: one of them is enrolled. */
export async function enrol(fleet: Fleet, body: Record<string, unknown>, address: string): Promise<Enrolled> {
  const token = field.text(body, 'token', 200)
  const name = field.text(body, 'name', 200)
  const publicKey = ed25519(field.text(body, 'publicKey', 1000))
  const id = randomUUID()
  return fleet.as('service', undefined, async (sql) => {
    const { rows } = await sql.query(
      `UPDATE ona_fleet.enrol_tokens SET used_at = now(), used_by = $2
       WHERE hash = $1 AND used_at IS NULL AND expires_at > now()
       RETURNING person, team, groups, ring, worker, created_by`,
      [sha256(token), id],
    )
    const [given] = rows
    if (!given) throw new Refused(403, 'the enrolment token is unknown, used or expired; ask an admin for another')
    await sql.query(
      `INSERT INTO ona_fleet.nodes(id, name, person, team, groups, ring, worker, public_key, enrolled_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [id, name, given.person, given.team, given.groups, given.ring, given.worker, publicKey, given.created_by],
    )
    await sql.query(
      "INSERT INTO ona_fleet.access_log(actor, role, action, target, detail, address) VALUES ($1, 'node', 'enrol', $2, $3, $4)",
      [`node ${id}`, id, name, address],
    )
    const publishers = await sql.query<{ pem: string }>(
      'SELECT public_key AS pem FROM ona_fleet.publishers WHERE revoked_at IS NULL ORDER BY added_at',
    )
    return { node: id, publishers: publishers.rows.map(({ pem }) => pem) }
  })
}

/** A public key as PEM, and of no other kind. */
export function ed25519(pem: string): string {
  try {
    const key = createPublicKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key.export({ type: 'spki', format: 'pem' }).toString()
  } catch {
    // said below
  }
  throw new Refused(400, '"publicKey" must be an Ed25519 public key as PEM')
}
