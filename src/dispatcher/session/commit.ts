/** Writes a run down: the log first, because it is the truth; then the snapshot, the registry and the rest. */

import { trace } from '../host/stdio-guard.ts'
import type { Run } from '../run.ts'
import type { LoggedEvent } from '../types.ts'
import { appendLines, replaceFile } from './files.ts'
import { alone } from './lock.ts'
import { lockFileOf } from './session.ts'
import { catchUp } from './state.ts'

/** Nothing here may change the decision: what cannot be written is traced and lost. */
export function commit(run: Run): void {
  const { paths, snapshot } = run.session
  const logged = appendLines(paths.eventsFile, run.events.map(toLine))
  if (!logged) trace(`${run.session.ids.hookRunId}: events.jsonl could not be written; this run's events are lost`)
  appendOthers(run)
  if (!isSnapshotDue(run)) return
  const saved = alone(lockFileOf(paths), patienceMs, () => {
    const now = catchUp(snapshot, paths.eventsFile)
    const state = { ...now, core: { ...now.core, lastActiveTs: Math.max(Date.now(), now.core.lastActiveTs ?? 0) } }
    if (!replaceFile(paths.stateFile, JSON.stringify(state))) trace('state.json could not be written')
  })
  if (!saved)
    trace(`${run.session.ids.hookRunId}: state.json is busy or not writable; the next run reads it from the log`)
}

/**
 * A snapshot only saves the next reader from going through the log, so on the hot path one is taken when the state has
 * changed or enough of the log has gathered; everywhere else always.
 */
function isSnapshotDue({ session, events }: Run): boolean {
  if (session.event.name !== 'PreToolUse' || session.problems.length > 0) return true
  if (session.unseenBytes > maxUnseenBytes) return true
  return events.some((record) => record.kind === 'STATE_PATCH')
}
const maxUnseenBytes = 32 * 1024

/** Enough for a hundred processes in front of us on a busy machine; a lock that a dead one left is broken sooner. */
const patienceMs = 2500

function appendOthers(run: Run): void {
  for (const [file, lines] of run.lines) if (!appendLines(file, lines)) trace(`${file} could not be written`)
}

function toLine(record: LoggedEvent): string {
  try {
    return JSON.stringify(record)
  } catch (cause) {
    const { ts, event, producer, hookRunId, turnId, workId } = record
    const error = { module: producer, message: `event ${record.kind}: ${(cause as Error).message}` }
    return JSON.stringify({ ts, event, producer, kind: 'ERROR_MODULE', hookRunId, turnId, workId, error })
  }
}
