/** What is typed is stored with the session that is open then. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDb } from '../../store/open.ts'
import { openHistory } from './stored-history.ts'

test('a line is stored once, with its session, and recalled in the project', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-history-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true })
  })
  let session = 'one'
  const history = openHistory(db, '/p', () => session)
  for (const text of ['list files', 'list files', ' ', '/clear']) history.add(text)
  session = 'two'
  for (const text of ['go', 'x'.repeat(10_001)]) history.add(text)
  assert.deepEqual(db.all('SELECT project_dir, session_id, text FROM ona_prompt_history ORDER BY id'), [
    { project_dir: '/p', session_id: 'one', text: 'list files' },
    { project_dir: '/p', session_id: 'one', text: '/clear' },
    { project_dir: '/p', session_id: 'two', text: 'go' },
  ])
  assert.deepEqual(openHistory(db, '/p', () => session).entries(), ['list files', '/clear', 'go'])
  assert.deepEqual(openHistory(db, '/q', () => session).entries(), [])
})
