/**
 * A conversation as it went: prompts, replies and calls in their order, and at its place everything that hooks, rules,
 * the workflow and sub-agents did. Read as a stream; of what lies outside the wanted part, only the order is read.
 */
import { redact } from '../../hooks/secrets/redact.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { inMoments } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'
import { type HookAnswer, type HookRow, hookAnswer, hookColumns } from './hook-answer.ts'
import { entriesIn } from './overview.ts'
import { around, factLine, openSideEvents, parsed, remaining } from './side-events.ts'
import type { AgentItem, CallItem, EntryRow, Item, Permission, Session } from './timeline-items.ts'

/** Rows of the transcript, counted over all sessions of the conversation. A call and its result are never parted. */
export interface Part {
  readonly from?: number
  readonly to?: number
}

export const timeline = (db: ReadDb, conversationId: string, part: Part = {}): Generator<Item> =>
  inMoments(db, () => [conversationId], itemsOf(db, conversationId, part))

function* itemsOf(db: ReadDb, conversationId: string, { from = 0, to = Infinity }: Part): Generator<Item> {
  let begin = 0
  for (const session of sessionsOf(db, conversationId)) {
    const end = begin + session.entries
    const isEmpty = session.entries === 0
    if (isEmpty ? begin >= from && begin < to : end > from && begin < to)
      yield* sessionItems(db, session, { from: from - begin, to: to - begin })
    begin = end
  }
}

function sessionsOf(db: ReadDb, conversationId: string): Session[] {
  const sessions = db.all<Pick<Session, 'id' | 'conversationId' | 'startedAt'>>(
    `SELECT s.session_id AS id, s.conversation_id AS conversationId, s.started_at AS startedAt
     FROM sessions s WHERE s.conversation_id = ?
       AND NOT EXISTS (SELECT 1 FROM ona_subagents a WHERE a.session_id = s.session_id)
     ORDER BY s.started_at, s.rowid`,
    conversationId,
  )
  const sql = 'SELECT coalesce(min(id), 0) AS id FROM events WHERE session_id = ?'
  const firsts = sessions.map(({ id }, at) => (at === 0 ? 0 : db.get<{ id: number }>(sql, id)!.id))
  return sessions.map((session, at) => ({
    ...session,
    entries: entriesIn(db, session.id),
    firstEvent: firsts[at]!,
    nextEvent: firsts[at + 1] || Number.MAX_SAFE_INTEGER,
  }))
}

interface Open {
  readonly at: string
  readonly name: string
  readonly input: JsonObject
}

function* sessionItems(db: ReadDb, session: Session, { from = 0, to = Infinity }: Part): Generator<Item> {
  const about = openAbout(db, session)
  const { sequence: first, at: since } = beginOf(db, session, from)
  const sideEvents = openSideEvents(db, session, since, (id) => agentItem(db, id))
  const open = new Map<string, Open>()
  let within = session.entries === 0
  for (const row of entriesOf(db, session.id, first, from)) {
    const begins = row.type === 'user' || row.type === 'assistant' || row.type === 'tool_use'
    if (begins && row.sequence >= to) {
      yield* unanswered(open, about)
      return
    }
    if (begins) within = row.sequence >= from
    const { before, during, agents } = around(sideEvents, row)
    if (!within) continue
    if (begins) yield* unanswered(open, about)
    about.reach(row.sequence)
    yield* before
    yield* entryItems(row, open, about, agents)
    yield* during
  }
  yield* unanswered(open, about)
  if (within) yield* remaining(sideEvents)
}

/**
 * Where to begin reading: at the start, or at a reply before the wanted part that is the first entry of its second. Whatever happened
 * earlier stands before such a reply, so that nothing of it has to be read to know what stands after.
 */
function beginOf(db: ReadDb, { id }: Session, from: number): { readonly sequence: number; readonly at: string } {
  const sql = `SELECT sequence, entry_type AS type, created_at AS at FROM transcript_entries
    WHERE session_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ${entryRows}`
  let later: Pick<EntryRow, 'sequence' | 'type' | 'at'> | undefined
  for (let end = from; end > entryRows; end = later!.sequence) {
    for (const row of db.all<NonNullable<typeof later>>(sql, id, end)) {
      if (later?.type === 'assistant' && later.at > row.at) return later
      later = row
    }
  }
  return { sequence: 0, at: '' }
}

/** A page at a time: between pages nothing of the file is held, however slowly the items are taken. */
function* entriesOf(db: ReadDb, session: string, first: number, from: number): Generator<EntryRow> {
  for (let after = first - 1; ; ) {
    const rows = db.all<EntryRow>(
      `SELECT sequence, entry_type AS type, tool_use_id AS toolUseId, created_at AS at,
         iif(sequence >= ?2, payload_json, NULL) AS payload
       FROM transcript_entries WHERE session_id = ?1 AND sequence > ?3 ORDER BY sequence LIMIT ${entryRows}`,
      ...[session, from, after],
    )
    yield* rows
    if (rows.length < entryRows) return
    after = rows.at(-1)!.sequence
  }
}
const entryRows = 100

