/** Test cases and their runs. The text of a case is its row's; the file under .ona/tests/ is a copy for people. */

import type { Db } from '../../store/open.ts'
import { hashOf } from '../../store/plans.ts'
import { storable } from '../../store/secrets.ts'

export interface Case {
  readonly id: number
  readonly planId: number
  readonly name: string
  /** The criterion it traces to (`C1`); null for a helper that proves nothing by itself. */
  readonly criterion: string | null
  readonly content: string
  readonly hash: string
}

export interface Run {
  readonly caseId: number
  readonly hash: string
  readonly planHash: string
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
  readonly startedAt: string
}

/** A case of the same name takes the place of the older one. */
export function saveCase(
  db: Db,
  planId: number,
  given: { name: string; criterion: string | null; content: string },
): Case {
  const content = storable(given.content)
  return db.transaction(() => {
    db.run('UPDATE ona_test_cases SET superseded = 1 WHERE plan_id = ? AND name = ?', planId, given.name)
    const { lastId } = db.run(
      'INSERT INTO ona_test_cases(plan_id, name, criterion, content, hash) VALUES (?, ?, ?, ?, ?)',
      planId,
      given.name,
      given.criterion,
      content,
      hashOf(content),
    )
    return db.get<Case>(`${caseColumns} WHERE id = ?`, lastId)!
  })
}

export const casesOf = (db: Db, planId: number): Case[] =>
  db.all<Case>(`${caseColumns} WHERE plan_id = ? AND superseded = 0 ORDER BY id`, planId)

/** Puts the cases of a plan aside, all or those of some criteria, before others are generated. */
export const dropCases = (db: Db, planId: number, criteria?: readonly string[]): void =>
  void db.transaction(() =>
    db.run(
      `UPDATE ona_test_cases SET superseded = 1
       WHERE plan_id = ?1 AND (?2 IS NULL OR criterion IN (SELECT value FROM json_each(?2)))`,
      planId,
      criteria ? JSON.stringify(criteria) : null,
    ),
  )

export const dropCase = (db: Db, id: number): void =>
  void db.transaction(() => db.run('UPDATE ona_test_cases SET superseded = 1 WHERE id = ?', id))

export function saveRun(db: Db, run: Run): void {
  db.transaction(() =>
    db.run(
      `INSERT INTO ona_test_runs(case_id, hash, plan_hash, exit_code, timed_out, stdout, stderr, duration_ms, started_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      run.caseId,
      run.hash,
      run.planHash,
      run.exitCode,
      run.timedOut ? 1 : 0,
      storable(run.stdout),
      storable(run.stderr),
      run.durationMs,
      run.startedAt,
    ),
  )
}

export function lastRun(db: Db, caseId: number): Run | undefined {
  const row = db.get<Omit<Run, 'timedOut'> & { readonly timedOut: number }>(
    `SELECT case_id AS caseId, hash, plan_hash AS planHash, exit_code AS exitCode, timed_out AS timedOut, stdout, stderr,
            duration_ms AS durationMs, started_at AS startedAt
     FROM ona_test_runs WHERE case_id = ? ORDER BY id DESC LIMIT 1`,
    caseId,
  )
  return row && { ...row, timedOut: row.timedOut === 1 }
}

const caseColumns = 'SELECT id, plan_id AS planId, name, criterion, content, hash FROM ona_test_cases'
