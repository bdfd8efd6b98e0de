/** When content was last erased by age, and which conversations are on hold. */
import type { Db, ReadDb } from '../open.ts'

/** Takes the run of the day; undefined: there was one within the last 24 hours. */
export function beginRetention(db: Db, days: number, now: Date): number | undefined {
  const since = new Date(now.getTime() - 86_400_000).toISOString()
  return db.transaction(() => {
    if (db.get('SELECT 1 FROM ona_retention WHERE started_at > ?', since)) return undefined
    const sql = 'INSERT INTO ona_retention(days, started_at) VALUES (?, ?)'
    return db.run(sql, days, now.toISOString()).lastId
  })
}

/** A run that a session has begun within the last hour, and that nobody has finished. */
export const begunRetention = (db: ReadDb, id: number, now: Date): { days: number } | undefined =>
  db.get<{ days: number }>(
    'SELECT days FROM ona_retention WHERE id = ? AND sessions IS NULL AND started_at > ?',
    id,
    new Date(now.getTime() - 3_600_000).toISOString(),
  )

export function finishRetention(db: Db, id: number, done: { sessions: number; rows: number; left: number }): void {
  const sql = 'UPDATE ona_retention SET sessions = ?, rows = ?, remaining = ? WHERE id = ?'
  db.run(sql, done.sessions, done.rows, done.left, id)
}

export interface Hold {
  readonly conversationId: string
  readonly reason: string
  readonly since: string
}

/** Nothing of the conversation is erased until it is released. */
export function holdConversation(db: Db, conversationId: string, reason: string): void {
  const sql = 'INSERT OR REPLACE INTO ona_holds(conversation_id, reason) VALUES (?, ?)'
  db.run(sql, conversationId, reason)
}

export const releaseConversation = (db: Db, conversationId: string): boolean =>
  db.run('DELETE FROM ona_holds WHERE conversation_id = ?', conversationId).changes > 0

export const holds = (db: ReadDb): Hold[] =>
  db.all<Hold>(
    'SELECT conversation_id AS conversationId, reason, created_at AS since FROM ona_holds ORDER BY created_at',
  )

export const holdOf = (db: ReadDb, sessionId: string): string | undefined =>
  db.get<{ reason: string }>(
    'SELECT h.reason FROM ona_holds h JOIN sessions s ON s.conversation_id = h.conversation_id WHERE s.session_id = ?',
    sessionId,
  )?.reason
