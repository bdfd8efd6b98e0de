import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { generateRecord } from '../../bench/lib/generate-record.ts'
import { recover } from '../../src/agent/session/history.ts'
import { eraseSession, sessionsBefore } from '../../src/audit/evidence/erase.ts'
import { exportRows } from '../../src/audit/evidence/export.ts'
import { verifyChain } from '../../src/audit/evidence/verify.ts'
import { fill } from '../../src/audit/inspect/data/fill.ts'
import { search } from '../../src/audit/inspect/data/search.ts'
import { overviews } from '../../src/audit/inspect/overview.ts'
import { conversationPage } from '../../src/audit/inspect/page.ts'
import { timeline } from '../../src/audit/inspect/timeline.ts'
import { recordedCalls } from '../../src/audit/replay/recorded-calls.ts'
import { packageRoot } from '../../src/package-root.ts'
import { archivable, archiveConversation, unarchiveConversation } from '../../src/store/archive/archive.ts'
import { archivedHooks, withArchived } from '../../src/store/archive/reading.ts'
import { listHookInvocations, recordHooks } from '../../src/store/audit.ts'
import { openDb, readDb } from '../../src/store/open.ts'
import { countEntries } from '../../src/store/session/transcript.ts'

const before = '2025-12-01 00:00:00'
const file = 'agent.db-archive-1.zst'

