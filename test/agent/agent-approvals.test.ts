/** A prompt that nobody answers becomes a row; another process decides it, and the run goes on at that call. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { place } from '../support/program.ts'
import { modelServer } from '../support/workflow.ts'

async function waiting(t: TestContext, approvals: object = {}) {
  const canary = 'made.txt'
  const model = await modelServer(t, [[{ name: 'Bash', input: { command: `touch ${canary} && echo made` } }]])
  const at = place(t, model.env)
  const settings = ['--settings', JSON.stringify({ approvals })]
  const first = await at.run(['-p', 'make it', '--output-format', 'json', ...settings])
  const [row] = at.rows<{ id: string; session_id: string }>('SELECT id, session_id FROM ona_approvals')
  const goOn = (...words: string[]) => at.run(['-p', ...words, '--resume', row!.session_id, ...settings])
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
  const deferred = JSON.parse(it.first.stdout)
  assert.deepEqual(
    [it.first.code, deferred.terminal_reason, deferred.approval, deferred.deferred_tool_use],
    [0, 'tool_deferred', it.id, { id: 'call_1_0', name: 'Bash', input: { command: 'touch made.txt && echo made' } }],
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

test('a decision to deny holds against an allow rule, and an approval does not cover what a hook makes of the call later', async (t) => {
  const denied = await waiting(t)
  await denied.at.run(['approvals', 'deny', denied.id, '--as', 'Ada'])
  await denied.goOn('--allowed-tools', 'Bash')
  assert.equal(denied.made(), false)

  const other = await waiting(t)
  await other.at.run(['approvals', 'approve', other.id, '--as', 'Ada'])
  const changed = JSON.stringify({
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'touch other.txt' } },
  })
  other.at.write('.ona/settings.json', {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `echo '${changed}'` }] }] },
  })
  const again = await other.goOn('--trust', '--output-format', 'json')
  assert.equal(JSON.parse(again.stdout).terminal_reason, 'tool_deferred')
  assert.deepEqual(
    other.at
      .rows<{ input_json: string }>('SELECT input_json FROM ona_approvals ORDER BY rowid')
      .map((r) => r.input_json),
    ['{"command":"touch made.txt && echo made"}', '{"command":"touch other.txt"}'],
  )
  assert.deepEqual([other.made(), existsSync(join(other.at.folder, 'other.txt'))], [false, false])
})

test('without a prompt a session resumes at the call that waited, and only there', async (t) => {
  const it = await waiting(t)
  await it.at.run(['approvals', 'approve', it.id])
  assert.deepEqual([(await it.goOn()).stdout, it.made()], ['done\n', true])
  const nothing = await it.goOn()
  assert.deepEqual([nothing.code, /no call of this session waits for an approval/.test(nothing.stderr)], [2, true])
})

test('a call that crashed after its approval is not run a second time', async (t) => {
  const it = await waiting(t)
  await it.at.run(['approvals', 'approve', it.id])
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(it.at.db)
  db.exec('UPDATE ona_approvals SET settled = 1') // as a process does before it runs the call
  db.close()
  await it.goOn('go on')
  assert.equal(it.made(), false)
  assert.match(it.model.requests[1]!, /\[SDLC_INTERNAL\] interrupted/)
})

const touch = { name: 'Bash', input: { command: 'touch made.txt && echo made' } }
const agentCall = (more: object = {}) => ({
  name: 'Agent',
  input: { description: 'make a file', prompt: 'Make made.txt.', ...more },
})

test("a sub-agent's call waits, its parent's with it, and both go on after the decision", async (t) => {
  const model = await modelServer(t, [[agentCall()], [touch]])
  const at = place(t, model.env)
  const settings = ['--settings', '{"approvals":{}}']
  const first = JSON.parse((await at.run(['-p', 'delegate it', '--output-format', 'json', ...settings])).stdout)
  const [waits] = JSON.parse((await at.run(['approvals', 'list', '--json'])).stdout)
  assert.deepEqual(
    [first.terminal_reason, waits.agent, waits.resume, waits.prompt, waits.projectDir],
    ['tool_deferred', 'general-purpose', first.session_id, 'Make made.txt.', at.folder],
  )
  assert.equal(model.requests.length, 2)
  const goOn = () => at.run(['-p', '--resume', waits.resume, ...settings])
  const early = await goOn()
  assert.match(early.stdout, new RegExp(`still waits for approval ${waits.id}`))
  assert.equal((await at.run(['approvals', 'approve', waits.id])).code, 0)
  const resumed = await goOn()
  assert.deepEqual([resumed.code, resumed.stdout, resumed.stderr], [0, 'done\n', ''])
  assert.equal(existsSync(join(at.folder, 'made.txt')), true)
  assert.match(model.requests[2]!, /Make made\.txt[\s\S]*made/, 'the sub-agent sees the result of its call')
  assert.match(model.requests[3]!, /delegate it[\s\S]*agentId/, 'and its parent what it answered')
  assert.deepEqual(at.rows('SELECT * FROM ona_waiting_calls'), [])
  assert.deepEqual(at.rows('SELECT session_id FROM ona_subagents').length, 1)
})

test('of agents side by side each waits for its own approval, and the parent is resumed after the last', async (t) => {
  const make = (name: string) => ({
    name: 'Agent',
    input: { description: name, prompt: `Make ${name}.` },
  })
  const model = await modelServer(t, [[make('one.txt'), make('two.txt')]])
  for (const name of ['one.txt', 'two.txt'])
    model.when(
      (body) => lastOf(body).includes(`Make ${name}.`),
      [{ name: 'Bash', input: { command: `touch ${name}` } }],
    )
  const at = place(t, model.env)
  const settings = ['--settings', '{"approvals":{}}']
  const first = JSON.parse((await at.run(['-p', 'delegate both', '--output-format', 'json', ...settings])).stdout)
  assert.equal(first.terminal_reason, 'tool_deferred')
  const waits: { id: string; resume: string }[] = JSON.parse((await at.run(['approvals', 'list', '--json'])).stdout)
  assert.equal(waits.length, 2)
  const goOn = () => at.run(['-p', '--resume', first.session_id, ...settings])
  const made = () => ['one.txt', 'two.txt'].map((name) => existsSync(join(at.folder, name)))
  for (const { id } of waits) {
    assert.match((await goOn()).stdout, /still waits for approval/)
    assert.equal((await at.run(['approvals', 'approve', id])).code, 0)
  }
  const resumed = await goOn()
  assert.deepEqual([resumed.code, resumed.stdout, made()], [0, 'done\n', [true, true]], resumed.stderr)
  const results = at.rows<{ n: number }>(
    `SELECT count(*) AS n FROM transcript_entries WHERE entry_type = 'tool_result' AND session_id = '${first.session_id}'`,
  )
  assert.deepEqual([results[0]?.n, at.rows('SELECT * FROM ona_waiting_calls')], [2, []])
})

test('a skill that runs as a sub-agent waits and goes on in the middle; what it embeds runs once', async (t) => {
  const model = await modelServer(t, [[{ name: 'Skill', input: { skill: 'maker' } }], [touch]])
  const at = place(t, model.env)
  at.write('count.sh', 'echo run >> embedded.txt')
  at.write(
    '../home/.ona/skills/maker/SKILL.md',
    `---\nname: maker\ndescription: makes a file\ncontext: fork\nallowed-tools: Bash(sh count.sh)\n---\nMake made.txt. !\`sh count.sh\`\n`,
  )
  const settings = ['--settings', '{"approvals":{},"permissions":{"allow":["Bash(sh count.sh)"]}}']
  const first = JSON.parse((await at.run(['-p', 'make it', '--output-format', 'json', ...settings])).stdout)
  assert.equal(first.terminal_reason, 'tool_deferred', JSON.stringify(first))
  const [waits] = JSON.parse((await at.run(['approvals', 'list', '--json'])).stdout)
  assert.equal((await at.run(['approvals', 'approve', waits.id])).code, 0)
  const resumed = await at.run(['-p', '--resume', waits.resume, ...settings])
  assert.deepEqual([resumed.code, resumed.stdout], [0, 'done\n'], resumed.stderr)
  assert.deepEqual(
    ['made.txt', 'embedded.txt'].map((file) => readFileSync(join(at.folder, file), 'utf8')),
    ['', 'run\n'],
  )
  assert.match(model.requests.at(-1)!, /The sub-agent that ran skill maker answers/)
  assert.deepEqual(at.rows('SELECT * FROM ona_waiting_calls'), [])
})

test('an agent in the background that waits is resumed in the background', async (t) => {
  const model = await modelServer(t, [[agentCall({ run_in_background: true })]])
  const at = place(t, model.env)
  const settings = ['--settings', '{"approvals":{}}']
  // whichever of parent and child asks first: the child's one request has its prompt as its last words
  model.when((body) => /Make made\.txt\.[^{]*$/.test(lastOf(body)), [touch])
  const first = JSON.parse((await at.run(['-p', 'delegate it', '--output-format', 'json', ...settings])).stdout)
  assert.equal(first.result, 'done')
  const [waits] = JSON.parse((await at.run(['approvals', 'list', '--json'])).stdout)
  assert.equal((await at.run(['approvals', 'approve', waits.id])).code, 0)
  const resumed = await at.run(['-p', 'what came of it?', '--resume', waits.resume, ...settings])
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.equal(existsSync(join(at.folder, 'made.txt')), true)
  assert.ok(model.requests.some((body) => /<task-notification>[\s\S]*completed/.test(body)))
})

const lastOf = (body: string): string => JSON.stringify(JSON.parse(body).messages.at(-1))
