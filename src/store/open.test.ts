import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { packageRoot } from '../package-root.ts'
import { createConversation } from './conversations.ts'
import { dbPath, inMemory, newId, openDb, readDb, StoreError } from './open.ts'
import { ownTables } from './own-tables.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ona-open-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

function open(t: TestContext, path = join(folder(t), 'agent.db')) {
  const db = openDb(path)
  t.after(() => db.close())
  return db
}

const failure = (path: string): [string, string] => {
  try {
    openDb(path).close()
  } catch (error) {
    if (error instanceof StoreError) return [error.kind, error.message]
    throw error
  }
  return ['none', '']
}

const spec = readFileSync(join(packageRoot, 'test/fixtures/spec-tables.sql'), 'utf8')

test('schema.sql is the DDL of the specification', () => {
  assert.equal(readFileSync(join(packageRoot, 'schema.sql'), 'utf8'), spec)
})

test('a new database has exactly the tables of the specification, and ours beside them', (t) => {
  const select =
    "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'ona\\_%' ESCAPE '\\' AND tbl_name NOT LIKE 'ona\\_%' ESCAPE '\\' ORDER BY name"
  const asked = new DatabaseSync(':memory:')
  asked.exec(spec)
  const db = open(t)
  assert.deepEqual(
    db.all(select),
    asked
      .prepare(select)
      .all()
      .map((row) => ({ ...row })),
  )
  assert.deepEqual(db.all('SELECT * FROM schema_meta'), [{ key: 'schema_version', value: '1' }])
  const own = db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE name LIKE 'ona\\_%' ESCAPE '\\'")
  const made = ownTables.flatMap((sql) => /^CREATE (?:TABLE|INDEX) (ona_\w+)/.exec(sql)?.[1] ?? [])
  assert.deepEqual(own.map(({ name }) => name).sort(), made.sort())
})

test('the folder is 0700, the file 0600', (t) => {
  const path = join(folder(t), 'new', 'agent.db')
  const db = open(t, path)
  db.transaction(() => db.run("INSERT INTO conversations(id, project_dir) VALUES ('a', '/')"))
  const mode = (name: string) => (statSync(name).mode & 0o777).toString(8)
  assert.deepEqual([join(path, '..'), path, `${path}-wal`, `${path}-shm`].map(mode), ['700', '600', '600', '600'])
})

test('every connection has the pragmas of the specification', (t) => {
  const path = join(folder(t), 'agent.db')
  for (const db of [open(t, path), open(t, path)]) {
    const pragma = (name: string) => Object.values(db.get<Record<string, unknown>>(`PRAGMA ${name}`)!)[0]
    assert.deepEqual(['foreign_keys', 'journal_mode', 'busy_timeout', 'synchronous'].map(pragma), [1, 'wal', 30000, 1])
    assert.equal(pragma('journal_size_limit'), 16 * 1_048_576)
  }
})

test('the path is AGENT_SDLC_DB, which must be absolute, else ~/.ona/agent.db', () => {
  assert.equal(dbPath({ AGENT_SDLC_DB: '/srv/a.db' }), '/srv/a.db')
  assert.equal(dbPath({ HOME: '/home/me' }), '/home/me/.ona/agent.db')
  assert.equal(dbPath({ HOME: '/home/me', AGENT_SDLC_DB: '' }), '/home/me/.ona/agent.db')
  assert.throws(() => dbPath({ AGENT_SDLC_DB: 'a.db' }), {
    name: 'StoreError',
    message: `AGENT_SDLC_DB is "a.db"; it must be an absolute path such as ${process.cwd()}/a.db`,
  })
})

test('a file that is not ours stays as it was', (t) => {
  const place = folder(t)
  const text = join(place, 'text.db')
  writeFileSync(text, 'this is a letter, not a database\n'.repeat(500))
  const short = join(place, 'short.db')
  writeFileSync(short, 'x')
  const cut = join(place, 'cut.db')
  writeFileSync(cut, 'SQLite format 3\0 and then nothing that a database holds')
  const other = join(place, 'other.db')
  const theirs = new DatabaseSync(other)
  theirs.exec('CREATE TABLE songs(title TEXT)')
  theirs.close()
  const likeOurs = join(place, 'like-ours.db')
  const meta = new DatabaseSync(likeOurs)
  meta.exec('CREATE TABLE schema_meta(name TEXT, version INTEGER)')
  meta.close()
  const newer = join(place, 'newer.db')
  openDb(newer).close()
  const changed = new DatabaseSync(newer)
  changed.exec("UPDATE schema_meta SET value = '2' WHERE key = 'schema_version'")
  changed.close()

  const kinds = {
    [text]: 'not-a-database',
    [short]: 'not-a-database',
    [cut]: 'not-a-database',
    [other]: 'other-program',
    [likeOurs]: 'other-program',
    [newer]: 'newer-schema',
  }
  for (const [path, kind] of Object.entries(kinds)) {
    const before = readFileSync(path)
    const [found, message] = failure(path)
    assert.equal(found, kind)
    assert.ok(message.startsWith(path), message)
    assert.ok(before.equals(readFileSync(path)), `${path} changed`)
  }
  assert.deepEqual(readdirSync(place).sort(), ['cut.db', 'like-ours.db', 'newer.db', 'other.db', 'short.db', 'text.db'])
  mkdirSync(join(place, 'folder.db'))
  assert.equal(failure(join(place, 'folder.db'))[0], 'not-a-database')
  assert.equal(failure(join(text, 'below.db'))[0], 'bad-path')
})

