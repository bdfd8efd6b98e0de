/** A PostgreSQL that the test starts itself, the service on it, and nodes with records of their own. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import pg from 'pg'
import { nodeClient, userClient } from '../../src/fleet/node/client.ts'
import { type Identity, newKeys } from '../../src/fleet/node/identity.ts'
import { type PrivatePostgres, startPostgres } from '../../src/fleet/private-postgres.ts'
import { type Fleet, openFleet } from '../../src/fleet/server/database.ts'
import { addEnrolToken, enrol, type NewNode } from '../../src/fleet/server/node-access.ts'
import { type ServeOptions, serveFleet } from '../../src/fleet/server/serve.ts'
import { addToken, type UserRole } from '../../src/fleet/server/user-access.ts'
import { type Db, openDb } from '../../src/store/open.ts'
import { copyTemplate, testSettings } from './postgres-template.ts'

/** Call it at the top of a test file: one server for all its tests, and for each a database of its own. */
export function postgresForTests() {
  const folder = mkdtempSync(join(process.env['ONA_TEST_FOLDER'] ?? tmpdir(), 'ona-pg-'))
  let server: PrivatePostgres
  before(async () => {
    await copyTemplate(folder)
    server = await startPostgres(folder, { settings: testSettings })
  })
  after(async () => {
    await server?.stop('immediate')
    rmSync(folder, { recursive: true, force: true })
  })
  let databases = 0
  const database = async () => {
    const name = `fleet_${++databases}`
    await query(server.url(), `CREATE DATABASE ${name} TEMPLATE fleet_template STRATEGY FILE_COPY`)
    return server.url(name)
  }
  return {
    server: () => server,
    database,
    async fleet(t: TestContext, { withQueue = false, ...options }: ServeOptions & { withQueue?: boolean } = {}) {
      const url = await database()
      return fleetAt(t, url, { ...options, ...(withQueue && { queueUrl: url }) })
    },
  }
}

export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

export type TestFleet = Awaited<ReturnType<typeof fleetAt>>

async function fleetAt(t: TestContext, url: string, options: ServeOptions) {
  const fleet: Fleet = openFleet(url)
  const errors: unknown[] = []
  const service = await serveFleet(fleet, { onError: (cause) => errors.push(cause), ...options })
  t.after(async () => {
    await service.close()
    await fleet.close()
  })
  const token = (role: UserRole, actor = role as string, node?: string) =>
    fleet.as('admin', undefined, (sql) =>
      addToken(sql, { actor, role, via: 'static', by: 'test', ...(node && { node }) }),
    )
  return {
    url,
    fleet,
    service,
    errors,
    token,
    rows: <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) => query<Row>(url, text, values),
    user: async (role: UserRole, actor?: string) => userClient(service.url, await token(role, actor)),
    async enrolToken(wanted: Partial<NewNode> = {}) {
      const all = { person: 'ada', team: 'core', groups: [], ring: 'all' as const, worker: false, hours: 1, ...wanted }
      return fleet.as('admin', undefined, (sql) => addEnrolToken(sql, 'test', all))
    },
    async node(name = 'laptop', wanted: Partial<NewNode> = {}) {
      const keys = newKeys()
      const { node, publishers } = await enrol(
        fleet,
        { token: await this.enrolToken(wanted), name, publicKey: keys.publicKey },
        '',
      )
      const identity: Identity = {
        ...{ url: service.url, node, name, privateKey: keys.privateKey, publishers, withoutContent: false },
      }
      return { identity, client: nodeClient(identity) }
    },
  }
}

/** A record in a folder of its own. */
export function record(t: TestContext): Db {
  const folder = mkdtempSync(join(tmpdir(), 'ona-node-'))
  mkdirSync(folder, { recursive: true })
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return db
}

/** A conversation with so many calls, each a reply, a result, two events, a hook and a decision. */
export function converse(db: Db, id: string, calls: number, { secret = '' } = {}): void {
  const session = `session-${id}`
  db.transaction(() => {
    db.run('INSERT INTO conversations(id, project_dir) VALUES (?, ?)', id, '/repo')
    db.run('INSERT INTO sessions(session_id, conversation_id) VALUES (?, ?)', session, id)
    entry(db, session, 'user', { _t: 'user', content: [{ type: 'text', text: `do ${id} ${secret}` }] })
  })
  for (let n = 0; n < calls; n++) oneCall(db, id, n)
}

export function oneCall(db: Db, id: string, n: number): void {
  const session = `session-${id}`
  const use = `call-${id}-${n}`
  const input = { command: `echo ${n}` }
  db.transaction(() => {
    entry(db, session, 'assistant', { _t: 'assistant', content: [{ type: 'tool_use', id: use, name: 'Bash', input }] })
    const detail = { model: 'm', inputTokens: 10, outputTokens: 5, costUsd: 0.01 }
    event(db, id, 'model_reply', detail)
  })
  db.transaction(() => {
    event(db, id, 'tool_start', { tool_use_id: use, tool_name: 'Bash' })
    db.run(
      `INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command, tool_use_id, tool_name,
         input_json, exit_code, started_at) VALUES (?, ?, 'PreToolUse', 0, '', 'guard', ?, 'Bash', '{}', 0, '2026-11-15T10:00:00Z')`,
      ...[session, id, use],
    )
    db.run(
      "INSERT INTO tool_permission_log(session_id, tool_use_id, tool_name, decision, reason_json) VALUES (?, ?, 'Bash', ?, ?)",
      ...[session, use, n % 5 === 4 ? 'deny' : 'allow', JSON.stringify({ by: n % 5 === 4 ? 'rule' : 'person' })],
    )
    entry(db, session, 'tool_result', { _t: 'tool_result', tool_use_id: use, content: `${n}`, is_error: false }, use)
  })
}

function entry(db: Db, session: string, type: string, payload: object, use: string | null = null): void {
  db.run(
    `INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id)
     VALUES (?1, (SELECT coalesce(max(sequence) + 1, 0) FROM transcript_entries WHERE session_id = ?1), ?2, ?3, ?4)`,
    ...[session, type, JSON.stringify(payload), use],
  )
}

const event = (db: Db, conversation: string, type: string, detail: object) =>
  db.run(
    'INSERT INTO events(conversation_id, session_id, event_type, detail) VALUES (?, ?, ?, ?)',
    ...[conversation, `session-${conversation}`, type, JSON.stringify(detail)],
  )
