/** The write-ahead log beside readers in other processes. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { generateRecord } from '../../bench/lib/generate-record.ts'
import { packageRoot } from '../../src/package-root.ts'
import { addEvent } from '../../src/store/audit.ts'
import { openDb } from '../../src/store/open.ts'

const limit = 16 * 1_048_576

function record(t: TestContext, rows = 200) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-log-'))
  const path = join(folder, 'agent.db')
  const { conversationId } = generateRecord(path, { rows })
  const db = openDb(path)
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const add = (megabytes: number) => {
    const detail = { text: 'x'.repeat(1_048_576) }
    for (let n = 0; n < megabytes; n++) addEvent(db, { conversationId, type: 'test', detail })
  }
  return { path, add, logBytes: () => statSync(`${path}-wal`).size }
}

function child(t: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const started = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
  t.after(() => started.kill('SIGKILL'))
  return started
}

test('a log that grew beside a long reader is cut back once the reader is gone', async (t) => {
  const { path, add, logBytes } = record(t)
  const reading = `const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(${JSON.stringify(path)}, { readOnly: true })
    const rows = db.prepare('SELECT * FROM events').iterate()
    rows.next()
    console.log('reading')
    process.stdin.on('end', () => db.close()).resume()`
  const reader = child(t, ['-e', reading])
  await once(reader.stdout!, 'data')
  add(40)
  assert.ok(logBytes() > 40_000_000, 'the reader holds it')
  reader.stdin!.end()
  await once(reader, 'close')
  add(3)
  assert.ok(logBytes() <= limit, `${logBytes()} bytes are left`)
})

test('ona audit export that nobody takes the rows from does not hold the log', async (t) => {
  const { path, add, logBytes } = record(t, 3000)
  const env = { ...process.env, AGENT_SDLC_DB: path }
  const exporting = child(t, [join(packageRoot, 'bin/ona.mjs'), 'audit', 'export', '--content'], env)
  await once(exporting.stdout!, 'readable') // the pipe fills, and the program waits in the middle of a page
  add(60)
  assert.ok(logBytes() <= 2 * limit, `${logBytes()} bytes`)
})
