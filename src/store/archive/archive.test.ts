import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { opensOf } from '../../../test/support/opens-of.ts'
import { hasOpen } from '../../files/process-tree.ts'
import type { Invocation } from '../../hooks/plane.ts'
import { packageRoot } from '../../package-root.ts'
import { requestApproval, settleApproval } from '../approvals.ts'
import { addEvent, listEvents, listHookInvocations } from '../audit.ts'
import { endProblem } from '../chain/chain-end.ts'
import { createConversation, createSession } from '../conversations.ts'
import { type Db, openDb, readDb, type StoreError } from '../open.ts'
import { usageByDay } from '../reports.ts'
import { commitRound, commitToolCall } from '../session/commit.ts'
import { recordSize } from '../size.ts'
import { setState } from '../state.ts'
import {
  archivable,
  archiveConversation,
  archiveFiles,
  archiveOf,
  archiveProblems,
  restoreConversation,
  settleArchives,
  unarchiveConversation,
  unarchiveSession,
} from './archive.ts'
import { packed, rowsOf, unpacked } from './frame.ts'
import {
  archivedConversations,
  archivedHooks,
  bringArchived,
  conversationOf,
  dropArchived,
  keepArchived,
  withArchived,
} from './reading.ts'

const tables = ['transcript_entries', 'events', 'hook_invocations', 'tool_permission_log']
const rows = (db: Pick<Db, 'all'>, session: string) =>
  tables.map((table) => db.all(`SELECT * FROM ${table} WHERE session_id = ? ORDER BY id`, session))

/** A record with two old conversations, `a` and `b`, and one of now, each with a call. */
function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-archive-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    if (db.isOpen) db.close()
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
  assert.deepEqual(
    ['b', 'now', ''].map((only) => archivable(db, '2021-01-01 00:00:00', only)),
    [['b'], [], []],
  )
  const before = rows(db, 's-a')
  const { rows: moved, bytes } = archiveConversation(db, 'a', 'old.zst')
  assert.deepEqual([moved, bytes, statSync(file).mode & 0o777], [3, statSync(file).size, 0o600])
  assert.deepEqual(rows(db, 's-a'), [[], [], [], []])
  assert.equal(endProblem(db), undefined, 'rows that were moved are not missing')
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
  const [active, archived] = ['2020-01-01 00:00:00', '2020-01-01 12:00:00']
  db.run('UPDATE ona_archives SET archived_at = ?', archived)
  assert.deepEqual(
    [active, archived, '2020-01-01 12:00:01'].map((since) => archivedConversations(db, since)),
    [['a'], ['a'], []],
  )
  // archived since then, but at rest for a day before
  db.run("UPDATE ona_archives SET archived_at = '2026-01-02 00:00:00'")
  assert.deepEqual(
    ['2020-01-02 00:00:00', '2020-01-02 00:00:01', '2026-01-02 00:00:00'].map((since) =>
      archivedConversations(db, since),
    ),
    [['a'], [], []],
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
  assert.deepEqual(db.get('PRAGMA synchronous'), { synchronous: 1 }, 'NORMAL again')
})

test('each file is marked, settled and emptied by itself', (t) => {
  const { db, folder } = record(t)
  const before = rows(db, 's-b')
  const unsettled = () =>
    db.all<{ file: string }>('SELECT file FROM ona_unsettled_archives ORDER BY file').map(({ file }) => file)
  mkdirSync(join(folder, 'blocked.zst'))
  db.run("INSERT INTO ona_unsettled_archives(file) VALUES ('blocked.zst')")
  archiveConversation(db, 'a', 'one.zst')
  archiveConversation(db, 'b', 'two.zst')
  assert.deepEqual(unsettled(), ['blocked.zst', 'one.zst', 'two.zst'])
  assert.equal(unarchiveConversation(db, 'a'), true)
  assert.deepEqual(
    [unsettled(), existsSync(join(folder, 'one.zst')), existsSync(join(folder, 'two.zst'))],
    [['blocked.zst'], false, true],
  )
  assert.deepEqual([unarchiveConversation(db, 'b'), rows(db, 's-b')], [true, before])
})