/** A record of a hundred days up to 2026, and how readers see it. */
function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-archive-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'agent.db')
  const { conversationId } = generateRecord(path, { rows: 4000, until: new Date('2026-01-01'), days: 100 })
  const read = <T>(work: (db: ReturnType<typeof readDb>) => T): T => {
    const db = readDb(path)
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  const write = <T>(work: (db: ReturnType<typeof openDb>) => T): T => {
    const db = openDb(path)
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  const seen = () => ({
    list: read((db) => overviews(db, { limit: 500 })),
    timeline: read((db) => [...timeline(db, conversationId)].filter(({ kind }) => kind !== 'note')),
    calls: read((db) => [...recordedCalls(db)]),
    exported: read((db) =>
      [...exportRows(db, { content: true })].filter(({ reason }) => !reason?.includes('archived')),
    ).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  })
  const archiveAll = () =>
    write((db) => {
      const ids = archivable(db, before)
      for (const id of ids) archiveConversation(db, id, file)
      return ids
    })
  return { folder, path, conversationId, read, write, seen, archiveAll }
}

test('an archived conversation is read as before, and its rows are gone from the database', (t) => {
  const { folder, conversationId, seen, read, archiveAll } = record(t)
  const whole = seen()
  const rows = () => read((db) => db.get<{ n: number }>('SELECT count(*) AS n FROM transcript_entries')!.n)
  const all = rows()
  const ids = archiveAll()
  assert.ok(ids.includes(conversationId) && ids.length > 5 && ids.length < whole.list.length)
  assert.ok(rows() < all * 0.5)
  assert.deepEqual(seen(), whole)
  const { fault, archived } = read(verifyChain)
  assert.equal(fault, undefined)
  assert.ok(archived > 1000)
  const lines = zstdDecompressSync(readFileSync(join(folder, file)))
    .toString()
    .trim()
    .split('\n')
  assert.equal(lines.length, archived)
})

test('what is shown of an archived conversation is found without reading a table of the database', (t) => {
  const { conversationId, read, write, archiveAll } = record(t)
  archiveAll()
  write((db) => fill(db, 'main', Number.POSITIVE_INFINITY))
  const { prepare } = DatabaseSync.prototype
  t.after(() => {
    DatabaseSync.prototype.prepare = prepare
  })
  const scanning = new Set<string>()
  DatabaseSync.prototype.prepare = function (sql) {
    if (/^\s*(select|with)/i.test(sql)) {
      const plan = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`).all() as unknown as { detail: string }[]
      if (plan.some(({ detail }) => detail.startsWith('SCAN main.'))) scanning.add(sql)
    }
    return prepare.call(this, sql)
  }
  const { found } = write((db) => search(db, 'await', {}))
  const hits = found.filter(({ archived, hits: each }) => archived && each.length > 0)
  assert.ok(hits.length > 5)
  read((db) => [
    conversationPage(db, conversationId, 1, { read: 0, rows: 0 }),
    [...timeline(db, conversationId)],
    [...recordedCalls(db, { conversation: conversationId })],
    withArchived(db, [conversationId], (reader) =>
      listHookInvocations(reader, { conversationId, event: 'PreToolUse' }),
    ),
  ])
  assert.deepEqual([...scanning], [])
})

test('what a copy beside the database restores or erases stays in the archives, by whatever link they were made', (t) => {
  const { folder, path, conversationId } = record(t)
  const [link, copy] = [join(folder, 'links/record.db'), join(folder, 'copy.db')]
  mkdirSync(join(folder, 'links'))
  symlinkSync(path, link)
  const ona = (database: string, ...words: string[]) => {
    const env = { ...process.env, HOME: folder, AGENT_SDLC_DB: database }
    const run = spawnSync(process.execPath, [join(packageRoot, 'bin/ona.mjs'), ...words], {
      env,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    assert.deepEqual([run.status, run.stderr], [0, ''])
    return run.stdout
  }
  ona(link, 'audit', 'archive', '--older-than', '2025-12-01')
  const exported = ona(path, 'audit', 'export', '--content')
  const db = new DatabaseSync(path)
  db.prepare('VACUUM INTO ?').run(copy)
  const sql = 'SELECT session_id AS id FROM sessions WHERE conversation_id = ? LIMIT 1'
  const { id } = db.prepare(sql).get(conversationId) as { id: string }
  db.close()
  ona(copy, 'audit', 'erase', '--session', id)
  ona(copy, 'audit', 'unarchive', '--all')
  assert.equal(ona(path, 'audit', 'export', '--content'), exported)
  ona(path, 'audit', 'unarchive', '--all')
  assert.deepEqual(globSync('*.zst', { cwd: folder }), [])
})

test('an export of rows since a time leaves archives alone that were made before', (t) => {
  const { folder, read, write, archiveAll } = record(t)
  const ids = archiveAll()
  const activeAt = (time: string) => write((db) => db.run('UPDATE conversations SET last_active = ?', time))
  write((db) => db.run("UPDATE ona_archives SET archived_at = '2026-02-01 00:00:00'"))
  activeAt('2026-01-31 00:00:00')
  rmSync(join(folder, file))
  const exported = (since: string) => read((db) => [...exportRows(db, { since })])
  assert.deepEqual(
    exported('2026-02-01 00:00:01').map(({ kind, reason }) => [kind, reason]),
    ids.map(() => ['event', 'archived']),
  )
  assert.throws(() => exported('2026-02-01 00:00:00'), { name: 'StoreError' })
  activeAt('2026-01-30 23:59:59')
  assert.equal(exported('2026-02-01 00:00:00').length, ids.length, 'nothing was added since, and only archived')
})

test('unarchiving puts every row back, and the last one removes the file', (t) => {
  const { folder, path, read, write, archiveAll, seen } = record(t)
  const rowsOf = () => {
    const db = new DatabaseSync(path)
    const tables = ['transcript_entries', 'hook_invocations', 'tool_permission_log']
    const rows = tables.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY id`).all())
    db.close()
    return rows
  }
  const [rows, whole] = [rowsOf(), seen()]
  const ids = archiveAll()
  assert.notDeepEqual(rowsOf(), rows)
  for (const id of ids) {
    assert.ok(existsSync(join(folder, file)))
    assert.equal(
      write((db) => unarchiveConversation(db, id)),
      true,
    )
  }
  assert.deepEqual(rowsOf(), rows)
  assert.deepEqual(seen(), whole)
  assert.equal(read(verifyChain).fault, undefined)
  assert.deepEqual(globSync('*.zst', { cwd: folder }), [])
})

test('resuming a session takes it out of the archive, and the others stay readable', (t) => {
  const { conversationId, folder, read, write, archiveAll, seen } = record(t)
  const whole = seen()
  archiveAll()
  const entries = write((db) => {
    const sql = 'SELECT session_id AS id FROM sessions WHERE conversation_id = ? ORDER BY rowid'
    const { id } = db.get<{ id: string }>(sql, conversationId)!
    assert.equal(countEntries(db, id), 0)
    recover(db, id)
    return countEntries(db, id)
  })
  assert.ok(entries > 20)
  assert.deepEqual(seen(), whole)
  assert.equal(read(verifyChain).fault, undefined)
  zstdDecompressSync(readFileSync(join(folder, file))) // the frame that was taken out is skipped
})

