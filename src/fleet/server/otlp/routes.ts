/** OTLP/HTTP in: for agents that speak OpenTelemetry and nothing of ours. Their records become rows of the same tables. */
import { limits, sha256 } from '../../wire.ts'
import type { Fleet } from '../database.ts'
import { type Answer, type Asked, bodyOf, jsonOf, Refused } from '../request.ts'
import { forUser, type Route } from '../route.ts'
import type { User } from '../user-access.ts'
import { logsRequest, readProtobuf, tracesRequest } from './protobuf.ts'
import { type TelemetryRow, telemetryRows } from './records.ts'

const most = 20_000

const receive = async (fleet: Fleet, asked: Asked, { node }: User, fields: typeof logsRequest): Promise<Answer> => {
  if (node === null) throw new Refused(403, 'this token belongs to no node')
  const type = asked.headers['content-type']?.split(';')[0]?.trim()
  if (type !== 'application/json' && type !== 'application/x-protobuf')
    throw new Refused(415, 'OTLP is understood as application/json and application/x-protobuf')
  const body = type === 'application/json' ? await jsonOf(asked) : readProtobuf(await bodyOf(asked), fields)
  const rows = telemetryRows(body)
  if (rows.length > most) throw new Refused(413, `more than ${most} records; send smaller batches`)
  await store(fleet, node, rows)
  return type === 'application/json' ? { status: 200, body: {} } : { status: 200, text: '', type }
}

const options = { bodyBytes: limits.bodyBytes }

/** Agents that send logs send metrics too, and would repeat them: they are accepted, and not stored. */
const drop = async ({ headers }: Asked): Promise<Answer> =>
  headers['content-type']?.startsWith('application/json')
    ? { status: 200, body: {} }
    : { status: 200, text: '', type: 'application/x-protobuf' }

export const otlpRoutes: readonly Route[] = [
  forUser('telemetry', 'POST /v1/metrics', (_, asked) => drop(asked), options),
  forUser('telemetry', 'POST /v1/logs', ({ fleet }, asked, user) => receive(fleet, asked, user, logsRequest), options),
  forUser(
    'telemetry',
    'POST /v1/traces',
    ({ fleet }, asked, user) => receive(fleet, asked, user, tracesRequest),
    options,
  ),
]

/** A record that was sent twice is one row: an exporter sends again when it heard no answer. */
async function store(fleet: Fleet, node: string, rows: readonly TelemetryRow[]): Promise<void> {
  if (rows.length === 0) return
  await fleet.as('node', node, async (sql) => {
    await sql.query('UPDATE ona_fleet.nodes SET last_seen = now() WHERE id = $1', [node])
    for (const [agent, all] of Map.groupBy(rows, (row) => row.agent)) {
      const database = databaseOf(node, agent)
      const added = await sql.query<{ id: number }>(
        `INSERT INTO ona_fleet.rows(node_id, database_id, epoch, kind, row_id, link, session_id, conversation_id, at, type, tool_name,
           tool_use_id, decision, decided_by, is_error, tokens, cost_usd, state, content)
         SELECT $1, $2, 1, 'otlp', row_id, 0, session, session, at, type, tool, "toolUseId", decision, by, "isError", tokens, cost, state, content
         FROM json_to_recordset($3) AS new(row_id bigint, session text, at timestamptz, type text, tool text, "toolUseId" text,
           decision text, by text, "isError" boolean, tokens bigint, cost double precision, state text, content text)
         ON CONFLICT DO NOTHING RETURNING row_id AS id`,
        [node, database, JSON.stringify(all)],
      )
      const ids = new Set(added.rows.map(({ id }) => id))
      const fresh = all.filter(({ row_id }) => ids.has(row_id))
      await sql.query(
        `INSERT INTO ona_fleet.calls(node_id, database_id, epoch, session_id, conversation_id, tool_use_id, tool_name, target, at, row_id)
         SELECT $1, $2, 1, session, session, coalesce("toolUseId", row_id::text), tool, target, at, row_id FROM json_to_recordset($3)
           AS new(session text, "toolUseId" text, tool text, target text, at timestamptz, row_id bigint)`,
        [node, database, JSON.stringify(fresh.filter(({ tool, target }) => tool !== null && target !== null))],
      )
      await sql.query(
        `INSERT INTO ona_fleet.conversations AS old(node_id, database_id, id, project_dir, phase, agent, created_at, last_active, entries,
           prompts, calls, refused, hooks, tokens, cost_usd)
         SELECT $1, $2, session, '', 'idle', $4, min(at), coalesce(max(at), now()), count(*), count(*) FILTER (WHERE type LIKE '%user_prompt'),
           count(*) FILTER (WHERE target IS NOT NULL), count(*) FILTER (WHERE decision = 'deny'), count(*) FILTER (WHERE type LIKE '%hook%'),
           coalesce(sum(tokens), 0), sum(cost)
         FROM json_to_recordset($3) AS new(session text, at timestamptz, type text, target text, decision text, tokens bigint, cost double precision)
         GROUP BY session ORDER BY session
         ON CONFLICT (node_id, database_id, id) DO UPDATE SET last_active = greatest(old.last_active, excluded.last_active),
           entries = old.entries + excluded.entries, prompts = old.prompts + excluded.prompts, calls = old.calls + excluded.calls,
           refused = old.refused + excluded.refused, hooks = old.hooks + excluded.hooks, tokens = old.tokens + excluded.tokens,
           cost_usd = CASE WHEN old.cost_usd IS NULL AND excluded.cost_usd IS NULL THEN NULL
             ELSE coalesce(old.cost_usd, 0) + coalesce(excluded.cost_usd, 0) END`,
        [node, database, JSON.stringify(fresh), agent],
      )
    }
  })
}

function databaseOf(node: string, agent: string): string {
  const hex = sha256(`otlp ${node} ${agent}`).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
