/** What ends a job early, what starts it again, and whose turn it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDb } from '../../src/store/open.ts'
import { postgresForTests } from '../support/fleet.ts'
import { ended, jobs, repository, until, workerFor } from '../support/fleet-jobs.ts'

const postgres = postgresForTests()
const run = { permissions: { allow: ['Bash'] } }
const priced = { ...run, models: { rehearsal: { price: { input: 1_000_000, output: 1_000_000 } } } }

test('a job over its limit of time, turns or cost fails and says which', async (t) => {
  const it = await postgres.fleet(t, { heartbeatSeconds: 10, withQueue: true })
  const user = await it.user('publisher', 'ada')
  const repo = repository('limits')
  const submit = async (more: object) =>
    (
      (await user.ask('POST', '/v1/jobs', { repo, ref: 'main', model: 'rehearsal', policy: 'run', ...more })).body[
        'jobs'
      ] as string[]
    )[0]!
  const slow = await submit({ prompt: 'run sleep 300', maxMinutes: 0.05 })
  const turns = await submit({ prompt: 'run echo hi', maxTurns: 1 })
  const cost = await submit({ prompt: 'run echo hi', maxCostUsd: 0.01, policy: 'priced' })
  await workerFor(t, it, { run, priced })
  const found = await ended(it)
  const why = (id: string) => {
    const { outcome, reason, attempt } = found.find((each) => each.id === id)!
    return [outcome, reason, attempt]
  }
  assert.deepEqual(why(slow), ['failed', 'over its time limit', 1], 'and it is not tried again')
  assert.deepEqual(why(turns), ['failed', 'over its limit of turns', 1])
  assert.deepEqual(why(cost), ['failed', 'over its limit of cost', 1])
  for (const limit of [{ maxMinutes: 0 }, { maxMinutes: 1e9 }, { attempts: 0 }, { attempts: 99 }, { maxTurns: 'x' }])
    assert.equal((await user.ask('POST', '/v1/jobs', { prompt: 'x', repo, ref: 'main', ...limit })).status, 400)
  assert.deepEqual(it.errors, [])
})

test('after a crash a job starts again in a fresh clone, or resumes its session where that is its rule', async (t) => {
  const it = await postgres.fleet(t, { heartbeatSeconds: 10, withQueue: true })
  const user = await it.user('publisher', 'ada')
  const repo = repository('crash')
  const submit = async (onCrash: string) =>
    (
      (
        await user.ask('POST', '/v1/jobs', {
          prompt: 'run sleep 5',
          repo,
          ref: 'main',
          model: 'rehearsal',
          policy: 'run',
          onCrash,
        })
      ).body['jobs'] as string[]
    )[0]!
  const [again, on] = [await submit('restart'), await submit('resume')]
  const worker = await workerFor(t, it, { run })
  await until(async () => {
    const db = readDb(worker.db)
    const started = db.all("SELECT 1 FROM events WHERE event_type = 'tool_start'").length
    db.close()
    return started === 2
  }, 'both commands to run')
  await worker.stop()
  assert.deepEqual(
    (await jobs(it)).map(({ status }) => status),
    ['running', 'running'],
    'nobody was told',
  )
  worker.start()
  const found = await ended(it)
  const of = (id: string) => found.find((each) => each.id === id)!
  assert.deepEqual([of(again).outcome, of(on).outcome], ['done', 'done'], worker.notes.join('\n'))
  assert.deepEqual([of(again).attempt, of(on).attempt], [2, 2])
  assert.deepEqual(
    [of(again).branch, of(on).branch],
    [`ona/job-${again.slice(0, 8)}-2`, `ona/job-${on.slice(0, 8)}-1`],
    'a fresh branch, and the branch of before',
  )
  const db = readDb(worker.db)
  t.after(() => db.close())
  const sessions = db.all<{ sessions: number; prompts: number }>(
    `SELECT count(DISTINCT s.session_id) AS sessions, count(*) AS prompts FROM transcript_entries e JOIN sessions s ON s.session_id = e.session_id
     WHERE e.entry_type = 'user' AND e.payload_json LIKE '%Continue where you stopped%'`,
  )
  assert.deepEqual(sessions, [{ sessions: 1, prompts: 1 }], 'one was resumed')
  const log = await it.rows<{ what: string }>('SELECT what FROM ona_fleet.job_events WHERE job_id = $1 ORDER BY id', [
    on,
  ])
  assert.deepEqual(
    log.map(({ what }) => what),
    ['started', 'lost', 'started', 'done'],
  )
  assert.deepEqual(it.errors, [])
})

test('a repository with a hundred jobs does not hold up one with two', async (t) => {
  const it = await postgres.fleet(t, { heartbeatSeconds: 10, withQueue: true })
  const user = await it.user('publisher', 'ada')
  for (const [repo, count] of [
    ['/long', 100],
    ['/short', 2],
    ['/other', 3],
  ] as const)
    assert.equal((await user.ask('POST', '/v1/jobs', { prompt: 'x', repo, ref: 'main', count })).status, 200)
  const worker = await it.node('worker', { worker: true })
  const taken: { id: string; repo: string }[] = []
  for (let round = 0; round < 8; round++) {
    const reply = await worker.client.ask('POST', '/v1/work/take', { slots: 1, running: taken.map(({ id }) => id) })
    taken.push(...(reply.body['jobs'] as { id: string; repo: string }[]))
  }
  const firstSix = taken.slice(0, 6).map(({ repo }) => repo)
  assert.deepEqual([...firstSix].sort(), ['/long', '/long', '/other', '/other', '/short', '/short'], firstSix.join(' '))
  assert.deepEqual(
    taken
      .slice(6)
      .map(({ repo }) => repo)
      .sort(),
    ['/long', '/other'],
  )
})