test('a change of the archive is found, and nothing of it is read', (t) => {
  const { folder, conversationId, read, archiveAll } = record(t)
  archiveAll()
  const path = join(folder, file)
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(path, bytes)
  const damaged = { name: 'StoreError', message: /was changed at byte \d+; restore it from a copy/ }
  assert.throws(() => read(verifyChain), damaged)
  rmSync(path)
  assert.throws(() => read((db) => [...timeline(db, conversationId)]), {
    message: /cannot be read: there is no such file/,
  })
})

test('a row that was edited is not archived', (t) => {
  const { path, write, conversationId } = record(t)
  const other = new DatabaseSync(path)
  other.exec(
    `UPDATE transcript_entries SET payload_json = '{}' WHERE id = (SELECT min(id) FROM transcript_entries WHERE session_id IN
       (SELECT session_id FROM sessions WHERE conversation_id = '${conversationId}'))`,
  )
  other.close()
  assert.throws(() => write((db) => archiveConversation(db, conversationId, file)), {
    message: /transcript_entries row \d+ is not as it was written/,
  })
  assert.ok(write((db) => archivable(db, before)).includes(conversationId))
})

test('erasing reaches what is archived, and leaves nothing of it in the file', (t) => {
  const { folder, read, write, archiveAll } = record(t)
  archiveAll()
  write((db) => {
    for (const id of sessionsBefore(db, before)) eraseSession(db, id, 'retention')
    assert.deepEqual(sessionsBefore(db, before), [])
  })
  const { fault, erased } = read(verifyChain)
  assert.equal(fault, undefined)
  assert.ok(erased > 1000)
  assert.deepEqual(globSync('*.zst', { cwd: folder }), [])
})

test('what was erased and then archived stays there: a conversation is brought back only for content that it has', (t) => {
  const { read, write, archiveAll } = record(t)
  const due = () => write((db) => sessionsBefore(db, before))
  const [kept, ...others] = due()
  write((db) => {
    for (const id of others) eraseSession(db, id, 'retention')
  })
  archiveAll()
  const inOneConversation = read((db) =>
    db
      .arrays<[string]>(
        `SELECT o.session_id FROM sessions s JOIN sessions o ON o.conversation_id = s.conversation_id
         WHERE s.session_id = ? ORDER BY o.rowid`,
        kept!,
      )
      .map(([id]) => id),
  )
  assert.deepEqual(due().toSorted(), inOneConversation.toSorted())
  write((db) => {
    eraseSession(db, kept!, 'retention')
  })
  archiveAll()
  assert.deepEqual(due(), [])
})

test('hook runs are found in archives, the newest conversations first, until there are enough', (t) => {
  const { read, archiveAll } = record(t)
  const ids = (db: ReturnType<typeof readDb>, conversationId?: string) =>
    listHookInvocations(db, { limit: 1e6, ...(conversationId && { conversationId }) }).map(({ id }) => id)
  const any = { event: undefined, toolName: undefined }
  const whole = read((db) => ids(db))
  const archived = archiveAll()
  const { rows, left } = read((db) => archivedHooks(db, 1e6, any, (id) => ids(db, id)))
  assert.deepEqual(
    [...rows, ...read((db) => ids(db))].sort((a, b) => a - b),
    whole,
  )
  assert.equal(left, 0)
  const looked: string[] = []
  const few = read((db) =>
    archivedHooks(db, 1, any, (id) => {
      looked.push(id)
      return ids(db, id)
    }),
  )
  assert.equal(few.left, 0)
  assert.equal(looked.length < archived.length, true, 'no more are unpacked than needed')
})

