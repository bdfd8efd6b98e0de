/**
 * What the record says since a cursor, as OpenTelemetry signals: spans, log events and token counts by the GenAI semantic
 * conventions (1.37). Plain data; ids are made from the rows, so that sending again sends the same.
 */
import { redact } from '../../hooks/redact.ts'
import type { ReadDb } from '../../store/open.ts'

export interface Cursor {
  /** The last row of each table that was sent. */
  readonly events: number
  readonly results: number
  readonly permissions: number
  readonly hooks: number
}

export interface SpanData {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly startMs: number
  readonly endMs: number
  readonly isError: boolean
  readonly attributes: Attributes
}

export interface LogData {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly atMs: number
  readonly attributes: Attributes
}

export interface TokenData {
  readonly atMs: number
  readonly tokens: number
  readonly attributes: Attributes
}

type Attributes = Record<string, string | number | boolean>

export interface Signals {
  readonly spans: readonly SpanData[]
  readonly logs: readonly LogData[]
  readonly tokens: readonly TokenData[]
  readonly cursor: Cursor
  /** There is more to send after these. */
  readonly more: boolean
}

export interface SignalOptions {
  readonly limit?: number
  /** Inputs, outputs and reasons too; secrets are redacted. */
  readonly content?: boolean
  /** The event names of Claude Code's telemetry beside ours, for dashboards that read those. */
  readonly claudeNames?: boolean
}

