/** A connection: what stays when one cannot be made, what a reader sees, and what transactions and snapshots hold. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { hasOpen } from '../files/process-tree.ts'
import { holdConversation, holds } from './archive/retention.ts'
import { addEvent, listEvents } from './audit.ts'
import { endProblem } from './chain/chain-end.ts'
import { createConversation, createSession } from './conversations.ts'
import { type Db, inMemory, newId, openDb, readDb, type StoreError } from './open.ts'
import { ownTables } from './own-tables.ts'

const onLinux = process.platform === 'linux'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ona-connection-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}
function open(t: TestContext, path = inMemory): Db {
  const db = openDb(path)
  t.after(() => db.isOpen && db.close())
  return db
}
function record(t: TestContext, path = inMemory): Db {
  const db = open(t, path)
  createConversation(db, { projectDir: '/', id: 'c' })
  createSession(db, 'c', 's')
  return db
}
const failure = (work: () => unknown) => {
  try {
    work()
    return undefined
  } catch (error) {
    return `${(error as StoreError).kind}: ${(error as Error).message}`
  }
}

test('why a database is not opened, word for word; and none stays open', (t) => {
  const place = folder(t)
  const at = (name: string) => join(place, name)
  const made = (name: string, sql: string) => {
    const db = new DatabaseSync(at(name))
    db.exec(sql)
    db.close()
    return at(name)
  }
  const newer = made(
    'newer',
    "CREATE TABLE schema_meta(key, value); CREATE TABLE transcript_entries(id); INSERT INTO schema_meta VALUES ('schema_version', '2')",
  )
  const other = made('other', 'CREATE TABLE cats(name)')
  const alike = made('alike', 'CREATE TABLE schema_meta(key, value)')
  writeFileSync(at('empty'), '')
  const absent = (path: string) =>
    `not-there: there is no database at ${path} yet: ona has not run, or AGENT_SDLC_DB names another file`
  assert.deepEqual(
    [at('none'), at('empty')].map((path) => failure(() => readDb(path))),
    [absent(at('none')), absent(at('empty'))],
  )
  const expected = {
    [newer]: `newer-schema: ${newer} has schema version 2, and this ona knows version 1; update ona, or set AGENT_SDLC_DB to another path`,
    [alike]: `other-program: ${alike} is a database of another program; it was left as it is. Set AGENT_SDLC_DB to another path`,
    [place]: `not-a-database: ${place} is not a file; set AGENT_SDLC_DB to the path of one`,
    [other]: `other-program: ${other} is a database of another program; it was left as it is. Set AGENT_SDLC_DB to another path`,
  }
  for (const [path, why] of Object.entries(expected)) {
    assert.deepEqual([failure(() => readDb(path)), failure(() => openDb(path))], [why, why])
    if (onLinux) assert.equal(hasOpen(process.pid, path), false)
  }
})

test('a new database that cannot be opened leaves nothing behind; one of another process and an old one stay', (t) => {
  const place = folder(t)
  const original = process.getBuiltinModule
  t.after(() => {
    process.getBuiltinModule = original
  })
  /** SQLite, which makes its files and then fails. */
  const failing = (errcode: number | undefined) =>
    class {
      constructor(path: string) {
        for (const end of ['-wal', '-shm', '-journal']) writeFileSync(path + end, '')
        throw Object.assign(new Error('no'), { errcode })
      }
    }
  const left = (name: string, errcode: number | undefined) => {
    const fake = { DatabaseSync: failing(errcode) }
    process.getBuiltinModule = ((module: string) =>
      module === 'node:sqlite' ? fake : original(module)) as typeof original
    assert.throws(() => openDb(join(place, name)), errcode === undefined ? { message: 'no' } : { name: 'StoreError' })
    return readdirSync(place)
      .filter((file) => file.startsWith(name))
      .map((file) => file.slice(name.length))
      .sort()
  }
  writeFileSync(join(place, 'old'), 'SQLite format 3\0')
  const all = ['', '-journal', '-shm', '-wal']
  assert.deepEqual([left('broken', 14), left('odd', undefined), left('locked', 5), left('old', 14)], [[], [], all, all])
})

test('credentials of the environment are kept out of what a connection stores', (t) => {
  const before = process.env['OPENAI_API_KEY']
  t.after(() => {
    if (before === undefined) delete process.env['OPENAI_API_KEY']
    else process.env['OPENAI_API_KEY'] = before
  })
  process.env['OPENAI_API_KEY'] = 'only-this-test-knows-it'
  const db = record(t)
  addEvent(db, { conversationId: 'c', type: 'x', detail: 'a only-this-test-knows-it b' })
  assert.equal(listEvents(db)[0]!.detail, 'a [secret] b')
})

test('a reader waits like a writer does, and sees our tables as they are', (t) => {
  const path = join(folder(t), 'agent.db')
  const db = record(t, path)
  holdConversation(db, 'c', 'court')
  const reader = readDb(path)
  assert.deepEqual(reader.get('PRAGMA busy_timeout'), { timeout: 30000 })
  assert.deepEqual(
    holds(reader).map(({ reason }) => reason),
    ['court'],
  )
  assert.deepEqual([reader.path, reader.isOpen], [path, true])
  assert.equal(failure(() => reader.get("INSERT INTO schema_meta VALUES ('k', 'v')"))?.split(':')[0], 'read-only')
  reader.close()
  assert.equal(reader.isOpen, false)
})

