/** The chain over the rows of the record: what each commit links, and what an edit of it is called. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Invocation } from '../../hooks/plane.ts'
import { addEvent } from '../audit.ts'
import { createConversation, createSession } from '../conversations.ts'
import { type Db, inMemory, openDb } from '../open.ts'
import { commitToolCall } from '../session/commit.ts'
import { chainedTables, databaseLink, rowsIn, sessionLink, tableAddedTo } from './chain.ts'
import { endProblem, type Link } from './chain-end.ts'

function record(t: TestContext): Db {
  const db = openDb(inMemory)
  t.after(() => db.close())
  createConversation(db, { projectDir: '/', id: 'c' })
  for (const id of ['s', 'k']) createSession(db, 'c', id)
  return db
}
const tell = (db: Db, sessionId: string | null, type = 'x') => addEvent(db, { conversationId: 'c', sessionId, type })
const links = (db: Db): Link[] =>
  db.all<Link>('SELECT id, session_id AS session, rows, session_hash AS sessionHash, hash FROM ona_chain ORDER BY id')
const hook = {
  ...{ event: 'Stop', ordinal: 0, matcher: '', command: 'x', toolUseId: null, toolName: null, inputJson: '{}' },
  ...{ exitCode: 0, stdout: '', stderr: '', startedAt: '', completedAt: '', skippedReason: null },
} as Invocation
/** Each link as `session: table id, …`. */
const linked = (db: Db) =>
  links(db).map(
    ({ session, rows }) => `${session}: ${[...rowsIn(rows)].map(({ table, id }) => `${table} ${id}`).join(', ')}`,
  )

test('each commit is a link for each turn of a session; what was rolled back is in none', (t) => {
  const db = record(t)
  tell(db, 's')
  db.transaction(() => {
    tell(db, 's')
    tell(db, 'k')
    tell(db, 'k')
    tell(db, 's')
    tell(db, null)
    tell(db, null)
  })
  db.transaction(() => db.run('DELETE FROM events WHERE id = ?', tell(db, 's')))
  assert.throws(() =>
    db.transaction(() => {
      tell(db, 's')
      throw new Error('no')
    }),
  )
  db.transaction(() => {
    tell(db, 's')
    assert.throws(() =>
      db.transaction(() => {
        tell(db, 'k')
        throw new Error('no')
      }),
    )
    const gone = tell(db, 's')
    db.run('DELETE FROM events WHERE id = ?', gone)
  })
  const three =
    "INSERT INTO events(conversation_id, session_id, event_type) VALUES ('c', 's', 'a'), ('c', 's', 'b'), ('c', 's', 'c')"
  db.run(three)
  db.transaction(() => db.run('DELETE FROM events WHERE id = ?', db.run(three).lastId - 1))
  commitToolCall(db, {
    ...{ sessionId: 's', conversationId: 'c', invocations: [hook], events: [{ type: 'e' }] },
    permission: { toolName: 'T', decision: 'allow', reason: {} },
    result: { tool_use_id: 't', content: '', is_error: false },
  })
  assert.deepEqual(linked(db), [
    ...['s: 1 1', 's: 1 2', 'k: 1 3, 1 4', 's: 1 5', ': 1 6, 1 7', 's: 1 9', 's: 1 11, 1 12, 1 13', 's: 1 14, 1 16'],
    's: 3 1, 1 17, 0 1, 2 1',
  ])
  assert.equal(endProblem(db), undefined)
})

test('a row that takes the id of one that was rolled back is linked once', (t) => {
  const db = record(t)
  db.transaction(() => {
    tell(db, 's')
    assert.throws(() =>
      db.transaction(() => {
        tell(db, 's')
        throw new Error('no')
      }),
    )
    assert.equal(tell(db, 's'), 2)
  })
  assert.deepEqual([linked(db), endProblem(db)], [['s: 1 1, 1 2'], undefined])
})

