/** The workflow as a session drives it: moving on, writing and running the tests, the report. */
import { counted } from '../../hooks/text/counted.ts'
import { getConversation } from '../../store/conversations.ts'
import { approvedPlan } from '../../store/plans.ts'
import { lastRating } from '../../store/ratings.ts'
import { casesOf, dropCases, type Run } from '../../workflow/cases/cases.ts'
import { runCases } from '../../workflow/cases/run-cases.ts'
import { testPlace } from '../../workflow/cases/test-place.ts'
import { coverageOf, coverageWhenDone } from '../../workflow/coverage.ts'
import { criteriaOf } from '../../workflow/criteria.ts'
import { type Moved, type Phase, signOff, transition } from '../../workflow/phases.ts'
import { type Report, reportOf } from '../../workflow/report.ts'
import type { Session } from '../session/session.ts'
import { type Generated, generateCases } from './exam-session.ts'
import { refusedCase, scriptPlace } from './script-place.ts'

export function movePhase(session: Session, to: Phase, by: string, approved = false): Moved {
  const { db, conversationId, id: sessionId } = session
  const moved = transition(db, { conversationId, sessionId, to, by, approved })
  if (moved.ok && to === 'planning') void session.stopCommands()
  if (moved.ok && moved.from !== moved.to) session.emit({ type: 'phase', from: moved.from, to: moved.to })
  return moved
}

/** What the operator does next, after a turn that came to its own end; undefined where the workflow waits for nothing. */
export function nextStep({ db, conversationId, phase }: Session): string | undefined {
  if (phase !== 'implement' || !approvedPlan(db, conversationId)) return undefined
  return 'Phase implement: when the plan is implemented, /test comes next. It has tests written from the plan, and runs them.'
}

export type Tested =
  | { readonly ok: true; readonly generated: Generated | undefined; readonly runs: readonly Run[] }
  | { readonly ok: false; readonly why: string }

/** Enters the test phase, has a case written for every criterion without sight of the code, and runs them. */
export async function enterTest(session: Session, by: string): Promise<Tested> {
  const moved = movePhase(session, 'test', by)
  if (!moved.ok) return moved
  const plan = approvedPlan(session.db, session.conversationId)
  if (plan) dropCases(session.db, plan.id)
  return testAgain(session)
}

/**
 * Runs the cases of the approved plan once more. In the test phase those that are missing are written first, and with
 * them the ones of the criteria that the operator wants rewritten because the case was wrong and not the program.
 */
export async function testAgain(session: Session, rewritten: readonly string[] = []): Promise<Tested> {
  const { db, conversationId } = session
  const plan = approvedPlan(db, conversationId)
  if (!plan) return { ok: true, generated: undefined, runs: [] }
  const criteria = criteriaOf(plan.content).map(({ id }) => id)
  const unknown = rewritten.find((id) => !criteria.includes(id))
  if (unknown !== undefined)
    return { ok: false, why: `there is no criterion ${unknown}; the plan has ${criteria.join(', ')}` }
  if (session.phase !== 'test') {
    if (rewritten.length > 0) return { ok: false, why: `cases are written in the test phase; this is ${session.phase}` }
    return { ok: true, generated: undefined, runs: await runTests(session) }
  }
  if (rewritten.length > 0) dropCases(db, plan.id, rewritten)
  const covered = new Set(casesOf(db, plan.id).map(({ criterion }) => criterion))
  const open = criteria.filter((id) => !covered.has(id))
  const generated = open.length > 0 ? await generateCases(session, plan, open) : undefined
  return { ok: true, generated, runs: await runTests(session) }
}

/** What a round of testing came to: the numbers, and what is still to be written and why. */
export function testedInWords({ generated, runs }: Tested & { ok: true }): { numbers: string; open?: string } {
  const passed = `${runs.filter(({ exitCode }) => exitCode === 0).length} of ${runs.length} passed`
  if (!generated) return { numbers: runs.length > 0 ? passed : 'no cases: there is no approved plan' }
  const { cases, open, why } = generated
  return {
    numbers: `${counted(cases, 'case')} written, ${passed}`,
    ...(open.length > 0 && {
      open: `no case yet for ${open.join(', ')}${why ? `: ${why}` : ''}\nTry again with /test or ona verify --run, or make a new plan with criteria that can be checked from outside.`,
    }),
  }
}

/** Runs the cases of the approved plan, as they stand. */
async function runTests(session: Session): Promise<Run[]> {
  const plan = approvedPlan(session.db, session.conversationId)
  if (!plan) return []
  return runCases(session.db, plan, {
    ...scriptPlace(session),
    refused: async (each) => (await refusedCase(session, each))?.reason,
    onCase: (each, run) => {
      const passed = run.exitCode === 0
      const text = `${passed ? '✔' : '✖'} ${each.criterion ?? '–'} ${each.name} (${run.durationMs} ms)${passed ? '' : outputOf(run)}`
      session.emit({ type: 'notice', level: passed ? 'info' : 'warning', text })
    },
  })
}

/** The end of what a failed case printed, indented below its line. */
const outputOf = ({ stdout, stderr }: Run): string =>
  `${stdout}\n${stderr}`
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-10)
    .map((line) => `\n    ${line.slice(0, 200)}`)
    .join('')

export function verifyReport(session: Pick<Session, 'db' | 'conversationId'>): Report {
  const { db, conversationId } = session
  const phase = getConversation(db, conversationId)?.phase ?? 'idle'
  const coverage = phase === 'done' ? coverageWhenDone(db, conversationId) : coverageOf(db, conversationId)
  const signed = phase === 'done' ? signOff(db, conversationId) : undefined
  return reportOf(conversationId, phase, coverage, {
    rated: lastRating(db, conversationId),
    signed,
    place: testPlace(db, conversationId),
  })
}
