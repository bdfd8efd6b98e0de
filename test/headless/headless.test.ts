/** `ona -p` as scripts and CI use it: formats, flags, limits, exit codes, signals. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { flags } from '../../src/cli/flags.ts'
import { commands } from '../../src/cli/table.ts'
import { isFull, sampled } from '../support/campaign-size.ts'
import { live } from '../support/live.ts'
import { call, type Line, type TestModel, testModel } from '../support/model/model.ts'
import { anthropic } from '../support/model/wire.ts'
import { type Answer, status, stream, wireServer } from '../support/model/wire-server.ts'
import { testPassedFlags } from '../support/passed-flags.ts'
import { type Place, place, type Ran } from '../support/program.ts'

interface Run {
  readonly at: Place
  readonly model: TestModel
  ask(prompt: string, ...flags: string[]): Promise<Ran>
}

const root = join(import.meta.dirname, '../..')

async function headless(t: TestContext, lines: readonly Line[] = [], at = place(t)): Promise<Run> {
  const model = await testModel(t, lines)
  return {
    at,
    model,
    ask(prompt, ...words) {
      return at.run(['-p', prompt, ...words], { env: model.env })
    },
  }
}

const messages = (ran: Ran) =>
  ran.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const toolsTold = (model: TestModel) => model.chats.at(-1)!.tools.map(({ name }) => name)
const systemOf = (model: TestModel) => model.chats.at(-1)!.messages[0]!.text

test('text is the answer alone; json is one object; stream-json is every message, and the result last', async (t) => {
  const script = () => [call('Bash', { command: 'echo hi' }), { text: 'It says hi.' }]
  const { at, ask } = await headless(t, [...script(), ...script(), ...script()])
  const text = await ask('go', '--allowed-tools', 'Bash(echo *)')
  assert.deepEqual([text.code, text.stdout, text.stderr], [0, 'It says hi.\n', ''])

  const json = await ask('go', '--allowed-tools', 'Bash(echo *)', '--output-format', 'json')
  const [result, ...none] = messages(json)
  assert.deepEqual(none, [])
  const { uuid, session_id, duration_ms, duration_api_ms, usage, modelUsage, ...rest } = result
  assert.deepEqual(rest, {
    type: 'result',
    subtype: 'success',
    is_error: false,
    num_turns: 2,
    result: 'It says hi.',
    stop_reason: 'end_turn',
    total_cost_usd: 0,
    permission_denials: [],
    terminal_reason: 'completed',
  })
  assert.ok(duration_ms >= duration_api_ms && duration_api_ms > 0)
  assert.ok(usage.input_tokens > 0 && modelUsage['rehearsal'].outputTokens > 0)
  assert.ok(at.rows(`SELECT 1 FROM sessions WHERE session_id = '${session_id}'`).length === 1)

  const streamed = messages(await ask('go', '--allowed-tools', 'Bash(echo *)', '--output-format', 'stream-json'))
  assert.deepEqual(
    streamed.map(({ type, subtype }) => (subtype ? `${type}/${subtype}` : type)),
    ['system/init', 'assistant', 'user', 'assistant', 'result/success'],
  )
  const [init, called, answered] = streamed
  assert.ok(init.tools.includes('Bash') && init.cwd === realpathSync(at.folder))
  assert.deepEqual(called.message.content[0], {
    type: 'tool_use',
    id: called.message.content[0].id,
    name: 'Bash',
    input: { command: 'echo hi' },
  })
  assert.deepEqual(answered.message.content, [
    { type: 'tool_result', tool_use_id: called.message.content[0].id, content: 'hi\n', is_error: false },
  ])
  assert.ok(streamed.every((each) => each.uuid && each.session_id === init.session_id))
})

test('text as it comes in, what hooks did, and what a sub-agent does are told where they are asked for', async (t) => {
  const { ask } = await headless(t, [
    call('Agent', { description: 'look', prompt: 'Look.', subagent_type: 'explore' }),
    call('Glob', { pattern: '*' }),
    { text: 'Found.' },
    { text: 'All of it.' },
  ])
  const hooks = [{ hook_event_name: 'PreToolUse', matcher: 'Glob', shell: 'sh', command: 'echo no >&2; exit 2' }]
  const flagsGiven = ['--output-format', 'stream-json', '--include-partial-messages', '--include-hook-events']
  const ran = messages(
    await ask('go', ...flagsGiven, '--allowed-tools', 'Agent', '--settings', JSON.stringify({ hooks })),
  )
  const events = ran.filter(({ type }) => type === 'stream_event').map(({ event }) => event)
  assert.equal(
    events.map(({ delta }) => delta?.text ?? '').join(''),
    'All of it.',
    'the words of the session, none of the sub-agent',
  )
  assert.deepEqual(
    [0, 1, -3, -2, -1].map((at) => events.at(at).type),
    ['message_start', 'content_block_start', 'content_block_stop', 'message_delta', 'message_stop'],
  )
  const [hook] = ran.filter(({ subtype }) => subtype === 'hook_response')
  assert.deepEqual([hook.hook_event, hook.outcome], ['PreToolUse', 'denied'])
  const started = ran.find(({ type, message }) => type === 'assistant' && message.content[0]?.name === 'Agent')
  const inner = ran.find(({ type, message }) => type === 'assistant' && message.content[0]?.name === 'Glob')
  assert.equal(inner.parent_tool_use_id, started.message.content[0].id)
  assert.equal(started.parent_tool_use_id, null)
})

test('the prompt may come by words, by pipe or by both; none is wrong usage', async (t) => {
  const { at, model } = await headless(t)
  await at.run(['-p', 'and', 'this'], { env: model.env, input: 'a file\n' })
  assert.equal(model.chats.at(-1)!.messages.at(-1)!.text, 'a file\n\n\nand this')
  const none = await at.run(['-p'], { env: model.env })
  assert.deepEqual([none.code, none.stdout], [2, ''])
  assert.match(none.stderr, /there is no prompt/)
  const silent = live(t, at, ['-p', 'hello'], model.env) // stdin stays open and says nothing
  await silent.until(() => silent.stdout() === 'Done.\n')
  const much = await at.run(['-p', 'x'], { env: model.env, input: 'x'.repeat(11 * 1024 * 1024) })
  assert.equal(much.code, 2)
  assert.match(much.stderr, /10 MB/)
})

test('wrong usage is exit code 2, on stderr, before anything is asked', async (t) => {
  const { at, model, ask } = await headless(t)
  const wrong: [string[], RegExp][] = [
    [['--max-turns', '0'], /must be a number above 0/],
    [['--max-budget-usd', 'x'], /must be a number above 0/],
    [['--output-format', 'xml'], /must be one of text, json, stream-json/],
    [['--input-format', 'stream-json'], /needs --output-format stream-json/],
    [['--permission-mode', 'yolo'], /must be one of/],
    [['--session-id', 'x'], /must be a UUID/],
    [['--fork-session'], /needs --continue or --resume/],
    [['--resume'], /needs an id or a name/],
    [['--agents', '{'], /--agents: it is not JSON/],
    [['--agents', '{"a":{}}'], /--agents: a: prompt is missing/],
    [['--add-dir', '/nonexistent/x'], /is not a folder/],
    [['--cwd', '/nonexistent/x'], /is not a folder/],
    [['--system-prompt-file', '/nonexistent/x'], /--system-prompt-file: .*no such file/],
    [['--system-prompt', 'a', '--system-prompt-file', '/etc/hostname'], /exclude each other; keep one/],
    [['--setting-sources', 'moon'], /takes user, project and local/],
    [['--json-schema', '{'], /--json-schema is not a valid JSON Schema/],
    [['--json-schema', '{"type":"strnig"}'], /type has a wrong value/],
    [['--json-schema', '{"properties":{"a":{"pattern":"("}}}'], /properties\.a\.pattern has a wrong value/],
    [['--json-schema', '{"$ref":"#/x"}'], /\$ref is a keyword that is not supported/],
  ]
  for (const [words, why] of wrong) {
    const ran = await ask('hello', ...words)
    assert.deepEqual([ran.code, ran.stdout], [2, ''], words.join(' '))
    assert.match(ran.stderr, why)
  }
  assert.deepEqual(model.chats, [])
  assert.equal((await at.run(['--nonsense'], { env: model.env })).code, 2)
  const lost = await ask('hello', '--resume', 'nobody')
  assert.deepEqual([lost.code, lost.stdout], [1, ''])
  assert.match(lost.stderr, /No conversation found with session ID: nobody/)
  const agent = await ask('hello', '--agent', 'nobody')
  assert.match(agent.stderr, /there is no agent "nobody"; there are: general-purpose, explore, plan/)
})

test('--tools, --disallowed-tools and --bare say which tools there are', async (t) => {
  const { model, ask } = await headless(t)
  await ask('hello', '--tools', 'Read,Bash')
  assert.deepEqual(toolsTold(model).sort(), ['Bash', 'Read'])
  await ask('hello', '--disallowed-tools', 'Bash', 'Edit(/etc/**)')
  assert.deepEqual([toolsTold(model).includes('Bash'), toolsTold(model).includes('Edit')], [false, true])
  await ask('hello', '--tools', 'default')
  assert.equal(toolsTold(model).includes('Bash'), true)
})

test('a tool that is hidden cannot be called', async (t) => {
  const { at, ask } = await headless(t, [call('Bash', { command: 'touch x' })])
  await ask('hello', '--tools', 'Read', '--dangerously-skip-permissions')
  assert.equal(existsSync(join(at.folder, 'x')), false)
})

test('system prompts, instructions, settings and folders are as the flags say', async (t) => {
  const at = place(t)
  const other = join(at.home, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'note.txt'), 'from beside')
  at.write('ONA.md', 'Speak like a pirate.')
  at.write('.ona/settings.json', { permissions: { deny: ['Read(a.txt)'] } })
  const read = call('Read', { file_path: join(other, 'note.txt') })
  const { model, ask } = await headless(t, [], at)
  await ask('hello', '--append-system-prompt', 'And rhyme.')
  assert.match(systemOf(model), /You are ona[\s\S]*pirate[\s\S]*And rhyme\./)
  await ask('hello', '--system-prompt', 'You are a tree.')
  assert.match(systemOf(model), /You are a tree\./)
  assert.doesNotMatch(systemOf(model), /You are ona/)
  const file = at.write('prompt.md', 'You are a bush.')
  await ask('hello', '--system-prompt-file', file, '--append-system-prompt', 'Be', '--append-system-prompt-file', file)
  assert.match(systemOf(model), /^You are a bush\.[\s\S]*Be\s+You are a bush\.$/)
  at.write('.ona/skills/count/SKILL.md', '---\nname: count\ndescription: Counts\n---\nCount.')
  await ask('hello', '--disable-slash-commands')
  assert.doesNotMatch(systemOf(model), /count: Counts/)
  assert.match((await ask('/count', '--disable-slash-commands')).stdout, /Unknown command: \/count/)
  await ask('hello', '--bare')
  assert.doesNotMatch(systemOf(model), /pirate/)

  const within = await headless(t, [read, { text: 'ok' }], at)
  const denied = await within.ask('hello', '--permission-mode', 'acceptEdits', '--output-format', 'json')
  assert.equal(messages(denied)[0].permission_denials.length, 1)
  const beside = await headless(t, [read, { text: 'ok' }], at)
  const added = ['--permission-mode', 'acceptEdits', '--add-dir', other, '--output-format', 'json']
  assert.equal(messages(await beside.ask('hello', ...added))[0].permission_denials.length, 0)

  const rule = ['--settings', '{"permissions":{"allow":["Read"]}}', '--output-format', 'json']
  const a = () => [call('Read', { file_path: at.write('a.txt', 'x') }), { text: 'ok' }]
  const project = await headless(t, a(), at)
  assert.equal(messages(await project.ask('hello', ...rule))[0].permission_denials.length, 1)
  const user = await headless(t, a(), at)
  assert.equal(
    messages(await user.ask('hello', ...rule, '--setting-sources', 'user'))[0].permission_denials.length,
    0,
    'the deny rule of the project is not read',
  )
  const elsewhere = await ask('hello', '--cwd', other, '--output-format', 'stream-json')
  assert.equal(messages(elsewhere)[0].cwd, other)
})

test('--agents and --agent: whoever is defined there works, with its prompt, tools and model', async (t) => {
  const agents = JSON.stringify({
    poet: { description: 'Writes verse', prompt: 'You are a poet.', tools: ['Read'] },
  })
  const { model, ask } = await headless(t, [
    call('Agent', { description: 'verse', prompt: 'Write.', subagent_type: 'poet' }),
    { text: 'Roses.' },
    { text: 'Done.' },
  ])
  await ask('hello', '--agents', agents, '--allowed-tools', 'Agent')
  const [, poet] = model.chats
  assert.match(poet!.messages[0]!.text, /You are a poet\./)
  assert.deepEqual(
    poet!.tools.map(({ name }) => name),
    ['Read'],
  )
  const whole = await ask('hello', '--agents', agents, '--agent', 'poet', '--output-format', 'json')
  assert.equal(whole.code, 0, whole.stderr)
  assert.match(systemOf(model), /You are a poet\./)
  assert.deepEqual(toolsTold(model), ['Read'])
})

test('sessions: named, continued, resumed by id, by name and by the id of their conversation, forked', async (t) => {
  const { at, model, ask } = await headless(t)
  const id = crypto.randomUUID()
  await ask('one', '--session-id', id, '--name', 'fruit')
  await ask('two', '--continue')
  await ask('three', '--resume', id)
  await ask('four', '--resume', 'fruit')
  const prompts = () =>
    model.chats
      .at(-1)!
      .messages.filter(({ role }) => role === 'user')
      .map(({ text }) => text)
  assert.deepEqual(prompts(), ['one', 'two', 'three', 'four'])
  const fork = messages(await ask('five', '--resume', id, '--fork-session', '--output-format', 'json'))[0]
  assert.notEqual(fork.session_id, id)
  assert.deepEqual(prompts(), ['one', 'two', 'three', 'four', 'five'])
  await ask('six', '--resume', id)
  assert.deepEqual(prompts(), ['one', 'two', 'three', 'four', 'six'], 'the original is as it was')
  const again = await ask('x', '--session-id', id)
  assert.deepEqual([again.code, again.stdout], [2, ''])
  assert.match(again.stderr, /is in use/)
  const [{ conversation }] = at.rows<{ conversation: string }>(
    'SELECT conversation_id AS conversation FROM sessions',
  ) as [{ conversation: string }]
  await ask('seven', '--resume', conversation)
  assert.deepEqual([prompts().at(-2), prompts().at(-1)], ['five', 'seven'], 'its newest session')
  assert.equal(at.rows('SELECT 1 FROM sessions').length, 2)
})

test('a session goes on with the model that was chosen for it, in a copy too, unless another is named', async (t) => {
  const server = await wireServer(stream(anthropic.frames({ text: ['Here.'] })))
  t.after(() => server.close())
  const at = place(t, anthropic.env(server.url))
  const model = () => String(JSON.parse(server.seen.at(-1)!.body).model).match(/opus|sonnet|haiku/)?.[0]
  const ask = async (...words: string[]) => {
    const ran = await at.run(['-p', 'go', ...words])
    assert.equal(ran.code, 0, ran.stderr)
    return model()
  }
  assert.equal(await ask('--model', 'opus'), 'opus')
  assert.equal(await ask('--continue', '--fork-session'), 'opus')
  assert.equal(await ask('--continue'), 'opus')
  assert.equal(await ask('--continue', '--model', 'haiku'), 'haiku')
  assert.equal(await ask('--continue'), 'haiku')
  assert.equal(await ask(), 'sonnet', 'a new session has the default')
  const piped = await at.run([], { input: '/model opus\nhello\n/exit\n' })
  assert.equal(piped.code, 0, piped.stderr)
  assert.equal(await ask('--continue'), 'opus')
  const env = { ANTHROPIC_DEFAULT_OPUS_MODEL: 'claude-opus-5' }
  await at.run(['-p', 'go', '--continue'], { env })
  assert.equal(JSON.parse(server.seen.at(-1)!.body).model, 'claude-opus-4-20250514', 'the one it had, not the newest')
  const settings = JSON.stringify({ availableModels: ['haiku'] })
  const gone = await at.run(['-p', 'go', '--continue', '--settings', settings])
  assert.match(
    gone.stderr,
    /this session used the model claude_code_subscription\/claude-opus-4-20250514; it continues with/,
  )
})

test('limits: --max-turns, --max-budget-usd', async (t) => {
  const again = () => call('Bash', { command: 'true' })
  const turns = await headless(t, [again(), again(), again()])
  const words = ['--allowed-tools', 'Bash', '--output-format', 'json']
  const ran = await turns.ask('go', '--max-turns', '2', ...words)
  const [result] = messages(ran)
  assert.deepEqual([ran.code, result.subtype, result.is_error, result.num_turns], [1, 'error_max_turns', true, 2])
  assert.deepEqual(result.errors.length, 1)

  const calls = [{ id: 'a', name: 'Bash', args: '{"command":"true"}' }]
  const server = await wireServer(stream(anthropic.frames({ calls, inputTokens: 400_000 })))
  t.after(() => server.close())
  const at = place(t, { ANTHROPIC_API_KEY: 'sk-ant-x', ANTHROPIC_BASE_URL: server.url })
  const spent = await at.run(['-p', 'go', '--max-budget-usd', '0.01', ...words])
  const [over] = messages(spent)
  assert.deepEqual([spent.code, over.subtype, server.seen.length], [1, 'error_max_budget_usd', 1], spent.stderr)
  assert.ok(over.total_cost_usd > 0.01)
})

test('--fallback-model goes on with another model when the first is overloaded', async (t) => {
  const overloaded: Answer = status(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
  const server = await wireServer((response, request) =>
    (JSON.parse(request.body).model.includes('opus') ? overloaded : stream(anthropic.frames({ text: ['Here.'] })))(
      response,
      request,
    ),
  )
  t.after(() => server.close())
  const at = place(t, { ANTHROPIC_API_KEY: 'sk-ant-x', ANTHROPIC_BASE_URL: server.url })
  const ran = await at.run(['-p', 'go', '--model', 'opus', '--fallback-model', 'sonnet'])
  assert.deepEqual([ran.code, ran.stdout], [0, 'Here.\n'], ran.stderr)
  assert.match(ran.stderr, /is overloaded .*using claude-sonnet/)
})

test('--json-schema: a wrong answer is sent back with the error; the right one is the result', async (t) => {
  const schema = JSON.stringify({
    type: 'object',
    properties: { count: { type: 'integer' } },
    required: ['count'],
    additionalProperties: false,
  })
  const { model, ask } = await headless(t, [
    { text: 'It is three.' },
    { text: '{"count":"three"}' },
    { text: '```json\n{"count": 3}\n```' },
  ])
  const ran = await ask('count', '--json-schema', schema, '--output-format', 'json')
  assert.deepEqual([ran.code, messages(ran)[0].structured_output], [0, { count: 3 }], ran.stderr)
  const sentBack = model.chats.map((chat) => chat.messages.at(-1)!.text)
  assert.match(sentBack[1]!, /is not JSON/)
  assert.match(sentBack[2]!, /count must be of type integer/)
  const never = await headless(t, [{ text: 'a' }, { text: 'b' }, { text: 'c' }])
  const lost = await never.ask('count', '--json-schema', schema, '--output-format', 'json')
  assert.deepEqual([lost.code, messages(lost)[0].subtype], [1, 'error_max_structured_output_retries'])
  const plain = await headless(t, [{ text: '{"count":1}' }])
  assert.equal((await plain.ask('count', '--json-schema', schema)).stdout, '{"count":1}\n')
})

test('--json-schema takes a prompt like any other: skills, files, pictures, the budget', async (t) => {
  const schema = '{"type":"object"}'
  const { at, model, ask } = await headless(t, [{ text: '{}' }, { text: '{}' }, { text: '{}' }])
  at.write('fruit.txt', 'quince')
  at.write('.ona/skills/count/SKILL.md', '---\nname: count\ndescription: Counts\n---\nCount the $ARGUMENTS.')
  await ask('what is in @fruit.txt', '--json-schema', schema)
  assert.match(model.chats[0]!.messages.at(-1)!.text, /quince/)
  await ask('/count pears', '--json-schema', schema)
  assert.match(model.chats[1]!.messages.at(-1)!.text, /Count the pears\.[\s\S]*JSON Schema/)
  const unknown = await ask('/nothing', '--json-schema', schema)
  assert.deepEqual([unknown.code, unknown.stdout, model.chats.length], [1, 'Unknown command: /nothing\n', 2])

  const calls = [{ id: 'a', name: 'Bash', args: '{"command":"true"}' }]
  const server = await wireServer(stream(anthropic.frames({ calls, inputTokens: 400_000 })))
  t.after(() => server.close())
  const there = place(t, anthropic.env(server.url))
  const flagsGiven = ['--json-schema', schema, '--max-budget-usd', '0.01', '--output-format', 'json']
  const spent = await there.run(['-p', 'go', '--allowed-tools', 'Bash', ...flagsGiven])
  assert.equal(messages(spent)[0].subtype, 'error_max_budget_usd')
})

test('with stream-json a line ends at a newline alone, whatever else its text holds', async (t) => {
  const odd = 'a\u2028b\u2029c\u0085d'
  const model = await testModel(t, [{ text: odd }])
  const message = JSON.stringify({ type: 'user', message: { role: 'user', content: odd } })
  const formats = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
  const { stdout } = await place(t).run(['-p', ...formats], { env: model.env, input: message })
  assert.deepEqual(model.chats.at(-1)!.messages.at(-1), { role: 'user', text: odd })
  assert.doesNotMatch(stdout, /[\u2028\u2029\u0085]/)
  const last = JSON.parse(stdout.trim().split('\n').at(-1)!)
  assert.deepEqual([last.subtype, last.result], ['success', odd])
})

test('messages on stdin are answered in order; an interrupt ends the turn at once; the session goes on', async (t) => {
  const started = Promise.withResolvers<void>()
  const model = await testModel(t, [
    { text: 'One.' },
    () => {
      started.resolve()
      return new Promise(() => {})
    },
    { text: 'Three.' },
  ])
  const at = place(t)
  const style = ['--settings', '{"outputStyle":"learning"}']
  const formats = ['--input-format', 'stream-json', '--output-format', 'stream-json']
  const words = ['-p', ...formats, '--replay-user-messages', ...style]
  const running = live(t, at, words, model.env)
  const user = (content: unknown) => running.send(JSON.stringify({ type: 'user', message: { role: 'user', content } }))
  const control = (request_id: string, request: object) =>
    running.send(JSON.stringify({ type: 'control_request', request_id, request }))
  const results = () => running.messages().filter(({ type }) => type === 'result')

  control('c0', { subtype: 'initialize' })
  user('first')
  await running.until(() => results().length === 1)
  user([
    { type: 'text', text: 'second' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
  ])
  await started.promise
  control('c1', { subtype: 'interrupt' })
  await running.until(() => results().length === 2)
  control('c2', { subtype: 'set_permission_mode', mode: 'acceptEdits' })
  control('c3', { subtype: 'set_permission_mode', mode: 'yolo' })
  control('c4', { subtype: 'set_model', model: 'no-such-model' })
  control('c5', { subtype: 'dance' })
  running.send('not json')
  user('third')
  await running.until(() => results().length === 3)
  const { code } = await running.end()
  assert.deepEqual(
    results().map(({ subtype, stop_reason, result, errors }) => [subtype, stop_reason, result ?? errors]),
    [
      ['success', 'end_turn', 'One.'],
      ['error_during_execution', 'cancelled', ['the turn was interrupted']],
      ['success', 'end_turn', 'Three.'],
    ],
  )
  const answers = running.messages().filter(({ type }) => type === 'control_response')
  assert.deepEqual(answers.map(({ response }) => [response.request_id, response.subtype]).sort(), [
    ['c0', 'success'],
    ['c1', 'success'],
    ['c2', 'success'],
    ['c3', 'error'],
    ['c4', 'error'],
    ['c5', 'error'],
  ])
  const { output_style, available_output_styles } = answers[0]!['response'].response
  assert.deepEqual([output_style, available_output_styles], ['learning', ['default', 'explanatory', 'learning']])
  assert.equal(running.messages().find(({ subtype }) => subtype === 'init')!['output_style'], 'learning')
  assert.equal(running.messages().filter(({ isReplay }) => isReplay).length, 3)
  assert.equal(running.messages().filter(({ level }) => level === 'error').length, 1)
  assert.equal(at.rows("SELECT 1 FROM transcript_entries WHERE entry_type = 'attachment'").length, 1)
  assert.equal(typeof code, 'number')
})

/** What is under way when a signal comes, and how to get there. Each leaves a file when it has begun. */
const moments: Record<string, (hook: (event: string) => string[]) => string[]> = {
  'a hook of Setup': (hook) => ['--init', ...hook('Setup')],
  'a hook of SessionStart': (hook) => hook('SessionStart'),
  'a hook of UserPromptSubmit': (hook) => hook('UserPromptSubmit'),
  'a hook of PreToolUse': (hook) => hook('PreToolUse'),
  'a hook of Stop': (hook) => hook('Stop'),
  'a server that does not answer': () => {
    const slow = { command: 'sh', args: ['-c', 'touch begun; sleep 60'] }
    return ['--mcp-config', JSON.stringify({ mcpServers: { slow } })]
  },
  'a helper that prints no key': () => {
    const settings = { apiKeyHelper: 'touch begun; sleep 60' }
    return ['--model', 'sonnet', '--settings', JSON.stringify(settings)]
  },
}