test('of archives only those are unpacked that hold such a hook, and those that do not say what they hold', (t) => {
  const { read, write } = record(t)
  const rare = { event: 'PreCompact', toolName: 'Rare' } as const
  const archived = write((db) => {
    const ids = archivable(db, before)
    const at = '2025-11-01T12:00:00.000Z'
    const ran = { exitCode: 0, stdout: null, stderr: null, startedAt: at, completedAt: at, skippedReason: null }
    for (const [index, toolName] of [rare.toolName, null].entries()) {
      const sql = 'SELECT session_id AS session FROM sessions WHERE conversation_id = ? LIMIT 1'
      const { session } = db.get<{ session: string }>(sql, ids[index]!)!
      const asked = { event: rare.event, ordinal: 0, matcher: '', command: 'x', toolUseId: null, inputJson: '{}' }
      recordHooks(db, session, ids[index]!, [{ ...asked, ...ran, toolName }])
    }
    for (const id of ids) archiveConversation(db, id, file)
    return ids
  })
  const [one, other] = archived
  const looked = (about: { event?: string; toolName?: string }) => {
    const ids: string[] = []
    const look = (id: string) => {
      ids.push(id)
      return []
    }
    read((db) => archivedHooks(db, 1e6, { event: undefined, toolName: undefined, ...about }, look))
    return ids.sort()
  }
  assert.deepEqual(looked({ event: 'SubagentStop' }), [])
  assert.deepEqual(looked({ toolName: 'Nobody' }), [])
  assert.deepEqual(looked(rare), [one])
  assert.deepEqual(looked({ toolName: 'Rare' }), [one])
  assert.deepEqual(looked({ event: rare.event }), [one, other].sort())
  assert.deepEqual(looked({}), [...archived].sort())
  write((db) =>
    db.run(
      'UPDATE ona_archived_hooks SET tool_name = ? WHERE conversation_id = ? AND hook_event = ?',
      'another',
      other!,
      '',
    ),
  )
  assert.deepEqual(looked({ event: 'SubagentStop' }), [other], 'an older ona archived it')
  write((db) => unarchiveConversation(db, one!))
  assert.deepEqual(looked(rare), [other])
  const left = read((db) => db.all('SELECT * FROM ona_archived_hooks WHERE conversation_id = ?', one!))
  assert.deepEqual(left, [])
})

test('on a disk that is nearly full conversations are archived one after another, and what stays is reported', (t) => {
  const { folder, path, write } = record(t)
  const due = write((db) => archivable(db, before).length)
  const src = join(import.meta.dirname, '../../src')
  const program = `import { openDb, readDb } from '${src}/store/open.ts'
    import { verifyChain } from '${src}/audit/evidence/verify.ts'
    import { archivable, settleArchives } from '${src}/store/archive/archive.ts'
    import { archiveConversations } from '${src}/store/archive/archive-conversations.ts'
    const db = openDb('small/agent.db')
    const problems = []
    const done = archiveConversations(db, archivable(db, '${before}'), '${file}', '${before}', { warn: (text) => problems.push(text) })
    settleArchives(db)
    db.close()
    const reader = readDb('small/agent.db')
    console.log(JSON.stringify({ ...done, problems, fault: verifyChain(reader).fault ?? null }))`
  const archived = (freeBytes: number) => {
    const size = statSync(path).size + freeBytes
    const script = `mkdir -p small && mount -t tmpfs -o size=${size} tmpfs small && cp agent.db small && "$1" --input-type=module-typescript -e "$2"`
    const words = ['-rm', 'sh', '-c', script, 'sh', process.execPath, program]
    return spawnSync('unshare', words, { cwd: folder, encoding: 'utf8' })
  }
  const enough = archived(1_500_000)
  if (enough.error || /unshare|mount/.test(enough.stderr)) return t.skip('this machine lets nobody mount a small disk')
  const { rows, bytes, ...all } = JSON.parse(enough.stdout)
  assert.deepEqual(all, { conversations: due, skipped: 0, problems: [], fault: null })
  const some = JSON.parse(archived(400_000).stdout)
  assert.deepEqual([some.conversations + some.skipped, some.conversations > 0, some.skipped > 1], [due, true, true])
  assert.ok(some.rows < rows && some.bytes < bytes)
  assert.equal(some.fault, null)
  assert.match(
    some.problems.join(),
    new RegExp(`^${some.skipped} conversations stay in the database: .* disk is full\\.[^,]*$`),
  )
})
