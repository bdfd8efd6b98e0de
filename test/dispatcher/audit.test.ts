/** The dispatcher's logs in the database: through the program and SQL alone. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { makeRepo, readFile, sid, tempFolder } from '../support/dispatcher.ts'

const bin = join(import.meta.dirname, '../../bin/ona.mjs')

test('ona audit import brings every line in once, however often it is run', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse'])
  const path = join(tempFolder(), 'agent.db')
  const importLogs = () => {
    const run = spawnSync(process.execPath, [bin, 'audit', 'import', join(repo.root, '.ai/tmp'), '--json'], {
      encoding: 'utf8',
      env: { ...process.env, AGENT_SDLC_DB: path },
    })
    return { code: run.status, ...(run.stdout && JSON.parse(run.stdout)) }
  }
  const rows = (sql: string) => {
    const db = new DatabaseSync(path, { readOnly: true })
    const found = db.prepare(sql).all()
    db.close()
    return found.map((row) => ({ ...row }))
  }
  await repo.fire('SessionStart')
  await repo.fire('PreToolUse', { tool_name: 'grep_search', tool_input: { query: 'x' }, tool_use_id: 'call-1' })
  const first = importLogs()
  const others = repo.events().length - 1
  assert.deepEqual(first, { code: 0, sessions: 1, events: others, decisions: 1, torn: 0, problems: [] })
  assert.deepEqual(importLogs(), { code: 0, sessions: 0, events: 0, decisions: 0, torn: 0, problems: [] })

  const log = join(repo.root, '.ai/tmp', sid, 'events.jsonl')
  appendFileSync(log, '{"ts":1,"event":"PreTo')
  await repo.fire('PreToolUse', { ...readFile, tool_use_id: 'call-2' })
  const more = importLogs()
  assert.deepEqual([more.decisions, more.torn], [1, 1])
  assert.deepEqual(rows('SELECT hook_event, tool_name, tool_use_id, exit_code FROM hook_invocations ORDER BY id'), [
    { hook_event: 'PreToolUse', tool_name: 'grep_search', tool_use_id: 'call-1', exit_code: 0 },
    { hook_event: 'PreToolUse', tool_name: 'read_file', tool_use_id: 'call-2', exit_code: 0 },
  ])
  const [decided] = rows(
    "SELECT json_extract(stdout_text, '$.decision') AS decision, json_extract(stdout_text, '$.decidedBy') AS who FROM hook_invocations",
  )
  assert.deepEqual(decided, { decision: 'ask', who: 'graph-pretooluse' })
  assert.deepEqual(rows("SELECT count(*) AS n FROM events WHERE event_type = 'dispatcher.SESSION_INIT'"), [{ n: 1 }])
  assert.deepEqual(rows('SELECT project_dir FROM conversations'), [{ project_dir: repo.root }])

  writeFileSync(log, '')
  assert.equal(importLogs().code, 1)
  assert.equal(rows('SELECT count(*) AS n FROM hook_invocations')[0]!['n'], 2)
})

test('a folder that is not there is reported; wrong usage is exit 2', () => {
  const run = (...words: string[]) => spawnSync(process.execPath, [bin, 'audit', ...words], { encoding: 'utf8' }).status
  assert.deepEqual([run('import', '/nowhere/at/all'), run('exprot'), run('--help')], [1, 2, 0])
})
