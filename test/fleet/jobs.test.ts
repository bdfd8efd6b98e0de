/** Jobs: delivered by pg-boss, run by the real program on the rehearsal model, ended once. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { postgresForTests } from '../support/fleet.ts'
import { ended, jobs, repository, until, workerFor } from '../support/fleet-jobs.ts'

const postgres = postgresForTests()

const withQueue = (t: TestContext) => {
  const { server } = postgres
  return postgres.fleet(t, { heartbeatSeconds: 10, withQueue: true }).then((it) => ({ it, server }))
}

const write = { permissions: { allow: ['Write', 'Edit'], defaultMode: 'acceptEdits' } }

test('a job runs in a checkout and branch of its own, is pushed, and its rows arrive; a key submits once', async (t) => {
  const { it } = await withQueue(t)
  const repo = repository('one')
  const user = await it.user('publisher', 'ada')
  const job = {
    prompt: 'write "hi" to made.txt',
    repo,
    ref: 'main',
    policy: 'write',
    model: 'rehearsal',
    push: true,
    count: 2,
    key: 'k1',
  }
  const first = (await user.ask('POST', '/v1/jobs', job)).body['jobs'] as string[]
  assert.deepEqual([first.length, (await user.ask('POST', '/v1/jobs', job)).body['jobs']], [2, first])
  const { notes, folder } = await workerFor(t, it, { write })
  const found = await ended(it)
  assert.deepEqual(
    found.map(({ outcome, reason }) => [outcome, reason]),
    [
      ['done', 'completed'],
      ['done', 'completed'],
    ],
    notes.join('\n'),
  )
  for (const { branch, commit_id } of found) {
    const text = execFileSync('git', ['-C', repo, 'show', `${branch}:made.txt`], { encoding: 'utf8' })
    assert.equal(text.trim(), 'hi')
    assert.equal(execFileSync('git', ['-C', repo, 'rev-parse', branch!], { encoding: 'utf8' }).trim(), commit_id)
  }
  assert.equal(new Set(found.map(({ branch }) => branch)).size, 2)
  const ran = await it.rows("SELECT tool_name FROM ona_fleet.what_changed WHERE target LIKE '%made.txt'")
  assert.deepEqual(ran, [{ tool_name: 'Write' }, { tool_name: 'Write' }])
  // the key of the node is out of the agent's reach
  await user.ask('POST', '/v1/jobs', { ...job, prompt: `read ${folder}/node.json`, count: 1, key: 'k2' })
  await ended(it)
  const denied = await it.rows('SELECT tool_name, decided_by FROM ona_fleet.what_was_denied')
  assert.deepEqual(denied, [{ tool_name: 'Read', decided_by: 'rule' }])
  assert.equal(JSON.stringify(await it.rows('SELECT content FROM ona_fleet.rows')).includes('the node key'), false)
  assert.deepEqual(await it.rows('SELECT * FROM ona_fleet.faults'), [])
  assert.deepEqual(it.errors, [])
})

test('what a job may not do without asking waits for a decision; an unknown policy fails; a running job can be cancelled', async (t) => {
  const { it } = await withQueue(t)
  const repo = repository('two')
  const user = await it.user('publisher', 'ada')
  const submit = async (more: object) =>
    (
      (await user.ask('POST', '/v1/jobs', { repo, ref: 'main', model: 'rehearsal', ...more })).body['jobs'] as string[]
    )[0]!
  const asks = await submit({ prompt: 'write "hi" to made.txt', push: true })
  const unknown = await submit({ prompt: 'list the files', policy: 'nope' })
  await workerFor(t, it, { run: { permissions: { allow: ['Bash'] } } })
  const waiting = await until(
    async () =>
      ((await user.ask('GET', '/v1/approvals')).body['list'] as { job: string; id: string; tool: string }[])[0],
    'an approval',
  )
  assert.deepEqual([waiting.job, waiting.tool], [asks, 'Write'])
  const reader = await it.user('reader', 'eve')
  const path = `/v1/approvals/${waiting.job}/${waiting.id}`
  assert.equal((await reader.ask('POST', path, { allow: true })).status, 403)
  assert.equal((await user.ask('POST', path, { allow: true })).status, 200)
  assert.equal((await user.ask('POST', path, { allow: false })).status, 409)
  const found = await ended(it)
  const of = (id: string) => found.find((each) => each.id === id)!
  assert.deepEqual([of(asks).outcome, of(unknown).outcome], ['done', 'failed'])
  assert.match(of(unknown).reason!, /policy "nope" is not known/)
  assert.equal(
    execFileSync('git', ['-C', repo, 'show', `${of(asks).branch}:made.txt`], { encoding: 'utf8' }).trim(),
    'hi',
  )
  const approved = await it.rows("SELECT decided_by FROM ona_fleet.who_approved WHERE decided_by = 'ada'")
  assert.equal(approved.length, 1)

  const long = await submit({ prompt: 'run sleep 300', policy: 'run' })
  await until(async () => (await jobs(it)).some(({ id, status }) => id === long && status === 'running'), 'the start')
  assert.deepEqual((await user.ask('POST', `/v1/jobs/${long}/cancel`)).body, { state: 'cancelling' })
  await ended(it)
  assert.equal((await jobs(it)).find(({ id }) => id === long)!.outcome, 'cancelled')
  assert.deepEqual(it.errors, [])
})

test('a worker that dies leaves its job to another; the one that was given up is not heard; dead letters say why', async (t) => {
  const { it } = await withQueue(t)
  const user = await it.user('publisher', 'ada')
  const ids = (await user.ask('POST', '/v1/jobs', { prompt: 'x', repo: '/a', ref: 'main', count: 3, attempts: 2 }))
    .body['jobs'] as string[]
  const other = (await user.ask('POST', '/v1/jobs', { prompt: 'x', repo: '/b', ref: 'main' })).body['jobs'] as string[]
  const [one, two, laptop] = [
    await it.node('one', { worker: true }),
    await it.node('two', { worker: true }),
    await it.node('laptop'),
  ]
  assert.equal((await laptop.client.ask('POST', '/v1/work/take', { slots: 1, running: [] })).status, 403)
  const take = async (who: typeof one, slots: number, running: string[] = []) =>
    (await who.client.ask('POST', '/v1/work/take', { slots, running })).body['jobs'] as {
      id: string
      attempt: number
      repo: string
    }[]
  // two repositories: each gets its turn, though one has three times the jobs
  const first = await take(one, 2)
  assert.deepEqual(first.map(({ repo }) => repo).sort(), ['/a', '/b'])
  const mine = first.find(({ repo }) => repo === '/a')!
  // the process is killed and starts again: it has nothing, so what it held is given out
  await take(one, 0)
  const again = await until(
    async () => (await take(two, 5, ids)).find(({ id }) => id === mine.id),
    'the second attempt',
  )
  assert.equal(again.attempt, 2)
  const end = (who: typeof one, attempt: number) =>
    who.client.ask('POST', `/v1/work/${mine.id}/end`, { attempt, outcome: 'done', reason: 'completed' })
  assert.equal((await end(one, 1)).status, 409)
  assert.equal((await end(two, 2)).status, 200)
  assert.equal((await end(two, 2)).status, 409)
  assert.deepEqual(await it.rows('SELECT outcome, attempt FROM ona_fleet.outcomes'), [{ outcome: 'done', attempt: 2 }])

  // the second worker dies too, twice: then its jobs are dead letters
  await until(async () => {
    await take(two, 5, [])
    return (await jobs(it)).filter(({ outcome }) => outcome === 'dead').length >= 2
  }, 'dead letters')
  const dead = (await jobs(it)).find(({ outcome }) => outcome === 'dead')!
  assert.match(dead.reason!, /tried 2 times: its worker died/)
  assert.equal((await user.ask('POST', `/v1/jobs/${dead.id}/retry`)).status, 200)
  assert.equal((await user.ask('POST', `/v1/jobs/${dead.id}/cancel`)).status, 200)
  assert.equal(other.length, 1)
  for (const repo of ['ext::sh -c id', '--upload-pack=id', 'http://x/y', 'a b'])
    assert.equal((await user.ask('POST', '/v1/jobs', { prompt: 'x', repo, ref: 'main' })).status, 400, repo)
  for (const ref of ['--x', 'a b', '$(id)'])
    assert.equal((await user.ask('POST', '/v1/jobs', { prompt: 'x', repo: '/a', ref })).status, 400, ref)
  assert.deepEqual(it.errors, [])
})
