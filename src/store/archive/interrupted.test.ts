import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { eraseSession, sessionsBefore } from '../../audit/evidence/erase.ts'
import { verifyChain } from '../../audit/evidence/verify.ts'
import { packageRoot } from '../../package-root.ts'
import { addEvent } from '../audit.ts'
import { createConversation, createSession } from '../conversations.ts'
import { type Db, openDb, StoreError } from '../open.ts'
import { commitToolCall } from '../session/commit.ts'
import { appendEntry } from '../session/transcript.ts'
import { archivable, archiveConversation, archiveOf, settleArchives, unarchiveConversation } from './archive.ts'
import { holdConversation } from './retention.ts'

const old = '2021-01-01 00:00:00'

/** Old conversations, each with one session and one call whose output is `secret-ID`. */
function record(t: TestContext, ids = ['a', 'b']) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-interrupted-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    if (db.isOpen) db.close()
    rmSync(folder, { recursive: true })
  })
  for (const id of ids) {
    createConversation(db, { projectDir: '/', id })
    createSession(db, id, `s-${id}`)
    commitToolCall(db, {
      ...{ sessionId: `s-${id}`, conversationId: id, invocations: [], events: [{ type: 'e', detail: id }] },
      permission: { toolName: 'T', decision: 'allow', reason: {} },
      result: { tool_use_id: 't', content: `secret-${id}`, is_error: false },
    })
  }
  db.run("UPDATE conversations SET last_active = '2020-01-01 00:00:00'")
  return { db, folder, file: join(folder, 'old.zst') }
}

const contents = (db: Db) =>
  db.all<{ at: string }>("SELECT session_id || ' ' || sequence AS at FROM transcript_entries ORDER BY id")
const entries = (db: Db) => contents(db).map(({ at }) => at)
const textOf = (file: string) => zstdDecompressSync(readFileSync(file)).toString()

/** Runs `work` on the record in another process, which is killed instead of calling a function of node:fs for the nth time. */
function killedAt(db: Db, call: string, nth: number, work: string): void {
  const program = `import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    import { openDb } from '${packageRoot}/src/store/open.ts'
    import { archiveConversation, unarchiveConversation } from '${packageRoot}/src/store/archive/archive.ts'
    const db = openDb('${db.path}')
    const { ${call}: original } = fs
    let calls = 0
    fs.${call} = (...given) => {
      if (++calls === ${nth}) process.kill(process.pid, 'SIGKILL')
      return original(...given)
    }
    syncBuiltinESMExports()
    ${work}`
  const words = ['--input-type=module-typescript', '-e', program]
  const { signal, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  assert.equal(signal, 'SIGKILL', stderr)
}

test('a process that dies after it wrote a frame leaves the rows where they were, and no copy once they are erased', (t) => {
  const { db, file } = record(t)
  archiveConversation(db, 'b', 'old.zst')
  killedAt(db, 'fsyncSync', 1, `archiveConversation(db, 'a', 'old.zst')`)
  assert.deepEqual([archiveOf(db, 'a'), entries(db), verifyChain(db).fault], [undefined, ['s-a 0'], undefined])
  assert.match(textOf(file), /secret-a/)
  eraseSession(db, 's-a', 'asked')
  assert.doesNotMatch(textOf(file), /secret-a/)
  assert.match(textOf(file), /secret-b/)
  assert.equal(unarchiveConversation(db, 'b'), true)
  assert.deepEqual([entries(db), verifyChain(db).fault], [['s-a 0', 's-b 0'], undefined])
})

for (const [what, call, nth, rest] of [
  ['of its own', 'rmSync', 1, []],
  ['that others share', 'openSync', 2, ['b']], // opened to be read, and then to be written to
] as const)
  test(`a process that dies as it empties an archive ${what} leaves no copy once the session is erased`, (t) => {
    const { db, file } = record(t)
    for (const id of ['a', ...rest]) archiveConversation(db, id, 'old.zst')
    const before = readFileSync(file)
    killedAt(db, call, nth, `unarchiveConversation(db, 'a')`)
    assert.deepEqual([archiveOf(db, 'a'), entries(db).includes('s-a 0')], [undefined, true])
    assert.deepEqual(readFileSync(file), before)
    eraseSession(db, 's-a', 'asked')
    assert.equal(existsSync(file), rest.length > 0)
    if (rest.length > 0) assert.deepEqual(textOf(file).match(/secret-./g), ['secret-b'])
    assert.equal(verifyChain(db).fault, undefined)
  })

test('what another process appends to the file meanwhile is not removed with it', (t) => {
  const { db, file } = record(t)
  archiveConversation(db, 'a', 'old.zst')
  const other = openDb(db.path)
  t.after(() => other.close())
  archiveConversation(other, 'b', 'old.zst')
  settleArchives(db)
  assert.equal(unarchiveConversation(db, 'a'), true)
  assert.doesNotMatch(textOf(file), /secret-a/)
  assert.equal(unarchiveConversation(other, 'b'), true)
  assert.deepEqual([existsSync(file), entries(db)], [false, ['s-a 0', 's-b 0']])
})

test('several processes that put the same conversation back at once all find it there', async (t) => {
  const { db } = record(t)
  archiveConversation(db, 'a', 'old.zst')
  const program = `import { openDb } from '${packageRoot}/src/store/open.ts'
    import { unarchiveConversation } from '${packageRoot}/src/store/archive/archive.ts'
    const db = openDb('${db.path}')
    process.stdin.once('data', () => { console.log(unarchiveConversation(db, 'a')); db.close(); process.exit(0) })
    console.log('ready')`
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module-typescript', '-e', program]),
  )
  const heard = children.map((child) => {
    let text = ''
    child.stdout.on('data', (data) => {
      text += data
    })
    child.stderr.on('data', (data) => {
      text += data
    })
    return { ready: once(child.stdout, 'data'), ended: once(child, 'close'), text: () => text }
  })
  await Promise.all(heard.map(({ ready }) => ready))
  for (const child of children) child.stdin.write('go\n')
  await Promise.all(heard.map(({ ended }) => ended))
  assert.deepEqual(heard.map(({ text }) => text()).sort(), [...Array(3).fill('ready\nfalse\n'), 'ready\ntrue\n'])
  assert.deepEqual([entries(db), verifyChain(db).fault], [['s-b 0', 's-a 0'].sort(), undefined])
})