test('lines on a pipe: SIGTERM ends a hook of SessionStart with the program', async (t) => {
  const at = place(t)
  const { env } = await testModel(t)
  const command = 'echo $$ > pid; touch begun; sleep 60'
  const hooks = [{ hook_event_name: 'SessionStart', matcher: '', shell: 'sh', command }]
  const running = live(t, at, ['--settings', JSON.stringify({ hooks })], env)
  await running.until(() => existsSync(join(at.folder, 'begun')))
  running.kill('SIGTERM')
  assert.equal((await running.end()).code, 143)
  assert.throws(() => process.kill(Number(readFileSync(join(at.folder, 'pid'), 'utf8')), 0), { code: 'ESRCH' })
})

for (const [moment, how] of sampled(Object.entries(moments), 3)) {
  test(`SIGINT ends ${moment} at once, and is exit code 130`, async (t) => {
    const at = place(t)
    const { env } = await testModel(t, [call('Bash', { command: 'true' })])
    const words = how((event) => {
      const hook = { hook_event_name: event, matcher: '', shell: 'sh', command: 'echo $$ > pid; touch begun; sleep 60' }
      return ['--settings', JSON.stringify({ hooks: [hook] })]
    })
    const running = live(t, at, ['-p', 'go', '--allowed-tools', 'Bash', ...words], env)
    void running.end()
    await running.until(() => existsSync(join(at.folder, 'begun')))
    const from = performance.now()
    running.kill('SIGINT')
    const { code } = await running.end()
    assert.equal(code, 130)
    assert.ok(performance.now() - from < 20_000, 'nothing of the minute that it would have taken')
    const pid = join(at.folder, 'pid')
    if (existsSync(pid))
      assert.throws(() => process.kill(Number(readFileSync(pid, 'utf8')), 0), { code: 'ESRCH' }, 'the hook is gone')
  })
}

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const) {
  test(`${signal} ends the tool, leaves the transcript whole, lets SessionEnd be heard, and is exit code ${code}`, async (t) => {
    const at = place(t)
    const log = join(at.home, 'log')
    const hook = (name: string) => ({ hook_event_name: name, matcher: '', shell: 'sh', command: `cat >> ${log}` })
    const settings = JSON.stringify({ hooks: [hook('SessionEnd'), hook('PostToolUseFailure')] })
    const { env } = await testModel(t, [call('Bash', { command: 'echo $$ > pid; sleep 60' })])
    const running = live(t, at, ['-p', 'go', '--settings', settings, '--allowed-tools', 'Bash'], env)
    void running.end()
    const pid = await running.until(() => {
      const file = join(at.folder, 'pid')
      return existsSync(file) && readFileSync(file, 'utf8').trim()
    })
    running.kill(signal)
    const ran = await running.end()
    assert.equal(ran.code, code)
    assert.throws(() => process.kill(Number(pid), 0), { code: 'ESRCH' }, 'the command is gone')
    const heard = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      heard.map(({ hook_event_name, is_interrupt, reason }) => [hook_event_name, is_interrupt ?? reason]),
      [
        ['PostToolUseFailure', true],
        ['SessionEnd', 'other'],
      ],
    )
    const again = await testModel(t, [{ text: 'Back.' }])
    const resumed = await at.run(['-p', 'go on', '--continue'], { env: again.env })
    assert.deepEqual([resumed.code, resumed.stdout], [0, 'Back.\n'], resumed.stderr)
    const sent = again.chats[0]!.messages
    const ids = sent.flatMap((each) => (each.role === 'assistant' ? each.calls.map(({ id }) => id) : []))
    assert.deepEqual(
      sent.flatMap((each) => (each.role === 'tool' ? [each.id] : [])),
      ids,
    )
  })
}

