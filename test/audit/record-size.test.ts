import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { generateRecord } from '../../bench/lib/generate-record.ts'
import { listHookInvocations } from '../../src/store/audit.ts'
import { endProblem } from '../../src/store/chain/chain-end.ts'
import { openDb } from '../../src/store/open.ts'
import { recordSize, shownBytes } from '../../src/store/size.ts'

function record(t: TestContext, until = new Date('2026-01-01')) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-size-'))
  const path = join(folder, 'agent.db')
  const made = generateRecord(path, { rows: 4000, until, days: 100 })
  const db = openDb(path)
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { db, path, made }
}

test('the size of a record, and its growth over the last days', (t) => {
  const until = new Date('2026-01-01')
  const { db, made } = record(t, until)
  const { rows, days, rowsPerDay, bytes } = recordSize(db, until)
  const counted = db.get<{ n: number }>(
    `SELECT (SELECT count(*) FROM transcript_entries WHERE created_at >= ?1) + (SELECT count(*) FROM events WHERE timestamp >= ?1)
      + (SELECT count(*) FROM hook_invocations WHERE replace(started_at, 'T', ' ') >= ?1)
      + (SELECT count(*) FROM tool_permission_log WHERE created_at >= ?1) AS n`,
    '2025-12-02 00:00:00',
  )!.n
  assert.deepEqual({ rows, days, recent: Math.round(rowsPerDay * 30) }, { rows: made.rows, days: 30, recent: counted })
  assert.ok(bytes > 1_000_000)
  assert.deepEqual([0, 999, 1000, 123_456, 4_400_000_000].map(shownBytes), [
    ...['0 bytes', '999 bytes', '1.0 KB', '123 KB', '4.4 GB'],
  ])
})

test('an edit of the newest rows is found without reading the record', (t) => {
  const { db, path } = record(t)
  assert.equal(endProblem(db), undefined)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  const { id } = other.prepare('SELECT max(id) AS id FROM transcript_entries').get() as { id: number }
  other.exec(`UPDATE transcript_entries SET payload_json = '{}' WHERE id = ${id}`)
  assert.equal(
    endProblem(db),
    `transcript_entries row ${id} was changed by another program; ona audit verify says more`,
  )
  other.exec('UPDATE ona_chain SET hash = zeroblob(32) WHERE id = (SELECT max(id) FROM ona_chain)')
  assert.match(endProblem(db)!, /^link \d+ of the chain does not follow/)
})

test('the hooks of a tool are listed over all events, the newest last', (t) => {
  const { db } = record(t)
  const limit = 25
  const expected = db
    .all<{ id: number }>("SELECT id FROM hook_invocations WHERE tool_name = 'Bash' ORDER BY id DESC LIMIT ?", limit)
    .map(({ id }) => id)
    .reverse()
  assert.deepEqual(
    listHookInvocations(db, { toolName: 'Bash', limit }).map(({ id }) => id),
    expected,
  )
  assert.deepEqual(listHookInvocations(db, { toolName: 'Nope', limit }), [])
})