test('a link is the hash of its rows after the one before it, in its session and in the database', (t) => {
  const db = record(t)
  for (const session of ['s', 'k', 's']) tell(db, session)
  const sha = (...parts: (Uint8Array | string)[]) => {
    const hash = createHash('sha256')
    for (const part of parts) hash.update(part)
    return hash.digest('hex')
  }
  const before = { s: Buffer.alloc(32), k: Buffer.alloc(32), all: Buffer.alloc(32) }
  for (const { id, session, rows, sessionHash, hash } of links(db)) {
    const [row] = rowsIn(rows)
    const { text } = db.get<{ text: string }>(
      'SELECT json_array(id, conversation_id, session_id, timestamp, event_type, detail) AS text FROM events WHERE id = ?',
      row!.id,
    )!
    assert.equal(Buffer.from(row!.digest).toString('hex'), sha(text))
    const own = sha(before[session as 's' | 'k'], rows)
    assert.equal(Buffer.from(sessionHash).toString('hex'), own)
    assert.equal(Buffer.from(hash).toString('hex'), sha(before.all, `${id}\n${session}\n`, sessionHash))
    before[session as 's' | 'k'] = Buffer.from(sessionHash)
    before.all = Buffer.from(hash)
  }
})

test('connections that take turns continue one chain', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-chain-'))
  const [one, other] = [openDb(join(folder, 'a.db')), openDb(join(folder, 'a.db'))]
  t.after(() => {
    for (const db of [one, other]) db.close()
    rmSync(folder, { recursive: true })
  })
  createConversation(one, { projectDir: '/', id: 'c' })
  for (const id of ['s', 'k']) createSession(one, 'c', id)
  for (const db of [one, other, other, one, other]) for (const session of ['s', 'k']) tell(db, session)
  assert.deepEqual([links(one).map(({ id }) => id), endProblem(one)], [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], undefined])
  const own = links(one).filter(({ session }) => session === 's')
  let before: Uint8Array = Buffer.alloc(32)
  for (const { rows, sessionHash } of own) {
    assert.deepEqual(Buffer.from(sessionHash), createHash('sha256').update(before).update(rows).digest())
    before = sessionHash
  }
})

test('an edit is named by its row or its link', (t) => {
  const edited = (edit: string, ...values: string[]) => {
    const db = record(t)
    for (const session of ['s', 'k', 's']) tell(db, session)
    db.run(edit, ...values)
    return endProblem(db)
  }
  assert.deepEqual(
    [
      edited("UPDATE events SET detail = 'x' WHERE id = 2"),
      edited('DELETE FROM events WHERE id = 1'),
      edited("UPDATE ona_chain SET session_id = 'k' WHERE id = 3"),
      edited('DELETE FROM ona_chain WHERE id = 2'),
      edited('DELETE FROM ona_chain WHERE id = 3'),
      edited("UPDATE events SET detail = 'x' WHERE id = 9"),
    ],
    [
      'events row 2 was changed by another program; ona audit verify says more',
      'events row 1 was removed; ona audit verify says more',
      'link 3 of the chain does not follow from the one before it; ona audit verify names the place',
      'link 3 of the chain does not follow from the one before it; ona audit verify names the place',
      undefined,
      undefined,
    ],
  )
  const db = record(t)
  for (const session of ['s', 'k', 's']) tell(db, session)
  db.run("UPDATE events SET detail = 'x' WHERE id = 1")
  assert.equal(endProblem(db, 2), undefined, 'older links are not looked at')
  db.run("UPDATE events SET detail = 'x' WHERE id = 3")
  db.run(
    "INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) VALUES ('s', 'events', 3, x'00', 'r')",
  )
  assert.equal(endProblem(db, 2), undefined, 'what was erased by right has changed by right')
  db.run("UPDATE events SET detail = 'x' WHERE id = 2")
  db.run(
    "INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) VALUES ('s', 'hook_invocations', 2, x'00', 'r')",
  )
  const changed = 'events row 2 was changed by another program; ona audit verify says more'
  assert.equal(endProblem(db, 4), changed, 'in its own table')
  createConversation(db, { projectDir: '/', id: 'archived' })
  createSession(db, 'archived', 'of an archive')
  db.run(
    "INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES ('archived', 'f', 0, 1, x'00', 2)",
  )
  assert.equal(endProblem(db, 4), changed, 'whatever else is archived')
})

