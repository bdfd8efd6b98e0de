/** Calls that were ever denied, whatever part of the record is looked at: no suggestion may allow one of them. */
import { archivedConversations } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'
import { callsOfSessions, type RecordedCall } from '../replay/recorded-calls.ts'

export function* deniedCalls(db: ReadDb): Generator<RecordedCall> {
  const sessions = db.arrays<[string]>(
    `SELECT session_id FROM sessions WHERE session_id IN (SELECT session_id FROM tool_permission_log WHERE decision = 'deny')
       OR conversation_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(archivedConversations(db)),
  )
  for (const call of callsOfSessions(
    db,
    sessions.map(([id]) => id),
    {},
  ))
    if (wasDenied(call)) yield call
}

/** By a user, a rule or a hook. Where no user was there to ask, or a plan was missing, nobody judged the call itself. */
export const wasDenied = ({ was }: RecordedCall): boolean =>
  was !== null && was.by !== 'nobody' && was.by !== 'gate' && (was.ended === 'deny' || was.decision === 'deny')
