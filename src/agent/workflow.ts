/** The workflow as a session drives it: moving on, writing and running the tests, the report. */
import { getConversation } from '../store/conversations.ts'
import { approvedPlan } from '../store/plans.ts'
import type { Run } from '../workflow/cases.ts'
import { coverageOf, coverageWhenDone } from '../workflow/coverage.ts'
import { type Moved, type Phase, transition } from '../workflow/phases.ts'
import { type Report, reportOf } from '../workflow/report.ts'
import { runCases } from '../workflow/run-cases.ts'
import { type Generated, generateCases } from './exam-session.ts'
import type { Session } from './session.ts'

export function movePhase(session: Session, to: Phase, by: string, approved = false): Moved {
  const { db, conversationId, id: sessionId } = session
  const moved = transition(db, { conversationId, sessionId, to, by, approved })
  if (moved.ok) session.emit({ type: 'phase', from: moved.from, to: moved.to })
  return moved
}

export type Tested =
  | { readonly ok: true; readonly generated: Generated | undefined; readonly runs: readonly Run[] }
  | { readonly ok: false; readonly why: string }

/** Enters the test phase, has the cases written without sight of the code, and runs them. */
export async function enterTest(session: Session, by: string): Promise<Tested> {
  const moved = movePhase(session, 'test', by)
  if (!moved.ok) return moved
  if (!approvedPlan(session.db, session.conversationId)) return { ok: true, generated: undefined, runs: [] }
  return { ok: true, generated: await generateCases(session), runs: await runTests(session) }
}

/** Runs the cases of the approved plan again, as they stand. */
export async function runTests(session: Session): Promise<Run[]> {
  const plan = approvedPlan(session.db, session.conversationId)
  if (!plan) return []
  return runCases(session.db, plan, {
    projectDir: session.projectDir,
    env: session.runtime.childEnv,
    signal: session.signal,
    onCase: (each, run) => {
      const passed = run.exitCode === 0
      const text = `${passed ? '✔' : '✖'} ${each.criterion ?? '–'} ${each.name} (${run.durationMs} ms)`
      session.emit({ type: 'notice', level: passed ? 'info' : 'warning', text })
    },
  })
}

export function verifyReport(session: Pick<Session, 'db' | 'conversationId'>): Report {
  const { db, conversationId } = session
  const phase = getConversation(db, conversationId)?.phase ?? 'idle'
  const coverage = phase === 'done' ? coverageWhenDone(db, conversationId) : coverageOf(db, conversationId)
  return reportOf(conversationId, phase, coverage)
}