test('a reader of an older record finds each table that it lacks, empty', (t) => {
  const path = join(folder(t), 'agent.db')
  record(t, path).close()
  const at = ownTables.findLastIndex((sql) => sql.startsWith('CREATE TABLE'))
  const name = /CREATE TABLE (\w+)/.exec(ownTables[at]!)![1]!
  const old = new DatabaseSync(path)
  old.exec(`DROP TABLE ${name}; PRAGMA user_version = ${at}`)
  old.close()
  const reader = readDb(path)
  t.after(() => reader.close())
  assert.deepEqual(reader.all(`SELECT * FROM ${name}`), [])
})

test('other values beside the version of the schema are left alone', (t) => {
  const path = join(folder(t), 'agent.db')
  record(t, path).close()
  const other = new DatabaseSync(path)
  other.exec(`DELETE FROM schema_meta; INSERT INTO schema_meta VALUES ('a note', '9'), ('schema_version', '1')`)
  other.close()
  const meta = 'SELECT key, value FROM schema_meta ORDER BY key'
  assert.deepEqual(open(t, path).all(meta), [
    { key: 'a note', value: '9' },
    { key: 'schema_version', value: '1' },
  ])
})

test('opening a database that is up to date needs no lock', (t) => {
  const path = join(folder(t), 'agent.db')
  const db = record(t, path)
  db.transaction(() => assert.equal(open(t, path).get<{ n: number }>('SELECT count(*) AS n FROM sessions')?.n, 1))
})

test('rows are plain objects and arrays, one by one or all', (t) => {
  const db = record(t)
  const sql = 'SELECT id, phase FROM conversations WHERE id = ?'
  assert.deepEqual(db.get(sql, 'c'), { id: 'c', phase: 'idle' })
  assert.deepEqual(db.all(sql, 'c'), [{ id: 'c', phase: 'idle' }])
  for (let times = 0; times < 2; times++) assert.deepEqual(db.arrays(sql, 'c'), [['c', 'idle']])
  assert.deepEqual([db.get(sql, 'c'), db.all(sql, 'c')], [{ id: 'c', phase: 'idle' }, [{ id: 'c', phase: 'idle' }]])
  assert.deepEqual(
    Array.from(db.each<{ id: string }>(sql, 'c'), ({ id }) => id),
    ['c'],
  )
  assert.equal(db.get(sql, 'x'), undefined)
  createConversation(db, { projectDir: '/', id: 'd' })
  const every = 'SELECT id FROM conversations ORDER BY id'
  const pairs = [...db.each<{ id: string }>(every)].map(({ id }) => id)
  const nested: string[] = []
  for (const one of db.each<{ id: string }>(every))
    for (const other of db.each<{ id: string }>(every)) nested.push(`${one.id}${other.id}`)
  assert.deepEqual(
    [pairs, nested],
    [
      ['c', 'd'],
      ['cc', 'cd', 'dc', 'dd'],
    ],
    'each loop has its own place',
  )
  assert.deepEqual(db.run('UPDATE conversations SET phase = ? WHERE id = ?', 'test', 'c').changes, 1)
  const { lastId } = db.run("INSERT INTO ona_prompt_history(project_dir, text) VALUES ('/', 'x'), ('/', 'y')")
  assert.equal(lastId, 2)
  for (const read of [db.get, db.all, db.arrays, db.run] as ((sql: string) => unknown)[])
    assert.throws(
      () => read.call(db, 'SELEC 1'),
      { name: 'Error', message: /syntax error/ },
      'our own mistake is thrown as it is',
    )
})

test('a commit that fails leaves no trace, in the rows and in the chain', (t) => {
  const db = record(t)
  const tell = () => addEvent(db, { conversationId: 'c', sessionId: 's', type: 'x' })
  tell()
  assert.throws(
    () =>
      db.transaction(() => {
        db.run('PRAGMA defer_foreign_keys=ON')
        db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('x', 'none')")
        tell()
      }),
    /FOREIGN KEY/,
  )
  tell()
  assert.equal(endProblem(db), undefined)
  assert.deepEqual(
    db.all<{ id: number }>('SELECT id FROM ona_chain').map(({ id }) => id),
    [1, 2],
  )
})

test('a transaction that its work ended is not ended again', (t) => {
  const db = record(t)
  assert.throws(() => db.transaction(() => db.run('ROLLBACK') && assert.fail('why')), /why/)
  assert.equal(
    db.transaction(() => 'next'),
    'next',
  )
})

test('a snapshot is of one moment, holds nothing afterwards, and is part of what is around it', (t) => {
  const path = join(folder(t), 'agent.db')
  const [db, other] = [record(t, path), open(t, path)]
  const count = () => db.get<{ n: number }>('SELECT count(*) AS n FROM events')!.n
  const seen = db.snapshot(() => {
    const before = count()
    addEvent(other, { conversationId: 'c', type: 'x' })
    return [before, count(), db.snapshot(count)]
  })
  assert.deepEqual([seen, count()], [[0, 0, 0], 1])
  assert.throws(() => db.snapshot(() => assert.fail('why')), /why/)
  assert.equal(
    db.transaction(() => db.snapshot(count)),
    1,
  )
  addEvent(db, { conversationId: 'c', type: 'x' })
  assert.equal(count(), 2)
  db.snapshot(() => db.run('COMMIT'))
})

test('ids use every variant, and every digit of them is random', (t) => {
  const db = open(t)
  const ids = Array.from({ length: 400 }, () => newId(db).replaceAll('-', ''))
  const digits = (at: number) => new Set(ids.map((id) => id[at])).size
  assert.deepEqual(
    Array.from({ length: 32 }, (_, at) => digits(at)),
    Array.from({ length: 32 }, (_, at) => (at === 12 ? 1 : at === 16 ? 4 : 16)),
  )
})
