/** The tool calls on record, each with its outcome, one after another: a long history is never in memory whole. */
import type { JsonObject } from '../../hooks/shape.ts'
import { bringArchived, dropArchived } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'
import { outcomesOf, type Was } from './recorded-decisions.ts'
import { type Use, useOfCall, usesOfReply } from './recorded-uses.ts'

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
export const recordedCalls = (db: ReadDb, filter: CallFilter = {}): Generator<RecordedCall> =>
  callsOfSessions(db, sessionsOf(db, filter), filter)

/** Of these sessions, one after another. */
export function* callsOfSessions(
  db: ReadDb,
  sessionIds: Iterable<string>,
  filter: CallFilter,
): Generator<RecordedCall> {
  const pages = callPages(db, sessionIds, filter)
  for (let ended = false; !ended; ) {
    const calls: RecordedCall[] = []
    // locked once for many sessions, and not while the caller works on the calls
    db.snapshot(() => {
      while (!ended && calls.length < batchSize) {
        const page = pages.next()
        if (page.done) ended = true
        else calls.push(...page.value)
      }
    })
    for (const call of calls) yield call // quicker than yield*
  }
}
const batchSize = 100

/** Each session with roughly the number of its calls: counted by index, not read. Locked once for many sessions. */
export function* countedSessions(db: ReadDb, sessionIds: readonly string[]): Generator<[id: string, calls: number]> {
  for (let begin = 0; begin < sessionIds.length; begin += countedAtOnce) {
    const ids = sessionIds.slice(begin, begin + countedAtOnce)
    const counts = db.snapshot(() => ids.map((id) => db.arrays<[number]>(counted, id)[0]![0]))
    for (const [at, id] of ids.entries()) yield [id, counts[at]!]
  }
}
const countedAtOnce = 200
/** Of an archived session, the number of its conversation's calls: a call has about seven rows. */
const counted = `SELECT coalesce(
    (SELECT (max(sequence) + 1) / 2 FROM transcript_entries WHERE session_id = ?1),
    (SELECT a.rows / 7 FROM sessions s JOIN ona_archives a ON a.conversation_id = s.conversation_id WHERE s.session_id = ?1),
    0)`

/** The sessions whose calls may pass a filter, the oldest first. Only the conditions that were given: SQLite then uses an index. */
export function sessionsOf(db: ReadDb, { since = '', conversation, agents, project }: CallFilter): string[] {
  const conditions: [sql: string, value: string | undefined][] = [
    ['c.id = ?1', conversation],
    ['c.last_active >= ?2', since || undefined],
    ["coalesce(i.agent, 'ona') IN (SELECT value FROM json_each(?3))", agents && JSON.stringify(agents)],
    [isBelow('c.project_dir', '?4'), project],
  ]
  const given = conditions.filter(([, value]) => value !== undefined).map(([sql]) => sql)
  // what other agents left may be a small part of the record
  const from =
    agents && !agents.includes('ona')
      ? 'ona_imports i CROSS JOIN sessions s ON s.session_id = i.session_id CROSS JOIN conversations c ON c.id = s.conversation_id'
      : 'conversations c CROSS JOIN sessions s ON s.conversation_id = c.id LEFT JOIN ona_imports i ON i.session_id = s.session_id'
  return db
    .arrays<[string]>(
      `WITH given AS (SELECT ?1, ?2, ?3, ?4)
       SELECT s.session_id FROM ${from}
       WHERE ${['1', ...given].join(' AND ')} ORDER BY s.started_at, s.rowid`,
      ...conditions.map(([, value]) => value ?? null),
    )
    .map(([id]) => id)
}

/** Whether a folder is this one or in it, by index: `0` follows the slash. */
export const isBelow = (folder: string, top: string): string =>
  `(${folder} = ${top} OR (${folder} >= rtrim(${top}, '/') || '/' AND ${folder} < rtrim(${top}, '/') || '0'))`