test('one session that is in use keeps its conversation in the database', {
  skip: process.platform !== 'linux',
}, (t) => {
  const { db } = record(t)
  createSession(db, 'a', 's-a2')
  const began = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]
  setState(db, 'a', 'working:s-a2', `${process.ppid} ${began}`)
  assert.deepEqual(archivable(db, '2021-01-01 00:00:00'), ['b'])
  setState(db, 'a', 'working:s-a2', `${process.ppid} 1`)
  assert.deepEqual(archivable(db, '2021-01-01 00:00:00'), ['a', 'b'])
})

test('an archived conversation that another program has written to is not archived again', (t) => {
  const { db } = record(t)
  archiveConversation(db, 'a', 'old.zst')
  db.run(
    "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES ('s-a', 9, 'system', '{}')",
  )
  assert.deepEqual([archivable(db, '2021-01-01 00:00:00'), archivable(db, '2021-01-01 00:00:00', 'a')], [['b'], []])
})

test('what was used last is archived last', (t) => {
  const { db } = record(t)
  db.run("UPDATE conversations SET last_active = '2019-01-01 00:00:00' WHERE id = 'b'")
  db.run("UPDATE conversations SET created_at = '2018-01-01 00:00:00' WHERE id = 'a'")
  assert.deepEqual(archivable(db, '2021-01-01 00:00:00'), ['b', 'a'])
})

test('taking one conversation out of a file leaves the others in it, in whatever order they were archived', (t) => {
  const { db } = record(t)
  const before = ['s-a', 's-b'].map((session) => rows(db, session))
  for (const id of ['b', 'now', 'a']) archiveConversation(db, id, 'old.zst')
  for (const id of ['now', 'a', 'b']) assert.equal(unarchiveConversation(db, id), true, id)
  assert.deepEqual(
    ['s-a', 's-b'].map((session) => rows(db, session)),
    before,
  )
})

test('a call that waits for approval keeps its conversation where it is', (t) => {
  const { db } = record(t)
  const call = { toolUseId: 't', tool: 'Bash', input: '{}', summary: '', reason: '', owner: null }
  const id = requestApproval(db, { conversationId: 'a', sessionId: 's-a', ...call, expiresInSeconds: 60 })
  assert.deepEqual(archivable(db, '2021-01-01 00:00:00'), ['b'])
  settleApproval(db, id)
  assert.deepEqual(archivable(db, '2021-01-01 00:00:00'), ['a', 'b'])
})

test('a new file and its name are on the disk before a row is removed', { skip: process.platform !== 'linux' }, (t) => {
  const { db, folder, file } = record(t)
  const flushed: string[] = []
  const { fsyncSync } = fs
  const restore = () => {
    fs.fsyncSync = fsyncSync
    syncBuiltinESMExports()
  }
  t.after(restore)
  fs.fsyncSync = (fd) => {
    flushed.push(readlinkSync(`/proc/self/fd/${fd}`))
    fsyncSync(fd)
  }
  syncBuiltinESMExports()
  for (const id of ['a', 'b', 'now']) archiveConversation(db, id, 'old.zst')
  assert.deepEqual(flushed.splice(0), [file, folder, file, file])
  const { writeSync } = fs
  let written = 0
  t.after(() => {
    fs.writeSync = writeSync
    syncBuiltinESMExports()
  })
  fs.writeSync = ((...given: Parameters<typeof writeSync>) => {
    const bytes = writeSync(...given)
    written += bytes
    return bytes
  }) as typeof writeSync
  syncBuiltinESMExports()
  const [a, b] = ['a', 'b'].map((id) => archiveOf(db, id)!.length)
  unarchiveConversation(db, 'a')
  assert.deepEqual([flushed.splice(0), written], [[file], a], 'what was taken out is gone from the disk')
  unarchiveConversation(db, 'b')
  assert.deepEqual([flushed, written], [[file], a! + b!], 'what is blank already is not written again')
  assert.equal(withArchived(db, ['now'], (reader) => rows(reader, 's-now')).flat().length, 3)
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
  dropArchived(reader) // nothing was brought yet
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
  assert.deepEqual(
    [['b'], ['a'], ['b', 'a']].map((ids) => withArchived(reader, ids, (one) => one === reader)),
    [true, false, false],
    'what was brought need not be brought again',
  )
  assert.deepEqual([conversationOf(db, 's-a'), conversationOf(db, 'x'), conversationOf(db, undefined)], ['a', '', ''])
  assert.throws(() => bringArchived(db, ['a']), {
    name: 'TypeError',
    message: 'a connection that writes must not hide a table behind a TEMP one',
  })
})

