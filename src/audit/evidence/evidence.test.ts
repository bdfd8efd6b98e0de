import assert from 'node:assert/strict'
import fs, { mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { opensOf } from '../../../test/support/opens-of.ts'
import type { Invocation } from '../../hooks/plane.ts'
import { keepWaitingCall, requestApproval, waitingCalls } from '../../store/approvals.ts'
import { archiveConversation, archiveOf, unarchiveConversation } from '../../store/archive/archive.ts'
import { holdConversation } from '../../store/archive/retention.ts'
import { addEvent, recordHooks } from '../../store/audit.ts'
import { chainedTables } from '../../store/chain/chain.ts'
import { createConversation, createSession } from '../../store/conversations.ts'
import { type Db, openDb, type ReadDb, readDb } from '../../store/open.ts'
import { commitToolCall } from '../../store/session/commit.ts'
import { addPrompt, readPrompts } from '../../store/session/prompt-history.ts'
import { getSummary, saveSummary } from '../../store/session/summaries.ts'
import { appendEntry, readEntries } from '../../store/session/transcript.ts'
import { getState, setState } from '../../store/state.ts'
import { checkpointProblem, makeCheckpoint, readCheckpoints } from './checkpoint.ts'
import { bringBack, eraseSession, sessionsBefore } from './erase.ts'
import { type ExportedRow, exportHead, exportLine, exportRows, firstSince } from './export.ts'
import { openSigner } from './keys.ts'
import { verifyChain } from './verify.ts'

function record(t: TestContext, calls = 4): { db: Db; path: string; folder: string; sessions: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'ona-evidence-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'agent.db')
  const db = openDb(path)
  t.after(() => db.close())
  const { id: conversationId } = createConversation(db, { projectDir: '/p' })
  const sessions = [createSession(db, conversationId).sessionId, createSession(db, conversationId).sessionId]
  for (let n = 0; n < calls; n++) call(db, conversationId, sessions[n % 2]!, n)
  addEvent(db, { conversationId, type: 'phase', detail: { to: 'test' } })
  return { db, path, folder, sessions }
}

function call(db: Db, conversationId: string, sessionId: string, n: number): void {
  const id = `t${n}`
  const use = { type: 'tool_use' as const, id, name: 'Bash', input: { command: `echo ${n}` } }
  appendEntry(db, sessionId, { _t: 'assistant', uuid: id, content: [use] })
  const at = '2026-11-15T12:00:00.000Z'
  commitToolCall(db, {
    ...{ sessionId, conversationId, result: { tool_use_id: id, content: `secret output ${n}`, is_error: false } },
    permission: { toolName: 'Bash', decision: 'deny', reason: { by: 'rule', reason: 'r' } },
    events: [{ type: 'tool_start', detail: { tool_use_id: id } }],
    invocations: [
      {
        ...{ event: 'PreToolUse', ordinal: 0, matcher: '*', command: 'guard', toolUseId: id, toolName: 'Bash' },
        ...{
          inputJson: '{"a":1}',
          exitCode: 0,
          stdout: 'ok',
          stderr: '',
          startedAt: at,
          completedAt: at,
          skippedReason: null,
        },
      },
    ],
  })
}

/** Another program at work on the file. */
function tamper(path: string, sql: string): void {
  const other = new DatabaseSync(path)
  other.exec(sql)
  other.close()
}

test('what was written verifies, and every row is in the chain', (t) => {
  const { db } = record(t)
  const { head, ...found } = verifyChain(db)
  assert.deepEqual(found, { links: 9, rows: 21, archived: 0, erased: 0, before: 0 })
  assert.match(head, /^[0-9a-f]{64}$/)
  const heard: number[] = []
  verifyChain(db, 4, (links) => heard.push(links))
  assert.deepEqual(heard, [4, 8, 9])
})

test('a row that was changed, removed or inserted is named, in every table and column', (t) => {
  for (const { name } of chainedTables.slice(0, 4)) {
    const columns = record(t).db.all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`)
    for (const column of columns) {
      const { db, path } = record(t)
      const change = column.name === 'id' ? 'id + 1000' : `coalesce(${column.name}, '') || 'x'`
      tamper(path, `PRAGMA foreign_keys=OFF; UPDATE ${name} SET ${column.name} = ${change} WHERE id = 3`)
      const { fault } = verifyChain(db)
      assert.deepEqual(
        [fault?.table, fault?.row, fault?.kind],
        [name, 3, column.name === 'id' ? 'removed' : 'changed'],
        column.name,
      )
    }
    const removed = record(t)
    tamper(removed.path, `PRAGMA foreign_keys=OFF; DELETE FROM ${name} WHERE id = 2`)
    assert.deepEqual([verifyChain(removed.db).fault?.kind, verifyChain(removed.db).fault?.row], ['removed', 2])
    const inserted = record(t)
    const copied = columns.map((each) => each.name).filter((each) => each !== 'id' && each !== 'sequence')
    const sequence = name === 'transcript_entries'
    tamper(
      inserted.path,
      `INSERT INTO ${name}(${copied.join(', ')}${sequence ? ', sequence' : ''}) SELECT ${copied.join(', ')}${sequence ? ', 99' : ''} FROM ${name} WHERE id = 1`,
    )
    assert.equal(verifyChain(inserted.db).fault?.kind, 'inserted')
  }
})

test('between two pages of links nothing is held, and others may add, archive, restore and erase', (t) => {
  const { db, path, sessions } = record(t)
  const other = openDb(path)
  t.after(() => other.close())
  const { id } = createConversation(db, { projectDir: '/q' })
  const { sessionId } = createSession(db, id)
  for (let n = 10; n < 14; n++) call(db, id, sessionId, n)
  const archive = () =>
    archiveOf(other, id) ? unarchiveConversation(other, id) : archiveConversation(other, id, 'old.zst')
  let added = 20
  const acts = [
    archive,
    () => call(other, id, sessionId, added++),
    () => eraseSession(other, sessions[0]!, 'on request'),
    archive,
    archive,
  ]
  const allLinks = () => db.get<{ links: number }>('SELECT count(*) AS links FROM ona_chain')!.links
  for (const page of [1, 2, 3, 5, 100])
    for (let first = 0; first < acts.length; first++) {
      const work = [...acts.slice(first), ...acts.slice(0, first)]
      let there = 0
      const reading = {
        ...{ path, get: db.get.bind(db), all: db.all.bind(db), each: db.each.bind(db) },
        snapshot<T>(read: () => T): T {
          const found = db.snapshot(read)
          there = allLinks()
          work.shift()?.()
          assert.equal(other.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')!.busy, 0, 'the log can be reset')
          return found
        },
      }
      const { fault, links } = verifyChain(reading as ReadDb, page)
      assert.deepEqual([fault, links], [undefined, there])
    }
})

test('each archive is read once, although many sessions ran side by side and others write meanwhile', (t) => {
  const { db } = record(t)
  const sessions = Array.from({ length: 12 }, (_, n) => {
    const { id } = createConversation(db, { projectDir: '/p', id: `c${n}` })
    return createSession(db, id)
  })
  for (let turn = 0; turn < 3; turn++)
    for (const [n, { conversationId, sessionId }] of sessions.entries())
      call(db, conversationId, sessionId, 12 * turn + n)
  for (const { conversationId } of sessions) archiveConversation(db, conversationId, 'old.zst')
  const opens = opensOf(t, 'old.zst')
  const reader = readDb(db.path)
  t.after(() => reader.close())
  const write = () => addEvent(db, { conversationId: 'c0', type: 'meanwhile' })
  const { archived, fault } = verifyChain(reader, 50, write)
  assert.deepEqual([archived, fault, opens()], [12 * 3 * 5, undefined, 12])
})

test('a row that lies in an archive and in its table, too, was inserted, however many links are read at a time', (t) => {
  const { db, path } = record(t)
  const { id, session } = db.get<{ id: number; session: string }>(
    'SELECT id, session_id AS session FROM events WHERE session_id IS NOT NULL ORDER BY id LIMIT 1',
  )!
  const { conversation } = db.get<{ conversation: string }>('SELECT id AS conversation FROM conversations')!
  tamper(path, 'CREATE TABLE kept AS SELECT * FROM events')
  archiveConversation(db, conversation, 'old.zst')
  assert.equal(verifyChain(db, 1).fault, undefined)
  tamper(path, `INSERT INTO events SELECT * FROM kept WHERE id = ${id}; DROP TABLE kept`)
  for (const page of [1, 2, 1000])
    assert.deepEqual(verifyChain(db, page).fault, {
      ...{ table: 'events', row: id, session },
      ...{ kind: 'inserted', why: 'no link of the chain holds it' },
    })
})

test('any byte of any link that changes is found, and so is a link that is taken out', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('rows', 'session_hash', 'hash'),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (id, column, at, bits) => {
        const { db, path } = record(t)
        const other = new DatabaseSync(path)
        const { bytes } = other.prepare(`SELECT ${column} AS bytes FROM ona_chain WHERE id = ?`).get(id) as {
          bytes: Uint8Array
        }
        bytes[at % bytes.length]! ^= bits
        other.prepare(`UPDATE ona_chain SET ${column} = ? WHERE id = ?`).run(bytes, id)
        other.close()
        assert.ok(verifyChain(db).fault, `${column} of link ${id}`)
      },
    ),
    { numRuns: 12 },
  )
  const { db, path } = record(t)
  tamper(path, 'DELETE FROM ona_chain WHERE id = 4')
  assert.equal(verifyChain(db).fault?.kind, 'link removed')
})

test('a record that is cut off shows with a checkpoint, and a checkpoint that is not ours is refused', (t) => {
  const { db, path, folder } = record(t)
  const signer = openSigner(join(folder, 'keys/a.pem'))
  const made = makeCheckpoint(db, signer, '2026-11-15T12:00:00.000Z')!
  assert.deepEqual(readCheckpoints(`${JSON.stringify(made)}\n`), [made])
  assert.equal(readCheckpoints('{"link":"x"}'), 'line 1 is no checkpoint')
  assert.equal(checkpointProblem(db, made, signer.publicPem), undefined)
  assert.equal(openSigner(join(folder, 'keys/a.pem')).keyId, signer.keyId)
  assert.match(checkpointProblem(db, { ...made, link: 3 }, signer.publicPem)!, /not signed by this key, or was changed/)
  assert.match(
    checkpointProblem(db, made, openSigner(join(folder, 'keys/b.pem')).publicPem)!,
    /signed with another key/,
  )
  tamper(path, 'DELETE FROM ona_chain WHERE id = 9; DELETE FROM events WHERE id = 5')
  assert.equal(verifyChain(db).fault, undefined, 'nothing else tells')
  assert.match(checkpointProblem(db, made, signer.publicPem)!, /cut off: link 9/)
})

test('erased content is gone, and the chain still verifies; nothing else may differ', (t) => {
  const { db, path, sessions } = record(t)
  const erased = eraseSession(db, sessions[0]!, 'on request')
  assert.equal(erased, 10)
  assert.equal(eraseSession(db, sessions[0]!, 'again'), 0)
  const { fault, rows, erased: counted } = verifyChain(db)
  assert.deepEqual([fault, rows, counted], [undefined, 31, 10])
  assert.deepEqual(db.all("SELECT 1 FROM transcript_entries WHERE payload_json LIKE '%secret output 0%'"), [])
  assert.equal(Array.from(readEntries(db, sessions[0]!)).length, 4, 'it can still be read')
  tamper(path, `UPDATE transcript_entries SET payload_json = '{"_t":"user","uuid":"x","content":[]}' WHERE id = 1`)
  assert.deepEqual([verifyChain(db).fault?.kind, verifyChain(db).fault?.row], ['changed', 1])
})

test('sessions that are old enough are found until they are erased', (t) => {
  const { db, sessions } = record(t)
  assert.deepEqual(sessionsBefore(db, '2000-01-01 00:00:00'), [])
  assert.deepEqual(sessionsBefore(db, '2999-01-01 00:00:00').sort(), [...sessions].sort())
  for (const id of sessions) eraseSession(db, id, 'old')
  assert.deepEqual(sessionsBefore(db, '2999-01-01 00:00:00'), [])
})

test('a session without a transcript is found too: its prompt was blocked, and a hook was given it', (t) => {
  const { db } = record(t, 0)
  const { id: conversationId } = createConversation(db, { projectDir: '/p' })
  const { sessionId } = createSession(db, conversationId)
  addEvent(db, { conversationId, sessionId, type: 'session_start', detail: {} })
  const due = () => sessionsBefore(db, '2999-01-01 00:00:00')
  assert.deepEqual(due(), [], 'nothing was said')
  const blocked = (prompt: string) => {
    recordHooks(db, sessionId, conversationId, [given(prompt)])
    addEvent(db, { conversationId, sessionId, type: 'turn_end', detail: { why: prompt } })
  }
  blocked('secret 1')
  assert.deepEqual(due(), [sessionId])
  assert.equal(eraseSession(db, sessionId, 'old'), 3)
  assert.deepEqual(due(), [])
  // a turn that ended without an entry, after those that were erased
  appendEntry(db, sessionId, { _t: 'user', uuid: 'u', content: [{ type: 'text', text: 'secret 2' }] })
  eraseSession(db, sessionId, 'old')
  assert.deepEqual(due(), [])
  blocked('secret 3')
  assert.deepEqual(due(), [sessionId])
  eraseSession(db, sessionId, 'old')
  assert.deepEqual([due(), holding(db, 'secret'), verifyChain(db).fault], [[], [], undefined])
})

test('what is archived of many sessions is put back, but for those on hold, and each archive emptied once', {
  skip: process.platform !== 'linux',
}, (t) => {
  const { db } = record(t)
  const conversations = ['a', 'b', 'c'].map((id) => createConversation(db, { projectDir: '/p', id }).id)
  const sessions = conversations.map((id, at) => {
    const { sessionId } = createSession(db, id)
    call(db, id, sessionId, 10 + at)
    archiveConversation(db, id, 'old.zst')
    return sessionId
  })
  holdConversation(db, 'b', 'case')
  const file = archiveOf(db, 'b')!.file
  const flushed: string[] = []
  const { fsyncSync } = fs
  t.after(() => {
    fs.fsyncSync = fsyncSync
    syncBuiltinESMExports()
  })
  fs.fsyncSync = (fd) => {
    flushed.push(readlinkSync(`/proc/self/fd/${fd}`))
    fsyncSync(fd)
  }
  syncBuiltinESMExports()
  bringBack(db, sessions)
  for (const id of sessions) eraseSession(db, id, 'retention')
  assert.deepEqual(flushed, [file])
  assert.deepEqual(
    conversations.map((id) => archiveOf(db, id) !== undefined),
    [false, true, false],
  )
  const { erased, archived, fault } = verifyChain(db)
  assert.deepEqual([erased, archived, fault], [10, 5, undefined])
})

test('nothing of a session is left in the tables beside the record', (t) => {
  const { db } = record(t, 0)
  const { id: conversationId } = createConversation(db, { projectDir: '/p' })
  const [asked, copied] = [createSession(db, conversationId).sessionId, createSession(db, conversationId).sessionId]
  for (const id of [asked, copied])
    appendEntry(db, id, { _t: 'user', uuid: 'u', content: [{ type: 'text', text: 'secret typed' }] })
  recordHooks(db, asked, conversationId, [given('secret blocked')])
  const call = { conversationId, toolUseId: 't', tool: 'Bash', input: '"secret"', summary: 'secret', reason: 'secret' }
  for (const sessionId of [asked, copied])
    requestApproval(db, { ...call, sessionId, owner: null, expiresInSeconds: 60 })
  keepWaitingCall(db, { sessionId: asked, toolUseId: 'u', childSessionId: copied, detail: '"secret"' })
  saveSummary(db, conversationId, 'secret')
  for (const key of ['name', 'todos', `seen:${asked}:secret`]) setState(db, conversationId, key, 'secret')
  for (const [projectDir, text, sessionId = 'another'] of [
    ['/p', 'secret typed'],
    ['/p', 'secret blocked'],
    ['/p', 'other'],
    ['/q', 'secret typed'],
    ['/p', '/rename secret', asked],
  ] as const)
    addPrompt(db, { projectDir, sessionId, text })
  eraseSession(db, asked, 'on request')
  const approvals = () => db.all('SELECT input_json, summary, reason, settled FROM ona_approvals ORDER BY rowid')
  const erased = { input_json: '{}', summary: '[erased]', reason: '[erased]', settled: 1 }
  assert.deepEqual(approvals(), [erased, { input_json: '"secret"', summary: 'secret', reason: 'secret', settled: 0 }])
  assert.deepEqual([readPrompts(db, '/p', 9), readPrompts(db, '/q', 9)], [['other'], ['secret typed']])
  assert.deepEqual(waitingCalls(db, asked), [])
  assert.equal(getSummary(db, conversationId)?.content, 'secret', 'another session of the conversation is still there')
  assert.equal(getState(db, conversationId, 'name'), 'secret')
  db.run("DELETE FROM ona_prompt_history WHERE project_dir = '/q'")
  eraseSession(db, copied, 'on request')
  assert.deepEqual(approvals(), [erased, erased])
  assert.deepEqual([holding(db, 'secret'), verifyChain(db).fault], [[], undefined])
})

const given = (prompt: string): Invocation => ({
  ...{ event: 'UserPromptSubmit', ordinal: 0, matcher: '', command: 'guard', toolUseId: null, toolName: null },
  ...{ inputJson: JSON.stringify({ prompt }), exitCode: 2, stdout: '', stderr: 'no', skippedReason: null },
  ...{ startedAt: '2026-11-15T12:00:00.000Z', completedAt: '2026-11-15T12:00:00.000Z' },
})

/** The tables that hold a text. */
const holding = (db: Db, text: string): string[] =>
  db
    .all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'memories_fts%'")
    .map(({ name }) => name)
    .filter((name) => db.all(`SELECT * FROM ${name}`).some((row) => JSON.stringify(row).includes(text)))

test('every format exports every row, and content only when asked for', (t) => {
  const { db } = record(t)
  const rows = [...exportRows(db)]
  assert.equal(rows.length, 17)
  assert.ok(!JSON.stringify(rows).includes('secret output'))
  assert.ok(JSON.stringify([...exportRows(db, { content: true })]).includes('secret output'))
  assert.deepEqual([...exportRows(db, { since: '2999-01-01 00:00:00' })], [])
  const csv = exportHead.csv + rows.map(exportLine.csv).join('')
  assert.equal(csv.split('\r\n').length, 19)
  assert.match(exportLine.csv({ ...rows[0]!, tool: '=1+1', reason: 'a "b", c' }), /,'=1\+1,.*,"a ""b"", c",/)
  const denied = JSON.parse(exportLine.ocsf(rows[0]!))
  assert.deepEqual(
    [denied.class_uid, denied.status, denied.api.operation, denied.actor.app_name],
    [6003, 'Failure', 'Bash', 'ona'],
  )
})

test('what belongs to no session is exported: a change of the settings of record, an archive', (t) => {
  const { db } = record(t)
  const { id } = db.get<{ id: string }>('SELECT id FROM conversations')!
  addEvent(db, { conversationId: id, type: 'settings_restored', detail: { restored: ['permissions'] } })
  const outside = [...exportRows(db)].filter(({ session }) => session === '')
  assert.deepEqual(
    outside.map(({ at, ...row }) => row),
    ['phase', 'settings_restored'].map((reason) => ({
      ...{ kind: 'event', agent: 'ona', session: '', conversation: id, project: '/p', tool: null, tool_use_id: null },
      ...{ decision: null, reason, detail: reason === 'phase' ? '{"to":"test"}' : null },
    })),
  )
})

test('an export since a time has what was added then, and what was imported with such times; older rows are not read', (t) => {
  const { db, path } = record(t)
  tamper(
    path,
    `UPDATE conversations SET last_active = '2026-01-01 00:00:00';
     UPDATE tool_permission_log SET created_at = '2026-01-01 00:00:00'; UPDATE events SET timestamp = '2026-01-01 00:00:00';
     UPDATE hook_invocations SET started_at = '2026-01-01T00:00:00.000Z';
     UPDATE transcript_entries SET created_at = '2026-01-01 00:00:00'`,
  )
  const kinds = (since: string) => [...exportRows(db, { since })].map(({ kind, at }) => `${kind} ${at}`)
  assert.deepEqual(kinds('2026-01-02 00:00:00'), [])
  assert.equal(kinds('2025-12-31 00:00:00').length, 17)
  // the ids of imported rows are larger than those of newer rows
  const active = (id: string, time: string) => {
    createConversation(db, { projectDir: '/', id })
    const { sessionId } = createSession(db, id)
    call(db, id, sessionId, 9)
    for (const [table, column] of [
      ['tool_permission_log', 'created_at'],
      ['events', 'timestamp'],
      ['hook_invocations', 'started_at'],
      ['transcript_entries', 'created_at'],
    ])
      tamper(path, `UPDATE ${table} SET ${column} = '${time}' WHERE session_id = '${sessionId}'`)
    tamper(path, `UPDATE conversations SET last_active = '${time}' WHERE id = '${id}'`)
  }
  active('now', '2026-03-03 00:00:00')
  active('imported', '2026-02-02 00:00:00')
  active('a long call', '2026-03-02 12:00:00')
  const of = (...times: string[]) =>
    ['permission', 'hook', 'event', 'call'].flatMap((kind) => times.map((time) => `${kind} ${time}`))
  assert.deepEqual(kinds('2026-03-03 00:00:00'), of('2026-03-03 00:00:00'))
  assert.deepEqual(
    kinds('2026-02-01 00:00:00'),
    of('2026-03-03 00:00:00', '2026-02-02 00:00:00', '2026-03-02 12:00:00'),
  )
  tamper(path, "UPDATE events SET timestamp = '2026-03-03 00:00:00' WHERE session_id IS NULL")
  assert.deepEqual(
    kinds('2026-03-03 00:00:00'),
    [...of('2026-03-03 00:00:00'), 'event 2026-03-03 00:00:00'].sort(byKind),
  )
})
const byKind = (a: string, b: string) => order.indexOf(a.split(' ')[0]!) - order.indexOf(b.split(' ')[0]!)
const order = ['permission', 'hook', 'event', 'call']

test('an export since a time begins at the new rows of an old session that was resumed', (t) => {
  const { db, path, sessions } = record(t)
  const { id } = db.get<{ id: string }>('SELECT id FROM conversations')!
  const all = {
    ...{ tool_permission_log: 'created_at', events: 'timestamp' },
    ...{ hook_invocations: 'started_at', transcript_entries: 'created_at' },
  }
  const since = '2026-03-03 00:00:00'
  for (const [table, column] of Object.entries(all))
    tamper(path, `UPDATE ${table} SET ${column} = '2026-01-01 00:00:00'`)
  const last = (table: string) => db.get<{ id: number }>(`SELECT max(id) AS id FROM ${table}`)!.id
  const before = Object.keys(all).map(last)
  call(db, id, sessions[0]!, 9)
  for (const [at, [table, column]] of Object.entries(all).entries())
    tamper(path, `UPDATE ${table} SET ${column} = '${since}' WHERE id > ${before[at]}`)
  tamper(path, `UPDATE conversations SET last_active = '${since}'`)
  const names = Object.keys(all) as (keyof typeof all)[]
  assert.deepEqual(
    names.map((table) => firstSince(db, table, since)),
    before.map((id) => id + 1),
  )
})

test('an export since a time has what the user did beside a turn, in a conversation that was idle for days', (t) => {
  const { db, path } = record(t)
  tamper(path, "UPDATE events SET timestamp = '2026-01-01 00:00:00'")
  const acts = [
    ...['approval_decided', 'operator_shell', 'permission_rules', 'model_changed', 'login', 'rewind'],
    ...['hook_added', 'hook_removed'],
  ]
  const idle = acts.map((type) => {
    const { id: conversationId } = createConversation(db, { projectDir: '/p' })
    return { conversationId, sessionId: createSession(db, conversationId).sessionId, type }
  })
  tamper(path, "UPDATE conversations SET last_active = '2026-01-01 00:00:00'")
  for (const event of idle) {
    addEvent(db, { ...event, detail: {} })
    const since = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
    const exported = [...exportRows(db, { since })].filter(({ kind }) => kind === 'event').map(({ reason }) => reason)
    assert.deepEqual(exported, [event.type])
    tamper(
      path,
      "UPDATE events SET timestamp = '2026-01-01 00:00:00'; UPDATE conversations SET last_active = '2026-01-01 00:00:00'",
    )
  }
})

test('an export says what each hook decided, however it said so', (t) => {
  const { db, sessions } = record(t, 0)
  const { id } = db.get<{ id: string }>('SELECT id FROM conversations')!
  const at = '2026-11-15T12:00:00.000Z'
  const said: [exitCode: number | null, stdout: string, skippedReason: 'prior_block_or_deny' | null][] = [
    [0, '', null],
    [0, 'ok', null],
    [2, '', null],
    [0, '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}', null],
    [0, '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}', null],
    [1, '', null],
    [0, '{oops', null],
    [null, '', 'prior_block_or_deny'],
  ]
  const invocations = said.map(([exitCode, stdout, skippedReason], ordinal) => ({
    event: 'PreToolUse' as const,
    ...{
      ordinal,
      matcher: '*',
      command: 'guard',
      toolUseId: 't',
      toolName: 'Bash',
      inputJson: '{}',
    },
    ...{ exitCode, stdout, stderr: stdout === '{oops' ? '[SDLC_HOOK] answered with broken JSON' : 'a note' },
    ...{ startedAt: at, completedAt: at, skippedReason },
  }))
  recordHooks(db, sessions[0]!, id, invocations)
  assert.deepEqual(
    [...exportRows(db)].filter(({ kind }) => kind === 'hook').map(({ decision }) => decision),
    ['pass', 'pass', 'deny', 'deny', 'ask', 'failed', 'failed', 'skipped'],
  )
})

test('a transaction that is rolled back leaves no link', (t) => {
  const { db, sessions } = record(t)
  const before = verifyChain(db)
  assert.throws(() =>
    db.transaction(() => {
      appendEntry(db, sessions[0]!, { _t: 'system', subtype: 'x' })
      throw new Error('no')
    }),
  )
  db.transaction(() => {
    try {
      db.transaction(() => {
        appendEntry(db, sessions[0]!, { _t: 'system', subtype: 'x' })
        throw new Error('no')
      })
    } catch {
      // the inner one alone is undone
    }
    appendEntry(db, sessions[0]!, { _t: 'system', subtype: 'y' })
  })
  const after = verifyChain(db)
  assert.deepEqual([after.fault, after.rows, after.links], [undefined, before.rows + 1, before.links + 1])
})

test('conversations that are archived and restored while rows are exported are exported whole, and once', (t) => {
  const { db, path } = record(t, 700)
  const conversation = (calls: number) => {
    const { id } = createConversation(db, { projectDir: '/p' })
    const { sessionId } = createSession(db, id)
    for (let n = 0; n < calls; n++) call(db, id, sessionId, n)
    return id
  }
  const [first, second] = [conversation(700), conversation(700)]
  archiveConversation(db, first, 'old.zst')
  const reader = readDb(path)
  t.after(() => reader.close())
  const whole = [...exportRows(reader, { content: true })]
  const found: ExportedRow[] = []
  for (const row of exportRows(reader, { content: true })) {
    if (found.length === 600) archiveConversation(db, second, 'old.zst')
    if (found.length === 700) unarchiveConversation(db, first)
    if (found.length === 3000) unarchiveConversation(db, second)
    if (found.length === 4000) archiveConversation(db, first, 'old.zst')
    found.push(row)
  }
  const added = ['archived', 'unarchived']
  const unlessAdded = (rows: readonly ExportedRow[]) => rows.filter(({ reason }) => !added.includes(reason ?? ''))
  assert.ok(isDeepStrictEqual(unlessAdded(found), unlessAdded(whole)), `${found.length} rows of ${whole.length}`)
  assert.equal(unlessAdded(whole).length, 4 * 2100 + 1)
})

test('a conversation that is restored before its archive is read is no fault of the archive', (t) => {
  const { db, path } = record(t)
  const [{ id: conversation } = { id: '' }] = db.all<{ id: string }>('SELECT id FROM conversations')
  archiveConversation(db, conversation, 'old.zst')
  const reader = readDb(path)
  t.after(() => reader.close())
  const links: number[] = []
  const restoring = new Proxy(reader, {
    get(_, name: keyof ReadDb) {
      if (name !== 'all') return typeof reader[name] === 'function' ? reader[name].bind(reader) : reader[name]
      return (sql: string, ...values: never[]) => {
        const found = reader.all(sql, ...values)
        if (sql.includes('FROM ona_chain')) unarchiveConversation(db, conversation) // in the moment that the chain is walked in
        return found
      }
    },
  })
  const { fault, archived, ...count } = verifyChain(restoring, 1000, (walked) => links.push(walked))
  const { archived: none, fault: ofNow, ...now } = verifyChain(reader)
  assert.deepEqual([fault, ofNow, archived, none, count, links], [undefined, undefined, 0, 0, now, [now.links]])
})
