/** A copy of a session to work in: what a model can be shown of it, and never more than that. */
import { createSession, type Session } from '../../store/conversations.ts'
import type { Db } from '../../store/open.ts'
import { appendEntry, countEntries } from '../../store/session/transcript.ts'
import { liveEntries } from './history.ts'

/** Characters of the largest window that a model has. A session that is longer stays where it is, and the copy names it. */
const mostChars = 4_000_000
const mostEntries = 2_000

export function forkSession(db: Db, old: Session, id?: string): Session {
  return db.transaction(() => {
    const fork = createSession(db, old.conversationId, id)
    if (isShort(db, old.sessionId)) copyAll(db, old.sessionId, fork.sessionId)
    else copyLive(db, old.sessionId, fork.sessionId)
    for (const kind of ['model:', 'tools:'])
      db.run(
        `INSERT OR REPLACE INTO state(conversation_id, key, value)
         SELECT conversation_id, ?, value FROM state WHERE conversation_id = ? AND key = ?`,
        kind + fork.sessionId,
        old.conversationId,
        kind + old.sessionId,
      )
    return fork
  })
}

const isShort = (db: Db, sessionId: string): boolean =>
  countEntries(db, sessionId) <= mostEntries &&
  db.get<{ chars: number }>(
    'SELECT coalesce(sum(length(payload_json)), 0) AS chars FROM transcript_entries WHERE session_id = ?',
    sessionId,
  )!.chars <= mostChars

function copyAll(db: Db, from: string, to: string): void {
  db.run(
    `INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id, created_at)
     SELECT ?, sequence, entry_type, payload_json, tool_use_id, created_at
     FROM transcript_entries WHERE session_id = ? ORDER BY sequence`,
    to,
    from,
  )
}

/** The rows that are live and fit, renumbered: compaction and rewinding are done with, so no number refers to another. */
function copyLive(db: Db, from: string, to: string): void {
  const rows = liveEntries(db, from, mostChars)
  const first = rows.next()
  if (first.done) return
  appendEntry(db, to, { _t: 'system', subtype: 'forked', session: from, first_sequence: first.value.sequence })
  const copy = (id: number, sequence: number) =>
    db.run(
      `INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id, created_at)
       SELECT ?, ?, entry_type, payload_json, tool_use_id, created_at FROM transcript_entries WHERE id = ?`,
      to,
      sequence,
      id,
    )
  let sequence = 1
  copy(first.value.id, sequence++)
  for (const { id } of rows) copy(id, sequence++)
}
