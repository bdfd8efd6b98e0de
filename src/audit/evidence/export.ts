/** The record for other systems: one line at a time, oldest first, in flat memory. */
import { redact } from '../../hooks/secrets/redact.ts'
import { archivedConversations, momentsOf } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'
import { hookSays } from '../inspect/hook-answer.ts'

export const exportFormats = ['jsonl', 'ocsf', 'csv'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportedRow {
  readonly at: string
  readonly kind: 'call' | 'permission' | 'hook' | 'event'
  readonly agent: string
  readonly session: string
  readonly conversation: string
  readonly project: string
  readonly tool: string | null
  readonly tool_use_id: string | null
  readonly decision: string | null
  readonly reason: string | null
  readonly detail: string | null
}

/** Content (prompts, inputs, outputs, and reasons that quote them) is left out unless `content`. */
export function* exportRows(db: ReadDb, { since = '', content = false } = {}): Generator<ExportedRow> {
  const moment = momentsOf(db, () => archivedConversations(db, since))
  const kept = (text: string, name: string) => (content ? `${text} AS ${name}` : `NULL AS ${name}`)
  // what belongs to no session is exported too
  const bySession = `LEFT JOIN sessions s ON s.session_id = t.session_id LEFT JOIN conversations c ON c.id = s.conversation_id ${importOf}`
  const byConversation = `LEFT JOIN conversations c ON c.id = t.conversation_id ${importOf}`
  const about = `t.id, coalesce(t.session_id, '') AS session, coalesce(c.id, '') AS conversation, coalesce(c.project_dir, '') AS project,
    coalesce(i.agent, 'ona') AS agent`
  const sources: [ExportedRow['kind'], keyof typeof times, string][] = [
    [
      'permission',
      'tool_permission_log',
      `SELECT t.created_at AS at, ${about}, t.tool_name AS tool, t.tool_use_id, t.decision,
         iif(json_valid(t.reason_json), t.reason_json ->> 'by', NULL) AS reason, ${kept('t.reason_json', 'detail')}
       FROM tool_permission_log t ${bySession} WHERE t.created_at >= ?1 AND t.id > ?2 ORDER BY t.id LIMIT ?3`,
    ],
    [
      'hook',
      'hook_invocations',
      `SELECT replace(substr(t.started_at, 1, 19), 'T', ' ') AS at, ${about}, t.tool_name AS tool, t.tool_use_id,
         NULL AS decision, t.hook_event AS event, t.hook_event AS reason, ${kept('t.stdout_text', 'detail')}, t.exit_code AS exitCode,
         t.stdout_text AS stdout, t.stderr_text AS stderr, t.skipped_reason AS skipped FROM hook_invocations t ${byConversation}
       WHERE replace(substr(t.started_at, 1, 19), 'T', ' ') >= ?1 AND t.id > ?2 ORDER BY t.id LIMIT ?3`,
    ],
    [
      'event',
      'events',
      `SELECT t.timestamp AS at, ${about}, NULL AS tool, NULL AS tool_use_id, NULL AS decision, t.event_type AS reason,
         ${content ? 't.detail' : "iif(t.event_type IN ('model_reply', 'phase', 'plan_approved', 'sign_off', 'turn_end'), t.detail, NULL)"} AS detail FROM events t ${byConversation} WHERE t.timestamp >= ?1 AND t.id > ?2 ORDER BY t.id LIMIT ?3`,
    ],
    [
      'call',
      'transcript_entries',
      `SELECT t.created_at AS at, ${about}, NULL AS tool, t.tool_use_id, iif(t.payload_json ->> 'is_error', 'error', 'ok') AS decision,
         NULL AS reason, ${kept("t.payload_json ->> 'content'", 'detail')} FROM transcript_entries t ${bySession}
       WHERE t.entry_type = 'tool_result' AND json_valid(t.payload_json) AND t.created_at >= ?1 AND t.id > ?2 ORDER BY t.id LIMIT ?3`,
    ],
  ]
  for (const [kind, table, sql] of sources)
    for (const row of paged<Stored>(db, moment, sql, since, () => firstSince(db, table, since))) {
      const { at, agent, session, conversation, project, tool, tool_use_id, reason, detail } = row
      const decision = kind === 'hook' ? hookDecision(row) : row.decision
      const shown = { reason: reason && redact(reason), detail: detail && redact(detail) }
      yield { at, kind, agent, session, conversation, project, tool, tool_use_id, decision, ...shown }
    }
}

type Stored = Omit<ExportedRow, 'kind'> & Parameters<typeof hookSays>[0] & { readonly id: number }

/** A hook denies by its exit code or by what it printed. */
function hookDecision(row: Stored): string {
  const { says } = hookSays(row)
  if (says === 'not asked') return 'skipped'
  return says === 'no opinion' || says === 'answered' || says === 'changed' ? 'pass' : says
}

const importOf = 'LEFT JOIN ona_imports i ON i.session_id = t.session_id'

/**
 * The first row that may be of this time or later, so that older ones are not read. Not by the times of rows, which do not grow with
 * their ids: imported rows are added late. A conversation was active when its rows were added, or, during a long call, within a day.
 * Of an old session that was resumed only the new rows count: those of everyone else lie between.
 */
export function firstSince(db: ReadDb, table: keyof typeof times, since: string): number {
  if (since === '') return 0
  const ofSessions = `SELECT min((SELECT min(id) FROM ${table} t WHERE t.session_id = s.session_id AND ${times[table]} >= ?1)) AS id
    FROM conversations c CROSS JOIN sessions s ON s.conversation_id = c.id WHERE c.last_active >= datetime(?1, '-1 day')`
  const outside = 'SELECT min(id) FROM events WHERE session_id IS NULL AND timestamp >= ?1'
  const { first } = db.get<{ first: number | null }>(
    `SELECT min(id) AS first FROM (${ofSessions}${table === 'events' ? ` UNION ALL ${outside}` : ''})`,
    since,
  )!
  return first ?? Number.MAX_SAFE_INTEGER
}

const times = {
  tool_permission_log: 't.created_at',
  hook_invocations: "replace(substr(t.started_at, 1, 19), 'T', ' ')",
  events: 't.timestamp',
  transcript_entries: 't.created_at',
}

/** Between pages nothing of the file is held, however slowly the rows are taken: the write-ahead log can be reset. */
function* paged<Row extends { id: number }>(
  db: ReadDb,
  moment: ReturnType<typeof momentsOf>,
  sql: string,
  since: string,
  first: () => number,
): Generator<Row> {
  for (let after = moment(first) - 1; ; ) {
    const last = after
    const rows = moment(() => db.all<Row>(sql, since, last, pageRows))
    yield* rows
    if (rows.length < pageRows) return
    after = rows.at(-1)!.id
  }
}
const pageRows = 500

const columns = [
  'at',
  'kind',
  'agent',
  'session',
  'conversation',
  'project',
  'tool',
  'tool_use_id',
  'decision',
  'reason',
  'detail',
] as const

export const exportHead: Record<ExportFormat, string> = { jsonl: '', ocsf: '', csv: `${columns.join(',')}\r\n` }

export const exportLine: Record<ExportFormat, (row: ExportedRow) => string> = {
  jsonl: (row) => `${JSON.stringify(row)}\n`,
  csv: (row) => `${columns.map((name) => cell(row[name])).join(',')}\r\n`,
  ocsf: (row) => `${JSON.stringify(ocsf(row))}\n`,
}

/** RFC 4180; a cell that a spreadsheet would take for a formula is made text. */
function cell(value: string | null): string {
  if (value === null) return ''
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** OCSF 1.3, class API Activity (6003): an agent's call is an API operation that was or was not authorised. */
function ocsf(row: ExportedRow): object {
  const denied = row.decision === 'deny'
  const failed = denied || row.decision === 'error' || row.decision === 'failed'
  return {
    class_uid: 6003,
    class_name: 'API Activity',
    category_uid: 6,
    activity_id: 99,
    activity_name: row.kind,
    type_uid: 600399,
    severity_id: denied ? 3 : 1,
    status_id: failed ? 2 : 1,
    status: failed ? 'Failure' : 'Success',
    time: Date.parse(`${row.at.replace(' ', 'T')}Z`),
    message: row.reason ?? row.kind,
    metadata: { version: '1.3.0', product: { name: 'ona', vendor_name: 'ona' }, uid: row.tool_use_id ?? row.session },
    actor: { app_name: row.agent, session: { uid: row.session } },
    api: {
      operation: row.tool ?? row.reason ?? row.kind,
      ...(row.decision && { response: { message: row.decision } }),
    },
    src_endpoint: { name: row.project },
    unmapped: { conversation: row.conversation, detail: row.detail },
  }
}