test('--init-only raises Setup and SessionStart, asks no model, and is done', async (t) => {
  const { at, model } = await headless(t)
  const hook = (name: string) => ({ hook_event_name: name, matcher: '', shell: 'sh', command: 'true' })
  const settings = JSON.stringify({ hooks: ['Setup', 'SessionStart', 'SessionEnd'].map(hook) })
  const ran = await at.run(['--init-only', '--settings', settings], { env: model.env })
  assert.deepEqual(ran, { code: 0, stdout: '', stderr: '' })
  const events = at.rows<{ hook_event: string }>('SELECT hook_event FROM hook_invocations ORDER BY id')
  assert.deepEqual(
    events.map(({ hook_event }) => hook_event),
    ['Setup', 'SessionStart', 'SessionEnd'],
  )
  assert.deepEqual(model.chats, [])
  for (const trigger of ['init', 'maintenance']) {
    await at.run(['-p', 'x', `--${trigger}`, '--settings', settings], { env: model.env })
    const [last] = at.rows<{ input: string }>(
      "SELECT input_json AS input FROM hook_invocations WHERE hook_event = 'Setup' ORDER BY id DESC",
    )
    assert.equal(JSON.parse(last!.input).trigger, trigger)
  }
})

test('--record keeps the conversation as a script that plays again, without its secrets', async (t) => {
  const { at, ask } = await headless(t, [
    call('Bash', { command: `echo sk-ant-${'x'.repeat(40)}` }),
    { text: 'Printed.' },
  ])
  await ask('print it', '--record', 'tape.yaml', '--permission-mode', 'bypassPermissions')
  const tape = readFileSync(join(at.folder, 'tape.yaml'), 'utf8')
  assert.doesNotMatch(tape, /xxxxxxxxxx/)
  const played = await at.run(['rehearse', 'tape.yaml'])
  assert.equal(played.code, 0, played.stdout + played.stderr)
})

