import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { commitToolCall, listEvents } from '../audit.ts'
import { createConversation, createSession } from '../conversations.ts'
import { type Db, openDb, readDb, type StoreError } from '../open.ts'
import { archivable, archiveConversation, archiveOf, unarchiveConversation, unarchiveSession } from './archive.ts'
import { archivedConversations, bringArchived, conversationOf, dropArchived, withArchived } from './reading.ts'

const tables = ['transcript_entries', 'events', 'hook_invocations', 'tool_permission_log']
const rows = (db: Pick<Db, 'all'>, session: string) =>
  tables.map((table) => db.all(`SELECT * FROM ${table} WHERE session_id = ? ORDER BY id`, session))

/** A record with two old conversations, `a` and `b`, and one of now, each with a call. */
function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-archive-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true })
  })
  for (const id of ['a', 'b', 'now']) {
    createConversation(db, { projectDir: '/', id })
    createSession(db, id, `s-${id}`)
    commitToolCall(db, {
      ...{ sessionId: `s-${id}`, conversationId: id, invocations: [], events: [{ type: 'e', detail: id }] },
      permission: { toolName: 'T', decision: 'allow', reason: {} },
      result: { tool_use_id: 't', content: id, is_error: false },
    })
  }
  createConversation(db, { projectDir: '/', id: 'empty' })
  db.run("UPDATE conversations SET last_active = '2020-01-0' || rowid || ' 00:00:00' WHERE id <> 'now'")
  return { db, folder, file: join(folder, 'old.zst') }
}
const message = (work: () => unknown) => {
  try {
    work()
    return undefined
  } catch (error) {
    return `${(error as StoreError).kind}: ${(error as Error).message}`
  }
}

test('what is old and has rows is moved to a file, with an event that says so, and comes back as it was', (t) => {
  const { db, file } = record(t)
  assert.deepEqual([archivable(db, '2020-01-02 00:00:00'), archivable(db, '2021-01-01 00:00:00')], [['a'], ['a', 'b']])
  const before = rows(db, 's-a')
  const { rows: moved, bytes } = archiveConversation(db, 'a', 'old.zst')
  assert.deepEqual([moved, bytes, statSync(file).mode & 0o777], [3, statSync(file).size, 0o600])
  assert.deepEqual(rows(db, 's-a'), [[], [], [], []])
  const { digest: _, ...place } = archiveOf(db, 'a')!
  assert.deepEqual(place, { file, offset: 0, length: bytes })
  assert.deepEqual(archivable(db, '2021-01-01 00:00:00'), ['b'])
  assert.deepEqual(
    zstdDecompressSync(readFileSync(file))
      .toString()
      .split('\n')
      .map((line) => line && JSON.parse(line).table),
    ['transcript_entries', 'events', 'tool_permission_log', ''],
  )
  archiveConversation(db, 'b', 'old.zst')
  assert.deepEqual(
    [archiveOf(db, 'b')?.offset, archivedConversations(db), archiveOf(db, 'now')],
    [bytes, ['a', 'b'], undefined],
  )
  assert.deepEqual(
    [unarchiveSession(db, 's-a'), unarchiveConversation(db, 'a'), unarchiveSession(db, 's-now')],
    [true, false, false],
  )
  assert.deepEqual(rows(db, 's-a'), before)
  const blank = readFileSync(file)
  assert.deepEqual([blank.readUInt32LE(0), blank.readUInt32LE(4)], [0x184d2a50, bytes - 8]) // a skippable frame
  assert.deepEqual(blank.subarray(8, bytes), Buffer.alloc(bytes - 8))
  assert.deepEqual([existsSync(file), unarchiveConversation(db, 'b'), existsSync(file)], [true, true, false])
  const told = listEvents(db).filter(({ type }) => type.endsWith('archived'))
  assert.deepEqual(
    told.map(({ conversationId, sessionId, type, detail }) => [conversationId, sessionId, type, JSON.parse(detail!)]),
    [
      ['a', null, 'archived', { file: 'old.zst', rows: 3 }],
      ['b', null, 'archived', { file: 'old.zst', rows: 3 }],
      ['a', null, 'unarchived', { file }],
      ['b', null, 'unarchived', { file }],
    ],
  )
  assert.throws(() => db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('x', 'none')"), /FOREIGN KEY/)
})

test('a reader sees archived rows under the names of their tables, and writers hide nothing', (t) => {
  const { db } = record(t)
  const before = [rows(db, 's-a'), rows(db, 's-b')]
  for (const id of ['a', 'b']) archiveConversation(db, id, 'old.zst')
  const seen = withArchived(db, ['a', 'now'], (reader) => [
    rows(reader, 's-a'),
    rows(reader, 's-b'),
    rows(reader, 's-now'),
  ])
  assert.deepEqual(seen, [before[0], [[], [], [], []], rows(db, 's-now')])
  assert.equal(
    withArchived(db, ['now'], (reader) => reader === db),
    true,
  )
  const reader = readDb(db.path)
  t.after(() => reader.close())
  for (const ids of [['a'], ['a', 'b']]) bringArchived(reader, ids)
  assert.deepEqual([rows(reader, 's-a'), rows(reader, 's-b')], before)
  dropArchived(reader)
  assert.deepEqual(
    [rows(reader, 's-a'), rows(reader, 's-b')],
    [
      [[], [], [], []],
      [[], [], [], []],
    ],
  )
  bringArchived(reader, ['b'])
  assert.deepEqual(rows(reader, 's-b'), before[1])
  assert.deepEqual([conversationOf(db, 's-a'), conversationOf(db, 'x'), conversationOf(db, undefined)], ['a', '', ''])
  assert.throws(() => bringArchived(db, ['a']), {
    name: 'TypeError',
    message: 'a connection that writes must not hide a table behind a TEMP one',
  })
})

test('what was changed or is missing is reported, and nothing of it is used', (t) => {
  const { db, file } = record(t)
  db.run("UPDATE events SET detail = 'x' WHERE session_id = 's-b'")
  assert.equal(
    message(() => archiveConversation(db, 'b', 'old.zst')),
    'damaged: events row 2 is not as it was written; ona audit verify says more',
  )
  assert.deepEqual([archiveOf(db, 'b'), rows(db, 's-b').map((each) => each.length)], [undefined, [1, 1, 0, 1]])
  archiveConversation(db, 'a', 'old.zst')
  const whole = readFileSync(file)
  writeFileSync(file, Buffer.concat([whole.subarray(0, 20), Buffer.from('x'), whole.subarray(21)]))
  const { offset } = archiveOf(db, 'a')!
  assert.equal(
    message(() => unarchiveConversation(db, 'a')),
    `damaged: the archive ${file} was changed at byte ${offset}; restore it from a copy`,
  )
  rmSync(file)
  assert.match(
    message(() => unarchiveConversation(db, 'a'))!,
    new RegExp(`^damaged: the archive ${file} cannot be read: ENOENT.*; restore it$`),
  )
  writeFileSync(file, whole)
  assert.equal(unarchiveConversation(db, 'a'), true)
})