test('what is kept for a caller that comes back is the conversation as it was last archived', (t) => {
  const { db, file } = record(t)
  const kept = keepArchived()
  t.after(() => kept.close())
  const read = (id: string) => kept.with(db, [id], (reader) => rows(reader, `s-${id}`))
  for (let turn = 0; turn < 2; turn++) {
    const before = { a: rows(db, 's-a'), b: rows(db, 's-b') }
    for (const id of ['a', 'b']) archiveConversation(db, id, 'old.zst') // each turn at the same place
    assert.deepEqual(['a', 'b', 'b', 'a'].map(read), [before.a, before.b, before.b, before.a])
    const both = kept.with(db, ['a', 'b'], (reader) => ['s-a', 's-b'].map((id) => rows(reader, id)))
    assert.deepEqual(both, [before.a, before.b])
    for (const id of ['a', 'b']) {
      unarchiveConversation(db, id)
      addEvent(db, { conversationId: id, sessionId: `s-${id}`, type: 'later' })
    }
    assert.deepEqual(['a', 'b'].map(read), [rows(db, 's-a'), rows(db, 's-b')])
  }
  const before = rows(db, 's-a')
  archiveConversation(db, 'a', 'old.zst')
  renameSync(file, `${file}-away`)
  for (let turn = 0; turn < 2; turn++)
    assert.match(message(() => read('a'))!, /^damaged: .* cannot be read: there is no such file/)
  renameSync(`${file}-away`, file)
  assert.deepEqual(read('a'), before)
})

test('conversations that are read in turns are unpacked once, and again only when they were archived again', (t) => {
  const { db } = record(t)
  const before = { a: rows(db, 's-a'), b: rows(db, 's-b') }
  for (const id of ['a', 'b']) archiveConversation(db, id, 'old.zst')
  const kept = keepArchived()
  t.after(() => kept.close())
  const opens = opensOf(t, 'old.zst')
  const read = (...ids: string[]) => {
    const before = opens()
    const found = ids.map((id) => kept.with(db, [id], (reader) => rows(reader, `s-${id}`)))
    return { found, opened: opens() - before }
  }
  assert.deepEqual(read('a', 'b', 'a', 'b'), { found: [before.a, before.b, before.a, before.b], opened: 2 })
  addEvent(db, { conversationId: 'now', type: 'meanwhile' })
  assert.deepEqual(read('b', 'a'), { found: [before.b, before.a], opened: 0 })
  unarchiveConversation(db, 'a')
  assert.deepEqual(
    kept.with(db, ['b'], (reader) => rows(reader, 's-a')),
    before.a,
    'once, in its tables',
  )
  archiveConversation(db, 'a', 'old.zst')
  assert.deepEqual(read('b', 'a', 'b', 'a').opened, 1)
})

test('what is read of a conversation is of one moment, although another program archives or restores it meanwhile', (t) => {
  const { db } = record(t)
  const before = rows(db, 's-a')
  const [other, reader] = [openDb(db.path), readDb(db.path)]
  const kept = keepArchived()
  t.after(() => {
    kept.close()
    for (const each of [other, reader]) each.close()
  })
  for (const open of [withArchived, kept.with])
    for (const change of [() => archiveConversation(other, 'a', 'old.zst'), () => unarchiveConversation(other, 'a')]) {
      const seen = open(reader, ['a'], (one) => {
        change()
        return rows(one, 's-a')
      })
      assert.deepEqual(seen, before)
      assert.deepEqual(
        open(reader, ['a'], (one) => rows(one, 's-a')),
        before,
      )
    }
})

test('a conversation that is restored before its archive is read is read where it is now', (t) => {
  const { db } = record(t)
  const before = rows(db, 's-a')
  for (const again of [false, true]) {
    archiveConversation(db, 'b', 'old.zst')
    archiveConversation(db, 'a', 'old.zst')
    const reader = readDb(db.path)
    t.after(() => reader.close())
    const seen = reader.snapshot(() => {
      assert.equal(archiveOf(reader, 'a') !== undefined, true)
      for (const id of ['a', 'b']) unarchiveConversation(db, id)
      if (again) archiveConversation(db, 'a', 'old.zst')
      bringArchived(reader, ['a'])
      return rows(reader, 's-a')
    })
    assert.deepEqual(seen, before)
    unarchiveConversation(db, 'a')
  }
})

