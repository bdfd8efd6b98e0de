import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDb } from '../store/open.ts'
import { approvePlan, completePlan, draftPlan } from '../store/plans.ts'
import { casesOf, dropCases, saveCase, saveRun } from './cases/cases.ts'
import { proofOf, saveProof } from './cases/proofs.ts'
import { coverageOf, coverageWhenDone, missing } from './coverage.ts'

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
  const fails = add('fails', 'C1', { exitCode: 1 })
  add('killed', 'C1', { exitCode: null })
  add('waits', 'C2')
  add('old-case', 'C2', { hash: 'other' })
  add('old-plan', 'C2', { planHash: 'other' })
  const oldHollow = add('old-hollow', 'C2', { planHash: 'other' })
  const hollow = add('hollow', 'C2', {})
  add('helper', null, {})
  add('helper', null, {}) // takes the place of the one before
  add('lost', 'C9', {})
  const proof = { codeHash: 'h', mutants: ['a', 'b'], killed: ['a'] }
  saveProof(db, { ...proof, caseId: passed.id, hash: passed.hash, flaw: undefined })
  saveProof(db, { ...proof, caseId: hollow.id, hash: hollow.hash, flaw: 'reads the source' })
  saveProof(db, { ...proof, caseId: fails.id, hash: fails.hash, flaw: 'reads the source' })
  saveProof(db, { ...proof, caseId: oldHollow.id, hash: oldHollow.hash, flaw: 'kills no mutant' })
  assert.deepEqual(proofOf(db, hollow), { ...proof, caseId: hollow.id, hash: hollow.hash, flaw: 'reads the source' })
  assert.equal(proofOf(db, { id: hollow.id, hash: 'other' }), undefined)

  const { rows, untraced, ...counts } = coverageOf(db, 'c')
  const states = (cases: (typeof rows)[number]['cases']) => cases.map((each) => `${each.case.name}: ${each.state}`)
  assert.deepEqual(
    rows.map(({ criterion, cases }) => [criterion.id, criterion.text, ...states(cases)]),
    [
      ['C1', 'one', 'passes: passed', 'fails: failed', 'killed: failed'],
      [
        'C2',
        'two',
        'waits: not run',
        'old-case: stale',
        'old-plan: stale',
        'old-hollow: stale',
        'hollow: proves nothing',
      ],
    ],
  )
  assert.deepEqual(states(untraced), ['helper: passed', 'lost: passed'])
  assert.deepEqual(counts, { plan, traced: 8, passed: 1 })
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

  assert.deepEqual(missing(coverageOf(db, 'c'))?.split('\n'), [
    'not everything is covered:',
    '- C1: case fails failed in its last run',
    '- C1: case killed failed in its last run',
    '- C2: case waits has not run',
    '- C2: case old-case ran before the plan or the case changed; run it again',
    '- C2: case old-plan ran before the plan or the case changed; run it again',
    '- C2: case old-hollow ran before the plan or the case changed; run it again',
    '- C2: case hollow passes on the program with all its code there and none of it running: it looks at the text of the program, not at what it does; have it rewritten (ona verify --rewrite)',
  ])
  assert.equal(coverageWhenDone(db, 'c').plan, undefined)
  dropCases(db, plan.id, ['C2'])
  assert.equal(casesOf(db, plan.id).filter(({ criterion }) => criterion === 'C2').length, 0)
  completePlan(db, plan.id)
  assert.deepEqual([coverageOf(db, 'c').plan, coverageWhenDone(db, 'c').traced], [undefined, 3])
  const later = approvePlan(db, draftPlan(db, { conversationId: 'c', content }).id)!
  assert.equal(coverageWhenDone(db, 'c').plan?.id, plan.id)
  completePlan(db, later.id)
  assert.equal(coverageWhenDone(db, 'c').plan?.id, later.id, 'the last that was completed')
})