test('a database that someone made with schema.sql is ours', (t) => {
  const path = join(folder(t), 'agent.db')
  const made = new DatabaseSync(path)
  made.exec(spec)
  made.close()
  const db = open(t, path)
  assert.deepEqual(db.all('SELECT * FROM schema_meta'), [{ key: 'schema_version', value: '1' }])
})

/** Runs a script where a small file system of its own is mounted at $1: leaves nothing behind, and needs no root. */
function onSmallDisk(t: TestContext, size: string, script: string): string | undefined {
  const place = folder(t)
  const words = [place, process.execPath, join(packageRoot, 'bin/ona.mjs')]
  const mount = `mount -t tmpfs -o size=${size} tmpfs "$1"`
  const run = spawnSync('unshare', ['-rm', 'sh', '-c', `${mount} || exit 99\n${script}`, 'sh', ...words], {
    encoding: 'utf8',
    env: { ...process.env, AGENT_SDLC_DB: join(place, 'agent.db') },
  })
  if (run.error || run.status === 99 || run.stderr.includes('unshare')) {
    t.skip('this machine lets nobody mount a small disk')
    return undefined
  }
  return run.stdout.replaceAll(place, 'DISK')
}

test('on a full disk: a clear error, exit 1, and nothing left behind', (t) => {
  const output = onSmallDisk(t, '64k', '"$2" "$3" --init-db 2>&1; echo "exit $?"; ls "$1"')
  if (output === undefined) return
  assert.equal(
    output,
    'ona: DISK/agent.db cannot grow: the disk is full. Nothing of this step was stored; free some space and try again\nexit 1\n',
  )
})

test('on a read-only disk: a clear error, exit 1, and the file as it was', (t) => {
  const script = `"$2" "$3" --init-db >/dev/null; cksum < "$1/agent.db"; mount -o remount,ro "$1"
    "$2" "$3" --init-db 2>&1; echo "exit $?"; cksum < "$1/agent.db"; ls "$1"`
  const output = onSmallDisk(t, '1m', script)
  if (output === undefined) return
  const [before, message, exit, after, ...files] = output.trim().split('\n')
  assert.deepEqual(
    [message, exit, files],
    [
      'ona: DISK/agent.db cannot be written; make the file and its folder writable, or set AGENT_SDLC_DB to another path',
      'exit 1',
      ['agent.db'],
    ],
  )
  assert.equal(after, before)
})

test('a record on a read-only disk can be read, unless rows of it are still in its log', (t) => {
  const script = `node=$2; bin=$3; ona() { "$node" "$bin" "$@" 2>&1; }
    ona --init-db > /dev/null; mount -o remount,ro "$1"
    ona inspect --json | grep -c project_dir; ona audit verify --json | grep -c '"ok":true'; ona hooks log
    mount -o remount,rw "$1"; echo rows > "$1/agent.db-wal"; mount -o remount,ro "$1"; ona hooks log`
  const output = onSmallDisk(t, '1m', script)
  if (output === undefined) return
  assert.equal(
    output,
    '1\n1\nno hook run matches\nona: DISK/agent.db cannot be opened; check that its folder exists and is yours\n',
  )
})

test('a disk that fills up while writing loses the step that did not fit, and nothing before it', (t) => {
  const store = join(packageRoot, 'src/store')
  const program = `
    import { openDb } from '${store}/open.ts'
    import { createConversation, createSession } from '${store}/conversations.ts'
    import { appendEntry, countEntries } from '${store}/session/transcript.ts'
    const db = openDb(process.env.AGENT_SDLC_DB)
    const { sessionId } = createSession(db, createConversation(db, { projectDir: '/' }).id)
    let stored = 0
    try {
      for (;;) { appendEntry(db, sessionId, { _t: 'system', subtype: 'x', text: 'x'.repeat(20000) }); stored++ }
    } catch (error) { console.log(error.kind) }
    console.log(stored > 5 && stored === countEntries(db, sessionId), db.get('PRAGMA integrity_check').integrity_check)`
  const output = onSmallDisk(
    t,
    '900k',
    `"$2" --input-type=module-typescript -e "${program.replaceAll('"', '\\"')}" 2>&1`,
  )
  if (output !== undefined) assert.equal(output, 'disk-full\ntrue ok\n')
})