test('archives lie beside the file of the record, by whatever link it is opened', (t) => {
  const { db, folder, file } = record(t)
  const before = rows(db, 's-a')
  mkdirSync(join(folder, 'links'))
  const link = join(folder, 'links/agent.db')
  symlinkSync(db.path, link)
  const linked = openDb(link)
  t.after(() => linked.close())
  archiveConversation(linked, 'a', 'old.zst')
  assert.deepEqual([archiveFiles(linked), archiveFiles(db)], [[file], [file]])
  assert.deepEqual([archiveProblems(linked), archiveProblems(db)], [[], []])
  for (const each of [linked, db])
    assert.deepEqual(
      withArchived(each, ['a'], (reader) => rows(reader, 's-a')),
      before,
    )
  assert.equal(recordSize(linked, new Date()).walBytes, statSync(`${db.path}-wal`).size)
  archiveConversation(db, 'b', 'old.zst')
  for (const id of ['a', 'b']) unarchiveConversation(linked, id)
  assert.deepEqual([rows(db, 's-a'), existsSync(file)], [before, false])
})

test('usage by day counts the replies in archives', (t) => {
  const { db } = record(t)
  for (const id of ['a', 'now'])
    addEvent(db, {
      conversationId: id,
      sessionId: `s-${id}`,
      type: 'model_reply',
      detail: { model: 'm', outputTokens: 2 },
    })
  const before = usageByDay(db)
  assert.deepEqual(
    before.map(({ model, replies, output }) => [model, replies, output]),
    [['m', 2, 4]],
  )
  db.run("UPDATE conversations SET last_active = datetime('now') WHERE id = 'a'")
  archiveConversation(db, 'a', 'old.zst')
  assert.deepEqual(usageByDay(db), before)
})

test('a copy of the database restores from the archives and leaves them to the database that they are named after', (t) => {
  const { db, folder } = record(t)
  const before = rows(db, 's-a')
  const name = 'agent.db-archive-20261119T155845.zst'
  const file = join(folder, name)
  for (const id of ['a', 'b']) archiveConversation(db, id, name)
  db.run('VACUUM INTO ?', join(folder, 'copy.db'))
  const archived = readFileSync(file)
  const copy = openDb(join(folder, 'copy.db'))
  t.after(() => copy.close())
  for (const id of ['a', 'b']) assert.equal(unarchiveConversation(copy, id), true)
  assert.deepEqual([rows(copy, 's-a'), settleArchives(copy), readFileSync(file)], [before, [], archived])
  assert.deepEqual(
    withArchived(db, ['a'], (reader) => rows(reader, 's-a')),
    before,
  )
  for (const id of ['a', 'b']) assert.equal(unarchiveConversation(db, id), true)
  assert.equal(existsSync(file), false)
  // the other no longer refers to a file of that name
  archiveConversation(copy, 'a', name)
  assert.deepEqual([unarchiveConversation(copy, 'a'), existsSync(file)], [true, false])
})

test('an archive stays as it is where the database that it is named after cannot be read', (t) => {
  const { db, folder } = record(t)
  const name = 'newer.db-archive-20261119T155845.zst'
  archiveConversation(db, 'a', name)
  const newer = new DatabaseSync(join(folder, 'newer.db'))
  newer.exec(`CREATE TABLE transcript_entries(id); CREATE TABLE schema_meta(key, value);
    INSERT INTO schema_meta VALUES ('schema_version', '2')`)
  newer.close()
  assert.equal(restoreConversation(db, 'a'), true)
  assert.match(
    settleArchives(db).join(),
    /^the archive newer\.db-archive-.* cannot be emptied: .*newer\.db has schema version 2/,
  )
  assert.equal(existsSync(join(folder, name)), true)
  rmSync(join(folder, 'newer.db'))
  assert.deepEqual([settleArchives(db), existsSync(join(folder, name))], [[], false])
})

