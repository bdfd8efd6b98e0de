import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDb } from '../store/open.ts'
import { approvePlan, completePlan, draftPlan } from '../store/plans.ts'
import { casesOf, dropCases, saveCase, saveRun } from './cases/cases.ts'
import { proofOf, saveProof } from './cases/proofs.ts'
import { coverageOf, coverageWhenDone } from './coverage.ts'

test('the state of each case comes from its rows: the run, the plan and the case as they are now', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-coverage-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => db.close())
  db.run("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', '/p', 'test')")
  assert.deepEqual(coverageOf(db, 'c'), { plan: undefined, rows: [], untraced: [], traced: 0, passed: 0 })
  const content = '# Plan\n\n## Success criteria\n- one\n- two\n'
  const plan = approvePlan(db, draftPlan(db, { conversationId: 'c', content }).id)!
  const add = (
    name: string,
    criterion: string | null,
    run?: { exitCode?: number | null; hash?: string; planHash?: string },
  ) => {
    const each = saveCase(db, plan.id, { name, criterion, content: `echo ${name}\n` })
    const facts = {
      timedOut: false,
      stdout: 'out',
      stderr: 'err',
      durationMs: 5,
      startedAt: '2026-01-01T00:00:00.000Z',
    }
    if (run) saveRun(db, { caseId: each.id, hash: each.hash, planHash: plan.hash, exitCode: 0, ...facts, ...run })
    return each
  }
  const passed = add('passes', 'C1', {})
  add('fails', 'C1', { exitCode: 1 })
  add('killed', 'C1', { exitCode: null })
  add('waits', 'C2')
  add('old-case', 'C2', { hash: 'other' })
  add('old-plan', 'C2', { planHash: 'other' })
  const hollow = add('hollow', 'C2', {})
  add('helper', null, {})
  add('lost', 'C9', {})
  const proof = { codeHash: 'h', mutants: ['a', 'b'], killed: ['a'] }
  saveProof(db, { ...proof, caseId: passed.id, hash: passed.hash, flaw: undefined })
  saveProof(db, { ...proof, caseId: hollow.id, hash: hollow.hash, flaw: 'reads the source' })
  assert.deepEqual(proofOf(db, hollow), { ...proof, caseId: hollow.id, hash: hollow.hash, flaw: 'reads the source' })
  assert.equal(proofOf(db, { id: hollow.id, hash: 'other' }), undefined)

  const { rows, untraced, ...counts } = coverageOf(db, 'c')
  const states = (cases: (typeof rows)[number]['cases']) => cases.map((each) => `${each.case.name}: ${each.state}`)
  assert.deepEqual(
    rows.map(({ criterion, cases }) => [criterion.id, criterion.text, ...states(cases)]),
    [
      ['C1', 'one', 'passes: passed', 'fails: failed', 'killed: failed'],
      ['C2', 'two', 'waits: not run', 'old-case: stale', 'old-plan: stale', 'hollow: proves nothing'],
    ],
  )
  assert.deepEqual(states(untraced), ['helper: passed', 'lost: passed'])
  assert.deepEqual(counts, { plan, traced: 7, passed: 1 })
  assert.deepEqual(rows[0]!.cases[0]!.run, {
    caseId: passed.id,
    hash: passed.hash,
    planHash: plan.hash,
    exitCode: 0,
    timedOut: false,
    stdout: 'out',
    stderr: 'err',
    durationMs: 5,
    startedAt: '2026-01-01T00:00:00.000Z',
  })

  assert.equal(coverageWhenDone(db, 'c').plan, undefined)
  dropCases(db, plan.id, ['C2'])
  assert.equal(casesOf(db, plan.id).filter(({ criterion }) => criterion === 'C2').length, 0)
  completePlan(db, plan.id)
  assert.deepEqual([coverageOf(db, 'c').plan, coverageWhenDone(db, 'c').traced], [undefined, 3])
})
