/** How large a record is, and how fast it grows. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createConversation, createSession } from './conversations.ts'
import { inMemory, openDb, type ReadDb } from './open.ts'
import { recordSize, shownBytes } from './size.ts'

const now = new Date('2026-03-31T12:00:00.500Z')
/** So many days and seconds before. */
const ago = (days: number, seconds = 0) =>
  new Date(Date.parse('2026-03-31T12:00:00Z') - days * 86_400_000 - seconds * 1000).toISOString()

function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-size-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    if (db.isOpen) db.close()
    rmSync(folder, { recursive: true })
  })
  createConversation(db, { projectDir: '/', id: 'c' })
  createSession(db, 'c', 's')
  const plain = (time: string) => time.slice(0, 19).replace('T', ' ')
  let sequence = 0
  return {
    db,
    entry: (time: string) =>
      db.run(
        "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, created_at) VALUES ('s', ?, 'system', '{}', ?)",
        ...[sequence++, plain(time)],
      ).lastId,
    event: (time: string) =>
      db.run("INSERT INTO events(conversation_id, event_type, timestamp) VALUES ('c', 'x', ?)", plain(time)).lastId,
    hook: (time: string) =>
      db.run(
        "INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command, input_json, started_at) VALUES ('s', 'c', 'Stop', 1, '', 'x', '{}', ?)",
        time,
      ).lastId,
    permission: (time: string) =>
      db.run(
        "INSERT INTO tool_permission_log(session_id, tool_use_id, tool_name, decision, reason_json, created_at) VALUES ('s', 't', 'T', 'allow', '{}', ?)",
        plain(time),
      ).lastId,
  }
}

test('rows ever added, and those of the last 30 days, in each of the four tables', (t) => {
  const { db, entry, event, hook, permission } = record(t)
  const size = (of: ReadDb = db, ...days: number[]) => recordSize(of, now, ...days)
  const files = () => ({ bytes: statSync(db.path).size, walBytes: statSync(`${db.path}-wal`).size })
  assert.deepEqual(size(), { ...files(), rows: 0, rowsPerDay: 0, bytesPerDay: 0, days: 30 })
  // one row older than the days that count, one of their first second, and some of later
  for (const [add, later] of [
    [entry, 3],
    [event, 1],
    [hook, 5],
    [permission, 0],
  ] as const)
    for (const time of [ago(31), ago(30, 1), ago(30), ...Array.from({ length: later }, () => ago(1))]) add(time)
  const rows = 4 * 3 + 9
  const { bytes, walBytes } = files()
  assert.ok(walBytes > 0)
  const counted = (recent: number, days: number) => ({
    ...{ bytes, walBytes, rows, days, rowsPerDay: recent / days, bytesPerDay: ((recent / days) * bytes) / rows },
  })
  assert.deepEqual(
    [size(), size(db, 31), size(db, 1), size(db, 0.5)],
    [counted(4 + 9, 30), counted(rows, 31), counted(9, 1), counted(0, 0.5)],
  )
  // rows that were erased or archived leave gaps, and were added all the same
  db.run('DELETE FROM events WHERE id IN (2, 3)')
  db.run('DELETE FROM hook_invocations WHERE id > 6')
  assert.deepEqual(recordSize(db, now).rows, rows)
})

test('after rows were archived, growth is told by when they were written and what the others take', (t) => {
  const { db, entry } = record(t)
  for (let n = 0; n < 4; n++) entry(ago(9))
  for (let n = 0; n < 8; n++) entry(ago(1))
  const archive = (conversation: string, first: number, last: number, lastActive: string) => {
    createConversation(db, { projectDir: '/', id: conversation })
    db.run(
      'UPDATE conversations SET last_active = ? WHERE id = ?',
      lastActive.slice(0, 19).replace('T', ' '),
      conversation,
    )
    db.run('DELETE FROM transcript_entries WHERE id BETWEEN ? AND ?', first, last)
    db.run(
      "INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES (?, 'f', 0, 1, x'00', ?)",
      ...[conversation, last + 1 - first],
    )
  }
  const perDay = () => {
    const { bytes, rows, rowsPerDay, bytesPerDay } = recordSize(db, now, 4)
    return [rows, rowsPerDay, bytesPerDay / bytes]
  }
  assert.deepEqual(perDay(), [12, 2, 2 / 12])
  archive('old', 1, 4, ago(9))
  assert.deepEqual(perDay(), [12, 2, 2 / (8 + 4 / 7)])
  archive('of the first second that counts', 5, 7, ago(4))
  assert.deepEqual(perDay(), [12, 2, 2 / (5 + 7 / 7)])
})

test('rows that were archived out of the last days are counted there once, wherever they were among the others', (t) => {
  for (const moved of ['2, 3', '4, 5', '8, 9', '2, 3, 4, 5, 6, 7, 8, 9']) {
    const { db, entry } = record(t)
    entry(ago(9))
    for (let n = 0; n < 8; n++) entry(ago(1))
    const { changes } = db.run(`DELETE FROM transcript_entries WHERE id IN (${moved})`)
    db.run(
      "INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES ('c', 'f', 0, 1, x'00', ?)",
      changes,
    )
    const { rows, rowsPerDay } = recordSize(db, now, 4)
    assert.deepEqual([rows, rowsPerDay], [9, 2], moved)
  }
})

test('a record that was archived whole still tells how many rows it had, and that it does not grow', (t) => {
  const { db, entry, event } = record(t)
  for (let n = 0; n < 70; n++) entry(ago(60))
  db.run('DELETE FROM transcript_entries')
  db.run(
    "INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES ('c', 'f', 0, 1, x'00', 70)",
  )
  db.run('UPDATE conversations SET last_active = ?', ago(60).slice(0, 19).replace('T', ' '))
  event(ago(0))
  const { bytes, rows, rowsPerDay, bytesPerDay } = recordSize(db, now, 4)
  assert.deepEqual([rows, rowsPerDay, bytesPerDay / bytes], [71, 1 / 4, 1 / 4 / (1 + 70 / 7)])
})

test('room that was freed in the file and waits for new rows is no part of what a row takes', (t) => {
  const { db, entry } = record(t)
  for (let n = 0; n < 8; n++) entry(ago(1))
  db.run('CREATE TABLE ballast(text)')
  db.run('INSERT INTO ballast VALUES (zeroblob(1000000))')
  const before = recordSize(db, now).bytesPerDay
  db.run('DROP TABLE ballast')
  assert.ok(recordSize(db, now).bytesPerDay < before / 2)
})

test('a record that is no file, or that has no log beside it, takes no bytes there', (t) => {
  const memory = openDb(inMemory)
  t.after(() => memory.close())
  assert.deepEqual(recordSize(memory, now), { bytes: 0, walBytes: 0, rows: 0, rowsPerDay: 0, bytesPerDay: 0, days: 30 })
  const { db } = record(t)
  writeFileSync(`${db.path}-copy`, 'twelve bytes')
  assert.equal(
    recordSize({ ...memory, get: memory.get.bind(memory), path: `${db.path}-copy` } as ReadDb, now).bytes,
    12,
  )
})

test('bytes are shown in the unit that fits', () => {
  const shown = {
    0: '0 bytes',
    999: '999 bytes',
    1000: '1.0 KB',
    99949: '99.9 KB',
    100000: '100 KB',
    2500000: '2.5 MB',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(shown).map((bytes) => [bytes, shownBytes(Number(bytes))])), shown)
})
