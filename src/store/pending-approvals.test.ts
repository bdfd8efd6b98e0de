/** Approvals that nobody decided expire, and then keep nothing back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listApprovals, requestApproval } from './approvals.ts'
import { archivable } from './archive/archive.ts'
import { createConversation, createSession } from './conversations.ts'
import { type Db, inMemory, openDb } from './open.ts'
import { appendEntry } from './session/transcript.ts'

const call = { toolUseId: 't', tool: 'Bash', input: '{}', summary: '', reason: '', owner: null }
const request = (db: Db, conversationId: string, expiresInSeconds: number) =>
  requestApproval(db, { conversationId, sessionId: `s-${conversationId}`, ...call, expiresInSeconds })

function record(t: { after(work: () => void): void }): Db {
  const db = openDb(inMemory)
  t.after(() => db.close())
  for (const id of ['expired', 'pending', 'decided', 'none']) {
    createConversation(db, { projectDir: '/', id })
    createSession(db, id, `s-${id}`)
    appendEntry(db, `s-${id}`, { _t: 'system', subtype: 'x' })
  }
  db.run("UPDATE conversations SET last_active = '2020-01-01 00:00:00'")
  return db
}

test('a pending approval is listed, however many others have expired since it was asked for', (t) => {
  const db = record(t)
  const id = request(db, 'pending', 3600)
  for (let n = 0; n < 1001; n++) request(db, 'expired', -1)
  assert.deepEqual(
    listApprovals(db).map((each) => [each.id, each.status]),
    [[id, 'pending']],
  )
  assert.deepEqual(
    listApprovals(db, { all: true }).map(({ status }) => status),
    Array(1000).fill('expired'),
  )
})

test('an approval that expired does not keep its conversation out of an archive; one that is pending or decided does', (t) => {
  const db = record(t)
  request(db, 'expired', -1)
  request(db, 'pending', 3600)
  const decided = request(db, 'decided', -1)
  db.run("UPDATE ona_approvals SET decision = 'approved' WHERE id = ?", decided)
  assert.deepEqual(archivable(db, '2021-01-01 00:00:00').toSorted(), ['expired', 'none'])
})
