/** Sessions that a user can resume, newest first, a page at a time. By index: a page costs the same whatever the record holds. */
import { chosen, newestSessionFirst, type Phase, resumableSessions, type Session } from '../conversations.ts'
import type { ReadDb } from '../open.ts'

/** A session as a list shows it. */
export interface SessionSummary extends Session {
  readonly projectDir: string
  readonly phase: Phase
  readonly lastActive: string
  /** The user's name for it (state key `name`). */
  readonly name: string | null
  /** Its beginning; null where the first prompt is no text, or the session is archived. */
  readonly firstPrompt: string | null
  /** The git branch that it began on. */
  readonly branch: string | null
  readonly entries: number
  /** 1: its rows are in a compressed file, and resuming brings them back. */
  readonly archived: 0 | 1
}

export interface SessionPage {
  readonly projectDir?: string | null
  readonly limit?: number
  /** The last one of the page before. */
  readonly after?: SessionSummary | undefined
}

/** Sessions in which nothing was said are left out. */
export function listSessions(db: ReadDb, { projectDir, limit = 50, after }: SessionPage = {}): SessionSummary[] {
  const { where, values } = chosen({ 'c.project_dir': projectDir })
  return db.all<SessionSummary>(
    `${summary} ${resumableSessions} AND (${hasEntries} OR ${isArchived}) ${where} ${after ? older : ''}
     ${newestSessionFirst} LIMIT ?`,
    ...values,
    ...(after ? [after.lastActive, after.lastActive, after.startedAt, after.sessionId] : []),
    limit,
  )
}

/** The only session whose id begins like this; undefined where there are several. */
export function sessionByPrefix(db: ReadDb, prefix: string): Session | undefined {
  if (!/^[0-9a-f][0-9a-f-]{5,35}$/.test(prefix)) return undefined
  const found = db.all<Session>(
    `SELECT s.session_id AS sessionId, s.conversation_id AS conversationId, s.started_at AS startedAt FROM sessions s
     WHERE s.session_id >= ? AND s.session_id < ?
       AND NOT EXISTS (SELECT 1 FROM ona_subagents a WHERE a.session_id = s.session_id)
       AND NOT EXISTS (SELECT 1 FROM ona_imports i WHERE i.session_id = s.session_id) LIMIT 2`,
    prefix,
    `${prefix}g`,
  )
  return found.length === 1 ? found[0] : undefined
}

/** Prompts and answers, counted up to `most`. */
export const countMessages = (db: ReadDb, sessionId: string, most: number): number =>
  ['user', 'assistant']
    .map((type) => {
      const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM transcript_entries
        WHERE session_id = ? AND entry_type = ? LIMIT ?)`
      return db.get<{ count: number }>(sql, sessionId, type, most)!.count
    })
    .reduce((sum, count) => Math.min(most, sum + count), 0)

/** So much of a first prompt is enough to know it again. */
const promptCharacters = 300

const text = (at: number) => `json_extract(payload_json, '$.content[${at}].text')`
const hasEntries = 'EXISTS (SELECT 1 FROM transcript_entries e WHERE e.session_id = s.session_id)'
const isArchived = 'EXISTS (SELECT 1 FROM ona_archives a WHERE a.conversation_id = c.id)'
// images stand before the words
const summary = `SELECT s.session_id AS sessionId, s.conversation_id AS conversationId, s.started_at AS startedAt,
  c.project_dir AS projectDir, c.phase, c.last_active AS lastActive, ${isArchived} AS archived,
  (SELECT value FROM state WHERE conversation_id = c.id AND key = 'name') AS name,
  (SELECT iif(json_valid(payload_json), substr(coalesce(${[0, 1, 2, 3].map(text).join(', ')}), 1, ${promptCharacters}), NULL)
   FROM transcript_entries e WHERE e.session_id = s.session_id AND entry_type = 'user' ORDER BY sequence LIMIT 1) AS firstPrompt,
  (SELECT iif(json_valid(detail), json_extract(detail, '$.branch'), NULL) FROM events v
   WHERE v.session_id = s.session_id AND v.event_type = 'session_start' ORDER BY v.id LIMIT 1) AS branch,
  (SELECT coalesce(max(sequence) + 1, 0) FROM transcript_entries e WHERE e.session_id = s.session_id) AS entries`
const older = `AND c.last_active <= ? AND (c.last_active, s.started_at, s.rowid)
  < (?, ?, (SELECT rowid FROM sessions WHERE session_id = ?))`
