/** The tables of a fleet into those of one record. */
import type pg from 'pg'
import { chainedTables } from '../store/chain/chain.ts'

export interface CopyOptions {
  /** Conversations that were active since then. */
  readonly since?: Date
  readonly conversation?: string
  /** What the copy is for: the access log says so. */
  readonly purpose: string
  onProgress?(rows: number): void
}

type Sqlite = InstanceType<typeof import('node:sqlite')['DatabaseSync']>

/** The file, with a table that says which node and team a conversation is of. */
export function openCopy(path: string): Sqlite {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF;
    CREATE TABLE ona_fleet_conversations(id TEXT PRIMARY KEY, node TEXT NOT NULL, team TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX ona_fleet_nodes ON ona_fleet_conversations(node);
    CREATE INDEX ona_fleet_teams ON ona_fleet_conversations(team)`)
  return db
}

type Kind = 'conversation' | 'session'

/**
 * An id belongs to the first node that it is met at; at any other it gets that node's id, so that no node can write into a
 * conversation of another. Ids are made at random: two nodes with one id are somebody's doing, or a copied file.
 */
export type Names = (kind: Kind, id: string, node: string, database: string) => string

export function ownNames(): Names {
  const owners = { conversation: new Map<string, string>(), session: new Map<string, string>() }
  return (kind, id, node, database) => {
    const key = `${node}/${database}`
    const owner = owners[kind].get(id)
    if (owner === undefined) owners[kind].set(id, key)
    return owner === undefined || owner === key ? id : `${id}@${node}/${database.slice(0, 8)}`
  }
}

const chosen = `(c.last_active >= $1 AND ($2::text IS NULL OR c.id = $2))`
const chosenValues = ({ since, conversation }: CopyOptions) => [since ?? new Date(0), conversation ?? null]
export const sqlTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')`

export async function copyConversations(
  client: pg.Client,
  db: Sqlite,
  names: Names,
  options: CopyOptions,
): Promise<void> {
  const conversation = db.prepare(
    'INSERT OR IGNORE INTO conversations(id, project_dir, created_at, last_active, phase) VALUES (?, ?, ?, ?, ?)',
  )
  const owner = db.prepare('INSERT OR IGNORE INTO ona_fleet_conversations(id, node, team) VALUES (?, ?, ?)')
  const name = db.prepare("INSERT OR IGNORE INTO state(conversation_id, key, value) VALUES (?, 'name', ?)")
  const session = db.prepare('INSERT OR IGNORE INTO sessions(session_id, conversation_id, started_at) VALUES (?, ?, ?)')
  const imported = db.prepare(
    "INSERT OR IGNORE INTO ona_imports(session_id, agent, source_id, file) VALUES (?, ?, ?, '')",
  )
  const sub = db.prepare(
    'INSERT OR IGNORE INTO ona_subagents(session_id, parent_session_id, agent_id, agent_type) VALUES (?, ?, ?, ?)',
  )
  db.exec('BEGIN')
  for await (const row of each(
    client,
    `SELECT c.id, c.node_id, c.database_id, n.name AS node, n.team, n.name || ':' || c.project_dir AS project, c.title, c.phase, c.agent,
       ${sqlTime('coalesce(c.created_at, c.last_active)')} AS created, ${sqlTime('c.last_active')} AS active
     FROM ona_fleet.conversations c JOIN ona_fleet.nodes n ON n.id = c.node_id WHERE ${chosen}`,
    chosenValues(options),
  )) {
    const id = names('conversation', row['id']!, row['node_id']!, row['database_id']!)
    conversation.run(id, row['project']!, row['created']!, row['active']!, row['phase']!)
    owner.run(id, row['node']!, row['team']!)
    if (row['title']) name.run(id, row['title'])
    // telemetry knows sessions only
    if (row['agent'] !== 'ona') session.run(id, id, row['created']!)
  }
  for await (const row of each(
    client,
    `SELECT s.node_id, s.database_id, s.session_id, s.conversation_id, s.started_at, s.parent_id, s.agent_id, s.agent_type, s.imported_from
     FROM ona_fleet.sessions s JOIN ona_fleet.conversations c ON c.node_id = s.node_id AND c.database_id = s.database_id
       AND c.id = s.conversation_id WHERE ${chosen} ORDER BY s.started_at`,
    chosenValues(options),
  )) {
    const [node, database] = [row['node_id']!, row['database_id']!]
    const own = names('session', row['session_id']!, node, database)
    session.run(own, names('conversation', row['conversation_id']!, node, database), row['started_at']!)
    if (row['parent_id'])
      sub.run(own, names('session', row['parent_id'], node, database), row['agent_id'] ?? '', row['agent_type'] ?? '')
    if (row['imported_from']) imported.run(own, row['imported_from'], own)
  }
  db.exec('COMMIT')
}

const recorded = chainedTables.filter(({ name }) => name !== 'ona_tombstones')

/** Rows get new ids, in the order of each node: two nodes have the same. Each batch is a transaction, so that others can read. */
export async function copyRows(client: pg.Client, db: Sqlite, names: Names, options: CopyOptions): Promise<number> {
  const inserts = new Map(
    recorded.map(({ name, columns }) => {
      const own = columns.split(', ').slice(1)
      return [
        name as string,
        db.prepare(`INSERT OR IGNORE INTO ${name}(${own.join(', ')}) VALUES (${own.map(() => '?').join(', ')})`),
      ]
    }),
  )
  const telemetry = db.prepare(
    'INSERT INTO events(conversation_id, session_id, timestamp, event_type, detail) VALUES (?, ?, ?, ?, ?)',
  )
  let rows = 0
  for await (const batch of batches(
    client,
    `SELECT r.node_id, r.database_id, r.kind, r.content, r.type, r.session_id, r.conversation_id, ${sqlTime('r.at')} AS at
     FROM ona_fleet.rows r JOIN ona_fleet.conversations c ON c.node_id = r.node_id AND c.database_id = r.database_id AND c.id = r.conversation_id
     LEFT JOIN ona_fleet.streams s ON s.node_id = r.node_id AND s.database_id = r.database_id
     WHERE ${chosen} AND r.epoch = coalesce(s.epoch, 1) AND r.state <> 'erased'
     ORDER BY r.node_id, r.database_id, r.epoch, r.kind, r.row_id`,
    chosenValues(options),
  )) {
    db.exec('BEGIN')
    for (const row of batch) {
      const name = (kind: Kind, id: string) => names(kind, id, row['node_id']!, row['database_id']!)
      if (row['kind'] === 'otlp')
        telemetry.run(
          ...[name('conversation', row['conversation_id']!), name('conversation', row['session_id']!)],
          ...[row['at'] ?? '1970-01-01 00:00:00', row['type']!, row['content']!],
        )
      else {
        const values = valuesOf(row['kind']!, row['content']!, name)
        if (values) inserts.get(row['kind']!)!.run(...values)
      }
    }
    db.exec('COMMIT')
    rows += batch.length
    options.onProgress?.(rows)
  }
  return rows
}

/** Where in a row its names are. */
const places = new Map(
  recorded.map(({ name, columns }) => {
    const at = (column: string) => columns.split(', ').indexOf(column)
    return [
      name as string,
      {
        ...{ session: at('session_id'), conversation: at('conversation_id'), parent: at('parent_entry_id') },
        count: columns.split(', ').length,
      },
    ]
  }),
)

type Value = string | number | null

/** Undefined: what a node sent is not a row of that table; the fleet's own tables show it, with its fault. */
function valuesOf(kind: string, content: string, name: (kind: Kind, id: string) => string): Value[] | undefined {
  const at = places.get(kind)
  const values = at && parsed(content, at.count)
  if (!values) return undefined
  for (const each of ['session', 'conversation'] as const) {
    const value = values[at[each]]
    if (typeof value === 'string') values[at[each]] = name(each, value)
  }
  if (at.parent >= 0) values[at.parent] = null // its parent has another id here
  return values.slice(1)
}

function parsed(content: string, count: number): Value[] | undefined {
  try {
    const found: unknown = JSON.parse(content)
    const isRow = Array.isArray(found) && found.length === count && found.every(isValue)
    return isRow ? (found as Value[]) : undefined
  } catch {
    return undefined
  }
}

const isValue = (value: unknown): boolean =>
  value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))

type Row = Record<string, string | null>

/** By a cursor of the server: a fleet's record does not fit in memory. */
async function* batches(client: pg.Client, sql: string, values: unknown[]): AsyncGenerator<Row[]> {
  await client.query(`DECLARE copying NO SCROLL CURSOR FOR ${sql}`, values)
  for (;;) {
    const { rows } = await client.query<Row>('FETCH 2000 FROM copying')
    if (rows.length === 0) break
    yield rows
  }
  await client.query('CLOSE copying')
}

async function* each(client: pg.Client, sql: string, values: unknown[]): AsyncGenerator<Row> {
  for await (const batch of batches(client, sql, values)) yield* batch
}
