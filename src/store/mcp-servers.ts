/** What MCP servers offered when they were last connected, and which definitions of their tools were accepted. */
import type { Db, ReadDb } from './open.ts'

export interface KnownServer {
  /** A digest of its declaration. */
  readonly key: string
  readonly server: string
  /** Its name and version, as it gives them. */
  readonly identity: string
  /** JSON; null: it could not be connected the last time. */
  readonly offer: string | null
  /** JSON: a digest by tool. */
  readonly accepted: string
}

const columns = 'key, server, identity, offer, accepted'

export const readKnownServer = (db: ReadDb, key: string): KnownServer | undefined =>
  db.get<KnownServer>(`SELECT ${columns} FROM ona_mcp_servers WHERE key = ?`, key)

/** Every declaration of a server by this name that was ever connected. */
export const knownServers = (db: ReadDb, server: string): KnownServer[] =>
  db.all<KnownServer>(`SELECT ${columns} FROM ona_mcp_servers WHERE server = ? ORDER BY seen_at`, server)

export function writeKnownServer(db: Db, { key, server, identity, offer, accepted }: KnownServer): void {
  db.run(
    `INSERT INTO ona_mcp_servers(${columns}) VALUES (?, ?, ?, ?, ?) ON CONFLICT(key) DO UPDATE SET
      server = excluded.server, identity = excluded.identity, offer = excluded.offer, accepted = excluded.accepted,
      seen_at = datetime('now')`,
    ...[key, server, identity, offer, accepted],
  )
}

export function forgetOffer(db: Db, key: string): void {
  db.run('UPDATE ona_mcp_servers SET offer = NULL WHERE key = ?', key)
}
