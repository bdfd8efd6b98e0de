/** The tool calls on record, each with what became of it, one after another: a long history is never in memory whole. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
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
  readonly agent: { readonly id: string; readonly type: string } | null
  /** Null: it came to no judgement, because its input did not fit or the turn was interrupted. */
  readonly was: Was | null
}

export interface Was {
  /** What hooks and rules said. What a person then answered is not theirs. */
  readonly decision: 'allow' | 'ask' | 'deny'
  /** hook, gate, rule, person, operator, nobody; for what was simply allowed, nothing. */
  readonly by: string
}

export interface CallFilter {
  /** `2026-10-15 00:00:00` */
  readonly since?: string
  readonly conversation?: string
  readonly tool?: string
}

/** In the order in which they came to their end. One that has none yet is left out. */
export function* recordedCalls(db: ReadDb, filter: CallFilter = {}): Generator<RecordedCall> {
  const open = new Map<string, Pick<RecordedCall, 'tool' | 'input' | 'at'>>()
  const placeOf = places(db)
  let last = -1
  for (const row of db.each<Row>(history, filter.since ?? '', filter.conversation ?? null)) {
    const { id, type, sessionId, toolUseId } = row
    if (id === last) continue // an id that the model used twice joins twice
    last = id
    if (type !== 'tool_result') {
      for (const { id: use, name, input } of usesIn(row))
        if (filter.tool === undefined || name === filter.tool)
          open.set(`${sessionId} ${use}`, { tool: name, input, at: row.at })
      continue
    }
    const key = `${sessionId} ${toolUseId}`
    const call = open.get(key)
    if (!call) continue
    open.delete(key)
    yield {
      ...call,
      ...placeOf(sessionId),
      sessionId,
      toolUseId: toolUseId!,
      was: wasOf(row),
    }
  }
}

type Place = Pick<RecordedCall, 'conversationId' | 'projectDir' | 'agent'>

/** Where a session's calls were made, looked up when it is first met. */
function places(db: ReadDb): (sessionId: string) => Place {
  const known = new Map<string, Place>()
  return (sessionId) => {
    const found = known.get(sessionId) ?? placeIn(db, sessionId)
    if (known.size > 1000) known.clear()
    known.set(sessionId, found)
    return found
  }
}

function placeIn(db: ReadDb, sessionId: string): Place {
  const { agentId, agentType, ...place } = db.get<Omit<Place, 'agent'> & { agentId: string | null; agentType: string }>(
    `SELECT c.id AS conversationId, c.project_dir AS projectDir, a.agent_id AS agentId, a.agent_type AS agentType
     FROM sessions s JOIN conversations c ON c.id = s.conversation_id
     LEFT JOIN ona_subagents a ON a.session_id = s.session_id WHERE s.session_id = ?`,
    sessionId,
  )!
  return { ...place, agent: agentId === null ? null : { id: agentId, type: agentType } }
}

interface Row {
  readonly id: number
  readonly sessionId: string
  readonly type: 'assistant' | 'tool_use' | 'tool_result'
  readonly payload: string | null
  readonly toolUseId: string | null
  readonly at: string
  readonly decision: string | null
  readonly by: string | null
  readonly started: number
  readonly questioned: number
}

/** A call's rows are found by session and id, for which the tables have no index: SQLite makes one for the query. */
const history = `
  WITH started AS MATERIALIZED (
    SELECT DISTINCT session_id, CAST(detail ->> 'tool_use_id' AS TEXT) AS tool_use_id FROM events
    WHERE event_type = 'tool_start' AND json_valid(detail)),
  questioned AS MATERIALIZED (
    SELECT DISTINCT session_id, tool_use_id FROM hook_invocations
    WHERE hook_event IN ('PermissionRequest', 'before_permission')),
  permissions AS MATERIALIZED (
    SELECT session_id, tool_use_id, decision, iif(json_valid(reason_json), reason_json ->> 'by', NULL) AS by
    FROM tool_permission_log)
  SELECT e.id, e.session_id AS sessionId, e.entry_type AS type,
    iif(e.entry_type = 'tool_result', NULL, e.payload_json) AS payload, e.tool_use_id AS toolUseId, e.created_at AS at,
    p.decision, p.by, s.session_id IS NOT NULL AS started, q.session_id IS NOT NULL AS questioned
  FROM transcript_entries e
  LEFT JOIN permissions p ON e.entry_type = 'tool_result' AND p.session_id = e.session_id AND p.tool_use_id = e.tool_use_id
  LEFT JOIN started s ON e.entry_type = 'tool_result' AND s.session_id = e.session_id AND s.tool_use_id = e.tool_use_id
  LEFT JOIN questioned q ON p.decision IS NOT NULL AND q.session_id = e.session_id AND q.tool_use_id = e.tool_use_id
  WHERE e.entry_type IN ('assistant', 'tool_use', 'tool_result') AND e.created_at >= ?1 
    AND (?2 IS NULL OR e.session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?2))
  ORDER BY e.id`

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
    return [] // a damaged row is told where the transcript is read; here it is no call
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

function wasOf({ decision, by, started, questioned }: Row): Was | null {
  if (decision === null) return started ? { decision: 'allow', by: '' } : null
  // An answer is on record, so there was a question; a refusal by a hook was one only where hooks of the question were asked.
  const asked = decision !== 'deny' || by === 'person' || by === 'nobody' || (by === 'hook' && questioned === 1)
  return { decision: asked ? 'ask' : 'deny', by: by ?? '' }
}