test('an edit of any column of any chained row is seen', (t) => {
  const db = record(t)
  commitToolCall(db, {
    ...{ sessionId: 's', conversationId: 'c', events: [{ type: 'e' }] },
    invocations: [
      {
        ...{ event: 'Stop', ordinal: 1, matcher: '', command: 'x', toolUseId: 't', toolName: 'T', inputJson: '{}' },
        ...{ exitCode: 0, stdout: '', stderr: '', startedAt: '', completedAt: '', skippedReason: null },
      },
    ],
    permission: { toolName: 'T', decision: 'allow', reason: {} },
    result: { tool_use_id: 't', content: '', is_error: false },
  })
  db.run("INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) VALUES ('s', 'x', 9, x'00', 'r')")
  assert.equal(endProblem(db), undefined)
  const edits = chainedTables.flatMap(({ name }) =>
    db.all<{ name: string }>(`PRAGMA table_info(${name})`).map((column) => [name, column.name] as const),
  )
  db.get('PRAGMA foreign_keys = OFF')
  for (const [table, column] of edits.filter(([, column]) => column !== 'id')) {
    db.run(`CREATE TEMP TABLE kept AS SELECT * FROM ${table}`)
    db.run(`UPDATE ${table} SET ${column} = '7'`)
    assert.equal(endProblem(db), `${table} row 1 was changed by another program; ona audit verify says more`, column)
    db.run(`DELETE FROM ${table}`)
    assert.equal(endProblem(db), `${table} row 1 was removed; ona audit verify says more`)
    db.run(`INSERT INTO main.${table} SELECT * FROM kept`)
    db.run('DROP TABLE kept')
    assert.equal(endProblem(db), undefined, `${table}.${column} is as it was`)
  }
})

test('long rows are hashed as short ones are, and the chain goes on', (t) => {
  const db = record(t)
  for (const detail of ['x'.repeat(300_000), 'é'.repeat(10)]) {
    addEvent(db, { conversationId: 'c', sessionId: 's', type: 'x', detail })
    assert.equal(endProblem(db), undefined)
  }
})

test('the last 200 links are looked at, and a link to no table is named', (t) => {
  const db = record(t)
  for (let at = 0; at < 201; at++) tell(db, 's')
  db.run("UPDATE events SET detail = 'x' WHERE id = 1")
  assert.equal(endProblem(db), undefined)
  db.run("UPDATE events SET detail = 'x' WHERE id = 2")
  assert.equal(endProblem(db), 'events row 2 was changed by another program; ona audit verify says more')
  const other = record(t)
  const rows = new Uint8Array(41).fill(99, 0, 1)
  const own = sessionLink(new Uint8Array(32), rows)
  other.run(
    "INSERT INTO ona_chain(id, session_id, rows, session_hash, hash) VALUES (1, 's', ?, ?, ?)",
    ...[rows, own, databaseLink(new Uint8Array(32), 1, 's', own)],
  )
  assert.equal(endProblem(other), 'link 1 of the chain names a table that there is not')
})

test('statements that add to a chained table are known by their beginning', () => {
  assert.deepEqual(
    [
      ...['INSERT INTO events(x)', ' insert or replace into transcript_entries', 'INSERT INTO hook_invocations'],
      ...[
        'INSERT OR IGNORE INTO tool_permission_log',
        'INSERT INTO ona_tombstones',
        'INSERT INTO state',
        'UPDATE events',
        "UPDATE state SET value = 'INSERT INTO events'",
      ],
    ].map(tableAddedTo),
    [1, 0, 2, 3, 4, -1, -1, -1],
  )
})