test('a session that is archived while it is open goes on after its last entry', (t) => {
  const { db } = record(t)
  archiveConversation(db, 'a', 'old.zst')
  addEvent(db, { conversationId: 'a', sessionId: 's-a', type: 'session_end', detail: {} })
  assert.equal(verifyChain(db).fault, undefined)
  const result = { _t: 'tool_result', tool_use_id: 'u', content: 'later', is_error: false } as const
  assert.equal(appendEntry(db, 's-a', result).sequence, 1)
  assert.deepEqual([archiveOf(db, 'a'), entries(db)], [undefined, ['s-a 0', 's-b 0', 's-a 1']])
  assert.equal(verifyChain(db).fault, undefined)
})

test('a conversation that is in use, or was used since the list was made, is not archived', async (t) => {
  const { db } = record(t, ['a', 'b', 'c'])
  const program = `import { openDb } from '${packageRoot}/src/store/open.ts'
    import { signIn } from '${packageRoot}/src/store/session/session-lock.ts'
    const db = openDb('${db.path}')
    signIn({ db, id: 's-a', conversationId: 'a' })
    console.log('ready')
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program])
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  assert.deepEqual(archivable(db, old), ['b', 'c'])
  db.run("UPDATE conversations SET last_active = '2022-01-01 00:00:00' WHERE id = 'b'")
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => archiveConversation(db, id, 'old.zst', old).rows),
    [0, 0, 3],
  )
  assert.deepEqual(entries(db), ['s-a 0', 's-b 0'])
})

test('a session on hold, or used since the list was made, is not erased', (t) => {
  const { db } = record(t, ['a', 'b', 'c'])
  assert.deepEqual(sessionsBefore(db, old), ['s-a', 's-b', 's-c'])
  holdConversation(db, 'a', 'case')
  db.run("UPDATE conversations SET last_active = '2022-01-01 00:00:00' WHERE id = 'b'")
  assert.deepEqual(
    ['s-a', 's-b', 's-c'].map((id) => eraseSession(db, id, 'old', old)),
    [0, 0, 3],
  )
})

test('a file that cannot be emptied is reported, stays as it is, and is tried again', (t) => {
  const { db, folder, file } = record(t)
  archiveConversation(db, 'a', 'old.zst')
  renameSync(file, join(folder, 'kept'))
  mkdirSync(file)
  db.run('DELETE FROM ona_archives')
  db.run("INSERT OR IGNORE INTO ona_unsettled_archives(file) VALUES ('old.zst')")
  const [problem, ...others] = settleArchives(db)
  assert.match(problem!, /^the archive old\.zst cannot be emptied: \S.*old\.zst/)
  assert.deepEqual([others, settleArchives(db)], [[], [problem]])
  rmdirSync(file)
  assert.deepEqual([settleArchives(db), settleArchives(db)], [[], []])
})

test('a record that cannot be written to is no fault of the file', (t) => {
  const { db } = record(t)
  archiveConversation(db, 'a', 'old.zst')
  for (const error of [new StoreError('locked', 'held by another'), new TypeError('a mistake of ours')]) {
    let calls = 0
    const transaction = <T>(work: () => T): T => {
      if (++calls === 2) throw error // the first one flushes
      return db.transaction(work)
    }
    const held = { transaction, all: db.all.bind(db), get: db.get.bind(db), run: db.run.bind(db), path: db.path }
    assert.throws(() => settleArchives(held as unknown as Db), error)
  }
  assert.deepEqual(settleArchives(db), [])
})
