/** The session that was asked for: a new one, an earlier one, or a copy of it. */

import { branchOf } from '../../files/git-branch.ts'
import { unarchiveSession } from '../../store/archive/archive.ts'
import { addEvent } from '../../store/audit.ts'
import {
  createConversation,
  createSession,
  getSession,
  newestSession,
  type Session as SessionRow,
} from '../../store/conversations.ts'
import { sessionByPrefix } from '../../store/session/session-list.ts'
import { workerIn } from '../../store/session/session-lock.ts'
import { setState } from '../../store/state.ts'
import { sendsTelemetry } from '../../store/telemetry.ts'
import { forkSession } from './fork.ts'
import { recover } from './history.ts'
import type { Runtime } from './runtime.ts'
import type { StartOptions, StartProblem } from './start-options.ts'

export type Found = { readonly id: string; readonly conversationId: string; readonly isNew: boolean }

/** The session that was asked for, or a new one. */
export function findSession(options: StartOptions, { db, env }: Runtime): Found | StartProblem {
  const { resume, cwd } = options
  if (options.sessionId && !uuid.test(options.sessionId)) {
    return { problem: `--session-id must be a UUID, not "${options.sessionId}"`, usage: true }
  }
  if (options.sessionId && getSession(db, options.sessionId)) {
    return { problem: `the session ${options.sessionId} is in use; --resume resumes it`, usage: true }
  }
  if (!resume) return newSession(options, { db, env })
  const old = resume === true ? newestSession(db, { projectDir: cwd }) : namedSession(db, resume)
  if (!old) {
    if (resume === true) return { problem: `there is no session of ${cwd} to continue` }
    return { problem: `No conversation found with session ID: ${resume}`, unknownSession: true }
  }
  const imported = db.get<{ agent: string; id: string }>(
    'SELECT agent, source_id AS id FROM ona_imports WHERE session_id = ?',
    old.sessionId,
  )
  if (imported)
    return {
      problem: `${old.sessionId} was imported from ${imported.agent}, and its record is not continued here; resume ${imported.id} in ${imported.agent}`,
    }
  if (isDispatcherLog(db, old.sessionId))
    return { problem: `${old.sessionId} is a log of the dispatcher, and no conversation that can be continued` }
  if (!options.fork) return goOn(old, db)
  unarchiveSession(db, old.sessionId)
  const { sessionId: id } = forkSession(db, old, options.sessionId)
  recover(db, id)
  return { id, conversationId: old.conversationId, isNew: false }
}

const isDispatcherLog = (db: Runtime['db'], id: string): boolean =>
  db.get('SELECT 1 FROM ona_dispatcher_imports WHERE session_id = ?', id) !== undefined

function goOn({ sessionId: id, conversationId }: SessionRow, db: Runtime['db']): Found | StartProblem {
  const pid = workerIn({ db, id, conversationId })
  if (pid) {
    const problem = `the session ${id}: another ona is at work in it (process ${pid}); wait for its answer, or go on in a copy with --fork-session`
    return { problem }
  }
  recover(db, id)
  return { id, conversationId, isNew: false }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Where it starts, on which branch and, where the record is sent to a collector, the trace that it belongs to. */
const startDetail = ({ cwd, env: given }: StartOptions, env: Runtime['env']): object => ({
  cwd,
  branch: branchOf(cwd),
  ...(sendsTelemetry(env) && {
    traceparent: env['TRACEPARENT'],
    startsTrace: env['TRACEPARENT'] !== given['TRACEPARENT'],
  }),
})

function newSession(options: StartOptions, { db, env }: Pick<Runtime, 'db' | 'env'>): Found {
  return db.transaction(() => {
    const conversation = createConversation(db, { projectDir: options.cwd })
    const { sessionId } = createSession(db, conversation.id, options.sessionId)
    if (options.name) setState(db, conversation.id, 'name', options.name)
    addEvent(db, {
      conversationId: conversation.id,
      sessionId,
      type: 'session_start',
      detail: startDetail(options, env),
    })
    return { id: sessionId, conversationId: conversation.id, isNew: true }
  })
}

/** By its id, its name or its conversation, which `ona inspect` shows, or by the beginning of its id. */
export const namedSession = (db: Runtime['db'], wanted: string): SessionRow | undefined =>
  getSession(db, wanted) ??
  byName(db, wanted) ??
  newestSession(db, { conversationId: wanted }) ??
  sessionByPrefix(db, wanted)

function byName(db: Runtime['db'], name: string) {
  const row = db.get<{ conversationId: string }>(
    `SELECT conversation_id AS conversationId FROM state WHERE key = 'name' AND value = ? ORDER BY updated_at DESC LIMIT 1`,
    name,
  )
  return row && newestSession(db, { conversationId: row.conversationId })
}
