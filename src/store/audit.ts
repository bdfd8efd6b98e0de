/** The audit: which hooks ran, what was permitted, what happened. */
import type { Invocation } from '../hooks/plane.ts'
import { touchConversation } from './conversations.ts'
import type { Db, ReadDb, SqlValue } from './open.ts'
import { storable } from './secrets.ts'
import { withTexts } from './session/stored-once.ts'

export interface PermissionRecord {
  readonly sessionId: string
  readonly toolUseId: string
  readonly toolName: string
  readonly decision: 'allow' | 'ask' | 'deny'
  /** Who decided (rule, mode, hook, person, operator) and why. */
  readonly reason: { readonly [key: string]: unknown }
}

export interface EventRecord {
  readonly conversationId: string
  readonly sessionId?: string | null
  readonly type: string
  /** Text is stored as it is, anything else as JSON. */
  readonly detail?: unknown
}

export interface StoredEvent {
  readonly id: number
  readonly conversationId: string
  readonly sessionId: string | null
  readonly timestamp: string
  readonly type: string
  readonly detail: string | null
}

export function recordHooks(
  db: Db,
  sessionId: string,
  conversationId: string,
  invocations: readonly Invocation[],
): void {
  if (invocations.length === 0) return
  db.transaction(() => {
    for (const each of invocations)
      db.run(
        `INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command,
           tool_use_id, tool_name, input_json, exit_code, stdout_text, stderr_text, started_at, completed_at, skipped_reason)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        sessionId,
        conversationId,
        each.event,
        each.ordinal,
        storable(each.matcher),
        storable(each.command),
        each.toolUseId,
        each.toolName,
        storable(each.inputJson),
        each.exitCode,
        maybe(each.stdout),
        maybe(each.stderr),
        each.startedAt,
        each.completedAt,
        each.skippedReason,
      )
  })
}

export function logPermission(db: Db, record: PermissionRecord): void {
  db.transaction(() =>
    db.run(
      'INSERT INTO tool_permission_log(session_id, tool_use_id, tool_name, decision, reason_json) VALUES (?, ?, ?, ?, ?)',
      record.sessionId,
      record.toolUseId,
      record.toolName,
      record.decision,
      storable(JSON.stringify(record.reason)),
    ),
  )
}

export function addEvent(db: Db, { conversationId, sessionId = null, type, detail }: EventRecord): number {
  const text =
    detail === undefined || detail === null ? null : typeof detail === 'string' ? detail : JSON.stringify(detail)
  const sql = 'INSERT INTO events(conversation_id, session_id, event_type, detail) VALUES (?, ?, ?, ?)'
  return db.transaction(() => {
    if (betweenTurns.has(type)) touchConversation(db, conversationId)
    return db.run(sql, conversationId, sessionId, type, maybe(text)).lastId
  })
}

/** What the user does beside a turn, perhaps days after the last one: an export finds new rows by the activity of conversations. */
const betweenTurns: ReadonlySet<string> = new Set([
  ...['approval_decided', 'operator_shell', 'permission_rules', 'model_changed', 'login', 'rewind'],
  ...['hook_added', 'hook_removed'],
])

/** Newest last. */
export function listEvents(
  db: Db,
  filter: { conversationId?: string; sessionId?: string; type?: string; limit?: number } = {},
): StoredEvent[] {
  const { limit = 1000, ...equal } = filter
  const sql = `SELECT id, conversation_id AS conversationId, session_id AS sessionId, timestamp, event_type AS type, detail
    FROM events`
  return newestLast(db, sql, { ...equal }, limit)
}

export interface StoredInvocation extends Invocation {
  readonly id: number
  readonly sessionId: string
  readonly conversationId: string
}

/** Newest last. */
export function listHookInvocations(
  db: ReadDb,
  filter: {
    sessionId?: string
    conversationId?: string
    event?: string
    toolName?: string
    toolUseId?: string
    limit?: number
  } = {},
): StoredInvocation[] {
  const { limit = 1000, ...equal } = filter
  if (equal.toolName !== undefined && equal.event === undefined && !equal.sessionId && !equal.conversationId)
    return eventsOfTool(db, equal.toolName)
      .flatMap((event) => listHookInvocations(db, { ...filter, event }))
      .sort((a, b) => a.id - b.id)
      .slice(-limit)
  const sql = `SELECT id, session_id AS sessionId, conversation_id AS conversationId, hook_event AS event,
      hook_ordinal AS ordinal, matcher, command, tool_use_id AS toolUseId, tool_name AS toolName, input_json AS inputJson,
      exit_code AS exitCode, stdout_text AS stdout, stderr_text AS stderr, started_at AS startedAt,
      completed_at AS completedAt, skipped_reason AS skippedReason
    FROM hook_invocations`
  const rows = newestLast<StoredInvocation>(db, sql, { ...equal }, limit)
  return rows.map((row) => ({ ...row, inputJson: withTexts(db, row.sessionId, row.inputJson) }))
}

/** The events at which hooks ran on calls of a tool: one step of the index for each, however many rows there are. */
const eventsOfTool = (db: ReadDb, tool: string): string[] =>
  db
    .all<{ event: string }>(
      `WITH RECURSIVE found(event) AS (
         SELECT min(hook_event) FROM hook_invocations WHERE tool_name = ?1
         UNION ALL SELECT (SELECT min(hook_event) FROM hook_invocations WHERE tool_name = ?1 AND hook_event > event)
         FROM found WHERE event IS NOT NULL)
       SELECT event FROM found WHERE event IS NOT NULL`,
      tool,
    )
    .map(({ event }) => event)

/** `filter` by the names that `select` gives its columns. */
function newestLast<Row>(db: ReadDb, select: string, filter: Record<string, string | undefined>, limit: number): Row[] {
  const asked = Object.entries(filter).filter((pair): pair is [string, string] => pair[1] !== undefined)
  // a session or a conversation narrows best: the planner must not prefer an index of another column
  const narrow = asked.find(([name]) => name === 'sessionId') ?? asked.find(([name]) => name === 'conversationId')
  const where = asked.map((pair) => `${narrow && pair !== narrow ? '+' : ''}${pair[0]} = ?`)
  const values: SqlValue[] = [...asked.map(([, value]) => value), limit]
  const condition = where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''
  // which rows, by an index alone where it can be; only those are read
  const newest = `SELECT id FROM (${select}) ${condition} ORDER BY id DESC LIMIT ?`
  return db.all<Row>(`${select} WHERE id IN (${newest}) ORDER BY id`, ...values)
}

const maybe = (text: string | null): string | null => (text === null ? null : storable(text))