test('archived rows are read from the newest conversation on, until there are enough or much was unpacked', (t) => {
  const { db } = record(t)
  for (const id of ['a', 'b']) archiveConversation(db, id, 'old.zst')
  db.run('DELETE FROM ona_archived_hooks') // as an older ona leaves them
  const reader = readDb(db.path)
  t.after(() => reader.close())
  const read = (enough: number) =>
    archivedHooks(reader, enough, { event: undefined, toolName: undefined }, (id) =>
      reader.all<{ detail: string }>('SELECT detail FROM events WHERE session_id = ?', `s-${id}`),
    )
  const [a, b] = [{ detail: 'a' }, { detail: 'b' }]
  assert.deepEqual(
    [read(3), read(2), read(1)],
    [
      { rows: [b, a], left: 0 },
      { rows: [b, a], left: 0 },
      { rows: [b], left: 0 },
    ],
  )
  db.run("UPDATE ona_archives SET length = 4194304 WHERE conversation_id = 'a'")
  assert.deepEqual(
    [read(2), read(1)],
    [
      { rows: [b], left: 1 },
      { rows: [b], left: 0 },
    ],
  )
  const room = 4 * 1024 * 1024 - archiveOf(db, 'b')!.length
  db.run("UPDATE ona_archives SET length = ? WHERE conversation_id = 'a'", room + 1)
  assert.deepEqual(read(2), { rows: [b], left: 1 })
  db.run("UPDATE ona_archives SET length = ? WHERE conversation_id = 'a'", room)
  assert.match(
    message(() => read(2))!,
    /^damaged: .*old\.zst was changed at byte 0/,
    'it is unpacked: so long it is not',
  )
})

test('of many archives no more are listed than are looked into', (t) => {
  const { db } = record(t)
  for (let n = 0; n < 50; n++) {
    createConversation(db, { projectDir: '/', id: `c${n}` })
    createSession(db, `c${n}`, `s-c${n}`)
    addEvent(db, { conversationId: `c${n}`, sessionId: `s-c${n}`, type: 'e', detail: `${n}` })
    archiveConversation(db, `c${n}`, 'old.zst')
  }
  db.run('DELETE FROM ona_archived_hooks') // as an older ona leaves them
  const reader = readDb(db.path)
  t.after(() => reader.close())
  let listed = 0
  const watched = new Proxy(reader, {
    get(_, name: keyof typeof reader) {
      if (name !== 'all') return typeof reader[name] === 'function' ? reader[name].bind(reader) : reader[name]
      return (sql: string, ...values: string[]) => {
        const found = reader.all(sql, ...values)
        if (sql.includes('ona_archives')) listed += found.length
        return found
      }
    },
  })
  const look = (enough: number) => {
    listed = 0
    const { rows, left } = archivedHooks(watched, enough, { event: undefined, toolName: undefined }, (id) => [id])
    return [rows.length, left, listed]
  }
  assert.deepEqual(
    [look(1), look(20), look(21), look(99)],
    [
      [1, 0, 20],
      [20, 0, 40],
      [21, 0, 40],
      [50, 0, 50],
    ],
  )
})

