/** Sub-agents, compaction and memory, through the program. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeMemory } from '../../src/store/memories.ts'
import { openDb } from '../../src/store/open.ts'
import { live } from '../support/live.ts'
import { call, type Line, testModel } from '../support/model/model.ts'
import { anthropic } from '../support/model/wire.ts'
import { status, stream, wireServer } from '../support/model/wire-server.ts'
import { place } from '../support/program.ts'
import { modelServer } from '../support/workflow.ts'

test('a sub-agent is what its definition says: prompt, tools, turns; its calls pass the hooks under its name', async (t) => {
  const at = place(t)
  const log = join(at.home, 'log')
  at.write(
    '.ona/agents/scout.md',
    '---\nname: scout\ndescription: Looks\ntools: Read, Bash\nmaxTurns: 3\n---\nYou scout.\n',
  )
  const hooks = [{ hook_event_name: 'PreToolUse', matcher: 'Bash|Write', shell: 'sh', command: `cat >> ${log}` }]
  const { env, chats } = await testModel(t, [
    call('Agent', { description: 'scout it', prompt: 'Go.', subagent_type: 'scout' }),
    call('Write', { file_path: 'x', content: 'x' }),
    call('Bash', { command: 'echo seen' }),
    { text: 'I saw it.' },
    { text: 'Done.' },
  ])
  const words = ['--settings', JSON.stringify({ hooks }), '--permission-mode', 'bypassPermissions']
  const ran = await at.run(['-p', 'go', ...words], { env })
  assert.deepEqual([ran.code, ran.stdout], [0, 'Done.\n'], ran.stderr)
  const [, scout, afterWrite] = chats
  assert.match(scout!.messages[0]!.text, /You scout\./)
  assert.deepEqual(scout!.tools.map(({ name }) => name).sort(), ['Bash', 'Read'])
  assert.deepEqual(
    scout!.messages.slice(1).map(({ text }) => text),
    ['Go.'],
    'it sees nothing of the conversation',
  )
  assert.match(afterWrite!.messages.at(-1)!.text, /there is no tool named Write/)
  const heard = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    heard.map(({ tool_name, agent_type }) => [tool_name, agent_type]),
    [['Bash', 'scout']],
  )
  const rows = at.rows<{ session_id: string; n: number }>(
    'SELECT session_id, count(*) AS n FROM transcript_entries GROUP BY session_id ORDER BY min(id)',
  )
  assert.equal(rows.length, 2)
  assert.equal(rows[1]?.session_id, heard[0].session_id)
  assert.equal(
    chats
      .at(-1)!
      .messages.findLast(({ role }) => role === 'tool')
      ?.text.startsWith('I saw it.'),
    true,
  )
  const [resumed] = at.rows<{ n: number }>('SELECT count(*) AS n FROM ona_subagents')
  assert.equal(resumed?.n, 1)
})

test("a sub-agent's session is the operator's to go on with, and never what --continue means", async (t) => {
  const at = place(t)
  const input = { description: 'look', prompt: 'Look.', subagent_type: 'explore' }
  const { env, chats } = await testModel(t, [call('Agent', input), { text: 'Seen.' }, { text: 'Done.' }])
  await at.run(['-p', 'go', '--permission-mode', 'bypassPermissions'], { env })
  const [main, child] = at.rows<{ id: string }>('SELECT session_id AS id FROM sessions ORDER BY rowid')
  const told = chats.at(-1)!.messages.at(-1)!.text
  assert.match(told, /\nagentId: [0-9a-f-]{36}\n/)
  const prompts = () => chats.at(-1)!.messages.flatMap(({ role, text }) => (role === 'user' ? [text] : []))
  await at.run(['-p', 'and now?', '--resume', child!.id], { env })
  assert.deepEqual(prompts(), ['Look.', 'and now?'])
  const went = await at.run(['-p', 'on', '--continue', '--output-format', 'json'], { env })
  assert.equal(JSON.parse(went.stdout).session_id, main!.id)
})

test('a sub-agent may have another model', async (t) => {
  const calls = [
    {
      id: 'a',
      name: 'Agent',
      args: JSON.stringify({ description: 'x', prompt: 'y', subagent_type: 'explore', model: 'haiku' }),
    },
  ]
  const server = await wireServer(
    stream(anthropic.frames({ calls })),
    stream(anthropic.frames({ text: ['Small.'] })),
    stream(anthropic.frames({ text: ['Done.'] })),
  )
  t.after(() => server.close())
  const at = place(t, anthropic.env(server.url))
  await at.run(['-p', 'go', '--model', 'sonnet', '--permission-mode', 'bypassPermissions'])
  const models = server.seen.map(({ body }) => String(JSON.parse(body).model).match(/sonnet|haiku/)?.[0])
  assert.deepEqual(models, ['sonnet', 'haiku', 'sonnet'])
})

test("a size of Claude's that a definition, a skill or a call names means the session's model where that is another's", async (t) => {
  const at = place(t)
  at.write('../home/.ona/agents/scout.md', '---\nname: scout\ndescription: Looks\nmodel: haiku\n---\nYou scout.\n')
  at.write('../home/.ona/skills/look/SKILL.md', '---\nname: look\ndescription: Looks\nmodel: opus\n---\nLook.\n')
  const input = { description: 'look', prompt: 'Go.', subagent_type: 'scout' }
  const { env, chats } = await testModel(t, [
    call('Agent', input),
    { text: 'Seen.' },
    call('Agent', { ...input, model: 'sonnet' }),
    { text: 'Seen again.' },
  ])
  // with a key for the other provider: nothing of a local session may go there
  const both = { ...env, ANTHROPIC_API_KEY: 'sk-ant-x', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }
  const words = ['--permission-mode', 'bypassPermissions', '--model', 'lm_studio_server_routed']
  const ran = await at.run(['-p', 'go', ...words], { env: both })
  assert.deepEqual([ran.code, ran.stdout], [0, 'Done.\n'], ran.stderr)
  assert.match(chats[2]!.messages.at(-1)!.text, /^Seen\./)
  assert.match(chats[4]!.messages.at(-1)!.text, /^Seen again\./)
  assert.match(ran.stderr, /agent scout asks for haiku, which lm_studio_local does not have; it works with/)
  const skill = await at.run(['-p', '/look', ...words], { env: both })
  assert.deepEqual([skill.code, skill.stdout], [0, 'Done.\n'], skill.stderr)
  const alone = await at.run(['-p', 'go', '--agent', 'scout'], { env })
  assert.deepEqual([alone.code, alone.stdout], [0, 'Done.\n'], alone.stderr)
})

test('agents in the background work side by side, and the session hears of their end', async (t) => {
  const both = Promise.withResolvers<void>()
  let running = 0
  const line: Line = async (chat) => {
    const own = chat.messages.find(({ text }) => text === 'One.' || text === 'Two.')
    if (own) {
      if (++running === 2) both.resolve()
      await both.promise // each waits until the other is at work too
      return { text: `${own.text} is done.` }
    }
    const over = chat.messages.map(({ text }) => text).join('\n')
    if (!over.includes('One. is done.')) return call('TaskOutput', { task_id: 'agent_1' })
    if (!over.includes('Two. is done.')) return call('TaskOutput', { task_id: 'agent_2' })
    return { text: 'Both are done.' }
  }
  const input = (prompt: string) => ({
    name: 'Agent',
    input: { description: prompt, prompt, subagent_type: 'explore', run_in_background: true },
  })
  const { env } = await testModel(t, [
    { calls: [input('One.'), input('Two.')] },
    ...Array.from({ length: 8 }, () => line),
  ])
  const at = place(t)
  const ran = await at.run(['-p', 'go', '--permission-mode', 'bypassPermissions'], { env })
  assert.deepEqual([ran.code, ran.stdout], [0, 'Both are done.\n'], ran.stderr)
})

/** A session that starts an agent in the background and says no more until it hears of its end. */
function background(): Line[] {
  const line: Line = (chat) => {
    const said = chat.messages.map(({ text }) => text).join('\n')
    if (chat.messages.some(({ text }) => text === 'Look.')) return { text: 'It is in a.ts.' }
    const news = /<task-notification>.*<status>completed<\/status>.*<result>It is in a\.ts\.[\s\S]*<\/result>/.test(
      said,
    )
    return { text: news ? 'a.ts has it.' : 'It looks.' }
  }
  const input = { description: 'look', prompt: 'Look.', subagent_type: 'explore', run_in_background: true }
  return [call('Agent', input), line, line, line, line]
}

