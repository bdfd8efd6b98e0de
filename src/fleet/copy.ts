/**
 * The record of a fleet as a SQLite file, so that everything that reads one machine's record reads all of them: the pages
 * of `ona inspect`, and `ona hooks replay`. Streamed; the file is the reader's own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Problem } from '../files/problem.ts'
import { chainedTables } from '../store/chain/chain.ts'
import { openDb } from '../store/open.ts'
import { connectionProblem, withoutPassword } from './database-url.ts'

export interface CopyOptions {
  /** Conversations that were active since then. */
  readonly since?: Date
  readonly conversation?: string
  /** What the copy is for: the access log says so. */
  readonly purpose: string
  onProgress?(rows: number): void
}

export interface Copied {
  readonly path: string
  readonly rows: number
  remove(): void
}

export async function copyFleet(url: string, options: CopyOptions): Promise<Copied> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect().catch((cause: Error) => {
    throw connectionProblem(url, cause)
  })
  const folder = mkdtempSync(join(tmpdir(), 'ona-fleet-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const path = join(folder, 'fleet.db')
    openDb(path).close()
    await client.query('BEGIN; SET LOCAL ROLE ona_reader')
    await client.query(
      "INSERT INTO ona_fleet.access_log(actor, role, action, target) VALUES (session_user || ' (' || $1 || ')', 'reader', $2, $3)",
      [userInfo().username, options.purpose, options.conversation ?? options.since?.toISOString() ?? 'everything'],
    )
    const rows = await copyInto(client, path, options)
    await client.query('COMMIT')
    return { path, rows, remove }
  } catch (cause) {
    remove()
    if (/permission denied|must be (able|member)/i.test((cause as Error).message))
      throw new Problem(`${withoutPassword(url)}: ${(cause as Error).message}; the user needs GRANT ona_reader`)
    throw cause
  } finally {
    await client.end()
  }
}

type Sqlite = InstanceType<typeof import('node:sqlite')['DatabaseSync']>

async function copyInto(client: pg.Client, path: string, options: CopyOptions): Promise<number> {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const db = new DatabaseSync(path)
  try {
    db.exec('PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF; BEGIN')
    await copyConversations(client, db, options)
    const rows = await copyRows(client, db, options)
    db.exec('COMMIT')
    return rows
  } finally {
    db.close()
  }
}

const chosen = `(c.last_active >= $1 AND ($2::text IS NULL OR c.id = $2))`
const chosenValues = ({ since, conversation }: CopyOptions) => [since ?? new Date(0), conversation ?? null]
const sqlTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')`

async function copyConversations(client: pg.Client, db: Sqlite, options: CopyOptions): Promise<void> {
  const conversation = db.prepare(
    'INSERT OR IGNORE INTO conversations(id, project_dir, created_at, last_active, phase) VALUES (?, ?, ?, ?, ?)',
  )
  const name = db.prepare("INSERT OR IGNORE INTO state(conversation_id, key, value) VALUES (?, 'name', ?)")
  const session = db.prepare('INSERT OR IGNORE INTO sessions(session_id, conversation_id, started_at) VALUES (?, ?, ?)')
  const imported = db.prepare(
    "INSERT OR IGNORE INTO ona_imports(session_id, agent, source_id, file) VALUES (?, ?, ?, '')",
  )
  const sub = db.prepare(
    'INSERT OR IGNORE INTO ona_subagents(session_id, parent_session_id, agent_id, agent_type) VALUES (?, ?, ?, ?)',
  )
  for await (const row of each(
    client,
    `SELECT c.id, n.name || ':' || c.project_dir AS project, c.title, c.phase, c.agent, ${sqlTime('coalesce(c.created_at, c.last_active)')} AS created,
       ${sqlTime('c.last_active')} AS active FROM ona_fleet.conversations c JOIN ona_fleet.nodes n ON n.id = c.node_id WHERE ${chosen}`,
    chosenValues(options),
  )) {
    conversation.run(row['id']!, row['project']!, row['created']!, row['active']!, row['phase']!)
    if (row['title']) name.run(row['id']!, row['title'])
    // telemetry knows sessions only
    if (row['agent'] !== 'ona') session.run(row['id']!, row['id']!, row['created']!)
  }
  for await (const row of each(
    client,
    `SELECT s.session_id, s.conversation_id, s.started_at, s.parent_id, s.agent_id, s.agent_type, s.imported_from
     FROM ona_fleet.sessions s JOIN ona_fleet.conversations c ON c.node_id = s.node_id AND c.database_id = s.database_id
       AND c.id = s.conversation_id WHERE ${chosen} ORDER BY s.started_at`,
    chosenValues(options),
  )) {
    session.run(row['session_id']!, row['conversation_id']!, row['started_at']!)
    if (row['parent_id']) sub.run(row['session_id']!, row['parent_id'], row['agent_id'] ?? '', row['agent_type'] ?? '')
    if (row['imported_from']) imported.run(row['session_id']!, row['imported_from'], row['session_id']!)
  }
}

const recorded = chainedTables.filter(({ name }) => name !== 'ona_tombstones')

/** Rows get new ids, in the order of each node: two nodes have the same. */
async function copyRows(client: pg.Client, db: Sqlite, options: CopyOptions): Promise<number> {
  const inserts = new Map(
    recorded.map(({ name, columns }) => {
      const names = columns.split(', ').slice(1)
      return [
        name as string,
        db.prepare(`INSERT OR IGNORE INTO ${name}(${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`),
      ]
    }),
  )
  const telemetry = db.prepare(
    'INSERT INTO events(conversation_id, session_id, timestamp, event_type, detail) VALUES (?, ?, ?, ?, ?)',
  )
  let rows = 0
  for await (const row of each(
    client,
    `SELECT r.kind, r.content, r.type, r.session_id, r.conversation_id, ${sqlTime('r.at')} AS at
     FROM ona_fleet.rows r JOIN ona_fleet.conversations c ON c.node_id = r.node_id AND c.database_id = r.database_id AND c.id = r.conversation_id
     LEFT JOIN ona_fleet.streams s ON s.node_id = r.node_id AND s.database_id = r.database_id
     WHERE ${chosen} AND r.epoch = coalesce(s.epoch, 1) AND r.state <> 'erased'
     ORDER BY r.node_id, r.database_id, r.epoch, r.kind, r.row_id`,
    chosenValues(options),
  )) {
    if (row['kind'] === 'otlp')
      telemetry.run(
        row['conversation_id']!,
        row['session_id']!,
        row['at'] ?? '1970-01-01 00:00:00',
        row['type']!,
        row['content']!,
      )
    else inserts.get(row['kind']!)?.run(...valuesOf(row['kind']!, row['content']!))
    if (++rows % 10_000 === 0) options.onProgress?.(rows)
  }
  return rows
}

function valuesOf(kind: string, content: string): (string | number | null)[] {
  const values = JSON.parse(content) as (string | number | null)[]
  if (kind === 'transcript_entries') values[3] = null // its parent has another id here
  return values.slice(1)
}

/** Row by row, by a cursor of the server: a fleet's record does not fit in memory. */
async function* each(client: pg.Client, sql: string, values: unknown[]): AsyncGenerator<Record<string, string | null>> {
  await client.query(`DECLARE copying NO SCROLL CURSOR FOR ${sql}`, values)
  for (;;) {
    const { rows } = await client.query<Record<string, string | null>>('FETCH 5000 FROM copying')
    if (rows.length === 0) break
    yield* rows
  }
  await client.query('CLOSE copying')
}
