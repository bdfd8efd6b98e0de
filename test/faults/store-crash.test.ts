import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { verifyChain } from '../../src/audit/evidence/verify.ts'
import { createConversation, createSession } from '../../src/store/conversations.ts'
import { type Db, openDb } from '../../src/store/open.ts'
import { sized } from '../support/campaign-size.ts'
import { compileCache } from '../support/compile-cache.ts'

const rounds = sized(6, 200)
const writer = join(import.meta.dirname, '../support/store-writer.ts')

function folder(t: TestContext): string {
  const place = mkdtempSync(join(tmpdir(), 'ona-crash-'))
  t.after(() => rmSync(place, { recursive: true, force: true }))
  return place
}

function startSession(db: Db): string[] {
  const { id } = createConversation(db, { projectDir: '/' })
  return [db.path, createSession(db, id).sessionId, id]
}

/** Runs a writer; `kill` picks, from the first row it acknowledges, how long it may live. Gives what it acknowledged. */
function write(words: string[], killAfterMs?: () => number): Promise<number[]> {
  const child = spawn(process.execPath, [compileCache, writer, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => {
    if (said === '' && killAfterMs) setTimeout(() => child.kill('SIGKILL'), killAfterMs())
    said += chunk
  })
  // a last line without its end was cut short: the row may be there, but nobody was promised it
  return new Promise((done) => child.on('close', () => done(said.split('\n').slice(0, -1).map(Number))))
}

/** Everything that must be true of a database, however its writers ended. */
function check(db: Db): void {
  assert.deepEqual(db.all('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  const gaps = db.all(`SELECT session_id FROM transcript_entries GROUP BY session_id
    HAVING min(sequence) <> 0 OR max(sequence) <> count(*) - 1`)
  assert.deepEqual(gaps, [], 'sequences have gaps')
  const parts = db.all(`SELECT e.tool_use_id FROM transcript_entries e WHERE entry_type = 'tool_result' AND (
      2 <> (SELECT count(*) FROM hook_invocations h WHERE h.tool_use_id = e.tool_use_id)
      OR 1 <> (SELECT count(*) FROM tool_permission_log p WHERE p.tool_use_id = e.tool_use_id))`)
  assert.deepEqual(parts, [], 'a tool call is there in part')
  const count = (from: string) => db.get<{ n: number }>(`SELECT count(*) AS n FROM ${from}`)!.n
  assert.equal(count('hook_invocations'), 2 * count("transcript_entries WHERE entry_type = 'tool_result'"))
  const { fault, rows } = verifyChain(db)
  assert.equal(fault, undefined, 'the chain is broken')
  const tables = ['transcript_entries', 'hook_invocations', 'tool_permission_log', 'events']
  assert.equal(
    rows,
    tables.map(count).reduce((sum, each) => sum + each),
  )
}

test('killed at random moments, nothing that was acknowledged is missing and nothing is half there', async (t) => {
  const path = join(folder(t), 'agent.db')
  const made = openDb(path)
  made.run('CREATE INDEX test_by_call ON hook_invocations(tool_use_id)')
  made.run('CREATE INDEX test_by_permission ON tool_permission_log(tool_use_id)')
  const sessions = [startSession(made), startSession(made)]
  made.close()
  await write([...sessions[0]!, '1']) // a whole run leaves compiled code, so that the next ones start faster
  let kills = 0
  let acknowledged = 0
  // two at a time, now on the same session, now on two: a killed one may hold the lock that the other waits for
  const one = async (lane: number) => {
    while (kills < rounds) {
      const session = sessions[kills++ % 3 === 0 ? 0 : lane]!
      const rows = await write(session, () => Math.random() * 12)
      const db = openDb(path)
      const stored = db.get<{ n: number }>(
        'SELECT count(*) AS n FROM transcript_entries WHERE session_id = ? AND sequence IN (SELECT value FROM json_each(?))',
        session[1]!,
        JSON.stringify(rows),
      )!.n
      db.close()
      assert.equal(stored, rows.length)
      acknowledged += rows.length
    }
  }
  await Promise.all([one(0), one(1)])
  const db = openDb(path)
  check(db)
  db.close()
  assert.ok(acknowledged > rounds, `only ${acknowledged} rows were written`)
})

test('eight processes write one session at once: no gap, no loss, one chain', async (t) => {
  const path = join(folder(t), 'agent.db')
  const db = openDb(path)
  t.after(() => db.close())
  const session = startSession(db)
  const rows = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => write([...session, '75'])))
  assert.deepEqual(
    rows.flat().toSorted((a, b) => a - b),
    Array.from({ length: 600 }, (_, index) => index),
  )
  check(db)
})

test('a database whose making was cut short is made by the next one', async (t) => {
  const place = folder(t)
  const ona = join(import.meta.dirname, '../..', 'bin', 'ona.mjs')
  const init = (name: string, killAfterMs?: number) => {
    const env = { ...process.env, AGENT_SDLC_DB: join(place, name) }
    const child = spawn(process.execPath, [ona, '--init-db'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    return new Promise<number | null>((done) => child.on('close', done))
  }
  const begin = performance.now()
  await init('whole.db')
  const whole = performance.now() - begin
  for (let round = 0; round < sized(1, 12); round++) {
    const name = `${round}.db`
    // the file is made towards the end of the run
    await init(name, whole * (0.6 + Math.random() * 0.5))
    assert.equal(await init(name), 0)
    const db = openDb(join(place, name))
    check(db)
    assert.equal(db.get<{ n: number }>('SELECT count(*) AS n FROM sessions')!.n, 1)
    db.close()
  }
})

test('processes that make the database at the same moment make one', async (t) => {
  const path = join(folder(t), 'agent.db')
  const ona = join(import.meta.dirname, '../..', 'bin', 'ona.mjs')
  const codes = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(() => {
      const child = spawn(process.execPath, [ona, '--init-db'], {
        env: { ...process.env, AGENT_SDLC_DB: path },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      return new Promise<number | null>((done) => child.on('close', done))
    }),
  )
  assert.deepEqual(codes, [0, 0, 0, 0, 0, 0])
  const db = openDb(path)
  t.after(() => db.close())
  check(db)
  assert.deepEqual(
    db.all('SELECT phase, project_dir FROM conversations JOIN sessions ON conversation_id = conversations.id'),
    [{ phase: 'idle', project_dir: process.cwd() }],
  )
})