test('a transaction is all or nothing; inside another one it is a savepoint', (t) => {
  const db = open(t)
  const put = (id: string) => db.run('INSERT INTO conversations(id, project_dir) VALUES (?, ?)', id, '/')
  const ids = () => db.all<{ id: string }>('SELECT id FROM conversations ORDER BY id').map(({ id }) => id)
  const failing = (...ids: string[]) => {
    for (const id of ids) db.transaction(() => put(id))
    throw new Error('boom')
  }
  assert.throws(() => db.transaction(() => failing('a')), /boom/)
  assert.deepEqual(ids(), [])
  db.transaction(() => {
    put('b')
    assert.throws(() => db.transaction(() => failing('c', 'd')), /boom/)
    db.transaction(() => put('e'))
  })
  assert.deepEqual(ids(), ['b', 'e'])
  assert.throws(() => db.transaction(async () => put('f')), {
    ...{ name: 'TypeError', message: 'the work of a transaction must not await' },
  })
  assert.deepEqual(ids(), ['b', 'e'])
})

test('while another process writes, one waits for it and is then told', (t) => {
  const path = join(folder(t), 'agent.db')
  const [one, other] = [open(t, path), open(t, path)]
  other.get('PRAGMA busy_timeout=20')
  one.transaction(() => {
    assert.throws(() => other.transaction(() => 0), { name: 'StoreError', kind: 'locked' })
    assert.deepEqual(other.all('SELECT * FROM sessions'), [], 'reading goes on')
  })
  assert.equal(
    other.transaction(() => 'free'),
    'free',
  )
})

test('ids are random and well-formed', (t) => {
  const db = open(t)
  const ids = Array.from({ length: 200 }, () => newId(db))
  assert.equal(new Set(ids).size, 200)
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('a new database that cannot be made leaves no file', (t) => {
  const path = join(folder(t), 'a'.repeat(250), 'b'.repeat(300))
  assert.equal(failure(path)[0], 'bad-path')
  assert.equal(existsSync(path), false)
})

test('a database in memory has every table, is its own, and leaves no file', () => {
  const [one, other] = [openDb(inMemory), openDb(inMemory)]
  createConversation(one, { projectDir: '/' })
  const count = (db: typeof one) => db.get<{ n: number }>('SELECT count(*) AS n FROM conversations')!.n
  assert.deepEqual([count(one), count(other), existsSync(inMemory)], [1, 0, false])
  one.close()
  other.close()
})

test('a database is looked at without a change: no table is made, no row can be written, and what is missing is empty', (t) => {
  const path = join(folder(t), 'agent.db')
  const made = new DatabaseSync(path)
  made.exec(spec)
  made.close()
  const before = readFileSync(path)
  const db = readDb(path)
  t.after(() => db.close())
  assert.deepEqual(db.all('SELECT * FROM ona_subagents'), [])
  assert.throws(() => db.get('INSERT INTO schema_meta VALUES (1, 2) RETURNING key'), StoreError)
  assert.deepEqual(readFileSync(path), before)
})

test('a row of the record is not added by a query, which would not link it', (t) => {
  const db = openDb(inMemory)
  t.after(() => db.close())
  const sql = "INSERT INTO events(conversation_id, session_id, event_type) VALUES ('c', 's', 'x') RETURNING id"
  assert.throws(() => db.get(sql), {
    name: 'TypeError',
    message: 'rows of the record are added by run, which links them',
  })
  assert.deepEqual(db.all('SELECT * FROM events'), [])
})

test('what is not there, not a database, not ours or too new is not looked at either', (t) => {
  const place = folder(t)
  const [text, other, newer] = ['text', 'other', 'newer'].map((name) => join(place, name)) as [string, string, string]
  writeFileSync(text, 'a page of text, longer than the header of a database would be')
  for (const [path, sql] of [
    [other, 'CREATE TABLE cats(name)'],
    [newer, `${spec}; INSERT INTO schema_meta VALUES ('schema_version', '99')`],
  ] as const) {
    const made = new DatabaseSync(path)
    made.exec(sql)
    made.close()
  }
  const kinds = [join(place, 'none'), text, other, newer].map((path) => {
    try {
      readDb(path).close()
      return 'none'
    } catch (error) {
      return (error as StoreError).kind
    }
  })
  assert.deepEqual(kinds, ['not-there', 'not-a-database', 'other-program', 'newer-schema'])
})