test('archives are found by the events and tools of their hooks, and listed as long as they are there', (t) => {
  const { db } = record(t)
  const hook = (id: string, event: string, toolName: string | null) =>
    commitRound(db, {
      ...{ sessionId: `s-${id}`, conversationId: id, entries: [] },
      invocations: [
        {
          ...{ event, ordinal: 0, matcher: '', command: 'x', toolUseId: null, toolName, inputJson: '{}', exitCode: 0 },
          ...{ stdout: '', stderr: '', startedAt: '', completedAt: '', skippedReason: null },
        } as Invocation,
      ],
    })
  hook('a', 'PreToolUse', 'Bash')
  hook('a', 'PreToolUse', 'Bash')
  hook('a', 'Stop', null)
  hook('b', 'PreToolUse', 'Read')
  db.run("UPDATE conversations SET last_active = '2020-01-01 00:00:00'") // of the same second the later comes first
  for (const id of ['a', 'b', 'now']) archiveConversation(db, id, 'old.zst')
  const listed = () =>
    db
      .all<{ id: string; event: string; tool: string }>(
        `SELECT h.conversation_id AS id, hook_event AS event, iif(tool_name = hex(a.digest), 'DIGEST', tool_name) AS tool
         FROM ona_archived_hooks h JOIN ona_archives a USING (conversation_id) ORDER BY 1, 2, 3`,
      )
      .map(({ id, event, tool }) => `${id} ${event}/${tool}`)
  const ofA = ['a /DIGEST', 'a PreToolUse/Bash', 'a Stop/']
  const others = ['b /DIGEST', 'b PreToolUse/Read', 'now /DIGEST']
  assert.deepEqual(listed(), [...ofA, ...others])
  const reader = readDb(db.path)
  t.after(() => reader.close())
  const looked = (event?: string, toolName?: string) =>
    archivedHooks(reader, 9, { event, toolName }, (id) => [
      `${id} ${listHookInvocations(reader, { conversationId: id }).length}`,
    ])
  assert.deepEqual(
    [
      ...[looked(), looked('PreToolUse'), looked('Stop'), looked(undefined, 'Read'), looked('PreToolUse', 'Bash')],
      ...[looked('Stop', 'Bash'), looked('Other'), looked(undefined, ''), looked('PreToolUse', '')],
    ],
    [['b 1', 'a 3'], ['b 1', 'a 3'], ['a 3'], ['b 1'], ['a 3'], [], [], ['a 3'], []].map((found) => ({
      rows: found,
      left: 0,
    })),
  )
  db.run("UPDATE ona_archived_hooks SET tool_name = 'OLDER' WHERE hook_event = '' AND conversation_id = 'now'")
  assert.deepEqual(looked('Stop').rows, ['now 0', 'a 3'], 'a list of another frame is not the list of this one')
  db.run(`UPDATE ona_archived_hooks SET tool_name = (SELECT hex(digest) FROM ona_archives WHERE conversation_id = 'now')
    WHERE hook_event = '' AND conversation_id = 'now'`)
  unarchiveConversation(db, 'a')
  assert.deepEqual(listed(), others)
  assert.equal(db.all('SELECT 1 FROM ona_archived_hooks').length, 3)
  db.run('DELETE FROM ona_archived_hooks') // as an older ona leaves them
  archiveConversation(db, 'a', 'old.zst')
  assert.deepEqual(listed(), ofA, 'what was archived before is not listed by this')
})

test('what was changed or is missing is reported, and nothing of it is used', (t) => {
  const { db, file } = record(t)
  db.run("UPDATE events SET detail = 'x' WHERE session_id = 's-b'")
  assert.equal(
    message(() => archiveConversation(db, 'b', 'old.zst')),
    'damaged: events row 2 is not as it was written; ona audit verify says more',
  )
  for (const erased of ["'hook_invocations', 2", "'events', 1"])
    db.run(
      `INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) VALUES ('s-b', ${erased}, x'00', 'r')`,
    )
  assert.match(
    message(() => archiveConversation(db, 'b', 'old.zst')) ?? '',
    /^damaged: events row 2 /,
    'only what was erased may differ',
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
    new RegExp(`^damaged: the archive ${file} cannot be read: there is no such file; restore it from a copy$`),
  )
  writeFileSync(file, whole)
  assert.equal(unarchiveConversation(db, 'a'), true)
})

test('archives that are missing or cut off are found without reading them', (t) => {
  const { db, file } = record(t)
  assert.deepEqual([archiveFiles(db), archiveProblems(db)], [[], []])
  const other = join(file, '..', 'new.zst')
  for (const [id, name] of [
    ['a', 'old.zst'],
    ['b', 'old.zst'],
    ['now', 'new.zst'],
  ] as const)
    archiveConversation(db, id, name)
  assert.deepEqual([archiveFiles(db), archiveProblems(db)], [[other, file], []])
  const { size } = statSync(file)
  fs.truncateSync(file, size - 1)
  rmSync(other)
  assert.deepEqual(archiveProblems(db), [
    `the archive ${other} is missing; restore it from a copy`,
    `the archive ${file} was cut off at byte ${size - 1}; restore it from a copy`,
  ])
  writeFileSync(file, Buffer.alloc(size + 1))
  assert.deepEqual(archiveProblems(db).slice(1), [], 'it may go on')
})

test('a row that is in no link, from another program or from before the chain, is moved too', (t) => {
  const { db } = record(t)
  const other = new DatabaseSync(db.path)
  other.exec("INSERT INTO events(conversation_id, session_id, event_type) VALUES ('a', 's-a', 'theirs')")
  other.close()
  const before = rows(db, 's-a')
  assert.equal(archiveConversation(db, 'a', 'old.zst').rows, 4)
  assert.equal(unarchiveConversation(db, 'a'), true)
  assert.deepEqual(rows(db, 's-a'), before)
})

