/** Retention by the setting `cleanupPeriodDays`: which sessions are old enough, and one bounded run over them. */

import { finishRetention } from '../../store/archive/retention.ts'
import { addEvent } from '../../store/audit.ts'
import type { Db } from '../../store/open.ts'
import { workerIn } from '../../store/session/session-lock.ts'
import { eraseSession, sessionsBefore } from './erase.ts'

export interface RetentionRun {
  readonly days: number
  readonly sessions: number
  readonly rows: number
  /** Old enough, and left for the next run. */
  readonly left: number
}

interface Options {
  readonly days: number
  readonly now: Date
  /** The session whose start began it; it gets the event. */
  readonly startedBy: string
  readonly run: number
  /** Asked before each session: false ends the run. */
  goOn?(erased: number): boolean
}

/** Conversations that are archived, on hold or in use stay as they are. */
export function runRetention(db: Db, { days, now, startedBy, run, goOn = () => true }: Options): RetentionRun {
  const due = dueSessions(db, days, now).filter((id) => id !== startedBy)
  let [sessions, rows, left] = [0, 0, due.length]
  for (const id of due) {
    if (!goOn(sessions)) break
    const erased = eraseSession(db, id, `cleanupPeriodDays ${days}`, timeBefore(days, now))
    if (erased > 0) sessions++ // else it was resumed, or put on hold, meanwhile
    rows += erased
    left--
  }
  const done: RetentionRun = { days, sessions, rows, left }
  db.transaction(() => {
    finishRetention(db, run, done)
    const place = placeOf(db, startedBy)
    if (place && sessions > 0) addEvent(db, { ...place, sessionId: startedBy, type: 'retention', detail: done })
  })
  return done
}

/** What a run would erase, the oldest first. */
export function dueSessions(db: Db, days: number, now: Date): string[] {
  return sessionsBefore(db, timeBefore(days, now)).filter((id) => {
    const place = placeOf(db, id)!
    const { conversationId } = place
    return (
      !db.get('SELECT 1 FROM ona_archives WHERE conversation_id = ?', conversationId) &&
      !db.get('SELECT 1 FROM ona_approvals WHERE session_id = ? AND settled = 0', id) &&
      workerIn({ db, id, conversationId }) === undefined
    )
  })
}

const timeBefore = (days: number, now: Date): string =>
  new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 19).replace('T', ' ')

const placeOf = (db: Db, sessionId: string): { conversationId: string } | undefined =>
  db.get<{ conversationId: string }>(
    'SELECT conversation_id AS conversationId FROM sessions WHERE session_id = ?',
    sessionId,
  )