test('-p: what an agent in the background found is heard before the answer is given', async (t) => {
  const { env, chats } = await testModel(t, background())
  const at = place(t)
  const ran = await at.run(['-p', 'go', '--permission-mode', 'bypassPermissions'], { env })
  assert.deepEqual([ran.code, ran.stdout], [0, 'a.ts has it.\n'], ran.stderr)
  const told = chats.at(-1)!.messages.filter(({ text }) => text.includes('<task-notification>'))
  assert.equal(told.length, 1, 'its end is told once')
})

test('a driver hears the answer at once, and another one when the agent in the background has ended', async (t) => {
  const { env } = await testModel(t, background())
  const at = place(t)
  const flags = ['--input-format', 'stream-json', '--output-format', 'stream-json']
  const it = live(t, at, ['-p', ...flags, '--permission-mode', 'bypassPermissions'], env)
  it.send('{"type":"user","message":{"role":"user","content":"go"}}')
  const results = () => it.messages().flatMap(({ type, result }) => (type === 'result' ? [result] : []))
  await it.until(() => results().includes('a.ts has it.'))
  assert.equal((await it.end()).code, 0)
  assert.equal(results().at(-1), 'a.ts has it.')
})

test('@agent-name asks for that agent', async (t) => {
  const { env, chats } = await testModel(t)
  const at = place(t)
  await at.run(['-p', 'where is it? @agent-explore'], { env })
  assert.match(
    chats[0]!.messages.at(-1)!.text,
    /wants the agent explore for this: call Agent with subagent_type "explore"/,
  )
})

