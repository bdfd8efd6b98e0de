/**
 * What the record says since a cursor, as OpenTelemetry signals: spans, log events and measures by the GenAI semantic
 * conventions (1.37). Plain data; ids are made from the rows, so that sending again sends the same.
 */
import { redact } from '../../hooks/secrets/redact.ts'
import type { ReadDb } from '../../store/open.ts'
import { readTraceparent } from '../../store/telemetry.ts'
import { type HookRow, hookAnswer, hookColumns } from '../inspect/hook-answer.ts'
import { TurnEnds } from './turn-ends.ts'

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
  /** A request to another program. */
  readonly isClient?: true
  readonly attributes: Attributes
}

export interface LogData {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly atMs: number
  readonly attributes: Attributes
}

/** One value of a histogram. */
export interface MeasureData {
  readonly metric: Metric
  readonly atMs: number
  readonly value: number
  readonly attributes: Attributes
}

export type Metric = 'gen_ai.client.token.usage' | 'gen_ai.client.operation.duration'

export type Attributes = Record<string, string | number | boolean | readonly string[]>

export interface Signals {
  readonly spans: readonly SpanData[]
  readonly logs: readonly LogData[]
  readonly measures: readonly MeasureData[]
  readonly cursor: Cursor
  /** There is more to send after these. */
  readonly more: boolean
}

export interface SignalOptions {
  readonly limit?: number
  /** Inputs and outputs too; secrets are redacted. */
  readonly content?: boolean
  /** The event names of Claude Code's telemetry beside ours, for dashboards that read those. */
  readonly claudeNames?: boolean
}