test('--trust, --mcp-config and --strict-mcp-config', async (t) => {
  const at = place(t)
  at.write('.ona/settings.json', {
    hooks: [{ hook_event_name: 'Stop', matcher: '', shell: 'sh', command: 'touch ran' }],
  })
  const { ask } = await headless(t, [], at)
  const untrusted = await ask('hello')
  assert.match(untrusted.stderr, /not trusted/)
  assert.equal(existsSync(join(at.folder, 'ran')), false)
  await ask('hello', '--trust')
  assert.equal(existsSync(join(at.folder, 'ran')), true)
  const everything = join(
    import.meta.dirname,
    '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  )
  at.write('.mcp.json', { mcpServers: { other: { command: '/nonexistent' } } })
  const config = JSON.stringify({ mcpServers: { every: { command: process.execPath, args: [everything] } } })
  const words = ['--mcp-config', config, '--strict-mcp-config', '--output-format', 'stream-json']
  const [init] = messages(await ask('hello', ...words))
  assert.deepEqual(
    init.mcp_servers.map(({ name }: { name: string }) => name),
    ['every'],
  )
})

test('--trust in the home folder holds for that run alone', async (t) => {
  const at = place(t)
  const touch = { hook_event_name: 'Stop', matcher: '', shell: 'sh', command: 'echo >> ran' }
  at.write('.ona/settings.json', { hooks: [touch] })
  mkdirSync(join(at.folder, 'home'))
  const run = (...words: string[]) =>
    at.run(['-p', 'hello', '--model', 'rehearsal', ...words], { env: { HOME: join(at.folder, 'home') } })
  const trusted = await run('--trust')
  const after = await run()
  assert.deepEqual(
    [trusted.stderr, /not trusted/.test(after.stderr), readFileSync(join(at.folder, 'ran'), 'utf8')],
    ['this folder holds your home folder, so it is trusted for this run alone\n', true, '\n'],
  )
})

test('--verbose and --debug say more on stderr, and no secret; stdout stays as it is', async (t) => {
  const secret = `sk-ant-${'s'.repeat(40)}`
  const script = () => [call('Bash', { command: `echo ${secret}` }), { text: 'Done it.' }]
  const { ask } = await headless(t, [...script(), ...script()])
  const verbose = await ask('go', '--allowed-tools', 'Bash', '--verbose')
  assert.deepEqual([verbose.stdout, /^Bash ran in \d+ ms$/m.test(verbose.stderr)], ['Done it.\n', true])
  const debug = await ask('go', '--allowed-tools', 'Bash', '--debug')
  assert.equal(debug.stdout, 'Done it.\n')
  assert.match(debug.stderr, /^\S+Z tool-finished /m)
  assert.doesNotMatch(debug.stderr, /ssssssss/)
})

test('piped lines are typed one after the other, with the same commands', async (t) => {
  const { at, model } = await headless(t, [{ text: 'Hello to you.' }])
  const ran = await at.run([], { env: model.env, input: '/status\nhello\n/exit\nnever\n' })
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stdout, /rehearsal[\s\S]*Hello to you\./)
  assert.equal(model.chats.length, 1)
})

