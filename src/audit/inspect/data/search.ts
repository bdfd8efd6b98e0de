/** Full-text search: which conversations hold the words, and where in them. */
import { redact } from '../../../hooks/secrets/redact.ts'
import { archiveOf } from '../../../store/archive/archive.ts'
import { withArchived } from '../../../store/archive/reading.ts'
import { type Db, type ReadDb, StoreError } from '../../../store/open.ts'
import { entriesIn } from '../overview.ts'
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

/**
 * The newest entries of each conversation that match, by its number: one conversation more than is shown. The index is read from its
 * end on, however far away a match is, so it is read once, and SQLite passes over what does not count.
 */
function matching(db: Db, match: string, filter: Filter): Map<number, number[]> {
  const found = new Map<number, number[]>()
  const { with: chosen, values, group } = scopeOf(filter)
  const count = group === String(everything) ? Infinity : countConversations(db, filter)
  if (count === 0) return found
  for (const { place } of db.each<{ place: number }>(
    `${chosen} SELECT rowid AS place FROM ona_inspect_text WHERE ona_inspect_text MATCH ?8 ${allowed(group, count)}
     ORDER BY rowid DESC`,
    ...[...values, match],
  )) {
    const number = Math.floor(place / textStride)
    const entries = found.get(number) ?? []
    if (entries.length === 0) found.set(number, entries)
    if (entries.length < mostHits) entries.push(place % textStride)
    if (found.size > mostConversations) break
  }
  return found
}

/** A condition on the conversation, with `AND` in front. */
function allowed(group: string | undefined, conversations: number): string {
  if (group === String(everything)) return ''
  if (group !== undefined && conversations > manyConversations)
    return `AND EXISTS (SELECT 1 FROM ona_inspect_members WHERE number = ona_inspect_text.rowid / ${textStride} AND grp = ${group})`
  const which = group === undefined ? 'FROM chosen' : `FROM ona_inspect_members WHERE grp = ${group}`
  return `AND rowid >= (SELECT min(number) ${which}) * ${textStride} AND rowid / ${textStride} IN (SELECT number ${which})`
}

/** More are not listed: of so many, enough are met soon. */
const manyConversations = 1000

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
  const row = db.get<{ type: string; at: string; payload: string; session: string; sequence: number }>(
    `SELECT entry_type AS type, created_at AS at, payload_json AS payload, session_id AS session, sequence
     FROM transcript_entries WHERE id = ?`,
    id,
  )
  if (!row) return []
  const place = row.sequence + entriesBefore(db, row.session)
  const page = Math.floor(place / pageRows) + 1
  return [{ type: row.type, at: row.at, page, pieces: mark(redact(entryText(row.payload))) }]
}

/** Rows of the sessions of the conversation that stand before this one on its pages. */
const entriesBefore = (db: ReadDb, session: string): number =>
  db
    .all<{ id: string }>(
      `SELECT s.session_id AS id FROM sessions own JOIN sessions s ON s.conversation_id = own.conversation_id
       WHERE own.session_id = ? AND s.session_id NOT IN (SELECT session_id FROM ona_subagents)
         AND (s.started_at, s.rowid) < (own.started_at, own.rowid)`,
      session,
    )
    .reduce((sum, { id }) => sum + entriesIn(db, id), 0)

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
