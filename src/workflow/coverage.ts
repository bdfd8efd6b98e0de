/** The coverage gate: computed from rows each time it is asked for, so that nothing can be claimed. */
import type { Db } from '../store/open.ts'
import { approvedPlan, listPlans, type Plan } from '../store/plans.ts'
import { type Case, casesOf, lastRun, type Run } from './cases/cases.ts'
import { flawInWords, type Proof, proofOf } from './cases/proofs.ts'
import { type Criterion, criteriaOf } from './criteria.ts'

export interface CaseState {
  readonly case: Case
  readonly run: Run | undefined
  /** stale: it has run, but the plan or the case has changed since. */
  readonly state: 'passed' | 'failed' | 'not run' | 'stale' | 'proves nothing'
  /** What it is worth, where that was tried. */
  readonly proof: Proof | undefined
}

export interface Coverage {
  readonly plan: Plan | undefined
  readonly rows: readonly { readonly criterion: Criterion; readonly cases: readonly CaseState[] }[]
  /** Cases that trace to no criterion: helpers, and those of a criterion that is gone. They count for nothing. */
  readonly untraced: readonly CaseState[]
  readonly traced: number
  readonly passed: number
}

export const coverageOf = (db: Db, conversationId: string): Coverage =>
  coverageOfPlan(db, approvedPlan(db, conversationId))

/** For the report of work that is done: its plan is completed, and no longer the approved one. */
export const coverageWhenDone = (db: Db, conversationId: string): Coverage =>
  coverageOfPlan(
    db,
    listPlans(db, conversationId).findLast(({ status }) => status === 'completed'),
  )

function coverageOfPlan(db: Db, plan: Plan | undefined): Coverage {
  if (!plan) return { plan, rows: [], untraced: [], traced: 0, passed: 0 }
  const states = casesOf(db, plan.id).map((each) => stateOf(db, plan, each))
  const rows = criteriaOf(plan.content).map((criterion) => ({
    criterion,
    cases: states.filter((state) => state.case.criterion === criterion.id),
  }))
  const traced = rows.flatMap((row) => row.cases)
  return {
    plan,
    rows,
    untraced: states.filter((state) => !traced.includes(state)),
    traced: traced.length,
    passed: traced.filter((each) => each.state === 'passed').length,
  }
}

function stateOf(db: Db, plan: Plan, each: Case): CaseState {
  const run = lastRun(db, each.id)
  const proof = proofOf(db, each)
  const about = { case: each, run, proof }
  if (!run) return { ...about, state: 'not run' }
  if (run.hash !== each.hash || run.planHash !== plan.hash) return { ...about, state: 'stale' }
  if (run.exitCode !== 0) return { ...about, state: 'failed' }
  return { ...about, state: proof?.flaw ? 'proves nothing' : 'passed' }
}

/** Criteria that no passing case traces to. */
export const uncovered = (coverage: Coverage): Criterion[] =>
  coverage.rows.filter(({ cases }) => !cases.some(({ state }) => state === 'passed')).map(({ criterion }) => criterion)

/** What holds the gate shut, in words; undefined when it is open. */
export function missing(coverage: Coverage): string | undefined {
  if (!coverage.plan) return 'there is no approved plan, so there is nothing that tests could cover'
  const lines = [
    ...coverage.rows
      .filter(({ cases }) => cases.length === 0)
      .map(({ criterion: { id, text } }) => `${id} has no test case: ${text}`),
    ...coverage.rows.flatMap(({ criterion, cases }) =>
      cases
        .filter(({ state }) => state !== 'passed')
        .map((each) => `${criterion.id}: case ${each.case.name} ${because(each)}`),
    ),
  ]
  return lines.length === 0 ? undefined : `not everything is covered:\n${lines.map((line) => `- ${line}`).join('\n')}`
}

function because({ state, proof }: CaseState): string {
  if (proof?.flaw && state === 'proves nothing')
    return `${flawInWords[proof.flaw]}; have it rewritten (ona verify --rewrite)`
  return words[state]
}

const words: Record<CaseState['state'], string> = {
  passed: 'passed',
  failed: 'failed in its last run',
  'not run': 'has not run',
  stale: 'ran before the plan or the case changed; run it again',
  'proves nothing': 'proves nothing',
}
