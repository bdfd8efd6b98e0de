/** The address of a PostgreSQL database: checked, printed without its password, and what to do when nothing answers there. */
import { Problem } from '../files/problem.ts'

/** Undefined: it can be an address. */
export const databaseUrlProblem = (url: string): string | undefined =>
  /^postgres(ql)?:\/\//.test(url) && URL.parse(url)
    ? undefined
    : `${withoutPassword(url)} is not the address of a PostgreSQL database, such as postgres://user@host/name`

/** A URL as it may be printed. */
export function withoutPassword(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return 'the given address'
  if (parsed.password) parsed.password = '***'
  if (parsed.searchParams.has('password')) parsed.searchParams.set('password', '***')
  return parsed.href
}

interface ConnectError extends Error {
  readonly code?: string
  /** Of a name with several addresses: one for each. */
  readonly errors?: readonly ConnectError[]
}

/** By the code of Node or PostgreSQL: what the user can do about it. */
const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is PostgreSQL running there, and does it listen on that address?',
  ENOENT: 'is PostgreSQL running there, and is that the folder of its socket?',
  EACCES: 'its socket is not open to this user; connect as its owner, or by a host and port',
  ENOTFOUND: 'check the name of the host',
  EAI_AGAIN: 'check the name of the host and the network',
  ETIMEDOUT: 'is the host reachable from here, and its port open?',
  '28P01': 'check the password (in the address, or PGPASSWORD)',
  '28000': 'check the name of the user, and pg_hba.conf on the server',
  '3D000': 'create it first: createdb NAME',
  '22023': 'run ona fleet init on it first',
  '3F000': 'run ona fleet init on it first',
  '42P01': 'run ona fleet init on it first',
  '42501': 'connect as the owner of the database, or as a role that has been granted the right',
  '53300': 'the server has no connection left; lower --connections, or raise max_connections there',
}

const asService =
  "connect as ona_service (ALTER ROLE ona_service LOGIN PASSWORD '…'), or GRANT ona_service to this user"

export function connectionProblem(url: string, cause: unknown): Problem {
  const thrown = cause as ConnectError
  const inner = thrown.errors?.[0] ?? thrown
  const code = inner.code ?? (/timeout/i.test(inner.message) ? 'ETIMEDOUT' : '')
  const why = inner.message || code || 'no connection'
  const remedy = /to set role "ona_service"/.test(why) ? asService : remedies[code]
  return new Problem(`PostgreSQL at ${withoutPassword(url)}: ${why}${remedy ? `; ${remedy}` : ''}`)
}