test('a full window is compacted before the next request; one that stays full ends the turn', async (t) => {
  const calls = [{ id: 'a', name: 'Bash', args: '{"command":"true"}' }]
  const full = stream(anthropic.frames({ calls, inputTokens: 190_000 }))
  const summary = stream(anthropic.frames({ text: ['What was said.'] }))
  const once = await wireServer(full, summary, stream(anthropic.frames({ text: ['Done.'] })))
  t.after(() => once.close())
  const at = place(t, anthropic.env(once.url))
  const words = ['--permission-mode', 'bypassPermissions']
  const ran = await at.run(['-p', 'go', ...words])
  assert.deepEqual([ran.code, ran.stdout], [0, 'Done.\n'], ran.stderr)
  assert.match(once.seen[2]!.body, /The conversation so far, in summary:\\nWhat was said\./)
  assert.equal(at.rows('SELECT 1 FROM summaries').length, 1)

  const thrash = await wireServer((response, request) =>
    (JSON.parse(request.body).tools?.length > 0 ? full : summary)(response, request),
  )
  t.after(() => thrash.close())
  const there = place(t, anthropic.env(thrash.url))
  const ended = await there.run(['-p', 'go', ...words])
  assert.equal(ended.code, 1)
  assert.match(ended.stdout, /filled the window again after 3 compactions/)
  assert.equal(thrash.seen.length, 7, 'four requests of the turn, three summaries')
})

test('a conversation that the server finds too long is compacted, and asked again', async (t) => {
  const tooLong = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  }
  const server = await wireServer(
    status(400, tooLong),
    stream(anthropic.frames({ text: ['What was said.'] })),
    stream(anthropic.frames({ text: ['Done.'] })),
  )
  t.after(() => server.close())
  const at = place(t, anthropic.env(server.url))
  const ran = await at.run(['-p', 'go'])
  assert.deepEqual([ran.code, ran.stdout, server.seen.length], [0, 'Done.\n', 3], ran.stderr)
})

