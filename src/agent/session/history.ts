/** Which rows of a transcript are live: compaction and rewinding leave old rows in place and out of sight. */
import type { Message } from '../../providers/model.ts'
import { openApprovals, waitingCalls } from '../../store/approvals.ts'
import { unarchiveSession } from '../../store/archive/archive.ts'
import type { Db } from '../../store/open.ts'
import {
  type AssistantEntry,
  appendEntry,
  type EntryType,
  type Row,
  readEntries,
} from '../../store/session/transcript.ts'
import { messagesOf, unansweredText } from '../context/messages.ts'
import { mostChars, withBoundedResults } from '../context/window.ts'

/** Rows from `start` up to, not including, `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

export interface Marker {
  readonly sequence: number
  readonly kind: 'compact_boundary' | 'rewind'
  /** For a rewind: the first row that is out of sight. */
  readonly to?: number
}

/** What is live after all markers. A rewind brings back what was live before the row it goes to. */
export function liveRanges(markers: readonly Marker[]): Range[] {
  const states: { readonly at: number; readonly ranges: readonly Range[] }[] = [
    { at: 0, ranges: [{ start: 0, end: Infinity }] },
  ]
  for (const { sequence, kind, to = 0 } of markers) {
    if (kind === 'compact_boundary') {
      states.push({ at: sequence, ranges: [{ start: sequence, end: Infinity }] })
      continue
    }
    const then = states.findLast((state) => state.at < to) ?? states[0]!
    const cut = then.ranges.map(({ start, end }) => ({ start, end: Math.min(end, to) })).filter((r) => r.start < r.end)
    states.push({ at: sequence, ranges: [...cut, { start: sequence + 1, end: Infinity }] })
  }
  return [...states.at(-1)!.ranges]
}

/**
 * So much of a conversation is loaded: four characters a token is an estimate, and a compaction may have failed. What is too long
 * is summarised before the next request; without that, one window is all that a model can be sent.
 */
const mostWindows = 2

/** The conversation as the model should see it on resuming; of a very long one, its end. */
export const loadMessages = (db: Db, sessionId: string, windowTokens: number): Message[] =>
  loadConversation(db, sessionId, windowTokens).messages

/** `leftOut`: how many rows are older than what is loaded. */
export function loadConversation(
  db: Db,
  sessionId: string,
  windowTokens: number,
  { compacts = true } = {},
): { readonly messages: Message[]; readonly leftOut: number } {
  const ranges = liveRanges(markersOf(db, sessionId))
  const most = windowTokens * 4 * (compacts ? mostWindows : 1)
  // a single row counts at most so much, since a model is shown no more of it
  const from = firstThatFits(db, sessionId, ranges, most, mostChars(windowTokens))
  const messages = messagesOf(entriesFrom(db, sessionId, ranges, from))
  return {
    messages: messages.map((message) => withBoundedResults(message, windowTokens)),
    leftOut: rowsBefore(ranges, from),
  }
}

/** With `most`, the newest that have so many characters in all. */
export function liveEntries(db: Db, sessionId: string, most?: number): Generator<Row> {
  const ranges = liveRanges(markersOf(db, sessionId))
  const from = most === undefined ? 0 : firstThatFits(db, sessionId, ranges, most, most)
  return entriesFrom(db, sessionId, ranges, from)
}

/** Entries of these types, from a sequence on. */
export const liveEntriesFrom = (db: Db, sessionId: string, from: number, types: readonly EntryType[]): Generator<Row> =>
  entriesFrom(db, sessionId, liveRanges(markersOf(db, sessionId)), from, types)

/** The sequence of the oldest of the newest `most` prompts. */
export function firstOfPrompts(db: Db, sessionId: string, most: number): number {
  let left = most
  let first = 0
  for (const { start, end } of liveRanges(markersOf(db, sessionId)).reverse()) {
    const found = db.all<{ sequence: number }>(
      `SELECT sequence FROM transcript_entries WHERE session_id = ? AND entry_type = 'user' AND sequence >= ? AND sequence < ?
         AND iif(json_valid(payload_json), payload_json ->> 'source', '') = 'prompt' ORDER BY sequence DESC LIMIT ?`,
      ...[sessionId, start, lastOf(end), left],
    )
    first = found.at(-1)?.sequence ?? first
    left -= found.length
    if (left === 0) return first
  }
  return first
}

