/** How well a task went, as the user rated it with /rate. */
import type { Db } from './open.ts'
import { storable } from './secrets.ts'

/** The best rating; 1 is the worst. */
export const mostRating = 5

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
  if (!Number.isInteger(rating) || rating < 1 || rating > mostRating)
    throw new RangeError(`a rating is a whole number from 1 to ${mostRating}, not ${rating}`)
  const sql = 'INSERT INTO task_ratings(conversation_id, rating, objective) VALUES (?, ?, ?)'
  const text = objective === undefined ? null : storable(objective)
  return db.transaction(() => db.run(sql, conversationId, rating, text).lastId)
}

/** The newest rating of a conversation. */
export const lastRating = (db: Db, conversationId: string): Rating | undefined =>
  db.get<Rating>(
    `SELECT id, conversation_id AS conversationId, rating, objective, timestamp FROM task_ratings
     WHERE conversation_id = ? ORDER BY id DESC LIMIT 1`,
    conversationId,
  )