export function readSignals(db: ReadDb, cursor: Cursor, options: SignalOptions = {}): Signals {
  const { limit = 500, content = false, claudeNames = false } = options
  const spans: SpanData[] = []
  const logs: LogData[] = []
  const tokens: TokenData[] = []
  const log = (name: string, claudeName: string, data: Omit<LogData, 'name'>) => {
    logs.push({ ...data, name })
    if (claudeNames) logs.push({ ...data, name: `claude_code.${claudeName}` })
  }

  const events = db.all<EventRow>(eventSql, cursor.events, limit)
  for (const row of events) {
    const detail = parsed(row.detail)
    const base = { traceId: traceOf(row.session), atMs: ms(row.at) }
    const about = {
      'gen_ai.conversation.id': row.conversation,
      'session.id': row.session,
      'gen_ai.agent.name': row.agent,
    }
    if (row.type === 'model_reply') {
      const model = text(detail['model'])
      const shared = { ...about, 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model }
      const counts = { input: number(detail['inputTokens']), output: number(detail['outputTokens']) }
      const duration = number(detail['durationMs'])
      const spanId = idOf(`event ${row.id} ${row.session}`)
      spans.push({
        ...{ name: `chat ${model}`.trim(), traceId: base.traceId, spanId, parentId: turnOf(row.session, row.turn) },
        ...{ startMs: base.atMs - duration, endMs: base.atMs, isError: false },
        attributes: {
          ...shared,
          'gen_ai.usage.input_tokens': counts.input,
          'gen_ai.usage.output_tokens': counts.output,
        },
      })
      for (const [type, count] of Object.entries(counts))
        tokens.push({ atMs: base.atMs, tokens: count, attributes: { ...shared, 'gen_ai.token.type': type } })
      if (claudeNames)
        log('ona.api_request', 'api_request', {
          ...base,
          spanId,
          attributes: { ...shared, input_tokens: counts.input, output_tokens: counts.output },
        })
    } else if (row.type === 'turn_end') {
      const started = db.get<{ at: string | null }>(turnStartSql, row.session, row.id)?.at ?? row.startedAt
      spans.push({
        ...{
          name: `invoke_agent ${row.agent}`,
          traceId: base.traceId,
          spanId: turnOf(row.session, row.turn),
          parentId: undefined,
        },
        ...{ startMs: Math.min(ms(started), base.atMs), endMs: base.atMs, isError: detail['stop'] === 'error' },
        attributes: { ...about, 'gen_ai.operation.name': 'invoke_agent', 'ona.stop': text(detail['stop']) },
      })
    } else {
      const spanId = turnOf(row.session, row.turn)
      log(`ona.${row.type}`, row.type, {
        ...base,
        spanId,
        attributes: { ...about, ...(content && row.detail && { detail: redact(row.detail) }) },
      })
    }
  }

  const results = db.all<ResultRow>(resultSql, cursor.results, limit)
  for (const row of results) {
    const end = ms(row.at)
    const payload = parsed(row.payload)
    const isError = payload['is_error'] === true
    const attributes = {
      ...{
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': row.tool ?? 'unknown',
        'gen_ai.tool.call.id': row.call,
      },
      ...{ 'gen_ai.conversation.id': row.conversation, 'session.id': row.session, 'gen_ai.agent.name': row.agent },
      ...(content && { 'gen_ai.tool.call.result': redact(text(payload['content']).slice(0, 8000)) }),
    }
    const ids = { traceId: traceOf(row.session), spanId: callSpan(row.session, row.call) }
    spans.push({
      ...{ name: `execute_tool ${row.tool ?? 'unknown'}`, ...ids, parentId: turnOf(row.session, row.turn) },
      ...{ startMs: Math.min(ms(row.startedAt ?? row.at), end), endMs: end, isError, attributes },
    })
    if (claudeNames)
      log('ona.tool_result', 'tool_result', { ...ids, atMs: end, attributes: { ...attributes, success: !isError } })
  }

  const permissions = db.all<PermissionRow>(permissionSql, cursor.permissions, limit)
  const policy = permissions.length > 0 ? policyDigest(db) : ''
  for (const row of permissions) {
    const reason = parsed(row.reason)
    log('ona.tool_approval', 'tool_decision', {
      ...{ traceId: traceOf(row.session), spanId: callSpan(row.session, row.call), atMs: ms(row.at) },
      attributes: {
        ...{ 'gen_ai.tool.name': row.tool, 'gen_ai.tool.call.id': row.call, 'session.id': row.session },
        ...{ decision: row.decision, source: text(reason['by']), 'ona.policy.sha256': policy },
        ...(content && { reason: redact(text(reason['reason'])) }),
      },
    })
  }

  const hooks = db.all<HookRow>(hookSql, cursor.hooks, limit)
  for (const row of hooks)
    log('ona.hook_verdict', 'hook', {
      ...{
        traceId: traceOf(row.session),
        spanId: row.call ? callSpan(row.session, row.call) : turnOf(row.session, 0),
        atMs: Date.parse(row.at) || 0,
      },
      attributes: {
        ...{ 'ona.hook.event': row.event, 'ona.hook.id': redact(row.command), 'session.id': row.session },
        ...{ decision: row.skipped ? 'skipped' : row.exit === 2 ? 'deny' : row.exit === 0 ? 'pass' : 'failed' },
        ...(row.tool && { 'gen_ai.tool.name': row.tool }),
        ...(content && { stdout: redact((row.stdout ?? '').slice(0, 8000)) }),
      },
    })

  return {
    ...{ spans, logs, tokens },
    cursor: {
      events: events.at(-1)?.id ?? cursor.events,
      results: results.at(-1)?.id ?? cursor.results,
      permissions: permissions.at(-1)?.id ?? cursor.permissions,
      hooks: hooks.at(-1)?.id ?? cursor.hooks,
    },
    more: [events, results, permissions, hooks].some((rows) => rows.length === limit),
  }
}

interface EventRow {
  readonly id: number
  readonly type: string
  readonly at: string
  readonly detail: string | null
  readonly session: string
  readonly conversation: string
  readonly agent: string
  readonly startedAt: string
  readonly turn: number
}

const turns = (time: string): string =>
  `(SELECT count(*) FROM events d WHERE d.session_id = t.session_id AND d.event_type = 'turn_end' AND ${time})`

const eventSql = `SELECT t.id, t.event_type AS type, t.timestamp AS at, t.detail, t.session_id AS session, t.conversation_id AS conversation,
    coalesce(i.agent, 'ona') AS agent, s.started_at AS startedAt, ${turns('d.id < t.id')} AS turn
  FROM events t JOIN sessions s ON s.session_id = t.session_id LEFT JOIN ona_imports i ON i.session_id = t.session_id
  WHERE t.id > ? ORDER BY t.id LIMIT ?`