/** What an entry itself tells. Calls wait for their results. */
function* entryItems(
  row: EntryRow,
  open: Map<string, Open>,
  about: About,
  agents: readonly AgentItem[],
): Generator<Item> {
  const { at, type } = row
  const entry = parsed(row.payload)
  const blocks = Array.isArray(entry['content']) ? entry['content'].filter(isObject) : []
  if (type === 'user' || type === 'assistant') {
    const text = blocks.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : [])).join('\n')
    const source = typeof entry['source'] === 'string' ? entry['source'] : ''
    if (text !== '')
      yield type === 'user'
        ? { kind: 'prompt', at, text: redact(text), source }
        : { kind: 'reply', at, text: redact(text) }
  }
  for (const use of type === 'tool_use' ? [entry] : blocks)
    if (typeof use['id'] === 'string' && typeof use['name'] === 'string')
      open.set(use['id'], { at, name: use['name'], input: isObject(use['input']) ? use['input'] : {} })
  if (type === 'tool_result') {
    const id = row.toolUseId ?? ''
    const call = open.get(id)
    open.delete(id)
    const output = typeof entry['content'] === 'string' ? redact(entry['content']) : ''
    if (call) yield callItem(id, call, about, { output, is_error: entry['is_error'] === true, agents })
    else yield* agents
  }
  const words = noteOf(type, entry)
  if (words !== undefined) yield { kind: 'note', at, ...words }
}

type Done = Pick<CallItem, 'output' | 'is_error' | 'agents'>

const callItem = (id: string, { at, name, input }: Open, about: About, done: Done): CallItem => ({
  ...{ kind: 'call', at, id, tool: name, input: parsed(redact(JSON.stringify(input), 'json')), ...done },
  permission: about.permissions.get(id) ?? null,
  hooks: about.hooks.get(id) ?? [],
})

function* unanswered(open: Map<string, Open>, about: About): Generator<Item> {
  for (const [id, call] of open) yield callItem(id, call, about, { output: null, is_error: false, agents: [] })
  open.clear()
}

function noteOf(type: string, entry: JsonObject): { about: string; text: string } | undefined {
  if (type === 'system') {
    const { _t, subtype, ...rest } = entry
    return { about: notes[String(subtype)] ?? String(subtype), text: redact(factLine(rest)) }
  }
  if (type === 'attachment')
    return { about: 'attachment', text: redact(factLine(isObject(entry['attachment']) ? entry['attachment'] : {})) }
  return undefined
}

const notes: Record<string, string> = {
  compact_boundary: 'the conversation was compacted here',
  rewind: 'rewound: what stood before is out of sight of the model',
}

/** What is on record of the calls near a place of the transcript. */
interface About {
  permissions: ReadonlyMap<string, Permission>
  hooks: ReadonlyMap<string, readonly HookAnswer[]>
  /** Reads on, so that what belongs to a result at this place is known. */
  reach(sequence: number): void
}

/** Results whose rows are read at once: each table is asked once for all of them. */
const WINDOW = 500

function openAbout(db: ReadDb, session: Session): About {
  let end = -1
  return {
    permissions: new Map(),
    hooks: new Map(),
    reach(sequence) {
      if (sequence < end) return
      end = sequence + WINDOW
      Object.assign(this, rowsAbout(db, session, sequence, end))
    },
  }
}

function rowsAbout(db: ReadDb, { id }: Session, from: number, to: number): Pick<About, 'permissions' | 'hooks'> {
  const ids = db.all<{ id: string }>(
    `SELECT tool_use_id AS id FROM transcript_entries
     WHERE session_id = ? AND sequence >= ? AND sequence < ? AND tool_use_id IS NOT NULL`,
    id,
    from,
    to,
  )
  const wanted = JSON.stringify(ids.map((row) => row.id))
  const where = 'WHERE session_id = ? AND tool_use_id IN (SELECT value FROM json_each(?)) ORDER BY id'
  const permissions = new Map<string, Permission>()
  for (const row of db.all<{ use: string; decision: string; reason: string | null }>(
    `SELECT tool_use_id AS use, decision, reason_json AS reason FROM tool_permission_log ${where}`,
    id,
    wanted,
  ))
    permissions.set(row.use, permissionOf(row.decision, row.reason))
  const hooks = Map.groupBy(
    db.all<HookRow>(`SELECT ${hookColumns} FROM hook_invocations ${where}`, id, wanted),
    ({ toolUseId }) => toolUseId!,
  )
  return { permissions, hooks: new Map(Array.from(hooks, ([use, rows]) => [use, rows.map(hookAnswer)])) }
}

function permissionOf(decision: string, json: string | null): Permission {
  const { by, reason, rule } = parsed(json)
  const text = (value: unknown) => (typeof value === 'string' ? redact(value) : '')
  return { decision, by: text(by), reason: text(reason), rule: text(rule) || null }
}

/** The rows of a sub-agent that are shown where it stands; more of them would bury its parent. */
const mostOfAgent = 400

function agentItem(db: ReadDb, sessionId: string): AgentItem {
  const session = db.get<Pick<Session, 'id' | 'conversationId' | 'startedAt'> & { type: string }>(
    `SELECT s.session_id AS id, s.conversation_id AS conversationId, s.started_at AS startedAt, a.agent_type AS type
     FROM sessions s JOIN ona_subagents a ON a.session_id = s.session_id WHERE s.session_id = ?`,
    sessionId,
  )!
  const entries = entriesIn(db, sessionId)
  const items = [...sessionItems(db, { ...session, entries, firstEvent: 0, nextEvent: 0 }, { to: mostOfAgent })]
  const left_out = Math.max(0, entries - mostOfAgent)
  return { kind: 'agent', at: session.startedAt, type: session.type, session: sessionId, items, left_out }
}
