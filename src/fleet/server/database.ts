/** PostgreSQL: one pool, and transactions that run with the rights of whoever asks. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { connectionProblem } from '../database-url.ts'

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
