/** How SQLite finds what commands ask for: nothing that a user waits for reads a whole table, or a whole session for one call. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseSession } from '../audit/evidence/erase.ts'
import { isErased } from '../audit/evidence/erase-files.ts'
import { importedCalls } from '../audit/replay/dispatcher-calls.ts'
import { lineage } from '../files/process-tree.ts'
import { listApprovals } from './approvals.ts'
import { listHookInvocations } from './audit.ts'
import { type Db, inMemory, openDb } from './open.ts'
import { bornOfCommand } from './operator.ts'
import { approvedPlan, listPlans } from './plans.ts'
import { usageByDay } from './reports.ts'
import { withTexts } from './session/stored-once.ts'

const watchedCalls: readonly (string | symbol)[] = ['all', 'arrays', 'each', 'get', 'run']

/** The plans of the statements that `work` runs, on a record that `prepare` has written to. */
function plansOf(work: (db: Db) => unknown, prepare: (db: Db) => unknown = () => {}): string[] {
  const db = openDb(inMemory)
  const plans: string[] = []
  const watched = new Proxy(db, {
    get(_, name: keyof Db) {
      const value = db[name]
      if (typeof value !== 'function') return value
      if (!watchedCalls.includes(name)) return value.bind(db)
      return (sql: string, ...values: never[]) => {
        const plan = db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        plans.push(plan.map(({ detail }) => detail).join('; '))
        return (value as (...given: unknown[]) => unknown).call(db, sql, ...values)
      }
    },
  })
  try {
    prepare(db)
    work(watched)
  } finally {
    db.close()
  }
  return plans
}

test('the commands that ran when a process was born, and the results of each, are found by index', {
  skip: process.platform !== 'linux' && 'processes are seen on Linux',
}, () => {
  const init = { ...lineage().at(-1)!, pid: 1 }
  assert.deepEqual(
    plansOf((db) => bornOfCommand([init], { db })),
    [
      [
        'CO-ROUTINE calls',
        'SEARCH events USING INDEX ona_events_commands (timestamp>? AND timestamp<?)',
        'SCAN c',
        'SEARCH e USING INDEX ona_entries_call (session_id=? AND tool_use_id=?) LEFT-JOIN',
        'CORRELATED SCALAR SUBQUERY 2',
        'SEARCH later USING INDEX idx_transcript_session (session_id=?)',
      ].join('; '),
      'SEARCH events USING INDEX ona_events_commands (timestamp>? AND timestamp<?)',
    ],
  )
})

test('the usage of the last days reads the replies of these days', () => {
  assert.deepEqual(plansOf(usageByDay).slice(-1), [
    'SEARCH events USING INDEX ona_events_replies (timestamp>?); USE TEMP B-TREE FOR GROUP BY',
  ])
})

test('the output that a hook was given is found by its call', () => {
  const reference = '{"stored_in_transcript":{"tool_use_id":"t","entry":7,"at":"/content","characters":5000}}'
  assert.deepEqual(
    plansOf((db) => withTexts(db, 's', reference)),
    ['SEARCH transcript_entries USING INDEX sqlite_autoindex_transcript_entries_1 (session_id=? AND sequence=?)'],
  )
})

test('an entry is read once, however many of its texts a hook was given', () => {
  const place = (at: number) =>
    `{"stored_in_transcript":{"tool_use_id":"t","entry":7,"at":"/input/edits/${at}","characters":5000}}`
  assert.equal(plansOf((db) => withTexts(db, 's', `[${[0, 1, 2].map(place).join()}]`)).length, 1)
})

test('the plans of a conversation are found by index', () => {
  assert.deepEqual(
    [approvedPlan, listPlans].flatMap((read) => plansOf((db) => read(db, 'c'))),
    [
      'SEARCH plans USING INDEX ona_plans_conversation (conversation_id=? AND status=?)',
      'SEARCH plans USING INDEX ona_plans_conversation (conversation_id=?); USE TEMP B-TREE FOR ORDER BY',
    ],
  )
})

test('approvals that are pending are found by index, however many have expired', () => {
  const [plan = ''] = plansOf((db) => listApprovals(db))
  assert.match(plan, /^SEARCH a USING INDEX ona_approvals_pending \(expires_at>\?\); /)
})

test('the newest approvals are read in their order, and no others', () => {
  const [plan = ''] = plansOf((db) => listApprovals(db, { all: true }))
  assert.deepEqual(
    [plan.startsWith('SCAN a USING INDEX ona_approvals_time; '), plan.includes('TEMP B-TREE')],
    [true, false],
    plan,
  )
})

test('which hooks of a session ran last is read from an index alone, and then only their rows', () => {
  assert.deepEqual(
    plansOf((db) => listHookInvocations(db, { sessionId: 's' })),
    [
      [
        'SEARCH hook_invocations USING INTEGER PRIMARY KEY (rowid=?)',
        'LIST SUBQUERY 2',
        'SEARCH hook_invocations USING COVERING INDEX idx_hook_inv_session (session_id=?)',
        'USE TEMP B-TREE FOR ORDER BY',
      ].join('; '),
    ],
  )
})

/** A session with this id, which is a log of the dispatcher. */
const withLog = (db: Db) => {
  db.run("INSERT INTO conversations(id, project_dir) VALUES ('c', '/')")
  db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('c', 'c')")
  db.run("INSERT INTO ona_dispatcher_imports(project_dir, sid, session_id, bytes) VALUES ('/', '00000000', 'c', 1)")
}

test('of a log of the dispatcher and of an erased session the rows of that session are read, not those of an event', () => {
  const plans = [
    ...plansOf((db) => [...importedCalls(db)], withLog),
    ...plansOf((db) => eraseSession(db, 'c', 'on request'), withLog),
  ].filter((plan) => plan.includes('hook_invocations') || plan.includes('SEARCH h '))
  assert.equal(plans.length > 2, true)
  for (const plan of plans) assert.doesNotMatch(plan, /ona_hooks_event/)
})

test('whether a copy beside the record is of an erased session is read from the rows of that session', () => {
  for (const column of ['conversation_id', 'session_id'] as const)
    for (const plan of plansOf((db) => isErased(db, column, 'c')))
      assert.doesNotMatch(plan, /ona_tombstones_row \(table_name=\?\)/)
})
