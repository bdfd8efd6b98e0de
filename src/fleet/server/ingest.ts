/**
 * Rows in. A batch continues the chain of one database of one node, under the lock of its stream: what was received before
 * is skipped, what does not follow is stored and reported as a fault. Everything of a batch is one transaction.
 */
import { databaseLink, sessionLink } from '../../store/chain/chain.ts'
import { type Cursor, sha256 } from '../wire.ts'
import type { Fleet, Sql } from './database.ts'
import type { Link, ReadBatch } from './read-batch.ts'
import { type Fault, type Place, storeRows } from './store-rows.ts'

export interface Ingested {
  readonly cursor: Cursor
  readonly rows: number
  readonly faults: number
  /** The chain is not the one that was received before: it begins again, in a new epoch. */
  readonly restart: boolean
}

const zero = Buffer.alloc(32)

interface Stream {
  readonly epoch: number
  readonly last: number
  readonly head: Buffer
}

export const cursorOf = (fleet: Fleet, node: string, database: string): Promise<Cursor> =>
  fleet.as('node', node, async (sql) => {
    await sql.query('UPDATE ona_fleet.nodes SET last_seen = now() WHERE id = $1', [node])
    const { rows } = await sql.query<Stream>(
      'SELECT epoch, last_link AS last, head FROM ona_fleet.streams WHERE node_id = $1 AND database_id = $2',
      [node, database],
    )
    return asCursor(rows[0] ?? { epoch: 1, last: 0, head: zero })
  })

const asCursor = ({ epoch, last, head }: Stream): Cursor => ({ epoch, last, head: head.toString('base64') })

async function lockStream(sql: Sql, node: string, database: string): Promise<Stream> {
  await sql.query('INSERT INTO ona_fleet.streams(node_id, database_id) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    node,
    database,
  ])
  const { rows } = await sql.query<Stream>(
    'SELECT epoch, last_link AS last, head FROM ona_fleet.streams WHERE node_id = $1 AND database_id = $2 FOR UPDATE',
    [node, database],
  )
  return rows[0]!
}

export const ingest = (fleet: Fleet, node: string, batch: ReadBatch): Promise<Ingested> =>
  fleet.as('node', node, async (sql) => {
    await sql.query('UPDATE ona_fleet.nodes SET last_seen = now() WHERE id = $1', [node])
    const stream = await lockStream(sql, node, batch.database)
    if (batch.epoch !== stream.epoch) return { cursor: asCursor(stream), rows: 0, faults: 0, restart: false }
    const at: Place = { sql, node, database: batch.database, epoch: stream.epoch }
    if (await isRewritten(at, batch, stream.last)) return startAgain(at, stream)
    const faults: Fault[] = []
    if (batch.cut && batch.end.id < stream.last)
      faults.push({
        kind: 'cut off',
        link: batch.end.id,
        detail: `the node's chain ends at link ${batch.end.id}; ${stream.last} links were received from it`,
      })
    const fresh = batch.links.filter(({ id }) => id > stream.last)
    const complete = batch.more ? fresh.slice(0, -1) : fresh
    const next = await follow(at, fresh, complete, stream, faults)
    const rows = await storeRows(at, batch, fresh, complete, faults)
    await storeLinks(at, complete, next.sessions)
    await storeFaults(at, faults)
    await sql.query(
      `UPDATE ona_fleet.streams SET last_link = $3, head = $4, rows = rows + $5, updated_at = now()
       WHERE node_id = $1 AND database_id = $2`,
      [node, batch.database, next.last, next.head, rows],
    )
    return { cursor: asCursor({ epoch: stream.epoch, ...next }), rows, faults: faults.length, restart: false }
  })

/** Whether a link that was received before is another one now. */
async function isRewritten({ sql, node, database, epoch }: Place, batch: ReadBatch, last: number): Promise<boolean> {
  const known = batch.links.filter(({ id }) => id <= last)
  const claims = [...known.map(({ id, hash }) => ({ id, hash })), ...(batch.end.id <= last ? [batch.end] : [])]
  if (claims.length === 0) return false
  const { rows } = await sql.query<{ link: number; hash: Buffer }>(
    `SELECT link, hash FROM ona_fleet.links WHERE node_id = $1 AND database_id = $2 AND epoch = $3 AND link = ANY ($4)`,
    [node, database, epoch, claims.map(({ id }) => id)],
  )
  const stored = new Map(rows.map(({ link, hash }) => [link, hash]))
  return claims.some(({ id, hash }) => stored.has(id) && !stored.get(id)!.equals(hash))
}