test('a piped line that begins with # is stored as a memory, and no model is asked', async (t) => {
  const { at, model } = await headless(t, [])
  const ran = await at.run([], { env: model.env, input: '# releases are cut on Tuesdays\n' })
  assert.deepEqual([ran.code, model.chats.length], [0, 0], ran.stderr)
  const [kept] = at.rows<{ content: string }>('SELECT content FROM memories')
  assert.equal(kept?.content, 'releases are cut on Tuesdays')
})

test('what is written on request goes into a pipe or /dev/stdout, and a pipe stays one', async (t) => {
  const { at, ask } = await headless(t, [{ text: 'Hello.' }])
  const recorded = await ask('go', '--record', '/dev/stdout')
  assert.deepEqual([recorded.code, recorded.stderr], [0, ''])
  assert.match(recorded.stdout, /^Hello\.\n[\s\S]*say:/m)
  const page = await at.run(['inspect', '--html', '/dev/stdout'])
  assert.match(page.stdout, /^<!doctype html/i)
  const pipe = join(at.folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const reader = openSync(pipe, 'r+')
  t.after(() => closeSync(reader))
  assert.equal((await at.run(['inspect', '--html', pipe])).code, 0)
  assert.equal(lstatSync(pipe).isFIFO(), true)
})

test("the reference's flags and commands are known here, or stand in the table of forks", () => {
  const forks = readFileSync(join(root, 'docs/FORKS.md'), 'utf8')
  const inReference =
    '--add-dir --agent --agents --allow-dangerously-skip-permissions --allowedTools --allowed-tools --disallowedTools --disallowed-tools --tools --append-system-prompt --append-system-prompt-file --system-prompt --system-prompt-file --bare --betas --continue --resume --fork-session --session-id --name --no-session-persistence --from-pr --dangerously-skip-permissions --permission-mode --permission-prompt-tool --debug --debug-file --verbose --disable-slash-commands --effort --fallback-model --ide --chrome --no-chrome --teleport --remote --remote-control --teammate-mode --tmux --channels --init --maintenance --init-only --include-hook-events --include-partial-messages --input-format --output-format --replay-user-messages --json-schema --max-budget-usd --max-turns --mcp-config --strict-mcp-config --model --plugin-dir --setting-sources --settings --prompt-suggestions --print --version --worktree --brief'.split(
      ' ',
    )
  const here = Object.entries(flags).flatMap(([name, row]) => [name, ...('also' in row ? row.also : [])])
  const missing = inReference.filter((flag) => !here.includes(flag.slice(2)) && !forks.includes(`\`${flag}`))
  assert.deepEqual(missing, [])
  const words = [
    'update',
    'install',
    'auth login',
    'auth logout',
    'auth status',
    'setup-token',
    'agents',
    'mcp',
    'plugin',
  ]
  const known = (word: string) => Object.hasOwn(commands, word) || forks.includes(`\`${word}\``)
  assert.deepEqual(
    [...words, 'doctor', 'auto-mode', 'remote-control'].filter((word) => !known(word)),
    [],
  )
})

test('a flag that other programs pass is accepted; one that changes nothing is reported', async (t) => {
  const { at, model } = await headless(t)
  const lines: Record<string, RegExp> = {
    '--effort=low': /^$/,
    '--max-thinking-tokens=2000': /^$/,
    '--thinking=adaptive': /--thinking has no effect: /,
    '--thinking-display=summarized': /--thinking-display has no effect: /,
    '--betas=context-1m-2025-08-07': /--betas has no effect: /,
    '--no-session-persistence': /--no-session-persistence has no effect: every session is recorded/,
    '--permission-mode=auto': /--permission-mode auto is not supported; the mode is default/,
    '--permission-mode=manual': /^$/,
    '--allow-dangerously-skip-permissions': /^$/,
    '--debug-file=events.log': /^$/,
  }
  const quiet = Object.keys(lines).filter((flag) => lines[flag]!.source === '^$')
  const loud = Object.keys(lines).filter((flag) => !quiet.includes(flag))
  // those that say nothing in one run, those that say something in another; in full each by itself
  for (const given of isFull ? Object.keys(lines).map((flag) => [flag]) : [quiet, loud]) {
    const { code, stdout, stderr } = await at.run(['-p', 'hi', ...given], { env: model.env })
    assert.deepEqual([code, stdout], [0, 'Done.\n'], given.join(' '))
    for (const flag of given) assert.match(stderr, lines[flag]!, flag)
  }
  assert.match(readFileSync(join(at.folder, 'events.log'), 'utf8'), /^\S+ turn-ended /m)
})

test('the examples run', async (t) => {
  const { at, model } = await headless(t, [{ text: '{"blocking":true,"why":"no tests"}' }, { text: 'Two files.' }])
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { cwd: at.folder })
  git('init', '-q')
  git('commit', '-qm', 'one', '--allow-empty')
  at.write('a.txt', 'x')
  git('add', '-A')
  git('commit', '-qm', 'two')
  const ona = at.write('ona', `#!/bin/sh\nexec ${process.execPath} ${join(root, 'bin/ona.mjs')} "$@"\n`)
  const env = { PATH: process.env['PATH'], HOME: at.home, ONA: ona, ...model.env }
  const run = (...words: [string, ...string[]]) =>
    new Promise((resolve) => {
      const child = spawn(words[0], words.slice(1), { cwd: at.folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
      let stdout = ''
      child.stdout.setEncoding('utf8').on('data', (piece) => {
        stdout += piece
      })
      child.on('close', (code) => resolve([code, stdout]))
    })
  assert.deepEqual(await run(join(root, 'examples/headless/review.sh')), [1, '{"blocking":true,"why":"no tests"}\n'])
  assert.deepEqual(await run(process.execPath, join(root, 'examples/headless/drive.mjs'), ona), [
    0,
    'success: Two files.\nsuccess: Done.\n',
  ])
})

testPassedFlags(import.meta.filename)