function* entriesFrom(
  db: Db,
  sessionId: string,
  ranges: readonly Range[],
  from: number,
  types?: readonly EntryType[],
): Generator<Row> {
  for (const { start, end } of ranges) {
    if (end <= from) continue
    const after = Math.max(start, from) - 1
    yield* readEntries(db, sessionId, { after, before: lastOf(end), ...(types && { types }) })
  }
}

/** For SQL, which knows no infinity. */
const lastOf = (end: number): number => Math.min(end, Number.MAX_SAFE_INTEGER)

/** Numbers have no gaps. */
const rowsBefore = (ranges: readonly Range[], from: number): number =>
  ranges.reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end, from) - start), 0)

function markersOf(db: Db, sessionId: string): Marker[] {
  return db
    .all<{ sequence: number; kind: Marker['kind']; target: number | null }>(
      `SELECT sequence, json_extract(payload_json, '$.subtype') AS kind, json_extract(payload_json, '$.to') AS target
       FROM transcript_entries WHERE session_id = ? AND entry_type = 'system'
         AND CASE WHEN json_valid(payload_json) THEN json_extract(payload_json, '$.subtype') END
             IN ('compact_boundary', 'rewind') ORDER BY sequence`,
      sessionId,
    )
    .map(({ sequence, kind, target }) => ({ sequence, kind, ...(target !== null && { to: target }) }))
}

/**
 * The oldest user row from which everything to the end fits, or the newest one where not even its turn does. Only lengths are
 * read, and only those of live rows.
 */
function firstThatFits(db: Db, sessionId: string, ranges: readonly Range[], most: number, each: number): number {
  let chars = 0
  let from: number | undefined
  for (const { start, end } of ranges.toReversed()) {
    const rows = db.each<{ sequence: number; entry_type: EntryType; size: number }>(
      `SELECT sequence, entry_type, length(payload_json) AS size FROM transcript_entries
       WHERE session_id = ? AND sequence >= ? AND sequence < ? ORDER BY sequence DESC`,
      ...[sessionId, start, lastOf(end)],
    )
    for (const { sequence, entry_type, size } of rows) {
      chars += Math.min(size, each)
      if (chars > most && from !== undefined) return from
      if (entry_type === 'user' || entry_type === 'system') from = sequence
    }
  }
  return 0
}

/** Gives calls that a crash left without a result theirs, so that nothing is lost or run again in silence. */
export function recover(db: Db, sessionId: string): number {
  unarchiveSession(db, sessionId)
  return db.transaction(() => {
    const open = openCalls(db, sessionId)
    for (const id of open) {
      appendEntry(db, sessionId, { _t: 'tool_result', tool_use_id: id, content: unansweredText, is_error: true })
    }
    return open.length
  })
}

/** Calls of the last reply, or of the operator, that have no result. */
function openCalls(db: Db, sessionId: string): string[] {
  const last = db.get<{ sequence: number }>(
    `SELECT coalesce(
       (SELECT max(sequence) FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'assistant'),
       (SELECT max(sequence) FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'tool_use')) AS sequence`,
    sessionId,
  )
  if (last?.sequence === null || last === undefined) return []
  const called: string[] = []
  const answered = new Set<string>()
  for (const { entry } of readEntries(db, sessionId, { after: last.sequence - 1 })) {
    if (entry._t === 'tool_use') called.push(entry.id as string)
    if (entry._t === 'assistant') {
      for (const block of (entry as AssistantEntry).content) if (block.type === 'tool_use') called.push(block.id)
    }
    if (entry._t === 'tool_result') answered.add(entry.tool_use_id as string)
  }
  const open = [...openApprovals(db, sessionId), ...waitingCalls(db, sessionId)]
  const waiting = new Set(open.map(({ toolUseId }) => toolUseId))
  return called.filter((id) => !answered.has(id) && !waiting.has(id))
}
