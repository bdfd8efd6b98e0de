/** The tool calls on record, each with its outcome, one after another: a long history is never in memory whole. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { bringArchived, dropArchived } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'

export interface RecordedCall {
  /** UTC, as the database writes it: `2026-11-15 08:23:00`. */
  readonly at: string
  readonly conversationId: string
  readonly sessionId: string
  readonly toolUseId: string
  readonly tool: string
  readonly input: JsonObject
  readonly projectDir: string
  /** Of a sub-agent's call: whose. */
  readonly agent: { readonly id: string; readonly type: string } | null
  /** The agent whose history it came from; `ona` for our own. */
  readonly source: string
  /** Null: it was never judged, because its input was invalid or the turn was interrupted. */
  readonly was: Was | null
}

export interface Was {
  /** What hooks and rules said. What a user then answered is not theirs. */
  readonly decision: 'allow' | 'ask' | 'deny'
  /** hook, gate, rule, person, operator, nobody; for what was simply allowed, nothing. */
  readonly by: string
  /** What became of it in the end, where that is on record. */
  readonly ended?: 'allow' | 'deny'
}

export interface CallFilter {
  /** `2026-10-15 00:00:00` */
  readonly since?: string
  readonly conversation?: string
  readonly tool?: string
  /** Agents whose histories count, `ona` among them. */
  readonly agents?: readonly string[]
  /** Only calls made in this folder or below it. */
  readonly project?: string
}

/** Session by session, the oldest first; within one, in the order in which the calls ended. Unfinished calls are left out. */
export function* recordedCalls(db: ReadDb, filter: CallFilter = {}): Generator<RecordedCall> {
  for (const session of sessionsOf(db, filter)) {
    bringArchived(db, [session.conversationId])
    yield* callsOf(db, session, filter)
    dropArchived(db)
  }
}

/** How many calls there are, for a progress line: counted by index, not read. */
export const countCalls = (db: ReadDb, filter: CallFilter): number =>
  sessionsOf(db, filter).reduce((sum, { id }) => sum + (db.get<{ n: number }>(counted, id)?.n ?? 0), 0)

const counted = 'SELECT coalesce(max(sequence) + 1, 0) / 2 AS n FROM transcript_entries WHERE session_id = ?'

interface Session {
  readonly id: string
  readonly conversationId: string
  readonly projectDir: string
  readonly source: string
  readonly agentId: string | null
  readonly agentType: string | null
}

const sessionsOf = (db: ReadDb, { since = '', conversation, agents, project }: CallFilter): Session[] =>
  db.all<Session>(
    `SELECT s.session_id AS id, c.id AS conversationId, c.project_dir AS projectDir, coalesce(i.agent, 'ona') AS source,
       a.agent_id AS agentId, a.agent_type AS agentType
     FROM sessions s JOIN conversations c ON c.id = s.conversation_id
     LEFT JOIN ona_subagents a ON a.session_id = s.session_id LEFT JOIN ona_imports i ON i.session_id = s.session_id
     WHERE (?1 IS NULL OR c.id = ?1) AND c.last_active >= ?2
       AND (?3 IS NULL OR coalesce(i.agent, 'ona') IN (SELECT value FROM json_each(?3)))
       AND (?4 IS NULL OR c.project_dir = ?4 OR substr(c.project_dir, 1, length(?4) + 1) = ?4 || '/')
     ORDER BY s.started_at, s.rowid`,
    ...[conversation ?? null, since, agents ? JSON.stringify(agents) : null, project ?? null],
  )

type Open = Pick<RecordedCall, 'tool' | 'input' | 'at'>

function* callsOf(db: ReadDb, session: Session, { since = '', tool }: CallFilter): Generator<RecordedCall> {
  const { id: sessionId, conversationId, projectDir, source, agentId, agentType } = session
  const agent = agentId === null ? null : { id: agentId, type: agentType! }
  const open = new Map<string, Open>()
  const started = startedCalls(db, sessionId)
  const questioned = questionedCalls(db, sessionId)
  for (const rows of pages(db, sessionId, since)) {
    const decisions = decisionsOf(db, sessionId, rows)
    for (const row of rows) {
      if (row.type !== 'tool_result') {
        for (const { id, name, input } of usesIn(row))
          if (tool === undefined || name === tool) open.set(id, { tool: name, input, at: row.at })
        continue
      }
      const { toolUseId } = row
      const call = toolUseId === null ? undefined : open.get(toolUseId)
      if (toolUseId === null || !call) continue
      open.delete(toolUseId)
      const decision = decisions.get(toolUseId)
      const was = decision ? wasOf(decision, () => questioned(toolUseId)) : started(toolUseId) ? allowed : null
      yield { ...call, conversationId, sessionId, toolUseId, projectDir, agent, source, was }
    }
  }
}

const allowed: Was = { decision: 'allow', by: '' }