async function startAgain(at: Place, { epoch, last }: Stream): Promise<Ingested> {
  const { sql, node, database } = at
  const detail = `the chain that was received up to link ${last} was rewritten on the node; it is received again as epoch ${epoch + 1}`
  await storeFaults(at, [{ kind: 'rewritten', link: last, detail }])
  const { rows } = await sql.query<Stream>(
    `UPDATE ona_fleet.streams SET epoch = epoch + 1, last_link = 0, head = decode(repeat('00', 32), 'hex'), updated_at = now()
     WHERE node_id = $1 AND database_id = $2 RETURNING epoch, last_link AS last, head`,
    [node, database],
  )
  await sql.query(
    `UPDATE ona_fleet.conversations SET entries = 0, prompts = 0, calls = 0, refused = 0, hooks = 0, tokens = 0, cost_usd = NULL
     WHERE node_id = $1 AND database_id = $2`,
    [node, database],
  )
  return { cursor: asCursor(rows[0]!), rows: 0, faults: 1, restart: true }
}

/** Recomputes the hashes of new links; those that are not the ones claimed are faults. */
async function follow(at: Place, fresh: readonly Link[], complete: readonly Link[], stream: Stream, faults: Fault[]) {
  const names = [...new Set(fresh.map(({ session }) => session))]
  const { rows } = await at.sql.query<{ session: string; hash: Buffer }>(
    `SELECT session_id AS session, hash FROM ona_fleet.session_heads
     WHERE node_id = $1 AND database_id = $2 AND epoch = $3 AND session_id = ANY ($4)`,
    [at.node, at.database, at.epoch, names],
  )
  const sessions = new Map<string, Uint8Array>(rows.map(({ session, hash }) => [session, hash]))
  let { last, head } = stream
  for (const link of complete) {
    const { id, session } = link
    const gap = id !== last + 1
    if (gap)
      faults.push({ kind: 'gap', link: id, detail: `links ${last + 1} to ${id - 1} are missing from the node's chain` })
    const own = sessionLink(sessions.get(session) ?? zero, link.rows, sha256)
    const whole = databaseLink(head, id, session, link.sessionHash, sha256)
    // after a gap, what came before is not known, neither in the database nor perhaps in the session
    const follows = gap || (link.sessionHash.equals(own) && link.hash.equals(whole))
    if (!follows)
      faults.push({ kind: 'link changed', link: id, detail: `link ${id} does not follow from the one before it` })
    sessions.set(session, link.sessionHash)
    last = id
    head = link.hash
  }
  const changed = new Map(complete.map(({ session }) => [session, sessions.get(session)!]))
  return { last, head, sessions: changed }
}

async function storeLinks(at: Place, links: readonly Link[], heads: ReadonlyMap<string, Uint8Array>): Promise<void> {
  if (links.length === 0) return
  const keys = [at.node, at.database, at.epoch]
  await at.sql.query(
    `INSERT INTO ona_fleet.links(node_id, database_id, epoch, link, session_id, rows, session_hash, hash)
     SELECT $1, $2, $3, * FROM unnest($4::bigint[], $5::text[], $6::bytea[], $7::bytea[], $8::bytea[])`,
    [
      ...keys,
      links.map(({ id }) => id),
      links.map(({ session }) => session),
      links.map(({ rows }) => rows),
      links.map(({ sessionHash }) => sessionHash),
      links.map(({ hash }) => hash),
    ],
  )
  await at.sql.query(
    `INSERT INTO ona_fleet.session_heads(node_id, database_id, epoch, session_id, hash)
     SELECT $1, $2, $3, * FROM unnest($4::text[], $5::bytea[])
     ON CONFLICT (node_id, database_id, epoch, session_id) DO UPDATE SET hash = excluded.hash`,
    [...keys, [...heads.keys()], [...heads.values()]],
  )
}

async function storeFaults({ sql, node, database, epoch }: Place, faults: readonly Fault[]): Promise<void> {
  for (const { kind, link, table = '', row = 0, detail } of faults.slice(0, 1000))
    await sql.query(
      `INSERT INTO ona_fleet.faults(node_id, database_id, epoch, kind, link, table_name, row_id, detail)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
      [node, database, epoch, kind, link, table, row, detail],
    )
}
