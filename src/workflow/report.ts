/** The verify report: what was asked for, which cases show it, what each of them really printed. */
import { counted } from '../hooks/text/counted.ts'
import { mostRating, type Rating } from '../store/ratings.ts'
import type { TestPlace } from './cases/test-place.ts'
import { type CaseState, type Coverage, missing, uncovered } from './coverage.ts'

export interface Report {
  readonly conversation: string
  readonly phase: string
  readonly plan: { readonly id: number; readonly hash: string; readonly approved_at: string | null } | null
  readonly coverage: readonly {
    readonly criterion: string
    readonly text: string
    readonly cases: readonly ReportedCase[]
    /** Mutants of the change that a case of this criterion fails on, of those that were tried; null where none was. */
    readonly kill_score: {
      readonly killed: number
      readonly mutants: number
      readonly survived: readonly string[]
    } | null
  }[]
  /** Who signed off, once the work is done. */
  readonly signed_off: { readonly by: string; readonly at: string } | null
  readonly untraced: readonly ReportedCase[]
  readonly uncovered: readonly { readonly criterion: string; readonly text: string }[]
  readonly total: number
  readonly passed: number
  readonly failed: number
  readonly ready: boolean
  /** What holds the gate shut. */
  readonly missing: string | null
  /** The user's last rating of the task, given with /rate. */
  readonly rating: { readonly rating: number; readonly objective: string | null; readonly at: string } | null
  /** Whether the cases were written and run in a sandbox; null before the first of them. */
  readonly sandbox: TestPlace | null
}

export interface ReportedCase {
  readonly name: string
  readonly state: CaseState['state']
  readonly exit_code: number | null
  readonly timed_out: boolean
  readonly duration_ms: number | null
  readonly started_at: string | null
  readonly stdout: string
  readonly stderr: string
  readonly script: string
}

interface Reported {
  readonly rated?: Rating | undefined
  readonly signed?: Report['signed_off'] | undefined
  readonly place?: TestPlace | undefined
}

export function reportOf(
  conversation: string,
  phase: string,
  coverage: Coverage,
  { rated, signed, place }: Reported = {},
): Report {
  const { plan, rows, untraced, traced, passed } = coverage
  const why = missing(coverage)
  return {
    conversation,
    phase,
    plan: plan ? { id: plan.id, hash: plan.hash, approved_at: plan.approvedAt } : null,
    coverage: rows.map(({ criterion, cases }) => ({
      criterion: criterion.id,
      text: criterion.text,
      cases: cases.map(reported),
      kill_score: killScore(cases),
    })),
    signed_off: signed ?? null,
    untraced: untraced.map(reported),
    uncovered: uncovered(coverage).map(({ id, text }) => ({ criterion: id, text })),
    total: traced,
    passed,
    failed: traced - passed,
    ready: why === undefined,
    missing: why ?? null,
    sandbox: place ?? null,
    rating: rated ? { rating: rated.rating, objective: rated.objective, at: rated.timestamp } : null,
  }
}

function killScore(cases: readonly CaseState[]): Report['coverage'][number]['kill_score'] {
  const mutants = new Set(cases.flatMap(({ proof }) => proof?.mutants ?? []))
  if (mutants.size === 0) return null
  const killed = new Set(cases.flatMap(({ proof }) => proof?.killed ?? []))
  return { killed: killed.size, mutants: mutants.size, survived: [...mutants].filter((each) => !killed.has(each)) }
}

const reported = ({ case: { name, content }, run, state }: CaseState): ReportedCase => ({
  name,
  state,
  exit_code: run?.exitCode ?? null,
  timed_out: run?.timedOut ?? false,
  duration_ms: run?.durationMs ?? null,
  started_at: run?.startedAt ?? null,
  stdout: run?.stdout ?? '',
  stderr: run?.stderr ?? '',
  script: content,
})

const marks: Record<CaseState['state'], string> = {
  passed: '✔',
  failed: '✖',
  'not run': '·',
  stale: '↻',
  'proves nothing': '∅',
}

/** For a terminal of `columns`: the matrix, then every case's true output. */
export function reportText(
  report: Report,
  { columns = 80, colour = false }: { columns?: number; colour?: boolean } = {},
): string {
  if (!report.plan) return report.missing ?? ''
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const mark = (state: CaseState['state']) =>
    paint(state === 'passed' ? 32 : state === 'failed' || state === 'proves nothing' ? 31 : 33, marks[state])
  const fit = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text)
  const lines = [paint(1, `Coverage of plan ${report.plan.id}`), '']
  for (const { criterion, text, cases, kill_score } of report.coverage) {
    lines.push(`${criterion.padEnd(4)} ${fit(text, columns - 5)}`)
    for (const each of cases) {
      const facts =
        each.duration_ms === null
          ? each.state
          : `${each.state}, exit ${each.exit_code ?? (each.timed_out ? 'timed out' : 'signal')}, ${each.duration_ms} ms`
      lines.push(`     ${mark(each.state)} ${fit(`${each.name} (${facts})`, columns - 7)}`)
    }
    if (cases.length === 0) lines.push(`     ${paint(31, '✖')} no case`)
    if (kill_score) lines.push(`     ${killLine(kill_score)}`)
  }
  lines.push('', paint(1, 'Output'))
  for (const each of [...report.coverage.flatMap(({ cases }) => cases), ...report.untraced]) {
    lines.push('', `${mark(each.state)} ${each.name}`)
    for (const [name, text] of [
      ['stdout', each.stdout],
      ['stderr', each.stderr],
    ] as const) {
      if (text.trim() === '') lines.push(paint(2, `  ${name}: (nothing)`))
      else
        lines.push(
          paint(2, `  ${name}:`),
          ...text
            .trimEnd()
            .split('\n')
            .map((line) => `    ${line}`),
        )
    }
  }
  lines.push('', paint(1, 'Not covered'))
  lines.push(
    ...(report.uncovered.length > 0
      ? report.uncovered.map(({ criterion, text }) => `- ${criterion} ${text}`)
      : ['none']),
  )
  const rate = report.total === 0 ? 0 : Math.round((100 * report.passed) / report.total)
  lines.push(
    '',
    `${counted(report.total, 'traced case')}, ${report.passed} passed, ${report.failed} failed (${rate} %)`,
  )
  if (report.sandbox?.sandboxed === false) lines.push('', unfencedLine(report.sandbox.why))
  if (report.signed_off) lines.push('', `Signed off by ${report.signed_off.by} on ${report.signed_off.at}`)
  if (report.rating) lines.push('', ratingLine(report.rating))
  if (report.missing) lines.push('', report.missing)
  return lines.join('\n')
}

export const unfencedLine = (why: string): string =>
  `The cases were not sandboxed: ${why}. What kept their writer from the code is what it was sent and which tools it had.`

export const ratingLine = ({ rating, objective, at }: NonNullable<Report['rating']>): string =>
  `Rated ${rating} of ${mostRating} on ${at}${objective ? `: ${objective}` : ''}`

export const killLine = ({ killed, mutants }: NonNullable<Report['coverage'][number]['kill_score']>): string =>
  `kill score: its cases fail on ${killed} of ${counted(mutants, 'mutant')} of the change`
