/** The transcript: what was said and done in a session, one row each, numbered from 0 without gaps. */
import {
  boolean,
  either,
  type JsonObject,
  json,
  list,
  literal,
  map,
  record,
  type Shape,
  say,
  string,
} from '../../hooks/shape.ts'
import { restoreSession } from '../archive/archive.ts'
import { type Db, StoreError } from '../open.ts'
import { storable } from '../secrets.ts'

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: JsonObject }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: string; readonly is_error: boolean }

/** What an entry holds besides its own fields: ours to add, and kept as it is. */
type More = { readonly [key: string]: unknown }

export type UserEntry = { readonly _t: 'user'; readonly uuid: string; readonly content: readonly ContentBlock[] } & More
export type AssistantEntry = {
  readonly _t: 'assistant'
  readonly uuid: string
  readonly content: readonly ContentBlock[]
} & More
export type ToolUseEntry = {
  readonly _t: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: JsonObject
} & More
export type ToolResultEntry = {
  readonly _t: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error: boolean
} & More
export type SystemEntry = { readonly _t: 'system'; readonly subtype: string } & More
export type ProgressEntry = { readonly _t: 'progress'; readonly data: JsonObject } & More
export type AttachmentEntry = { readonly _t: 'attachment'; readonly attachment: JsonObject } & More
export type EnvelopeEntry = { readonly _t: EnvelopeType } & More

export type Entry =
  | UserEntry
  | AssistantEntry
  | ToolUseEntry
  | ToolResultEntry
  | SystemEntry
  | ProgressEntry
  | AttachmentEntry
  | EnvelopeEntry

const envelopeTypes = [
  'internal_hook',
  'content_replacement',
  'collapse_commit',
  'file_history_snapshot',
  'attribution_snapshot',
  'queue_operation',
  'speculation_accept',
  'ai_title',
] as const
type EnvelopeType = (typeof envelopeTypes)[number]

export const entryTypes = [
  'user',
  'assistant',
  'system',
  'tool_use',
  'tool_result',
  'progress',
  'attachment',
  ...envelopeTypes,
] as const
export type EntryType = (typeof entryTypes)[number]

export interface Appended {
  readonly id: number
  readonly sequence: number
}

/** An entry as it was read. */
export interface Row extends Appended {
  readonly parentId: number | null
  readonly toolUseId: string | null
  readonly createdAt: string
  readonly entry: Entry
}

/** Must not be handed what was not checked by a type: a payload outside the closed set is our mistake, and throws. */
export function appendEntry(db: Db, sessionId: string, entry: Entry, parentId: number | null = null): Appended {
  const problem = entryProblem(entry)
  if (problem) throw new TypeError(`transcript entry ${String(entry._t)}: ${problem}`)
  const toolUseId = entry._t === 'tool_use' ? entry.id : entry._t === 'tool_result' ? entry.tool_use_id : null
  return db.transaction(() => {
    let sequence = countEntries(db, sessionId)
    // archived while it was open: numbers go on where they were
    if (sequence === 0 && restoreSession(db, sessionId)) sequence = countEntries(db, sessionId)
    // A SELECT of the next number in the INSERT itself, and RETURNING, would each fill a table of their own first.
    const { lastId } = db.run(
      `INSERT INTO transcript_entries(session_id, sequence, parent_entry_id, entry_type, payload_json, tool_use_id)
       VALUES (?, ?, ?, ?, ?, ?)`,
      ...[sessionId, sequence, parentId, entry._t, storable(JSON.stringify(entry)), toolUseId as string | null],
    )
    return { id: lastId, sequence }
  })
}

/** All of them or none, one after another. */
export const appendEntries = (db: Db, sessionId: string, entries: readonly Entry[]): Appended[] =>
  db.transaction(() => entries.map((entry) => appendEntry(db, sessionId, entry)))

/** What is wrong with an entry, in words; undefined when it is one of the closed set. */
export function entryProblem(entry: unknown): string | undefined {
  const type = (entry as { _t?: unknown } | null)?._t
  const shape = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type as EntryType] : undefined
  if (!shape) return `_t must be one of ${entryTypes.join(', ')}`
  const problem = shape.check(entry, '')
  return problem && say(problem)
}

export interface Range {
  /** Only entries with a higher sequence. */
  readonly after?: number
  /** Only entries with a lower sequence. */
  readonly before?: number
  readonly types?: readonly EntryType[]
}

/** Entries in order, a few at a time: a long session is never in memory whole, and may be written to meanwhile. */
export function* readEntries(
  db: Db,
  sessionId: string,
  { after = -1, before = Number.MAX_SAFE_INTEGER, types = entryTypes }: Range = {},
): Generator<Row, void, void> {
  const wanted = JSON.stringify(types)
  for (let last = after; ; ) {
    const rows = db.all<Stored>(
      `${columns} WHERE session_id = ? AND sequence > ? AND sequence < ?
       AND +entry_type IN (SELECT value FROM json_each(?)) ORDER BY sequence LIMIT ${PAGE}`,
      sessionId,
      last,
      before,
      wanted,
    )
    for (const row of rows) yield asRow(row, db)
    if (rows.length < PAGE) return
    last = rows.at(-1)!.sequence
  }
}

/** The last `n`, oldest first. */
export function lastEntries(db: Db, sessionId: string, n: number): Row[] {
  const rows = db.all<Stored>(`${columns} WHERE session_id = ? ORDER BY sequence DESC LIMIT ?`, sessionId, n)
  return rows.reverse().map((row) => asRow(row, db))
}

/** Without gaps, the highest number tells how many there are. */
export const countEntries = (db: Db, sessionId: string): number =>
  db.get<{ count: number }>(
    'SELECT coalesce(max(sequence) + 1, 0) AS count FROM transcript_entries WHERE session_id = ?',
    sessionId,
  )!.count

const PAGE = 32
const columns = `SELECT id, sequence, parent_entry_id AS parentId, entry_type AS type, payload_json AS payload,
  tool_use_id AS toolUseId, created_at AS createdAt FROM transcript_entries`

type Stored = Omit<Row, 'entry'> & { readonly type: EntryType; readonly payload: string }

/** Rows that another program wrote may leave `_t` out: the column says what they are. */
function asRow({ type, payload, ...row }: Stored, db: Db): Row {
  try {
    const entry = { ...JSON.parse(payload), _t: type }
    const problem = entryProblem(entry)
    if (!problem) return { ...row, entry }
    throw new SyntaxError(problem)
  } catch (error) {
    throw new StoreError('damaged', `${db.path}: transcript_entries row ${row.id}: ${(error as Error).message}`)
  }
}

const object = map(json())
const closed = { closed: true }
const toolUse = { id: string(), name: string(), input: object }
const toolResult = { tool_use_id: string(), content: string(), is_error: boolean() }
const block = either(
  record({ type: literal('text'), text: string() }, undefined, closed),
  record({ type: literal('tool_use'), ...toolUse }, undefined, closed),
  record({ type: literal('tool_result'), ...toolResult }, undefined, closed),
)
const message = record({ uuid: string(), content: list(block) })

const shapes: Record<EntryType, Shape<unknown>> = {
  user: message,
  assistant: message,
  tool_use: record(toolUse),
  tool_result: record(toolResult),
  system: record({ subtype: string() }),
  progress: record({ data: object }),
  attachment: record({ attachment: object }),
  ...(Object.fromEntries(envelopeTypes.map((type) => [type, object])) as Record<EnvelopeType, Shape<unknown>>),
}
