/** Runs the cases of a plan, proves what they are worth, and keeps both. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'
import type { Db } from '../../store/open.ts'
import type { Plan } from '../../store/plans.ts'
import { implementationOf } from '../implementation.ts'
import { type Case, casesOf, type Run, saveRun } from './cases.ts'
import { changeOf, proveCases } from './prove.ts'
import { copyFor, runScript, type ScriptPlace } from './run-script.ts'

export interface RunOptions extends Omit<ScriptPlace, 'db' | 'conversationId'> {
  /** The project itself: the cases run in a copy of it. */
  readonly projectDir: string
  /** Why a case must not run, by rules or hooks. */
  refused?(each: Case): Promise<string | undefined>
  onCase?(each: Case, run: Run): void
}

/** One case after another, each in a fresh copy; then those that passed against the emptied project and its mutants. */
export async function runCases(db: Db, plan: Plan, options: RunOptions): Promise<Run[]> {
  const { projectDir, signal } = options
  const place = { ...options, db, conversationId: plan.conversationId }
  const runs: Run[] = []
  const passed: Case[] = []
  for (const each of casesOf(db, plan.id)) {
    if (signal?.aborted) break
    restoreCopy(each, plan, projectDir)
    const run = await runCase(each, plan, place, await options.refused?.(each))
    saveRun(db, run)
    if (run.exitCode === 0) passed.push(each)
    options.onCase?.(each, run)
    runs.push(run)
  }
  const change = changeOf(implementationOf(db, plan.conversationId, projectDir, plan), projectDir)
  await proveCases(passed, change, place) // none, once the signal is aborted
  return runs
}

async function runCase(each: Case, plan: Plan, place: ScriptPlace, refused: string | undefined): Promise<Run> {
  const startedAt = new Date().toISOString()
  const begun = performance.now()
  const facts = () => ({
    caseId: each.id,
    hash: each.hash,
    planHash: plan.hash,
    startedAt,
    durationMs: Math.round(performance.now() - begun),
  })
  if (refused !== undefined)
    return { ...facts(), exitCode: null, timedOut: false, stdout: '', stderr: `not run: ${refused}\n` }
  const copy = await copyFor(place)
  try {
    const result = await runScript(each.content, { ...place, projectDir: copy.path, packages: copy.packages })
    return { ...facts(), ...result }
  } finally {
    copy.remove()
  }
}

/** Where people read the cases: `.ona/tests/<plan>/`. What lies there is rewritten from the row before each run. */
const caseFile = (projectDir: string, planId: number, name: string): string =>
  join(projectDir, '.ona', 'tests', String(planId), `${name}.sh`)

export function restoreCopy(each: Case, plan: Plan, projectDir: string): void {
  const file = caseFile(projectDir, plan.id, each.name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeAtomic(file, each.content, { mode: 0o755 })
}
