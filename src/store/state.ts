/** Small values that a conversation keeps: its name, its todo list. */
import type { Db } from './open.ts'
import { storable } from './secrets.ts'

export const getState = (db: Db, conversationId: string, key: string): string | undefined =>
  db.get<{ value: string | null }>('SELECT value FROM state WHERE conversation_id = ? AND key = ?', conversationId, key)
    ?.value ?? undefined

export function setState(db: Db, conversationId: string, key: string, value: string): void {
  const sql = 'INSERT OR REPLACE INTO state(conversation_id, key, value) VALUES (?, ?, ?)'
  db.transaction(() => db.run(sql, conversationId, key, storable(value)))
}

/** False when there was nothing under the key. */
export const deleteState = (db: Db, conversationId: string, key: string): boolean =>
  db.transaction(
    () => db.run('DELETE FROM state WHERE conversation_id = ? AND key = ?', conversationId, key).changes > 0,
  )

export function allState(db: Db, conversationId: string): Record<string, string> {
  const sql = 'SELECT key, value FROM state WHERE conversation_id = ? AND value IS NOT NULL ORDER BY key'
  const rows = db.all<{ key: string; value: string }>(sql, conversationId)
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]))
}
