import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateRecord } from '../../bench/lib/generate-record.ts'
import { verifyChain } from '../../src/audit/evidence/verify.ts'
import { recordedCalls } from '../../src/audit/replay/recorded-calls.ts'
import { openDb, readDb } from '../../src/store/open.ts'
import { readEntries } from '../../src/store/session/transcript.ts'

test('a generated record is one that the program could have written', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-generated-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'agent.db')
  const made = generateRecord(path, { rows: 3000, until: new Date('2026-01-01') })

  const db = readDb(path)
  t.after(() => db.close())
  const { rows, erased, before, fault } = verifyChain(db)
  assert.deepEqual({ rows, erased, before, fault }, { rows: made.rows, erased: 0, before: 0, fault: undefined })
  assert.equal([...recordedCalls(db)].length, made.calls)
  const sessions = db.all<{ id: string }>('SELECT session_id AS id FROM sessions')
  assert.equal(sessions.length, made.sessions)
  for (const { id } of sessions) assert.ok([...readEntries(db as never, id)].length > 0)

  const empty = join(folder, 'empty.db')
  openDb(empty).close()
  const made003 = readDb(empty)
  t.after(() => made003.close())
  const ddl = 'SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name'
  assert.deepEqual(db.all(ddl), made003.all(ddl))
})

test('the same seed gives the same rows', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-generated-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const until = new Date('2026-01-01')
  const heads = ['a', 'b'].map((name) => {
    generateRecord(join(folder, name), { rows: 500, seed: 7, until })
    const db = readDb(join(folder, name))
    const { head } = verifyChain(db)
    db.close()
    return head
  })
  assert.equal(heads[0], heads[1])
})
