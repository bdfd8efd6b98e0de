/** Each move, each plan and each case leaves rows that say what happened, who did it and why it could not be. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addEvent } from '../store/audit.ts'
import { type Db, openDb } from '../store/open.ts'
import { getPlan, hashOf } from '../store/plans.ts'
import { casesOf, dropCase, dropCases, lastRun, saveCase, saveRun } from './cases/cases.ts'
import { proofOf, saveProof } from './cases/proofs.ts'
import { addTestPlace, testPlace } from './cases/test-place.ts'
import { planTemplate } from './criteria.ts'
import { planningGate } from './gate.ts'
import { isPhase, signOff, transition } from './phases.ts'
import { approvePlan, draftPlan } from './planning.ts'

const content = '# Plan\n\n## Success criteria\n- one\n'

function record(t: TestContext, phase: string): Db {
  const folder = mkdtempSync(join(tmpdir(), 'ona-phases-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => db.close())
  for (const id of ['c', 'other'])
    db.run('INSERT INTO conversations(id, project_dir, phase) VALUES (?, ?, ?)', id, '/p', phase)
  db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('s', 'c')")
  return db
}

const eventsOf = (db: Db) =>
  db
    .all<{ conversation: string; session: string | null; type: string; detail: string }>(
      'SELECT conversation_id AS conversation, session_id AS session, event_type AS type, detail FROM events ORDER BY id',
    )
    .map(({ conversation, session, type, detail }) => [conversation, session, type, JSON.parse(detail)])
const phaseOf = (db: Db) => db.get<{ phase: string }>("SELECT phase FROM conversations WHERE id = 'c'")!.phase
const setPhase = (db: Db, phase: string) => db.run("UPDATE conversations SET phase = ? WHERE id = 'c'", phase)
const move = (db: Db, to: Parameters<typeof transition>[1]['to'], more: object = {}) =>
  transition(db, { conversationId: 'c', to, by: 'ada', sessionId: 's', ...more })

const noPlan = 'there is no approved plan: the agent gives one with ExitPlanMode, and you approve it (ona plan approve)'
const noCover = 'there is no approved plan, so there is nothing that tests could cover'

test('a program that an agent started moves nothing on and approves nothing; planning is open to all', (t) => {
  const db = record(t, 'planning')
  const { id } = draftPlan(db, 'c', 's', content) as { id: number }
  const before = eventsOf(db)
  process.env['ONA_GOVERNED'] = '{}'
  t.after(() => delete process.env['ONA_GOVERNED'])
  const held = (act: string) => ({
    ok: false,
    why: `${act} is for the operator, and this command was started by an agent's tool or hook (ONA_GOVERNED is set); run it in a terminal of your own`,
  })
  assert.deepEqual(
    [
      ...(['implement', 'test', 'verify', 'done'] as const).map((to) => move(db, to, { approved: true })),
      approvePlan(db, 'c', { planId: id, by: 'ada' }),
      approvePlan(db, 'c', { planId: id, by: 'ada', content: `${content}- two\n` }),
    ],
    [
      ...['implement', 'test', 'verify', 'done'].map((to) => held(`moving a conversation to ${to}`)),
      ...[held('approving a plan'), held('approving a plan')],
    ],
  )
  assert.deepEqual([phaseOf(db), eventsOf(db), getPlan(db, id)!.status], ['planning', before, 'draft'])
  assert.deepEqual(move(db, 'planning'), { ok: true, from: 'planning', to: 'planning' })
})

test('what closes a way is said in words, and changes nothing', (t) => {
  const db = record(t, 'idle')
  const table: [from: string, to: Parameters<typeof move>[1], why: string][] = [
    ['idle', 'implement', 'there is no way from idle to implement; from idle it goes to planning'],
    ['planning', 'implement', noPlan],
    ['planning', 'test', 'there is no way from planning to test; from planning it goes to implement'],
    [
      'implement',
      'verify',
      'there is no way from implement to verify: the test phase cannot be skipped; from implement it goes to planning or test',
    ],
    [
      'implement',
      'done',
      'there is no way from implement to done: the test phase cannot be skipped; from implement it goes to planning or test',
    ],
    ['implement', 'idle', 'there is no way from implement to idle; from implement it goes to planning or test'],
    ['test', 'done', 'there is no way from test to done; from test it goes to planning or verify'],
    ['test', 'verify', noCover],
    ['verify', 'done', noCover],
    ...(['idle', 'implement', 'test', 'verify', 'done'] as const).map((to): (typeof table)[number] => [
      'done',
      to,
      `there is no way from done to ${to}; from done it goes to planning`,
    ]),
    ...(['implement', 'test', 'verify', 'done'] as const).map((to): (typeof table)[number] => [
      'idle',
      to,
      `there is no way from idle to ${to}; from idle it goes to planning`,
    ]),
  ]
  for (const [from, to, why] of table) {
    setPhase(db, from)
    assert.deepEqual([from, to, move(db, to), phaseOf(db)], [from, to, { ok: false, why }, from])
  }
  assert.deepEqual(transition(db, { conversationId: 'none', to: 'planning', by: 'ada' }), {
    ok: false,
    why: 'there is no conversation none',
  })
  assert.deepEqual(eventsOf(db), [])
})

test('one case that passes does not open the way for the criteria that have none', (t) => {
  const db = record(t, 'planning')
  const drafted = draftPlan(db, 'c', 's', '## Success criteria\n- one\n- two\n') as { id: number }
  approvePlan(db, 'c', { planId: drafted.id, by: 'ada' })
  const { id: caseId, hash } = saveCase(db, drafted.id, { name: 'one', criterion: 'C1', content: 'echo 1\n' })
  const planHash = getPlan(db, drafted.id)!.hash
  saveRun(db, {
    ...{ caseId, hash, planHash, exitCode: 0, timedOut: false, stdout: '', stderr: '', durationMs: 1 },
    startedAt: '2026-01-01T00:00:00.000Z',
  })
  const why = 'not everything is covered:\n- C2 has no test case: two'
  for (const [from, to] of [
    ['test', 'verify'],
    ['verify', 'done'],
  ] as const) {
    setPhase(db, from)
    assert.deepEqual([move(db, to), phaseOf(db)], [{ ok: false, why }, from])
  }
})

test('from idle to done, each step is on record with who took it', (t) => {
  const db = record(t, 'idle')
  assert.deepEqual(move(db, 'planning'), { ok: true, from: 'idle', to: 'planning' })
  const drafted = draftPlan(db, 'c', 's', content)
  assert.ok(drafted.ok)
  const { id } = drafted
  assert.deepEqual(approvePlan(db, 'c', { planId: id, by: 'ada', sessionId: 's' }), {
    ok: true,
    from: 'planning',
    to: 'implement',
  })
  assert.deepEqual(move(db, 'test'), { ok: true, from: 'implement', to: 'test' })
  const plan = getPlan(db, id)!
  const each = saveCase(db, id, { name: 'one', criterion: 'C1', content: 'echo 1\n' })
  assert.deepEqual(each, {
    id: each.id,
    planId: id,
    name: 'one',
    criterion: 'C1',
    content: 'echo 1\n',
    hash: hashOf('echo 1\n'),
  })
  const run = { caseId: each.id, hash: each.hash, planHash: plan.hash, exitCode: 1, timedOut: true }
  const printed = { stdout: 'out', stderr: 'err', durationMs: 5, startedAt: '2026-01-01T00:00:00.000Z' }
  saveRun(db, { ...run, ...printed })
  assert.deepEqual(lastRun(db, each.id), { ...run, ...printed })
  assert.deepEqual(move(db, 'verify'), {
    ok: false,
    why: 'not everything is covered:\n- C1: case one failed in its last run',
  })
  saveRun(db, { ...run, ...printed, exitCode: 0, timedOut: false })
  assert.deepEqual(lastRun(db, each.id), { ...run, ...printed, exitCode: 0, timedOut: false }, 'the last one counts')
  assert.deepEqual(move(db, 'verify'), { ok: true, from: 'test', to: 'verify' })
  assert.deepEqual(move(db, 'done'), {
    ok: false,
    why: 'the operator has not approved the report: ona --transition done --approve --as NAME',
  })
  assert.equal(signOff(db, 'c'), undefined)
  assert.deepEqual(move(db, 'done', { approved: true }), { ok: true, from: 'verify', to: 'done' })
  const phase = (from: string, to: string) => ['c', 's', 'phase', { from, to, by: 'ada' }]
  const events = eventsOf(db)
  const [{ at, ...approved }] = events.filter(([, , type]) => type === 'plan_approved').map(([, , , detail]) => detail)
  assert.deepEqual([Number.isInteger(at), approved], [true, { plan: id, by: 'ada' }])
  assert.deepEqual(
    events.filter(([, , type]) => type !== 'plan_approved'),
    [
      phase('idle', 'planning'),
      ['c', 's', 'plan_draft', { plan: id, criteria: [{ id: 'C1', text: 'one' }] }],
      phase('planning', 'implement'),
      ['c', 's', 'implementation_complete', { by: 'ada' }],
      phase('implement', 'test'),
      phase('test', 'verify'),
      ['c', 's', 'sign_off', { by: 'ada', plan: id }],
      phase('verify', 'done'),
    ],
  )
  assert.equal(
    events.filter(([conversation, session]) => conversation === 'c' && session === 's').length,
    events.length,
  )
  assert.equal(getPlan(db, id)!.status, 'completed')
  const { by, at: signedAt } = signOff(db, 'c')!
  addEvent(db, { conversationId: 'c', type: 'sign_off', detail: { by: 'bob' } })
  assert.equal(signOff(db, 'c')?.by, 'bob', 'of work that was done twice, the last')
  assert.equal(signOff(db, 'other'), undefined)
  addEvent(db, { conversationId: 'c', type: 'sign_off', detail: 'by hand' })
  assert.equal(signOff(db, 'c')?.by, 'bob', 'what cannot be read signs nothing off')
  assert.deepEqual([by, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(signedAt)], ['ada', true])
})

test('a move and an approval without a session are recorded without one', (t) => {
  const db = record(t, 'implement')
  assert.equal(transition(db, { conversationId: 'c', to: 'test', by: 'ada' }).ok, true)
  setPhase(db, 'planning')
  const drafted = draftPlan(db, 'c', 's', content)
  assert.equal(drafted.ok && approvePlan(db, 'c', { planId: drafted.id, by: 'ada' }).ok, true)
  assert.deepEqual(
    eventsOf(db).map(([conversation, session, type]) => [conversation, session, type]),
    [
      ['c', null, 'implementation_complete'],
      ['c', null, 'phase'],
      ['c', 's', 'plan_draft'],
      ['c', null, 'plan_approved'],
      ['c', null, 'phase'],
    ],
  )
})

test('a plan is approved as it stands or as the operator changed it, and only a draft of this conversation', (t) => {
  const db = record(t, 'planning')
  const none = `the plan has no success criteria, so nothing could be tested from it. Add a section such as:\n\n${planTemplate}`
  assert.deepEqual(draftPlan(db, 'c', 's', ' \n'), { ok: false, why: 'the plan is empty' })
  assert.deepEqual(draftPlan(db, 'c', 's', '# Just do it'), { ok: false, why: none })
  assert.equal(
    planTemplate,
    '## Success criteria\n- `ona --version` prints the version and exits 0\n- a file that does not exist gives exit code 1 and its name on stderr',
  )
  assert.deepEqual(approvePlan(db, 'c', { planId: 7, by: 'ada' }), {
    ok: false,
    why: 'there is no plan 7 in this conversation',
  })
  const { id } = draftPlan(db, 'c', 's', content) as { id: number }
  assert.deepEqual(approvePlan(db, 'other', { planId: id, by: 'ada' }), {
    ok: false,
    why: `there is no plan ${id} in this conversation`,
  })
  assert.deepEqual(approvePlan(db, 'c', { planId: id, by: 'ada', content: 'no' }), { ok: false, why: none })
  assert.deepEqual(approvePlan(db, 'c', { planId: id, by: 'ada', content: '' }), {
    ok: false,
    why: 'the plan is empty',
  })
  assert.deepEqual([getPlan(db, id)!.status, phaseOf(db)], ['draft', 'planning'])
  const changed = `${content}- two\n`
  assert.deepEqual(approvePlan(db, 'c', { planId: id, by: 'ada', content: changed }), {
    ok: true,
    from: 'planning',
    to: 'implement',
  })
  assert.deepEqual([getPlan(db, id)!.status, getPlan(db, id + 1)!.content], ['superseded', changed])
  assert.deepEqual(
    eventsOf(db).map(([, , type, detail]) => [type, detail.plan ?? detail.to]),
    [
      ['plan_draft', id],
      ['plan_approved', id + 1],
      ['phase', 'implement'],
    ],
  )
  assert.deepEqual(approvePlan(db, 'c', { planId: id + 1, by: 'ada' }), {
    ok: false,
    why: `plan ${id + 1} is approved; only a draft can be approved`,
  })
  const again = draftPlan(db, 'c', 's', `${changed}- three\n`) as { id: number }
  assert.deepEqual(approvePlan(db, 'c', { planId: again.id, by: 'ada' }), { ok: true })
  assert.equal(phaseOf(db), 'implement', 'a later plan moves nothing')
  assert.deepEqual([isPhase('verify'), isPhase('nowhere')], [true, false])
})

test('the gate is shut for the tools that change things, while planning and until a plan is approved', (t) => {
  const db = record(t, 'planning')
  const shut = ['Write', 'Edit', 'Bash', 'NotebookEdit']
  for (const tool of shut)
    assert.equal(
      planningGate(db, 'c', tool),
      `${tool} is shut while the plan is being made: read, search and ask, then give the plan with ExitPlanMode. Once the operator approves it, ${tool} opens.`,
    )
  for (const tool of ['Read', 'Glob', 'Grep']) assert.equal(planningGate(db, 'c', tool), undefined)
  const open = () => shut.map((tool) => planningGate(db, 'c', tool)).every((why) => why === undefined)
  db.run("INSERT INTO plans(conversation_id, content, hash, status) VALUES ('other', 'x', 'x', 'approved')")
  assert.equal(open(), false, 'a plan of another conversation opens nothing')
  db.run("INSERT INTO plans(conversation_id, content, hash, status) VALUES ('c', 'x', 'x', 'approved')")
  assert.equal(open(), true)
  db.run("UPDATE plans SET status = 'draft' WHERE conversation_id = 'c'")
  assert.equal(open(), false, 'a draft opens nothing')
  db.run('DELETE FROM plans')
  for (const phase of ['idle', 'implement', 'test', 'verify', 'done']) {
    setPhase(db, phase)
    assert.equal(open(), true, phase)
  }
})

test('a case takes the place of the one with its name; some or all of a plan can be put aside', (t) => {
  const db = record(t, 'test')
  const { id } = draftPlan(db, 'c', 's', content) as { id: number }
  const other = draftPlan(db, 'c', 's', content) as { id: number }
  const add = (name: string, criterion: string | null, plan = id) =>
    saveCase(db, plan, { name, criterion, content: `echo ${name}\n` })
  const names = (plan = id) => casesOf(db, plan).map(({ name, criterion }) => `${name} ${criterion}`)
  const first = add('a', 'C1')
  add('a', 'C2')
  const b = add('b', 'C1')
  add('c', null)
  add('a', 'C1', other.id)
  assert.deepEqual([names(), names(other.id)], [['a C2', 'b C1', 'c null'], ['a C1']])
  dropCase(db, b.id)
  assert.deepEqual(names(), ['a C2', 'c null'])
  dropCases(db, id, [])
  assert.deepEqual(names(), ['a C2', 'c null'])
  dropCases(db, id, ['C2'])
  assert.deepEqual(names(), ['c null'])
  dropCases(db, id)
  assert.deepEqual([names(), names(other.id)], [[], ['a C1']])
  const proof = { caseId: first.id, hash: first.hash, codeHash: 'h', mutants: ['a', 'b'], killed: ['b'] }
  for (const flaw of [
    'passes without the change',
    'reads the source',
    'not the same twice',
    'kills no mutant',
    undefined,
  ] as const) {
    saveProof(db, { ...proof, flaw })
    assert.deepEqual(proofOf(db, first), { ...proof, flaw })
  }
  assert.deepEqual(
    db.all<{ flaw: number }>('SELECT passes_emptied AS flaw FROM ona_test_proofs').map(({ flaw }) => flaw),
    [0],
    'the last one alone',
  )
})

test('where the cases ran is an event of the conversation; the last one counts', (t) => {
  const db = record(t, 'test')
  const session = { id: 's', conversationId: 'c' }
  assert.equal(testPlace(db, 'c'), undefined)
  addTestPlace(db, session, 'bubblewrap is missing')
  assert.deepEqual(testPlace(db, 'c'), { sandboxed: false, why: 'bubblewrap is missing' })
  addTestPlace(db, session, undefined)
  addEvent(db, { conversationId: 'c', type: 'later', detail: { sandboxed: false, why: 'not about this' } })
  assert.deepEqual([testPlace(db, 'c'), testPlace(db, 'other')], [{ sandboxed: true }, undefined])
  assert.deepEqual(eventsOf(db).slice(0, 2), [
    ['c', 's', 'test_place', { sandboxed: false, why: 'bubblewrap is missing' }],
    ['c', 's', 'test_place', { sandboxed: true }],
  ])
})
