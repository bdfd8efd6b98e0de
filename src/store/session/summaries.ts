/** The summary of a conversation: one, the last that was made. */
import type { Db } from '../open.ts'
import { storable } from '../secrets.ts'

export interface Summary {
  readonly content: string
  readonly wordCount: number
  readonly createdAt: string
}

export function saveSummary(db: Db, conversationId: string, content: string): void {
  const words = content.match(/\S+/g)?.length ?? 0
  const sql = 'INSERT OR REPLACE INTO summaries(conversation_id, content, word_count) VALUES (?, ?, ?)'
  db.transaction(() => db.run(sql, conversationId, storable(content), words))
}

export const getSummary = (db: Db, conversationId: string): Summary | undefined =>
  db.get<Summary>(
    'SELECT content, word_count AS wordCount, created_at AS createdAt FROM summaries WHERE conversation_id = ?',
    conversationId,
  )