export function readSignals(
  db: ReadDb,
  cursor: Cursor,
  options: SignalOptions = {},
  ends: TurnEnds = new TurnEnds(),
): Signals {
  ends.begin()
  const { limit = 500, content = false, claudeNames = false } = options
  const spans: SpanData[] = []
  const logs: LogData[] = []
  const measures: MeasureData[] = []
  const traces = tracesOf(db)
  const took = (atMs: number, durationMs: number, attributes: Attributes) =>
    measures.push({ metric: 'gen_ai.client.operation.duration', atMs, value: durationMs / 1000, attributes })
  const log = (name: string, claudeName: string, data: Omit<LogData, 'name'>) => {
    logs.push({ ...data, name })
    if (claudeNames) logs.push({ ...data, name: `claude_code.${claudeName}` })
  }

  const events = db.all<EventRow>(eventSql, cursor.events, limit)
  for (const row of events) {
    const detail = parsed(row.detail)
    const trace = traces(row.session)
    const turn = ends.beforeEvent(db, row.session, row.id)
    const base = { traceId: trace.id, atMs: ms(row.at) }
    const about = {
      'gen_ai.conversation.id': row.conversation,
      'session.id': row.session,
      'gen_ai.agent.name': row.agent,
    }
    if (row.type === 'model_reply') {
      const model = text(detail['model'])
      const shared = {
        ...{ ...about, 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model, 'gen_ai.response.model': model },
        'gen_ai.provider.name': providers[text(detail['provider'])] ?? (text(detail['provider']) || row.agent),
      }
      const counts = { input: number(detail['inputTokens']), output: number(detail['outputTokens']) }
      const duration = number(detail['durationMs'])
      const spanId = idOf(`event ${row.id} ${row.session}`)
      spans.push({
        ...{ name: `chat ${model}`.trim(), traceId: base.traceId, spanId, parentId: turnOf(row.session, turn) },
        ...{ startMs: base.atMs - duration, endMs: base.atMs, isError: detail['stop'] === 'error', isClient: true },
        attributes: {
          ...shared,
          'gen_ai.usage.input_tokens': counts.input,
          'gen_ai.usage.output_tokens': counts.output,
          ...(text(detail['stop']) && { 'gen_ai.response.finish_reasons': [text(detail['stop'])] }),
          ...(typeof detail['costUsd'] === 'number' && { 'ona.cost.usd': detail['costUsd'] }),
        },
      })
      for (const [type, value] of Object.entries(counts))
        measures.push({
          ...{ metric: 'gen_ai.client.token.usage', atMs: base.atMs, value },
          attributes: { ...forMetrics(shared), 'gen_ai.token.type': type },
        })
      if (duration > 0) took(base.atMs, duration, forMetrics(shared))
      if (claudeNames)
        log('ona.api_request', 'api_request', {
          ...base,
          spanId,
          attributes: {
            ...{ ...shared, model, input_tokens: counts.input, output_tokens: counts.output, duration_ms: duration },
            ...{ cost_usd: number(detail['costUsd']), cache_read_tokens: number(detail['cacheReadTokens']) },
          },
        })
    } else if (row.type === 'turn_end') {
      const started = ends.lastEnd(db, row.session, turn) ?? row.startedAt
      spans.push({
        ...{ name: `invoke_agent ${row.agent}`, traceId: base.traceId, spanId: turnOf(row.session, turn) },
        ...{ parentId: trace.parent, startMs: Math.min(ms(started), base.atMs), endMs: base.atMs },
        isError: detail['stop'] === 'error',
        attributes: { ...about, 'gen_ai.operation.name': 'invoke_agent', 'ona.stop': text(detail['stop']) },
      })
    } else {
      const spanId = turnOf(row.session, turn)
      if (row.type === 'session_start' && detail['startsTrace'] === true && trace.parent !== undefined)
        spans.push({
          ...{ name: 'session', traceId: base.traceId, spanId: trace.parent, parentId: undefined },
          ...{ startMs: base.atMs, endMs: base.atMs, isError: false, attributes: about },
        })
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
    const turn = ends.beforeTime(db, row.session, row.at)
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
    const ids = { traceId: traces(row.session).id, spanId: callSpan(row.session, row.call) }
    const startMs = Math.min(ms(row.startedAt ?? row.at), end)
    spans.push({
      ...{ name: `execute_tool ${row.tool ?? 'unknown'}`, ...ids, parentId: turnOf(row.session, turn) },
      ...{ startMs, endMs: end, isError, attributes },
    })
    took(end, end - startMs, forMetrics(attributes))
    if (claudeNames)
      log('ona.tool_result', 'tool_result', { ...ids, atMs: end, attributes: { ...attributes, success: !isError } })
  }

  const permissions = db.all<PermissionRow>(permissionSql, cursor.permissions, limit)
  const hooks = db.all<VerdictRow>(hookSql, cursor.hooks, limit)
  const policy = permissions.length + hooks.length > 0 ? policyDigest(db) : ''
  for (const row of permissions) {
    const reason = parsed(row.reason)
    log('ona.tool_approval', 'tool_decision', {
      ...{ traceId: traces(row.session).id, spanId: callSpan(row.session, row.call), atMs: ms(row.at) },
      attributes: {
        ...{ 'gen_ai.tool.name': row.tool, 'gen_ai.tool.call.id': row.call, 'session.id': row.session },
        ...{ decision: row.decision, source: text(reason['by']) },
        // the sentence names the call's input; the rule does not
        ...(text(reason['rule']) && { rule: brief(text(reason['rule'])) }),
        ...(content && { reason: brief(text(reason['reason'])) }),
        ...(row.own && { 'ona.policy.sha256': policy }),
      },
    })
  }
  for (const row of hooks) {
    const { says, why, ms: tookMs } = hookAnswer(row)
    log('ona.hook_verdict', 'hook', {
      traceId: traces(row.session).id,
      spanId: row.toolUseId ? callSpan(row.session, row.toolUseId) : turnOf(row.session, 0),
      atMs: Date.parse(row.startedAt) || 0,
      attributes: {
        ...{ 'ona.hook.event': row.event, 'ona.hook.id': redact(row.command), 'session.id': row.session },
        ...{ decision: says, ...(reasoned.has(says) && { reason: brief(why) }) },
        ...(says === 'failed' && { 'process.exit.code': row.exitCode ?? -1 }),
        ...(tookMs !== null && { duration_ms: tookMs }),
        ...(row.own && { 'ona.policy.sha256': policy }),
        ...(row.toolName && { 'gen_ai.tool.name': row.toolName }),
        ...(content && { stdout: redact((row.stdout ?? '').slice(0, 8000)) }),
      },
    })
  }

  return {
    ...{ spans, logs, measures },
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
}

const eventSql = `SELECT t.id, t.event_type AS type, t.timestamp AS at, t.detail, t.session_id AS session, t.conversation_id AS conversation,
    coalesce(i.agent, 'ona') AS agent, s.started_at AS startedAt
  FROM events t JOIN sessions s ON s.session_id = t.session_id LEFT JOIN ona_imports i ON i.session_id = t.session_id
  WHERE t.id > ? ORDER BY t.id LIMIT ?`

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
}

const resultSql = `SELECT t.id, t.created_at AS at, t.tool_use_id AS call, t.payload_json AS payload, t.session_id AS session,
    s.conversation_id AS conversation, coalesce(i.agent, 'ona') AS agent,
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
  /** Decided by ona, and not imported from another agent's history. */
  readonly own: 0 | 1
}

const ownSql = 'session_id NOT IN (SELECT session_id FROM ona_imports) AS own'

const permissionSql = `SELECT id, created_at AS at, session_id AS session, tool_use_id AS call, tool_name AS tool, decision,
  reason_json AS reason, ${ownSql} FROM tool_permission_log WHERE id > ? ORDER BY id LIMIT ?`

type VerdictRow = HookRow & { readonly session: string; readonly own: 0 | 1 }

const hookSql = `SELECT ${hookColumns}, session_id AS session, ${ownSql} FROM hook_invocations WHERE id > ? ORDER BY id LIMIT ?`

/** Verdicts that have a reason; what a hook merely printed is content. */
const reasoned = new Set(['allow', 'ask', 'deny', 'not asked'])

/** The names of the conventions for the providers of the settings. */
const providers: Readonly<Record<string, string>> = {
  claude_code_subscription: 'anthropic',
  openai_compatible: 'openai',
  lm_studio_local: 'lm_studio',
}

/** Attributes with few values: a metric has no ids of calls and conversations. */
const forMetrics = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => metricKeys.has(name)))

const metricKeys = new Set(
  ['operation.name', 'provider.name', 'request.model', 'response.model', 'agent.name', 'tool.name'].map(
    (name) => `gen_ai.${name}`,
  ),
)

/** The trace of a session and the span above its turns: those that it was started with, or made from its id. */
function tracesOf(db: ReadDb): (session: string) => { readonly id: string; readonly parent: string | undefined } {
  const known = new Map<string, { id: string; parent: string | undefined }>()
  const find = (session: string, depth = 0): { id: string; parent: string | undefined } => {
    const above = depth < 20 ? db.get<{ id: string }>(parentSql, session)?.id : undefined
    if (above !== undefined) return { id: find(above, depth + 1).id, parent: turnOf(above, 0) }
    const given = readTraceparent(db.get<{ trace: string | null }>(givenSql, session)?.trace)
    return given
      ? { id: given.traceId, parent: given.spanId }
      : { id: hash(`session ${session}`).slice(0, 32), parent: undefined }
  }
  return (session) => {
    const trace = known.get(session) ?? find(session)
    known.set(session, trace)
    return trace
  }
}

const parentSql = 'SELECT parent_session_id AS id FROM ona_subagents WHERE session_id = ?'
const givenSql = `SELECT detail ->> 'traceparent' AS trace FROM events
  WHERE session_id = ? AND event_type = 'session_start' AND json_valid(detail) ORDER BY id LIMIT 1`

const hash = (name: string): string => process.getBuiltinModule('node:crypto').hash('sha256', name)
const idOf = (name: string): string => hash(name).slice(0, 16)
const turnOf = (session: string, turn: number): string => idOf(`turn ${turn} ${session}`)
const callSpan = (session: string, call: string): string => idOf(`call ${call} ${session}`)

const policyDigest = (db: ReadDb): string =>
  hash(db.get<{ json: string }>("SELECT json FROM settings_snapshot WHERE scope = 'effective'")?.json ?? '')

const ms = (sqlTime: string): number => Date.parse(`${sqlTime.replace(' ', 'T')}Z`) || 0
const brief = (reason: string): string => redact(reason.trim().slice(0, 1000))
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
