/** The dispatcher's logs in the database: through the program and SQL alone. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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

test('a log that goes on is active then; it is archived, read there and put back, and not continued', () => {
  const folder = tempFolder()
  const [logs, path] = [join(folder, 'repo/.ai/tmp'), join(folder, 'agent.db')]
  mkdirSync(join(logs, '0a1b2c3d'), { recursive: true })
  const ona = (...words: string[]) =>
    spawnSync(process.execPath, [bin, ...words], {
      ...{ encoding: 'utf8', cwd: join(folder, 'repo'), env: { ...process.env, AGENT_SDLC_DB: path, HOME: folder } },
    })
  const call = (day: number) => {
    const about = {
      ts: Date.UTC(2026, 0, day),
      event: 'PreToolUse',
      kind: 'TOOL_DECISION',
      toolName: 'run_in_terminal',
    }
    const data = { toolInput: { command: `rm day-${day}` } }
    appendFileSync(join(logs, '0a1b2c3d/events.jsonl'), `${JSON.stringify({ ...about, decision: 'allow', data })}\n`)
    assert.equal(ona('audit', 'import', logs).status, 0)
  }
  const replayed = (...words: string[]) =>
    JSON.parse(ona('hooks', 'replay', '--rule', 'deny:Bash(rm *)', '--json', ...words).stdout).changes.length
  const archive = (before: string) =>
    JSON.parse(ona('audit', 'archive', '--older-than', before, '--json').stdout).conversations
  call(1)
  call(5)
  assert.deepEqual([archive('2026-01-04'), archive('2026-01-06')], [0, 1])
  assert.deepEqual([replayed(), replayed('--since', '2026-01-05'), replayed('--since', '2026-01-06')], [2, 1, 0])
  call(9)
  assert.equal(existsSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.zst')) ?? 'none')), false)
  assert.deepEqual([replayed(), archive('2026-01-06'), ona('audit', 'verify').status], [3, 0, 0])
  assert.match(ona('-p', 'hi', '--model', 'rehearsal', '--continue').stderr, /there is no session of/)
  for (const more of [[], ['--fork-session']])
    assert.match(
      ona('-p', 'hi', '--model', 'rehearsal', '--resume', 'dispatcher-0a1b2c3d-0', ...more).stderr,
      /dispatcher-0a1b2c3d-0 is a log of the dispatcher, and no conversation that can be continued/,
    )
  assert.match(ona('plan', 'list').stderr, /there is no conversation of this folder/)
})

test('a log whose archive is damaged is named and stays as it is; the others are imported', () => {
  const folder = tempFolder()
  const [logs, path] = [join(folder, 'repo/.ai/tmp'), join(folder, 'agent.db')]
  const ona = (...words: string[]) =>
    spawnSync(process.execPath, [bin, 'audit', ...words, '--json'], {
      ...{ encoding: 'utf8', env: { ...process.env, AGENT_SDLC_DB: path, HOME: folder } },
    })
  const line = (day: number) =>
    `${JSON.stringify({ ts: Date.UTC(2026, 0, day), event: 'PreToolUse', kind: 'TOOL_DECISION', decision: 'allow' })}\n`
  const append = (log: string, day: number) => {
    mkdirSync(join(logs, log), { recursive: true })
    appendFileSync(join(logs, log, 'events.jsonl'), line(day))
  }
  append('0a1b2c3d', 1)
  append('1a1b2c3d', 9)
  ona('import', logs)
  ona('archive', '--older-than', '2026-01-05')
  const archive = join(folder, readdirSync(folder).find((name) => name.endsWith('.zst'))!)
  const whole = readFileSync(archive)
  writeFileSync(archive, 'damaged')
  append('0a1b2c3d', 10)
  append('1a1b2c3d', 10)
  const { status, stdout } = ona('import', logs)
  assert.deepEqual(
    [status, JSON.parse(stdout)],
    [
      1,
      {
        ...{ sessions: 1, events: 0, decisions: 1, torn: 0 },
        problems: [
          `${join(logs, '0a1b2c3d/events.jsonl')} was not imported: the archive ${archive} was changed at byte 0; restore it from a copy`,
        ],
      },
    ],
  )
  writeFileSync(archive, whole)
  assert.deepEqual(JSON.parse(ona('import', logs).stdout), {
    ...{ sessions: 1, events: 0, decisions: 1, torn: 0, problems: [] },
  })
})
