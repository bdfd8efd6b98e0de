/** How well a task went, as the person rated it. */
import type { Db } from './open.ts'
import { storable } from './secrets.ts'

export interface Rating {
  readonly id: number
  readonly conversationId: string
  readonly rating: number
  readonly objective: string | null
  readonly timestamp: string
}

export function addRating(
  db: Db,
  { conversationId, rating, objective }: { conversationId: string; rating: number; objective?: string },
): number {
  if (!Number.isSafeInteger(rating)) throw new TypeError(`a rating is a whole number, not ${rating}`)
  const sql = 'INSERT INTO task_ratings(conversation_id, rating, objective) VALUES (?, ?, ?)'
  const text = objective === undefined ? null : storable(objective)
  return db.transaction(() => db.run(sql, conversationId, rating, text).lastId)
}

/** Oldest first. */
export const listRatings = (db: Db, conversationId: string): Rating[] =>
  db.all<Rating>(
    `SELECT id, conversation_id AS conversationId, rating, objective, timestamp FROM task_ratings
     WHERE conversation_id = ? ORDER BY id`,
    conversationId,
  )
