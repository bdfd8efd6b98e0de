/** Users: bearer tokens, each with a role. Everything that a user does is a row of the access log. */
import { randomBytes } from 'node:crypto'
import { sha256 } from '../wire.ts'
import type { Fleet, Sql } from './database.ts'
import { type Head, Refused } from './request.ts'

export const userRoles = ['reader', 'publisher', 'admin', 'telemetry'] as const
export type UserRole = (typeof userRoles)[number]

export interface User {
  readonly actor: string
  readonly role: UserRole
  readonly address: string
  /** Of a telemetry token: whose telemetry it is. */
  readonly node: string | null
}

/** What each role may do beyond its own name. */
const includes: Record<UserRole, readonly UserRole[]> = {
  telemetry: ['telemetry'],
  reader: ['reader'],
  publisher: ['reader', 'publisher'],
  admin: ['reader', 'publisher', 'admin'],
}

export async function userOf(fleet: Fleet, { headers, address }: Head, needed: UserRole): Promise<User> {
  const [, token] = /^Bearer ([\w.-]{10,500})$/.exec(headers.authorization ?? '') ?? []
  if (token === undefined) throw new Refused(401, 'a token is needed: set ONA_FLEET_TOKEN, or run ona fleet login')
  const [found] = await fleet.query<{ actor: string; role: UserRole; node: string | null; valid: boolean }>(
    `SELECT actor, role, node_id AS node, revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AS valid
     FROM ona_fleet.tokens WHERE hash = $1`,
    [sha256(token)],
  )
  if (!found?.valid) throw new Refused(401, 'the token is unknown, expired or revoked')
  if (!includes[found.role].includes(needed))
    throw new Refused(403, `${found.actor} has the role ${found.role}; this needs the role ${needed}`)
  return { actor: found.actor, role: found.role, node: found.node, address }
}

export interface NewToken {
  readonly actor: string
  readonly role: UserRole
  readonly via: 'static' | 'oidc'
  readonly node?: string
  readonly hours?: number
  readonly by: string
}

/** Returns the token; only its digest is stored. */
export async function addToken(
  sql: Pick<Sql, 'query'>,
  { actor, role, via, node, hours, by }: NewToken,
): Promise<string> {
  const token = `ona_${role}_${randomBytes(24).toString('base64url')}`
  await sql.query(
    `INSERT INTO ona_fleet.tokens(hash, actor, role, via, node_id, created_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
    [sha256(token), actor, role, via, node ?? null, by, hours === undefined ? null : hours * 3600],
  )
  return token
}

/** Runs `work` as the user, with its row in the access log in the same transaction. */
export const acting = <T>(
  fleet: Fleet,
  { actor, role, address }: User,
  action: string,
  target: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> =>
  fleet.as(role === 'telemetry' ? 'service' : role, undefined, async (sql) => {
    await logAccess(sql, { actor, role, action, target, address })
    return work(sql)
  })

export const logAccess = (
  sql: Pick<Sql, 'query'>,
  row: { actor: string; role: string; action: string; target?: string; detail?: string; address?: string },
): Promise<unknown> =>
  sql.query(
    'INSERT INTO ona_fleet.access_log(actor, role, action, target, detail, address) VALUES ($1, $2, $3, $4, $5, $6)',
    [row.actor, row.role, row.action, row.target ?? '', row.detail ?? '', row.address ?? ''],
  )
