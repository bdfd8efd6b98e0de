/** A large conversation takes long to pack: whoever writes meanwhile does not wait, and what was written is not lost. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { eraseSession } from '../../audit/evidence/erase.ts'
import { createConversation, createSession } from '../conversations.ts'
import { type Db, openDb } from '../open.ts'
import { appendEntry } from '../session/transcript.ts'
import { archiveConversation } from './archive.ts'
import { withArchived } from './reading.ts'

function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-packing-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true })
  })
  for (const id of ['old', 'other']) {
    createConversation(db, { projectDir: '/', id })
    createSession(db, id, `s-${id}`)
    for (let n = 0; n < 3; n++) appendEntry(db, `s-${id}`, { _t: 'system', subtype: `${id} ${n}` })
  }
  return db
}

/** The same connection; `meanwhile` happens once, between two rows that are packed. */
function interrupted(db: Db, meanwhile: () => void, onPack?: () => void): Db {
  let isDone = false
  return new Proxy(db, {
    get(_, name) {
      if (name !== 'each') {
        const member = Reflect.get(db, name, db)
        return typeof member === 'function' ? member.bind(db) : member
      }
      return function* each(sql: string, ...values: string[]) {
        if (sql.includes('FROM transcript_entries')) onPack?.()
        for (const row of db.each(sql, ...values)) {
          yield row
          if (!isDone && sql.includes('FROM transcript_entries')) {
            isDone = true
            meanwhile()
          }
        }
      }
    },
  })
}

const archived = (db: Db) =>
  withArchived(db, ['old'], (reader) =>
    reader
      .all<{ text: string }>(
        "SELECT payload_json ->> 'subtype' AS text FROM transcript_entries WHERE session_id = 's-old' ORDER BY id",
      )
      .map(({ text }) => text),
  )

test('another process commits while a conversation is packed', (t) => {
  const db = record(t)
  const other = new DatabaseSync(db.path, { timeout: 0 })
  t.after(() => other.close())
  const done = archiveConversation(
    interrupted(db, () => other.exec("UPDATE conversations SET phase = 'planning' WHERE id = 'other'")),
    'old',
    'old.zst',
  )
  assert.equal(done.rows, 3)
  assert.deepEqual(archived(db), ['old 0', 'old 1', 'old 2'])
  assert.deepEqual(db.get('SELECT phase FROM conversations WHERE id = ?', 'other'), { phase: 'planning' })
})

test('a row that is added to the conversation while it is packed is in the archive', (t) => {
  const db = record(t)
  const other = openDb(db.path)
  t.after(() => other.close())
  const add = () => appendEntry(other, 's-old', { _t: 'system', subtype: 'late' })
  const done = archiveConversation(interrupted(db, add), 'old', 'old.zst')
  assert.equal(done.rows, 4)
  assert.deepEqual(archived(db), ['old 0', 'old 1', 'old 2', 'late'])
  assert.deepEqual(db.all("SELECT 1 FROM transcript_entries WHERE session_id = 's-old'"), [])
})

test('a row that is erased while its conversation is packed is not in the archive', (t) => {
  const db = record(t)
  const other = openDb(db.path)
  t.after(() => other.close())
  const erase = () => {
    eraseSession(other, 's-old', 'asked')
    archiveConversation(other, 'other', 'old.zst') // the file is in use again, so that its mark alone does not tell
  }
  const done = archiveConversation(interrupted(db, erase), 'old', 'old.zst')
  assert.equal(done.rows, 3)
  assert.deepEqual(archived(db), ['erased', 'erased', 'erased'])
})

test('what is added to another conversation meanwhile does not make it begin again', (t) => {
  const db = record(t)
  const other = openDb(db.path)
  t.after(() => other.close())
  let packed = 0
  const add = () => appendEntry(other, 's-other', { _t: 'system', subtype: 'late' })
  const done = archiveConversation(
    interrupted(db, add, () => packed++),
    'old',
    'old.zst',
  )
  assert.deepEqual([done.rows, packed], [3, 1])
})
