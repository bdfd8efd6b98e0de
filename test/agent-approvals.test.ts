/** A prompt that nobody answers becomes a row; another process decides it, and the run goes on at that call. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { place } from './support/program.ts'
import { modelServer } from './support/workflow.ts'

async function waiting(t: TestContext, approvals: object = {}) {
  const canary = 'made.txt'
  const model = await modelServer(t, [[{ name: 'Bash', input: { command: `touch ${canary} && echo made` } }]])
  const at = place(t, model.env)
  const settings = ['--settings', JSON.stringify({ approvals })]
  const first = await at.run(['-p', 'make it', '--output-format', 'json', ...settings])
  const [row] = at.rows<{ id: string; session_id: string }>('SELECT id, session_id FROM ona_approvals')
  const goOn = () => at.run(['-p', 'go on', '--resume', row!.session_id, ...settings])
  return { at, model, first, id: row!.id, goOn, made: () => existsSync(join(at.folder, canary)) }
}

test('an approved call runs when the session is resumed, and the model sees its result', async (t) => {
  const it = await waiting(t)
  assert.equal(it.made(), false)
  const listed = JSON.parse((await it.at.run(['approvals', 'list', '--json'])).stdout)
  assert.deepEqual(
    listed.map(({ id, tool, input, status }: Record<string, unknown>) => ({ id, tool, input, status })),
    [{ id: it.id, tool: 'Bash', input: { command: 'touch made.txt && echo made' }, status: 'pending' }],
  )
  const early = await it.goOn()
  assert.match(early.stdout + early.stderr, new RegExp(`still waits for approval ${it.id}`))
  assert.equal(it.model.requests.length, 1, 'nothing is sent while it waits')

  const approved = await it.at.run(['approvals', 'approve', it.id, '--as', 'Ada'])
  assert.deepEqual([approved.code, approved.stderr], [0, ''])
  const resumed = await it.goOn()
  assert.deepEqual([resumed.code, resumed.stdout], [0, 'done\n'])
  assert.equal(it.made(), true)
  assert.match(it.model.requests[1]!, /made\\n|made/)
  assert.deepEqual(JSON.parse((await it.at.run(['approvals', 'list', '--json'])).stdout), [])
  const [log] = it.at.rows<{ decision: string; reason_json: string }>(
    'SELECT decision, reason_json FROM tool_permission_log ORDER BY id DESC LIMIT 1',
  )
  assert.deepEqual([log!.decision, JSON.parse(log!.reason_json).by], ['allow', 'operator'])
})

test('a denied call does not run, and the model is told who denied it and why', async (t) => {
  const it = await waiting(t)
  assert.equal((await it.at.run(['approvals', 'deny', it.id, '--as', 'Ada', '--reason', 'not today'])).code, 0)
  assert.equal((await it.goOn()).code, 0)
  assert.equal(it.made(), false)
  assert.match(it.model.requests[1]!, /The user rejected this tool call: not today \(decided by Ada\)/)
  assert.equal((await it.at.run(['approvals', 'approve', it.id])).code, 1)
})

test('only its owner decides, and nobody after it expired', async (t) => {
  const it = await waiting(t, { owner: 'Grace', expiresAfterHours: 1 })
  const other = await it.at.run(['approvals', 'approve', it.id, '--as', 'Ada'])
  assert.deepEqual([other.code, /belongs to Grace, not to Ada/.test(other.stderr)], [1, true])
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(it.at.db)
  db.exec("UPDATE ona_approvals SET expires_at = '2000-01-01 00:00:00'")
  db.close()
  const late = await it.at.run(['approvals', 'approve', it.id, '--as', 'Grace'])
  assert.deepEqual([late.code, /is expired/.test(late.stderr)], [1, true])
  assert.equal((await it.goOn()).code, 0)
  assert.equal(it.made(), false)
  assert.match(it.model.requests[1]!, /interrupted: approval \w+ expired; the call was not run/)
})

test('a deny rule that came meanwhile still holds, and without the setting the call is denied at once', async (t) => {
  const it = await waiting(t)
  await it.at.run(['approvals', 'approve', it.id, '--as', 'Ada'])
  const row = it.at.rows<{ session_id: string }>('SELECT session_id FROM ona_approvals')[0]!
  const resumed = await it.at.run(['-p', 'go on', '--resume', row.session_id, '--disallowed-tools', 'Bash(touch *)'])
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.equal(it.made(), false)

  const model = await modelServer(t, [[{ name: 'Bash', input: { command: 'touch x' } }]])
  const at = place(t, model.env)
  await at.run(['-p', 'make it'])
  assert.match(model.requests[1]!, /needs permission/)
  assert.deepEqual(at.rows('SELECT id FROM ona_approvals'), [])
})
