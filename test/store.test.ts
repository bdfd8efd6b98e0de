import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createConversation, createSession } from '../src/store/conversations.ts'
import { openDb } from '../src/store/open.ts'
import { runProgram } from './support/run-program.ts'

const root = join(import.meta.dirname, '..')

function world(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'ona-store-'))
  t.after(() => rmSync(home, { recursive: true }))
  const ona = async (words: string[], env: NodeJS.ProcessEnv = {}) => {
    const given = { PATH: process.env['PATH'], HOME: home, ...env }
    const { code, stdout, stderr } = await runProgram(words, { cwd: home, env: given })
    return [code, stdout, stderr]
  }
  return { home, ona }
}

test('ona --init-db makes the database, one idle conversation and its session, and says where', async (t) => {
  const { home, ona } = world(t)
  const path = join(home, '.ona', 'agent.db')
  assert.deepEqual(await ona(['--init-db']), [0, `${path}\n`, ''])
  const mode = (file: string) => (statSync(file).mode & 0o777).toString(8)
  assert.deepEqual([mode(path), mode(join(home, '.ona'))], ['600', '700'])
  const db = new DatabaseSync(path)
  const rows = db
    .prepare('SELECT phase, project_dir FROM conversations JOIN sessions ON conversation_id = conversations.id')
    .all()
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ phase: 'idle', project_dir: home }],
  )
  db.close()

  const before = readFileSync(path)
  assert.deepEqual(await ona(['--init-db', '--json']), [0, `${JSON.stringify({ path, created: false })}\n`, ''])
  assert.ok(before.equals(readFileSync(path)), 'a second time changes nothing')
})

test('AGENT_SDLC_DB names another place, and must be absolute', async (t) => {
  const { home, ona } = world(t)
  const path = join(home, 'deep', 'er', 'x.db')
  assert.deepEqual(await ona(['--init-db'], { AGENT_SDLC_DB: path }), [0, `${path}\n`, ''])
  assert.deepEqual(await ona(['--init-db'], { AGENT_SDLC_DB: 'x.db' }), [
    1,
    '',
    `ona: AGENT_SDLC_DB is "x.db"; it must be an absolute path such as ${join(home, 'x.db')}\n`,
  ])
})

test('a file that is not a database is an error with exit code 1, and stays as it was', async (t) => {
  const { home, ona } = world(t)
  const path = join(home, 'letter.db')
  writeFileSync(path, 'Dear all,\n')
  const [code, , told] = await ona(['--init-db'], { AGENT_SDLC_DB: path })
  assert.deepEqual(
    [code, told, readFileSync(path, 'utf8')],
    [
      1,
      `ona: ${path} is not a SQLite database; it was left as it is. Set AGENT_SDLC_DB to another path\n`,
      'Dear all,\n',
    ],
  )
})

test('wrong usage is exit code 2, and --help shows an example', async (t) => {
  const { ona } = world(t)
  assert.equal((await ona(['--init-db', '--jsno']))[0], 2)
  const [code, help] = await ona(['--init-db', '--help'])
  assert.equal(code, 0)
  assert.match(String(help), /AGENT_SDLC_DB=\/srv\/agent\.db ona --init-db/)
})

test('a key in the environment that a hook prints is nowhere in the database', async (t) => {
  const { home, ona } = world(t)
  const key = 'no-form-that-anybody-knows-4711'
  mkdirSync(join(home, '.ona'))
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'env >&2; echo "it is $OPENAI_API_KEY"' }] }] }
  writeFileSync(join(home, '.ona', 'settings.json'), JSON.stringify({ hooks }))
  const call = JSON.stringify({ tool: 'Bash', input: { command: 'echo $OPENAI_API_KEY' } })
  assert.equal((await ona(['--eval', call], { OPENAI_API_KEY: key }))[0], 0)
  const db = new DatabaseSync(join(home, '.ona', 'agent.db'))
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  const all = JSON.stringify(tables.map(({ name }) => db.prepare(`SELECT * FROM ${name}`).all()))
  db.close()
  assert.ok(all.includes('it is [secret]'), 'the hook ran and its output was kept')
  assert.ok(!all.includes(key))
})

test('a session of 100,000 entries is read with less memory than it takes', (t) => {
  const path = join(world(t).home, 'agent.db')
  const db = openDb(path)
  const { sessionId } = createSession(db, createConversation(db, { projectDir: '/' }).id)
  db.run(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
     INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json)
     SELECT ?, i, 'system', json_object('_t', 'system', 'subtype', 'x', 'text', printf('%.600c', 'x')) FROM n`,
    sessionId,
  )
  db.close()
  const program = `
    import { openDb } from '${root}/src/store/open.ts'
    import { readEntries } from '${root}/src/store/session/transcript.ts'
    let count = 0
    for (const { sequence } of readEntries(openDb(${JSON.stringify(path)}), ${JSON.stringify(sessionId)}))
      if (sequence === count) count++
    console.log(count)`
  // 60 MB of text through a heap of 24
  const run = spawnSync(
    process.execPath,
    ['--max-old-space-size=24', '--input-type=module-typescript', '-e', program],
    { encoding: 'utf8' },
  )
  assert.deepEqual([run.stdout, run.status], ['100000\n', 0], run.stderr)
})