/** Calls that began. Both streams are in order, so that only a window of them is in memory. */
function startedCalls(db: ReadDb, sessionId: string): (id: string) => boolean {
  const rows = startedIds(db, sessionId)
  const known = new Set<string>()
  let next = rows.next()
  return (id) => {
    for (let ahead = 0; !next.done && ahead < WINDOW && !known.has(id); ahead++, next = rows.next())
      known.add(next.value)
    for (const oldest of known) {
      if (known.size <= 2 * WINDOW) break
      known.delete(oldest)
    }
    return known.delete(id)
  }
}
const WINDOW = 4000

/** A page at a time, by a statement that is prepared once for all sessions. */
function* startedIds(db: ReadDb, sessionId: string): Generator<string> {
  for (let last = 0; ; ) {
    const rows = db.all<{ at: number; id: string }>(
      `SELECT id AS at, CAST(iif(json_valid(detail), detail ->> 'tool_use_id', '') AS TEXT) AS id FROM events
       WHERE session_id = ? AND event_type = 'tool_start' AND events.id > ? ORDER BY events.id LIMIT ${PAGE}`,
      sessionId,
      last,
    )
    for (const { id } of rows) yield id
    if (rows.length < PAGE) return
    last = rows.at(-1)!.at
  }
}

/** Calls at which hooks of the question ran; read when the first of them matters. */
function questionedCalls(db: ReadDb, sessionId: string): (id: string) => boolean {
  let found: Set<string> | undefined
  return (id) => {
    found ??= new Set(
      db
        .all<{ id: string }>(
          `SELECT DISTINCT tool_use_id AS id FROM hook_invocations
           WHERE session_id = ? AND hook_event IN ('PermissionRequest', 'before_permission')`,
          sessionId,
        )
        .map((row) => row.id),
    )
    return found.has(id)
  }
}

interface Row {
  readonly sequence: number
  readonly type: 'assistant' | 'tool_use' | 'tool_result'
  readonly payload: string | null
  readonly toolUseId: string | null
  readonly at: string
}

const PAGE = 2000

/** Entries of a session, a page at a time, by its own index. */
function* pages(db: ReadDb, sessionId: string, since: string): Generator<Row[]> {
  for (let last = -1; ; ) {
    const rows = db.all<Row>(
      `SELECT sequence, entry_type AS type, iif(entry_type = 'tool_result', NULL, payload_json) AS payload,
         tool_use_id AS toolUseId, created_at AS at FROM transcript_entries WHERE session_id = ? AND sequence > ?
         AND +entry_type IN ('assistant', 'tool_use', 'tool_result') ORDER BY sequence LIMIT ${PAGE}`,
      sessionId,
      last,
    )
    yield since === '' ? rows : rows.filter(({ at }) => at >= since)
    if (rows.length < PAGE) return
    last = rows.at(-1)!.sequence
  }
}

interface Decided {
  readonly decision: string
  readonly by: string | null
  /** Stored with imported calls: what rules and hooks said. */
  readonly was: string | null
}

/** The decisions on the calls whose results are on a page: asked once, by session and call. */
function decisionsOf(db: ReadDb, sessionId: string, rows: readonly Row[]): ReadonlyMap<string, Decided> {
  const ids = rows.flatMap(({ type, toolUseId }) => (type === 'tool_result' && toolUseId !== null ? [toolUseId] : []))
  if (ids.length === 0) return new Map()
  const found = db.all<Decided & { id: string }>(
    `SELECT tool_use_id AS id, decision, iif(json_valid(reason_json), reason_json ->> 'by', NULL) AS by,
       iif(json_valid(reason_json), reason_json ->> 'was', NULL) AS was
     FROM tool_permission_log WHERE session_id = ? AND tool_use_id IN (SELECT value FROM json_each(?))`,
    sessionId,
    JSON.stringify(ids),
  )
  return new Map(found.map((row) => [row.id, row]))
}

interface Use {
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

/** A row that another program wrote may hold anything. */
function usesIn({ type, payload }: Row): Use[] {
  if (!payload!.includes('"name"')) return []
  let entry: unknown
  try {
    entry = JSON.parse(payload!)
  } catch {
    return [] // a damaged row is reported where the transcript is read; here it is no call
  }
  if (!isObject(entry)) return []
  const blocks = type === 'tool_use' ? [entry] : Array.isArray(entry['content']) ? entry['content'] : []
  return blocks.filter((block): block is Use & JsonObject => isUse(block, type))
}

const isUse = (block: unknown, type: Row['type']): boolean =>
  isObject(block) &&
  (type === 'tool_use' || block['type'] === 'tool_use') &&
  typeof block['id'] === 'string' &&
  typeof block['name'] === 'string' &&
  isObject(block['input'])

function wasOf({ decision, by, was }: Decided, questioned: () => boolean): Was {
  const ended = decision === 'deny' ? 'deny' : 'allow'
  if (was === 'allow' || was === 'ask' || was === 'deny') return { decision: was, by: by ?? '', ended }
  // An answer is on record, so there was a question; a refusal by a hook was one only where hooks of the question ran.
  const asked = decision !== 'deny' || by === 'person' || by === 'nobody' || (by === 'hook' && questioned())
  return { decision: asked ? 'ask' : 'deny', by: by ?? '', ended }
}