type Session = readonly [
  conversationId: string,
  projectDir: string,
  source: string,
  agentId: string | null,
  agentType: string | null,
]

const sessionRow = `SELECT c.id, c.project_dir, coalesce(i.agent, 'ona'), a.agent_id, a.agent_type
  FROM sessions s JOIN conversations c ON c.id = s.conversation_id
  LEFT JOIN ona_subagents a ON a.session_id = s.session_id LEFT JOIN ona_imports i ON i.session_id = s.session_id
  WHERE s.session_id = ?`

function* callPages(db: ReadDb, sessionIds: Iterable<string>, filter: CallFilter): Generator<RecordedCall[]> {
  for (const id of sessionIds) {
    const session = db.arrays<Session>(sessionRow, id)[0]
    if (!session) continue // erased since
    const pages = callsOf(db, id, session, filter)
    for (;;) {
      bringArchived(db, [session[0]]) // it may have been archived or restored since the last page
      const page = pages.next()
      if (page.done) break
      yield page.value
    }
    dropArchived(db)
  }
}

/** A page of entries at a time, by the session's own index. */
function* callsOf(
  db: ReadDb,
  sessionId: string,
  [conversationId, projectDir, source, agentId, agentType]: Session,
  { since = '', tool: wanted }: CallFilter,
): Generator<RecordedCall[]> {
  const agent = agentId === null ? null : { id: agentId, type: agentType! }
  const open = openCalls()
  const outcome = outcomesOf(db, sessionId)
  for (let last = -1; ; ) {
    const calls: RecordedCall[] = []
    const rows = db.arrays<Entry>(entries, sessionId, last)
    for (const row of rows) {
      const payload = row[1]
      const toolUseId = row[2]
      const at = row[3]
      if (payload !== null) {
        if (at! < since) continue
        for (const use of toolUseId === null ? usesOfReply(payload) : useOfCall(payload))
          if (wanted === undefined || use.name === wanted) open.add(use, at!)
        continue
      }
      const begun = toolUseId === null ? undefined : open.take(toolUseId)
      if (toolUseId === null || !begun) continue
      const { name: tool, input } = begun.use
      const was = outcome(toolUseId)
      calls.push({ at: begun.at, conversationId, sessionId, toolUseId, tool, input, projectDir, agent, source, was })
    }
    yield calls
    if (rows.length < pageSize) return
    last = rows.at(-1)![0]
  }
}

interface OpenCall {
  readonly use: Use
  readonly at: string
}

/** Calls without a result. Mostly there is one, so the first few are compared one by one, which is quicker than a map. */
function openCalls() {
  const few: OpenCall[] = []
  const more = new Map<string, OpenCall>()
  const take = (id: string): OpenCall | undefined => {
    for (let at = few.length - 1; at >= 0; at--) {
      const call = few[at]!
      if (call.use.id !== id) continue
      const last = few.pop()!
      if (at < few.length) few[at] = last
      return call
    }
    const call = more.size === 0 ? undefined : more.get(id)
    if (call) more.delete(id)
    return call
  }
  return {
    take,
    /** The last call of an id counts. */
    add(use: Use, at: string): void {
      take(use.id)
      if (few.length < fewCalls) few.push({ use, at })
      else more.set(use.id, { use, at })
    },
  }
}
const fewCalls = 8

/** Of a result only the call that it answers is read: its text may be long. */
type Entry = readonly [sequence: number, payload: string | null, toolUseId: string | null, at: string | null]

const pageSize = 500
const entries = `SELECT sequence, iif(entry_type = 'tool_result', NULL, payload_json), tool_use_id,
    iif(entry_type = 'tool_result', NULL, created_at) FROM transcript_entries
  WHERE session_id = ? AND sequence > ?
    AND (+entry_type = 'assistant' OR +entry_type = 'tool_result' OR +entry_type = 'tool_use')
  ORDER BY sequence LIMIT ${pageSize}`