test('a reply that ends because the window is full is asked for again after a compaction', async (t) => {
  const full = {
    type: 'message_delta',
    delta: { stop_reason: 'model_context_window_exceeded' },
    usage: { output_tokens: 3 },
  }
  const frames = anthropic.frames({ text: ['Half of an ans'] })
  const cut = frames.map((frame) =>
    frame.includes('message_delta') ? `event: message_delta\ndata: ${JSON.stringify(full)}\n\n` : frame,
  )
  const server = await wireServer(
    stream(cut),
    stream(anthropic.frames({ text: ['What was said.'] })),
    stream(anthropic.frames({ text: ['The whole answer.'] })),
  )
  t.after(() => server.close())
  const at = place(t, anthropic.env(server.url))
  const ran = await at.run(['-p', 'go'])
  assert.deepEqual([ran.code, ran.stdout, server.seen.length], [0, 'The whole answer.\n', 3], ran.stderr)
  assert.equal(at.rows('SELECT 1 FROM summaries').length, 1)
})

test('what is remembered and fits is put beside the prompt, and the user is told', async (t) => {
  const { env, chats } = await testModel(t)
  const at = place(t)
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(join(at.home, '.ona/settings.json'), '{}')
  const db = openDb(at.db)
  writeMemory(db, { type: 'feedback', title: 'Tests run with vitest', content: 'never with jest' })
  db.close()
  const ran = await at.run(['-p', 'how do the vitest tests run?', '--verbose'], { env })
  assert.match(ran.stderr, /Remembered: Tests run with vitest/)
  assert.match(
    chats[0]!.messages.at(-1)!.text,
    /From memory, where it helps:\n- Tests run with vitest: never with jest/,
  )
  await at.run(['-p', 'unrelated words'], { env })
  assert.doesNotMatch(chats[1]!.messages.at(-1)!.text, /From memory/)
})

test('a session in which another process works is not gone on with, but may be copied; after a kill it is free again', async (t) => {
  const at = place(t)
  const { env, chats } = await testModel(t, [call('Bash', { command: 'touch begun; sleep 60' })])
  const id = crypto.randomUUID()
  const free = ['--permission-mode', 'bypassPermissions']
  const first = live(t, at, ['-p', 'one', '--session-id', id, ...free], env)
  void first.end()
  await first.until(() => existsSync(join(at.folder, 'begun')))
  const rows = () => at.rows(`SELECT entry_type FROM transcript_entries WHERE session_id = '${id}'`).length
  const before = rows()

  for (const how of [['--resume', id], ['--continue']]) {
    const second = await at.run(['-p', 'two', ...how, ...free], { env })
    assert.deepEqual([second.code, second.stdout], [1, ''])
    assert.match(second.stderr, /another ona is at work in it \(process \d+\).*--fork-session/)
  }
  const copied = await at.run(['-p', 'two', '--resume', id, '--fork-session', ...free], { env })
  assert.deepEqual([copied.code, copied.stdout], [0, 'Done.\n'], copied.stderr)
  assert.match(chats.at(-1)!.messages.find(({ role }) => role === 'tool')!.text, /\[SDLC_INTERNAL\] interrupted/)
  assert.equal(rows(), before, 'the original is as it was')

  first.kill('SIGKILL')
  await first.end()
  const third = await at.run(['-p', 'three', '--resume', id, ...free], { env })
  assert.deepEqual([third.code, third.stdout], [0, 'Done.\n'], third.stderr)
  assert.equal(rows(), before + 3, 'the result of the lost call, the prompt and the answer')
  assert.deepEqual(at.rows("SELECT key FROM state WHERE key LIKE 'working:%'"), [])
})

test('what ona --eval read is not sent to a model when the conversation goes on', async (t) => {
  const model = await modelServer(t, [])
  const at = place(t, model.env)
  const file = at.write('secret.txt', 'canary-2b61')
  const control = at.write('plain.txt', 'x')
  assert.equal((await at.run(['-p', `hello @${control}`])).code, 0)
  const call = JSON.stringify({ tool: 'Read', input: { file_path: file } })
  const ran = await at.run(['--eval', call])
  assert.match(ran.stdout, /canary-2b61/)
  assert.equal((await at.run(['-p', 'go on', '--continue'])).code, 0)
  assert.equal(model.requests.length, 2)
  assert.match(model.requests[1]!, /hello @/, 'it is the same conversation')
  assert.deepEqual(
    model.requests.filter((request) => request.includes('canary-2b61')),
    [],
  )
})
