/** Full-text search: which conversations hold the words, and where in them. */
import { redact } from '../../../hooks/secrets/redact.ts'
import { archiveOf } from '../../../store/archive/archive.ts'
import { withArchived } from '../../../store/archive/reading.ts'
import { type Db, type ReadDb, StoreError } from '../../../store/open.ts'
import { pageRows } from '../page-size.ts'
import { conversationRows, countConversations, firstPrompt } from './dashboard.ts'
import { entryText } from './entry-text.ts'
import { type Filter, scopeOf } from './filter.ts'
import { marker } from './marks.ts'
import type { Found, Hit, SearchResult } from './shapes.ts'
import { everything, textStride } from './tables.ts'

const mostConversations = 50
const mostHits = 3
/** So many bytes of archives are unpacked to show what was found in them. */
const mostUnpacked = 8 * 1024 * 1024

/** Newest conversations first. `more`: there are others. */
export function search(db: Db, words: string, filter: Filter): SearchResult {
  const terms = termsOf(words)
  if (terms.length === 0) return { found: [], more: false }
  const match = terms.map(quoted).join(' ')
  const mark = marker(db, match)
  const entries = matching(db, match, filter)
  const numbers = [...entries.keys()]
  let unpacked = 0
  const found = numbers.slice(0, mostConversations).flatMap((number): Found[] => {
    const { id } = db.get<{ id: string }>('SELECT id FROM ona_inspect_conversations WHERE number = ?', number)!
    const [row] = conversationRows(db, [id])
    if (!row) return []
    const archive = archiveOf(db, id)
    unpacked += archive?.length ?? 0
    // that the words are there is known without its text
    if (archive && unpacked > mostUnpacked) return [{ ...row, archived: true, hits: [] }]
    const isArchived = archive !== undefined
    return [
      inArchive(db, id, (reader) => ({
        ...row,
        ...(isArchived && { archived: true, title: row.title || redact(firstPrompt(reader, id)) }),
        hits: entries.get(number)!.flatMap((entry) => hitAt(reader, entry, mark)),
      })) ?? { ...row, archived: true, hits: [] },
    ]
  })
  return { found, more: numbers.length > mostConversations }
}

/** The newest entries of each conversation that match, by its number: one more of them than is shown. */
function matching(db: Db, match: string, filter: Filter): Map<number, number[]> {
  const { with: chosen, values, group } = scopeOf(filter)
  if (group === String(everything)) return inOrder(db, match)
  const which = group === undefined ? 'FROM chosen' : `FROM ona_inspect_members WHERE grp = ${group}`
  if (group !== undefined && countConversations(db, filter) > fewConversations) {
    const ends = db.get<{ lowest: number; highest: number }>(
      `${chosen} SELECT (SELECT min(number) ${which}) AS lowest, (SELECT max(number) ${which}) AS highest`,
      ...values,
    )!
    const isMember = `${chosen} SELECT 1 ${which} AND number = ?8`
    return inOrder(db, match, { ...ends, has: (number) => db.get(isMember, ...values, number) !== undefined })
  }
  const allowed = db.all<{ number: number }>(`${chosen} SELECT number ${which}`, ...values).map(({ number }) => number)
  if (allowed.length <= fewConversations) return inEach(db, match, allowed)
  const numbers = new Set(allowed)
  const lowest = allowed.reduce((low, each) => Math.min(low, each))
  const highest = allowed.reduce((high, each) => Math.max(high, each))
  return inOrder(db, match, { lowest, highest, has: (number) => numbers.has(number) })
}

/** Conversations that a search is limited to. */
interface Allowed {
  readonly lowest: number
  readonly highest: number
  has(number: number): boolean
}

/** Up to this many, asking each conversation is faster than passing over the matches of all others. */
const fewConversations = 40

function inEach(db: Db, match: string, allowed: readonly number[]): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (const number of allowed.toSorted((a, b) => b - a)) {
    const places = db.all<{ place: number }>(
      `SELECT rowid AS place FROM ona_inspect_text
       WHERE ona_inspect_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ${mostHits}`,
      ...[match, number * textStride, (number + 1) * textStride - 1],
    )
    const entries = places.map(({ place }) => place % textStride)
    if (entries.length > 0) found.set(number, entries)
    if (found.size > mostConversations) break
  }
  return found
}

function inOrder(db: Db, match: string, allowed: Allowed = anywhere): Map<number, number[]> {
  const found = new Map<number, number[]>()
  let passedOver = -1
  for (const { place } of db.each<{ place: number }>(
    'SELECT rowid AS place FROM ona_inspect_text WHERE ona_inspect_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC',
    ...[match, allowed.lowest * textStride, (allowed.highest + 1) * textStride - 1],
  )) {
    const number = Math.floor(place / textStride)
    if (number === passedOver) continue
    const entries = found.get(number) ?? []
    if (entries.length === 0 && !allowed.has(number)) {
      passedOver = number
      continue
    }
    if (entries.length === 0) found.set(number, entries)
    if (entries.length < mostHits) entries.push(place % textStride)
    if (found.size > mostConversations) break
  }
  return found
}

const anywhere: Allowed = { lowest: 0, highest: Number.MAX_SAFE_INTEGER / textStride - 1, has: () => true }

/** Undefined: the archive of the conversation is damaged, and opening it says so. */
function inArchive<T>(db: Db, conversation: string, work: (db: ReadDb) => T): T | undefined {
  try {
    return withArchived(db, [conversation], work)
  } catch (cause) {
    if (cause instanceof StoreError) return undefined
    throw cause
  }
}

function hitAt(db: ReadDb, id: number, mark: (text: string) => string[]): Hit[] {
  const row = db.get<{ type: string; at: string; payload: string; place: number }>(
    `SELECT e.entry_type AS type, e.created_at AS at, e.payload_json AS payload, e.sequence + (
       SELECT coalesce(sum((SELECT max(sequence) + 1 FROM transcript_entries o WHERE o.session_id = s.session_id)), 0)
       FROM sessions s JOIN sessions own ON own.session_id = e.session_id
       WHERE s.conversation_id = own.conversation_id AND s.session_id NOT IN (SELECT session_id FROM ona_subagents)
         AND (s.started_at, s.rowid) < (own.started_at, own.rowid)) AS place
     FROM transcript_entries e WHERE e.id = ?`,
    id,
  )
  if (!row) return []
  const page = Math.floor(row.place / pageRows) + 1
  return [{ type: row.type, at: row.at, page, pieces: mark(redact(entryText(row.payload))) }]
}

/** Words as people type them; a quoted phrase stays together. */
const termsOf = (words: string): string[] =>
  [
    ...words
      .toWellFormed()
      .replaceAll(/\p{Cc}/gu, ' ')
      .matchAll(/"([^"]+)"|(\S+)/g),
  ]
    .map(([, phrase, word]) => (phrase ?? word!).replaceAll('"', ' ').trim())
    .filter((term) => /[\p{L}\p{N}]/u.test(term))
    .slice(0, 12)

/** Nothing of FTS5's query language gets through but a star at the end, for the beginning of a word. */
const quoted = (term: string): string => `"${term.replace(/\*+$/, '')}"${/[\p{L}\p{N}]{2}\*+$/u.test(term) ? '*' : ''}`
