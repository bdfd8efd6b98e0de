import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { archiveConversation } from '../../store/archive/archive.ts'
import { beginRetention, begunRetention, holdConversation } from '../../store/archive/retention.ts'
import { createConversation, createSession } from '../../store/conversations.ts'
import { type Db, openDb } from '../../store/open.ts'
import { appendEntry } from '../../store/session/transcript.ts'
import { setState } from '../../store/state.ts'
import { dueSessions, runRetention } from './retention.ts'
import { verifyChain } from './verify.ts'

const now = new Date('2026-11-15T12:00:00Z')

function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-retention-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { db, add: (lastActive: string) => conversation(db, lastActive) }
}

function conversation(db: Db, lastActive: string) {
  const { id } = createConversation(db, { projectDir: '/p' })
  const { sessionId } = createSession(db, id)
  appendEntry(db, sessionId, { _t: 'user', uuid: 'u', content: [{ type: 'text', text: `said ${lastActive}` }] })
  db.run('UPDATE conversations SET last_active = ? WHERE id = ?', lastActive, id)
  return { id, session: sessionId }
}

/** A process that is alive and not this one, as a session's lock names it. */
function parent(): string {
  if (process.platform !== 'linux') return String(process.ppid)
  const fields = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return `${process.ppid} ${fields[19]}`
}

const texts = (db: Db) =>
  db
    .all<{ text: string }>("SELECT payload_json ->> '$.content[0].text' AS text FROM transcript_entries ORDER BY id")
    .map(({ text }) => text)

test('only what is old, at rest, not archived and not on hold is erased, the oldest first; an event says so', (t) => {
  const { db, add } = record(t)
  const middle = add('2026-09-10 00:00:00')
  const oldest = add('2026-08-10 00:00:00')
  const held = add('2026-08-01 00:00:00')
  holdConversation(db, held.id, 'case 14')
  const archived = add('2026-08-02 00:00:00')
  archiveConversation(db, archived.id, 'archive.zst')
  const busy = add('2026-08-03 00:00:00')
  setState(db, busy.id, `working:${busy.session}`, parent())
  const young = add('2026-11-14 00:00:00')

  assert.deepEqual(dueSessions(db, 30, now), [oldest.session, middle.session])
  const run = beginRetention(db, 30, now)!
  const done = runRetention(db, { days: 30, now, startedBy: young.session, run })
  assert.deepEqual(done, { days: 30, sessions: 2, rows: 2, left: 0 })
  assert.deepEqual(texts(db), [
    '[erased]',
    '[erased]',
    'said 2026-08-01 00:00:00',
    'said 2026-08-03 00:00:00',
    'said 2026-11-14 00:00:00',
  ])
  assert.equal(verifyChain(db).fault, undefined)
  assert.deepEqual(db.get("SELECT session_id AS id, detail FROM events WHERE event_type = 'retention'"), {
    id: young.session,
    detail: JSON.stringify(done),
  })
  assert.deepEqual(db.all('SELECT days, sessions, rows, remaining FROM ona_retention'), [
    { days: 30, sessions: 2, rows: 2, remaining: 0 },
  ])
  assert.deepEqual(dueSessions(db, 30, now), [])
})

test('a run is taken once in a day, and is bounded', (t) => {
  const { db, add } = record(t)
  add('2026-01-01 00:00:00')
  add('2026-01-02 00:00:00')
  const run = beginRetention(db, 30, now)!
  assert.equal(beginRetention(db, 30, new Date(now.getTime() + 3_600_000)), undefined)
  const later = new Date(now.getTime() + 3_600_000)
  assert.deepEqual([begunRetention(db, run, now), begunRetention(db, run, later)], [{ days: 30 }, undefined])
  const done = runRetention(db, { days: 30, now, startedBy: '', run, goOn: (erased) => erased < 1 })
  assert.deepEqual(done, { days: 30, sessions: 1, rows: 1, left: 1 })
  assert.deepEqual(texts(db), ['[erased]', 'said 2026-01-02 00:00:00'])
  assert.equal(begunRetention(db, run, now), undefined, 'it is finished')
  assert.equal(typeof beginRetention(db, 30, new Date(now.getTime() + 90_000_000)), 'number')
})

test('a session that went on after it was erased is due again, and only what is new is erased', (t) => {
  const { db, add } = record(t)
  const { id, session } = add('2026-01-01 00:00:00')
  const erase = (run: number) => runRetention(db, { days: 30, now, startedBy: '', run })
  assert.equal(erase(1).rows, 1)
  assert.deepEqual(dueSessions(db, 30, now), [])
  appendEntry(db, session, { _t: 'user', uuid: 'v', content: [{ type: 'text', text: 'once more' }] })
  db.run("UPDATE conversations SET last_active = '2026-01-01 00:00:00' WHERE id = ?", id)
  assert.deepEqual(dueSessions(db, 30, now), [session])
  assert.deepEqual(erase(2), { days: 30, sessions: 1, rows: 1, left: 0 })
  assert.deepEqual(texts(db), ['[erased]', '[erased]'])
})

test('a session that is resumed or put on hold during the run stays as it is, and is not counted', (t) => {
  const { db, add } = record(t)
  const [first, resumed, held] = ['2026-08-01', '2026-08-02', '2026-08-03'].map((day) => add(`${day} 00:00:00`))
  const young = add('2026-11-14 00:00:00')
  const goOn = (erased: number) => {
    if (erased > 0) {
      db.run('UPDATE conversations SET last_active = ? WHERE id = ?', '2026-11-15 11:59:59', resumed!.id)
      holdConversation(db, held!.id, 'case 15')
    }
    return true
  }
  assert.deepEqual(dueSessions(db, 30, now), [first!.session, resumed!.session, held!.session])
  const run = beginRetention(db, 30, now)!
  assert.deepEqual(runRetention(db, { days: 30, now, startedBy: young.session, run, goOn }), {
    ...{ days: 30, sessions: 1, rows: 1, left: 0 },
  })
  assert.deepEqual(
    texts(db).filter((text) => text !== '[erased]'),
    ['said 2026-08-02 00:00:00', 'said 2026-08-03 00:00:00', 'said 2026-11-14 00:00:00'],
  )
})
