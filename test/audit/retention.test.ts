/** `cleanupPeriodDays`, `ona audit hold` and `ona audit retain` as they are used. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { live } from '../support/live.ts'
import { testModel } from '../support/model/model.ts'
import { type Place, place } from '../support/program.ts'

function age(at: Place): string {
  const db = new DatabaseSync(at.db)
  db.exec("UPDATE conversations SET last_active = '2020-01-01 00:00:00'")
  const { id } = db.prepare('SELECT id FROM conversations').get() as { id: string }
  db.close()
  return id
}
const said = (at: Place) =>
  at.rows<{ n: number }>(
    "SELECT count(*) AS n FROM transcript_entries WHERE payload_json LIKE '%remember the plan%'",
  )[0]!.n
const words = ['-p', 'remember the plan']

test('with cleanupPeriodDays, a start erases old content beside the session, and a hold keeps it', async (t) => {
  const at = place(t)
  const model = await testModel(t)
  await at.run(words, { env: model.env })
  const conversation = age(at)
  assert.deepEqual(
    (await at.run(['audit', 'hold', conversation, '--reason', 'case 14'])).stdout,
    `${conversation} on hold\n`,
  )
  assert.equal((await at.run(['audit', 'retain', '--days', '30', '--json'])).stdout, '{"sessions":0,"rows":0}\n')
  const [{ session }] = at.rows<{ session: string }>('SELECT session_id AS session FROM sessions') as [
    { session: string },
  ]
  const refused = await at.run(['audit', 'erase', '--session', session])
  assert.deepEqual([refused.code, /is on hold \(case 14\)/.test(refused.stderr)], [1, true])
  assert.equal((await at.run(['audit', 'hold', '--release', conversation])).code, 0)
  assert.equal((await at.run(['audit', 'hold'])).stdout, 'no conversation is on hold\n')
  assert.equal(said(at), 1)

  // the session lives on while its content is erased: what erases is below it, and is no operator
  const streams = ['--input-format', 'stream-json', '--output-format', 'stream-json']
  const settings = ['--settings', JSON.stringify({ cleanupPeriodDays: 30 })]
  const cleaning = live(t, at, ['-p', ...streams, ...settings], model.env)
  cleaning.send(JSON.stringify({ type: 'user', message: { role: 'user', content: 'go' } }))
  const sql = 'SELECT days, sessions, remaining FROM ona_retention WHERE sessions IS NOT NULL'
  const done = () => at.rows(sql).map((row) => ({ ...row }))
  await cleaning.until(() => done().length > 0)
  const ended = await cleaning.end()
  assert.equal(ended.code, 0, `${ended.stdout.slice(-1500)}\n${ended.stderr}`)
  assert.deepEqual(done(), [{ days: 30, sessions: 1, remaining: 0 }])
  assert.equal(said(at), 0)
  const [event] = at.rows<{ detail: string }>("SELECT detail FROM events WHERE event_type = 'retention'")
  assert.equal(JSON.parse(event!.detail).sessions, 1)
})

test("a folder's file and Claude Code's own do not set it; 0 keeps everything", async (t) => {
  const at = place(t)
  const model = await testModel(t)
  await at.run(words, { env: model.env })
  age(at)
  at.write('.ona/settings.json', { cleanupPeriodDays: 1 })
  at.write('../home/.claude/settings.json', { cleanupPeriodDays: 1 })
  const { stderr } = await at.run(['-p', 'go', '--trust'], { env: model.env })
  assert.match(stderr, /cleanupPeriodDays counts in your own settings/)
  await at.run(['-p', 'go', '--settings', '{"cleanupPeriodDays":0}'], { env: model.env })
  assert.deepEqual([at.rows('SELECT 1 FROM ona_retention'), said(at)], [[], 1])
})

test('with the content go the copies beside it, and the sessions of sub-agents; another conversation keeps its own', async (t) => {
  const at = place(t)
  const bypass = ['--permission-mode', 'bypassPermissions', '--model', 'rehearsal']
  writeFileSync(join(at.folder, 'a.txt'), 'before')
  const change = (from: string, to: string) => `read a.txt then replace "${from}" with "${to}" in a.txt`
  const withAgent = `${change('after', 'beyond')} then ask an agent to list the files in docs`
  for (const prompt of [change('before', 'after'), withAgent]) await at.run(['-p', prompt, ...bypass])
  const agents = 'SELECT session_id AS id FROM ona_subagents'
  const [kept, erased] = at.rows<{ id: string; conversation: string }>(
    `SELECT session_id AS id, conversation_id AS conversation FROM sessions WHERE session_id NOT IN (${agents}) ORDER BY rowid`,
  )
  const files = join(at.home, '.ona/file-history')
  const transcripts = join(at.home, '.ona/transcripts/project')
  mkdirSync(join(transcripts, erased!.id), { recursive: true })
  for (const id of [kept!.id, erased!.id, 'of another record']) writeFileSync(join(transcripts, `${id}.jsonl`), '{}')
  assert.deepEqual(readdirSync(files).sort(), [kept!.conversation, erased!.conversation].sort())
  const { stdout } = await at.run(['audit', 'erase', '--session', erased!.id, '--json'])
  assert.equal(JSON.parse(stdout).sessions, 2)
  const left = at.rows<{ id: string }>(
    "SELECT DISTINCT session_id AS id FROM transcript_entries WHERE payload_json NOT LIKE '%[erased]%' AND entry_type = 'user'",
  )
  assert.deepEqual(
    left.map(({ id }) => id),
    [kept!.id],
  )
  assert.deepEqual(readdirSync(files), [kept!.conversation])
  assert.deepEqual(readdirSync(transcripts).sort(), [`${kept!.id}.jsonl`, 'of another record.jsonl'].sort())
})

test('an archive that is cut off or missing is reported by doctor, and keeps no other session from being erased', async (t) => {
  const at = place(t)
  const model = await testModel(t)
  await at.run(words, { env: model.env })
  const archived = age(at)
  assert.equal((await at.run(['audit', 'archive', '--older-than', '30d'])).code, 0)
  await at.run(words, { env: model.env })
  age(at)
  const [{ file }] = at.rows<{ file: string }>('SELECT file FROM ona_archives') as [{ file: string }]
  const path = join(dirname(at.db), file)
  const problems = async () =>
    JSON.parse((await at.run(['doctor', '--json'])).stdout)
      .filter(({ about, level }: Record<string, string>) => about === 'database' && level === 'problem')
      .map(({ text }: { text: string }) => text)
  assert.deepEqual(await problems(), [])
  truncateSync(path, 100)
  assert.deepEqual(await problems(), [`the archive ${path} was cut off at byte 100; restore it from a copy`])
  rmSync(path)
  assert.deepEqual(await problems(), [`the archive ${path} is missing; restore it from a copy`])
  const none = await at.run(['hooks', 'log', '--session', 'none'])
  assert.deepEqual(
    [none.code, none.stdout],
    [0, 'no hook run matches\n'],
    'a session that is not there is in no archive',
  )
  const { code, stdout, stderr } = await at.run(['audit', 'retain', '--days', '30', '--json'])
  assert.deepEqual([code, JSON.parse(stdout).sessions, said(at)], [1, 1, 0], stderr)
  assert.match(stderr, /was not erased: the archive .* cannot be read/)
  assert.deepEqual(
    at.rows<{ id: string }>('SELECT conversation_id AS id FROM ona_archives').map(({ id }) => id),
    [archived],
  )
})
