/** What `ona audit archive` and `ona audit unarchive` say they did is what they did. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { place } from '../../../../test/support/program.ts'
import { createConversation, createSession } from '../../../store/conversations.ts'
import { openDb } from '../../../store/open.ts'
import { appendEntry } from '../../../store/session/transcript.ts'

test('the database is not said to be smaller when it is not; what is put back counts once', async (t) => {
  const here = place(t)
  mkdirSync(dirname(here.db), { recursive: true })
  const db = openDb(here.db)
  createConversation(db, { projectDir: '/', id: 'old' })
  createSession(db, 'old', 's')
  appendEntry(db, 's', { _t: 'system', subtype: 'x' })
  db.run("UPDATE conversations SET last_active = '2020-01-01 00:00:00'")
  db.close()
  const archived = await here.run(['audit', 'archive', '--older-than', '90d', '--no-vacuum'])
  assert.match(archived.stdout, /^moved 1 row of 1 conversation to agent\.db-archive-\d{8}T\d{6}\.zst \(\d+ bytes\)\n$/)
  const restored = await here.run(['audit', 'unarchive', 'old', 'old'])
  assert.deepEqual([restored.code, restored.stdout], [0, 'restored 1 conversation\n'])
})
