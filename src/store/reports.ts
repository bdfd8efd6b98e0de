/** What the slash commands report from the record: recent failures and denials, usage by day. */
import { archivedConversations, withArchived } from './archive/reading.ts'
import type { Db, ReadDb } from './open.ts'

export interface Failure {
  readonly type: string
  readonly detail: string | null
}

/** The last events of a session that recorded a failure, newest first. */
export const recentFailures = (db: Db, sessionId: string): Failure[] =>
  db.all<Failure>(
    "SELECT event_type AS type, detail FROM events WHERE session_id = ? AND event_type LIKE '%fail%' ORDER BY id DESC LIMIT 3",
    sessionId,
  )

export interface Denial {
  readonly tool: string
  readonly at: string
  readonly reason: string | null
}

/** The last calls of a session that were denied, newest first. */
export const recentDenials = (db: Db, sessionId: string): Denial[] =>
  db.all<Denial>(
    `SELECT tool_name AS tool, created_at AS at, reason_json AS reason FROM tool_permission_log
     WHERE session_id = ? AND decision = 'deny' ORDER BY id DESC LIMIT 10`,
    sessionId,
  )

export interface DayOfUsage {
  readonly day: string
  readonly model: string
  readonly replies: number
  readonly input: number | null
  readonly output: number | null
  readonly cost: number | null
}

/** The last seven days, by model, over all conversations of the database. */
export function usageByDay(db: ReadDb): DayOfUsage[] {
  const { since } = db.get<{ since: string }>("SELECT datetime('now', '-7 days') AS since")!
  return withArchived(db, archivedConversations(db, since), (reader) =>
    reader.all<DayOfUsage>(
      `SELECT date(timestamp) AS day, json_extract(detail, '$.model') AS model, count(*) AS replies,
              sum(coalesce(json_extract(detail, '$.inputTokens'), 0) + coalesce(json_extract(detail, '$.cacheReadTokens'), 0)
                + coalesce(json_extract(detail, '$.cacheWriteTokens'), 0)) AS input,
              sum(json_extract(detail, '$.outputTokens')) AS output, sum(json_extract(detail, '$.costUsd')) AS cost
       FROM events WHERE event_type = 'model_reply' AND timestamp > ?
       GROUP BY 1, 2 ORDER BY 1 DESC, 2`,
      since,
    ),
  )
}
