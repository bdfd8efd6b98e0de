/** PostgreSQL: one pool, and transactions that run with the rights of whoever asks. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Problem } from '../../files/problem.ts'
import { connectionProblem } from '../database-url.ts'
import { roleSql } from '../schema/access.ts'
import { migrations } from '../schema/migrations.ts'
import { addToken } from './user-access.ts'

export type Sql = pg.PoolClient
export type Role = 'node' | 'reader' | 'publisher' | 'admin' | 'service'

export interface Fleet {
  /** Runs `work` in a transaction with a role's rights; for a node, rows of other nodes are out of reach. */
  as<T>(role: Role, node: string | undefined, work: (sql: Sql) => Promise<T>): Promise<T>
  /** One statement with the rights of the service itself. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  readonly pool: pg.Pool
  readonly url: string
  close(): Promise<void>
}

export interface OpenOptions {
  readonly connections?: number
  /** A statement that takes longer is ended: a request must not hold a connection for ever. */
  readonly statementMs?: number
}

// bigint as number: link and row ids stay below 2^53
pg.types.setTypeParser(20, Number)

export function openFleet(url: string, { connections = 10, statementMs = 60_000 }: OpenOptions = {}): Fleet {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 10_000,
    statement_timeout: statementMs,
    application_name: 'ona fleet',
    onConnect: (client) => client.query('SET ROLE ona_service').then(() => {}),
  })
  // a connection that the server closed, idle or in the middle of a transaction: whoever uses it hears of it by the query
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return {
    pool,
    url,
    async as(role, node, work) {
      if (node !== undefined && !/^[0-9a-f-]{36}$/.test(node)) throw new TypeError(`${node} is not a node id`)
      const client = await pool.connect()
      let broken: Error | undefined
      try {
        await client.query(`BEGIN; SET LOCAL ROLE ona_${role}; SET LOCAL ona.node = '${node ?? ''}'`)
        const result = await work(client)
        await client.query('COMMIT')
        return result
      } catch (cause) {
        await client.query('ROLLBACK').catch((error: Error) => {
          broken = error
        })
        throw cause
      } finally {
        client.release(broken)
      }
    },
    query: async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
      (await pool.query<Row>(text, values)).rows,
    close: () => pool.end(),
  }
}

/** Waits for a server that is starting, or restarting; `onWait` is called once, with the reason. */
export async function whenReachable(fleet: Fleet, waitMs: number, onWait: (why: string) => void): Promise<void> {
  let isWaiting = false
  for (const until = Date.now() + waitMs; ; await sleep(500)) {
    const cause = await fleet.query('SELECT 1').then(
      () => undefined,
      (thrown: Error & { code?: string }) => thrown,
    )
    if (!cause) return
    const isComing = /^(E[A-Z]+|57P0\d|08\d{3})$/.test(cause.code ?? '') || /terminated|timeout/i.test(cause.message)
    const problem = connectionProblem(fleet.url, cause)
    if (!isComing || Date.now() > until) throw problem
    if (!isWaiting) onWait(problem.message)
    isWaiting = true
  }
}

export interface Initialised {
  /** The first admin's token, where no admin had one yet and `firstAdmin` was given. */
  readonly token?: string
  readonly applied: number
  readonly version: number
  readonly server: string
}

/** Makes the schema or brings it up to date, with the rights of the database's owner. Applying it again changes nothing. */
export async function initFleet(url: string, { firstAdmin }: { firstAdmin?: string } = {}): Promise<Initialised> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
  } catch (cause) {
    throw connectionProblem(url, cause)
  }
  try {
    const { rows } = await client.query<{ number: number; text: string }>(
      "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS text",
    )
    const { number, text: server } = rows[0]!
    if (number < 150_000) throw new Problem(`PostgreSQL ${server} is too old; a fleet needs 15 or later`)
    await client.query("SELECT pg_advisory_lock(hashtext('ona_fleet init'))")
    await client.query(roleSql)
    await client.query(`CREATE SCHEMA IF NOT EXISTS ona_fleet;
      CREATE TABLE IF NOT EXISTS ona_fleet.migrations (id integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`)
    const done = await client.query<{ last: number | null }>('SELECT max(id) AS last FROM ona_fleet.migrations')
    const last = done.rows[0]!.last ?? 0
    if (last > migrations.length)
      throw new Problem(`the schema has version ${last}, and this ona knows ${migrations.length}; update ona`)
    for (const [at, sql] of migrations.entries()) {
      if (at < last) continue
      await client.query('BEGIN')
      await client.query(sql)
      await client.query('INSERT INTO ona_fleet.migrations(id) VALUES ($1)', [at + 1])
      await client.query('COMMIT')
    }
    await client.query('SELECT ona_fleet.ensure_partitions()')
    const { createQueues } = await import('../jobs/create-queues.ts')
    await createQueues(url)
    await client.query(`GRANT USAGE, CREATE ON SCHEMA ona_queue TO ona_service;
      GRANT ALL ON ALL TABLES IN SCHEMA ona_queue TO ona_service; GRANT ALL ON ALL SEQUENCES IN SCHEMA ona_queue TO ona_service;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ona_queue TO ona_service`)
    const admins = await client.query("SELECT 1 FROM ona_fleet.tokens WHERE role = 'admin' LIMIT 1")
    const by = { actor: firstAdmin ?? '', role: 'admin', via: 'static', by: 'ona fleet init' } as const
    const token = firstAdmin === undefined || admins.rows.length > 0 ? undefined : await addToken(client, by)
    return { applied: migrations.length - last, version: migrations.length, server, ...(token && { token }) }
  } catch (cause) {
    throw (cause as { code?: string }).code === '42501' ? connectionProblem(url, cause) : cause
  } finally {
    await client.end()
  }
}