const turnStartSql = `SELECT max(timestamp) AS at FROM events WHERE session_id = ? AND event_type = 'turn_end' AND id < ?`

interface ResultRow {
  readonly id: number
  readonly at: string
  readonly call: string
  readonly payload: string
  readonly session: string
  readonly conversation: string
  readonly agent: string
  readonly tool: string | null
  readonly startedAt: string | null
  readonly turn: number
}

const resultSql = `SELECT t.id, t.created_at AS at, t.tool_use_id AS call, t.payload_json AS payload, t.session_id AS session,
    s.conversation_id AS conversation, coalesce(i.agent, 'ona') AS agent, ${turns('d.timestamp < t.created_at')} AS turn,
    coalesce(
      (SELECT iif(json_valid(a.payload_json), a.payload_json ->> 'name', NULL) FROM transcript_entries a
       WHERE a.session_id = t.session_id AND a.sequence BETWEEN t.sequence - 40 AND t.sequence AND a.entry_type = 'tool_use'
         AND a.tool_use_id = t.tool_use_id ORDER BY a.sequence DESC LIMIT 1),
      (SELECT b.value ->> 'name'
       FROM transcript_entries a, json_each(iif(json_valid(a.payload_json), a.payload_json, '{}'), '$.content') b
       WHERE a.session_id = t.session_id AND a.sequence BETWEEN t.sequence - 40 AND t.sequence AND a.entry_type = 'assistant'
         AND b.type = 'object' AND b.value ->> 'id' = t.tool_use_id ORDER BY a.sequence DESC LIMIT 1)) AS tool,
    (SELECT a.created_at FROM transcript_entries a WHERE a.session_id = t.session_id AND a.sequence < t.sequence
       AND a.entry_type IN ('assistant', 'tool_use') ORDER BY a.sequence DESC LIMIT 1) AS startedAt
  FROM transcript_entries t JOIN sessions s ON s.session_id = t.session_id LEFT JOIN ona_imports i ON i.session_id = t.session_id
  WHERE t.id > ? AND t.entry_type = 'tool_result' ORDER BY t.id LIMIT ?`

interface PermissionRow {
  readonly id: number
  readonly at: string
  readonly session: string
  readonly call: string
  readonly tool: string
  readonly decision: string
  readonly reason: string | null
}

const permissionSql = `SELECT id, created_at AS at, session_id AS session, tool_use_id AS call, tool_name AS tool, decision,
  reason_json AS reason FROM tool_permission_log WHERE id > ? ORDER BY id LIMIT ?`

interface HookRow {
  readonly id: number
  readonly at: string
  readonly session: string
  readonly call: string | null
  readonly tool: string | null
  readonly event: string
  readonly command: string
  readonly exit: number | null
  readonly stdout: string | null
  readonly skipped: string | null
}

const hookSql = `SELECT id, started_at AS at, session_id AS session, tool_use_id AS call, tool_name AS tool, hook_event AS event, command,
  exit_code AS exit, stdout_text AS stdout, skipped_reason AS skipped FROM hook_invocations WHERE id > ? ORDER BY id LIMIT ?`

const hash = (name: string): string => process.getBuiltinModule('node:crypto').hash('sha256', name)
const traceOf = (session: string): string => hash(`session ${session}`).slice(0, 32)
const idOf = (name: string): string => hash(name).slice(0, 16)
const turnOf = (session: string, turn: number): string => idOf(`turn ${turn} ${session}`)
const callSpan = (session: string, call: string): string => idOf(`call ${call} ${session}`)

const policyDigest = (db: ReadDb): string =>
  hash(db.get<{ json: string }>("SELECT json FROM settings_snapshot WHERE scope = 'effective'")?.json ?? '')

const ms = (sqlTime: string): number => Date.parse(`${sqlTime.replace(' ', 'T')}Z`) || 0
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

function parsed(json: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