test('links and what was erased stay in the database, and rows of others may refer to what was moved', (t) => {
  const { db } = record(t)
  db.run("UPDATE events SET detail = NULL WHERE session_id = 's-a'")
  db.run(
    "INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) SELECT 's-a', 'hook_invocations', 9, x'00', 'r'",
  )
  db.run(
    "INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) SELECT 's-a', 'events', id, x'00', 'r' FROM events WHERE session_id = 's-a'",
  )
  db.run(
    "UPDATE transcript_entries SET parent_entry_id = (SELECT id FROM transcript_entries WHERE session_id = 's-a') WHERE session_id = 's-now'",
  )
  const before = rows(db, 's-a')
  assert.equal(archiveConversation(db, 'a', 'old.zst').rows, 3)
  const count = (table: string) =>
    db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE session_id = 's-a'`)!.n
  assert.deepEqual([count('ona_tombstones'), count('ona_chain') > 0, count('events')], [2, true, 0])
  assert.equal(unarchiveConversation(db, 'a'), true)
  assert.deepEqual([rows(db, 's-a'), db.all('PRAGMA foreign_key_check')], [before, []])
})

test('a frame holds the rows as they were, and nothing that is no row is read from one', (t) => {
  const { db } = record(t)
  for (const type of ['z', 'a']) addEvent(db, { conversationId: 'b', sessionId: 's-b', type })
  assert.deepEqual(
    [...rowsOf(db, 'b')].map(({ table, id }) => [table, id]),
    [
      [0, 2],
      [1, 2],
      [1, 4],
      [1, 5],
      [3, 2],
    ],
  )
  const moved = [...rowsOf(db, 'a')]
  assert.deepEqual(
    moved.map(({ table, id }) => [table, id]),
    [
      [0, 1],
      [1, 1],
      [3, 1],
    ],
  )
  assert.deepEqual([...unpacked(packed(moved))], moved)
  const row = '{"table":"events","row":[1,"}"]}'
  assert.deepEqual([...unpacked(zstdCompressSync(`${row}\n\n${row}`))].length, 2)
  const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } }
  const repeated = `${row.replace('}"', 'x'.repeat(300_000))}\n`
  const frames = [
    ...[zstdCompressSync(row, checked), zstdCompressSync(repeated, checked), zstdCompressSync(repeated)],
    zstdCompressSync(row),
  ]
  assert.deepEqual([...unpacked(Buffer.concat(frames))].length, 4, 'frames with and without a checksum')
  for (const line of [`x${row}`, `${row}x`, row.replace('events', 'ona_tombstones'), '{}', 'null'])
    assert.throws(() => [...unpacked(zstdCompressSync(line))], {
      name: 'SyntaxError',
      message: 'a line of it is no row of the record',
    })
})

test('rows after a full frame go into one frame again', () => {
  const row = (id: number, length: number) => ({ table: 0, id, text: `[${id},"${'x'.repeat(length)}"]` })
  const frames = (...lengths: number[]) =>
    Buffer.from(packed(lengths.map((length, at) => row(at + 1, length))))
      .toString('latin1')
      .split('\u0028\u00b5\u002f\u00fd').length - 1
  const full = 8 * 1024 * 1024
  assert.deepEqual([frames(), frames(1), frames(1, 1), frames(full, 1, 1), frames(full, 1, full, 1)], [1, 1, 1, 2, 3])
})

test('a conversation that is larger than a string can be is packed and unpacked a few megabytes at a time', () => {
  const row = (id: number, text: string) => ({ table: 0, id, text: JSON.stringify([id, text]) })
  const texts = [
    'a'.repeat(9_000_000),
    Array.from({ length: 100_000 }, (_, n) => n * 7919).join(' €'),
    '',
    'b'.repeat(300),
  ]
  const rows = [...texts, ...texts].map((text, at) => row(at + 1, text))
  const frame = Buffer.from(packed(rows))
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
  assert.deepEqual([frame.indexOf(magic), frame.lastIndexOf(magic) > 0], [0, true])
  assert.deepEqual([...unpacked(frame)], rows)
  assert.equal(zstdDecompressSync(frame).toString().split('\n').length, rows.length + 1)
})

test('no file stays open, and a reader finds rows by their id and by their session', {
  skip: process.platform !== 'linux',
}, (t) => {
  const { db, folder, file } = record(t)
  const open = () => [file, join(folder, 'folder.zst'), db.path].map((path) => hasOpen(process.pid, path))
  for (const id of ['a', 'b']) archiveConversation(db, id, 'old.zst')
  withArchived(db, ['a'], (reader) => {
    const plans = tables.flatMap((table) =>
      ['id', 'session_id'].map((column) => {
        const plan = reader.all<{ detail: string }>(`EXPLAIN QUERY PLAN SELECT * FROM ${table} WHERE ${column} = 1`)
        return plan.filter(({ detail }) => detail.startsWith('SCAN')).length
      }),
    )
    assert.deepEqual(plans, Array(8).fill(0))
    const ordered = 'EXPLAIN QUERY PLAN SELECT * FROM kept_transcript_entries WHERE session_id = 1 ORDER BY sequence'
    assert.deepEqual(
      reader.all<{ detail: string }>(ordered).map(({ detail }) => detail),
      ['SEARCH kept_transcript_entries USING INDEX kept_transcript_entries_session (session_id=?)'],
    )
  })
  unarchiveConversation(db, 'a')
  mkdirSync(join(folder, 'folder.zst'))
  db.run("UPDATE ona_archives SET file = 'folder.zst'")
  assert.match(
    message(() => unarchiveConversation(db, 'b'))!,
    /folder.zst cannot be read: it is a folder; restore it from a copy$/,
  )
  execFileSync('mkfifo', [join(folder, 'pipe.zst')])
  db.run("UPDATE ona_archives SET file = 'pipe.zst'")
  assert.match(
    message(() => unarchiveConversation(db, 'b'))!,
    /pipe.zst cannot be read: it is a pipe; restore it from a copy$/,
  )
  assert.deepEqual(open(), [false, false, true])
  db.close()
  assert.deepEqual(open(), [false, false, false])
})

test('without zstd there are no archives, and the message names the Node that has it', (t) => {
  const { db } = record(t)
  const original = process.getBuiltinModule
  t.after(() => {
    process.getBuiltinModule = original
  })
  process.getBuiltinModule = ((name: string) => (name === 'node:zlib' ? {} : original(name))) as typeof original
  assert.equal(
    message(() => archiveConversation(db, 'a', 'old.zst')),
    `damaged: archives need zstd, which Node ${process.versions.node} lacks; use Node 22.15 or newer`,
  )
})

test('an archive that cannot be made keeps the rows in the database', (t) => {
  const { db, folder } = record(t)
  const before = rows(db, 's-a')
  assert.equal(
    message(() => archiveConversation(db, 'a', 'gone/old.zst')),
    `disk-full: the archive ${folder}/gone/old.zst cannot be written: ENOENT: no such file or directory, open '${folder}/gone/old.zst'; the rows stay in the database`,
  )
  assert.deepEqual([rows(db, 's-a'), archiveOf(db, 'a')], [before, undefined])
})

test('a disk that has no room for the frame keeps the rows in the database', (t) => {
  const { db, folder } = record(t)
  const big = Array.from({ length: 30_000 }, () => Math.random()).join()
  commitToolCall(db, {
    ...{ sessionId: 's-a', conversationId: 'a', invocations: [] },
    result: { tool_use_id: 'big', content: big, is_error: false },
  })
  db.close()
  const program = `import { statSync } from 'node:fs'
    import { openDb } from '${packageRoot}/src/store/open.ts'
    import { archiveConversation } from '${packageRoot}/src/store/archive/archive.ts'
    const db = openDb(process.argv[1] + '/agent.db')
    try { console.log(archiveConversation(db, 'a', 'small/old.zst')) } catch (error) { console.log(error.kind, error.message) }
    console.log(db.get("SELECT count(*) AS n FROM transcript_entries WHERE session_id = 's-a'").n)
    console.log(statSync(process.argv[1] + '/small/old.zst').size, archiveConversation(db, 'b', 'small/old.zst').rows)`
  const script = `mkdir "$1/small" && mount -t tmpfs -o size=64k tmpfs "$1/small" && "$2" --input-type=module-typescript -e "$3" "$1"`
  const words = ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, program]
  const { error, stdout, stderr } = spawnSync('unshare', words, { encoding: 'utf8' })
  if (error || /unshare|mount/.test(stderr)) return t.skip('this machine lets nobody mount a small disk')
  assert.equal(
    stdout,
    `disk-full the archive ${folder}/small/old.zst cannot be written: ENOSPC: no space left on device, write; the rows stay in the database\n2\n0 3\n`,
  )
})
