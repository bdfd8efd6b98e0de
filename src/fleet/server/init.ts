/** `ona fleet init`: the schema, its roles and the queue, made or brought up to date. */
import pg from 'pg'
import { Problem } from '../../files/problem.ts'
import { connectionProblem } from '../database-url.ts'
import { roleSql } from '../schema/access.ts'
import { migrations } from '../schema/migrations.ts'
import { addToken } from './user-access.ts'

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
