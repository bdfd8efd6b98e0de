/** `ona acp` as an editor drives it: the protocol's own client library, over a real child process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  type ClientCapabilities,
  type ClientConnection,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { call, type Line, type TestModel, testModel } from '../support/model/model.ts'
import { type Place, place } from '../support/program.ts'

const ona = join(import.meta.dirname, '../../bin/ona.mjs')

interface Editor {
  readonly at: Place
  readonly model: TestModel
  readonly agent: ClientConnection['agent']
  readonly updates: SessionUpdate[]
  readonly asked: RequestPermissionRequest[]
  of<K extends SessionUpdate['sessionUpdate']>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[]
  /** Everything that the agent has said. */
  said(): string
  prompt(sessionId: string, text: string): Promise<{ stopReason: string }>
  newSession(): Promise<string>
  /** Closes its stdin; gives its exit code and what it wrote to stderr. */
  leave(): Promise<{ code: number | null; stderr: string }>
}

interface Setting {
  /** Instead of the scripted model's environment. */
  readonly env?: Record<string, string>
  readonly lines?: readonly Line[]
  readonly at?: Place
  readonly can?: ClientCapabilities
  /** Which option is chosen when permission is asked for. */
  choose?(request: RequestPermissionRequest): string | Promise<string>
}

async function editor(
  t: TestContext,
  { lines = [], at = place(t), can = {}, choose, env }: Setting = {},
): Promise<Editor> {
  const model = await testModel(t, lines)
  const child = spawn(process.execPath, [ona, 'acp'], {
    cwd: at.home,
    env: { PATH: process.env['PATH'], HOME: at.home, ONA_KEYCHAIN: 'off', ...(env ?? model.env) },
  })
  t.after(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    stderr += piece
  })
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  const updates: SessionUpdate[] = []
  const asked: RequestPermissionRequest[] = []
  const connection = client({ name: 'test' })
    .onRequest('session/request_permission', async ({ params }) => {
      asked.push(params)
      const optionId = await choose?.(params)
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } }
    })
    .onRequest('elicitation/create', () => ({ action: 'accept', content: { answer0: 'Blue' } }))
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      ),
    )
  const { agent } = connection
  const answer = await agent.request('initialize', { protocolVersion: 1, clientCapabilities: can })
  assert.equal(answer.protocolVersion, 1)
  assert.equal(answer.agentCapabilities?.loadSession, true)
  const self: Editor = {
    at,
    model,
    agent,
    updates,
    asked,
    of: (kind) => updates.filter((update) => update.sessionUpdate === kind) as never,
    said: () =>
      self
        .of('agent_message_chunk')
        .map(({ content }) => (content.type === 'text' ? content.text : ''))
        .join(''),
    prompt: (sessionId, text) => agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    newSession: async () =>
      (await agent.request('session/new', { cwd: realpathSync(at.folder), mcpServers: [] })).sessionId,
    async leave() {
      child.stdin.end()
      return { code: await closed, stderr }
    },
  }
  return self
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !condition(); ) {
    assert.ok(Date.now() < deadline, 'it never came')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('a prompt is answered in pieces, with the calls, their files and their diffs, and the editor is asked first', async (t) => {
  const at = place(t)
  const folder = realpathSync(at.folder)
  const path = join(folder, 'a.txt')
  writeFileSync(path, 'one\ntwo\n')
  const here = await editor(t, {
    at,
    lines: [
      call('Read', { file_path: path }),
      call('Edit', { file_path: path, old_string: 'two', new_string: 'three' }),
      call('TodoWrite', { todos: [{ content: 'Check it', status: 'in_progress', activeForm: 'Checking it' }] }),
      { text: 'It is done.' },
    ],
    choose: () => 'allow',
  })
  const sessionId = await here.newSession()
  assert.deepEqual(await here.prompt(sessionId, 'change it'), { stopReason: 'end_turn' })
  assert.equal(readFileSync(path, 'utf8'), 'one\nthree\n')
  await until(() => here.said() === 'It is done.')

  const [read, edit] = here.of('tool_call')
  assert.deepEqual(
    [read?.kind, read?.status, read?.locations, read?.rawInput],
    ['read', 'in_progress', [{ path }], { file_path: path }],
  )
  const diff = { type: 'diff', path, oldText: 'two', newText: 'three' }
  assert.deepEqual([edit?.kind, edit?.content], ['edit', [diff]])
  assert.deepEqual(
    here.asked.map(({ sessionId: id, toolCall, options }) => [
      id,
      toolCall.toolCallId,
      toolCall.content,
      options[0],
      options.at(-1),
    ]),
    [
      [
        sessionId,
        edit?.toolCallId,
        [diff],
        { optionId: 'allow', name: 'Yes', kind: 'allow_once' },
        { optionId: 'reject', name: 'No', kind: 'reject_once' },
      ],
    ],
  )
  const ends = here.of('tool_call_update').filter(({ status }) => status === 'completed' || status === 'failed')
  assert.deepEqual(
    ends.map(({ toolCallId, status }) => [toolCallId, status]),
    here.of('tool_call').map(({ toolCallId }) => [toolCallId, 'completed']),
  )
  assert.deepEqual(here.of('plan').at(-1)?.entries, [
    { content: 'Check it', status: 'in_progress', priority: 'medium' },
  ])
  assert.ok(here.of('usage_update').length > 0)
  const log = at.rows('SELECT tool_name, decision FROM tool_permission_log').map((row) => ({ ...row }))
  assert.deepEqual(log, [{ tool_name: 'Edit', decision: 'allow' }])

  assert.deepEqual(await here.leave(), { code: 0, stderr: '' })
})

test('no is no, and always is kept', async (t) => {
  const at = place(t)
  const answers = ['reject', 'always-0']
  const here = await editor(t, {
    at,
    lines: [
      call('Bash', { command: 'touch a' }),
      call('Bash', { command: 'touch a' }),
      call('Bash', { command: 'touch a' }),
    ],
    choose: () => answers.shift()!,
  })
  const sessionId = await here.newSession()
  await here.prompt(sessionId, 'run it')
  const ends = here.of('tool_call_update').filter(({ status }) => status === 'completed' || status === 'failed')
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['failed', 'completed', 'completed'],
  )
  assert.equal(here.asked.length, 2, 'the third is allowed by the rule that the second brought')
})

test('an editor that goes away while it is asked leaves an approval, and the session goes on at that call', async (t) => {
  const at = place(t)
  const folder = realpathSync(at.folder)
  at.write('../home/.ona/settings.json', { approvals: { owner: 'Ada' } })
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const lines = [call('Bash', { command: 'touch made.txt' })]
  const first = await editor(t, {
    at,
    lines,
    choose: () => {
      resolve()
      return new Promise<string>(() => {})
    },
  })
  const sessionId = await first.newSession()
  const prompted = first.prompt(sessionId, 'make it')
  prompted.catch(() => {}) // the connection is closed under it
  await asked
  assert.equal((await first.leave()).code, 0)
  const [waits] = JSON.parse((await at.run(['approvals', 'list', '--json'])).stdout)
  assert.deepEqual([waits.tool, waits.owner, waits.resume], ['Bash', 'Ada', sessionId])
  assert.equal((await at.run(['approvals', 'approve', waits.id, '--as', 'Ada'])).code, 0)

  const second = await editor(t, { at, lines: [{ text: 'It is made.' }] })
  await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] })
  assert.deepEqual(await second.prompt(sessionId, 'go on'), { stopReason: 'end_turn' })
  assert.equal(existsSync(join(folder, 'made.txt')), true)
  assert.equal(second.asked.length, 0)
})

test('a prompt brings pictures, linked files and embedded ones', async (t) => {
  const here = await editor(t)
  const { at, agent, model } = here
  at.write('notes with space.txt', 'remember the milk')
  const cwd = realpathSync(at.folder)
  const { sessionId } = await agent.request('session/new', { cwd, mcpServers: [] })
  const link = pathToFileURL(join(cwd, 'notes with space.txt')).href
  await agent.request('session/prompt', {
    sessionId,
    prompt: [
      { type: 'text', text: 'see' },
      { type: 'resource_link', uri: link, name: 'notes' },
      { type: 'resource_link', uri: 'https://example.org/page', name: 'page' },
      { type: 'resource', resource: { uri: 'file:///w/open.ts', text: 'unsaved words' } },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    ],
  })
  const sent = model.chats[0]!.messages.at(-1)!.text
  assert.match(sent, /remember the milk/)
  assert.match(sent, /\[page\]\(https:\/\/example\.org\/page\)/)
  assert.match(sent, /\/w\/open\.ts:\nunsaved words/)
  const [picture] = at.rows("SELECT 1 FROM transcript_entries WHERE entry_type = 'attachment'")
  assert.ok(picture)
})

test('cancel ends the turn at once: while the model speaks, while a tool runs, while permission is asked for', async (t) => {
  const started = Promise.withResolvers<void>()
  const here = await editor(t, {
    lines: [
      () => {
        started.resolve()
        return new Promise(() => {})
      },
      call('Bash', { command: 'touch b; sleep 60', timeout: 100000 }),
      call('Bash', { command: 'touch b; sleep 61' }),
      { text: 'Still here.' },
    ],
    choose: (request) =>
      String((request.toolCall.rawInput as { command: string }).command).endsWith('60')
        ? 'allow'
        : new Promise(() => {}),
  })
  const sessionId = await here.newSession()
  const cancelled = async (text: string, ready: () => Promise<void>) => {
    const answer = here.prompt(sessionId, text)
    await ready()
    await here.agent.notify('session/cancel', { sessionId })
    assert.deepEqual(await answer, { stopReason: 'cancelled' })
  }
  await cancelled('think', () => started.promise)
  await cancelled('wait', () => until(() => here.of('tool_call').length === 1 && here.asked.length === 1))
  await cancelled('ask', () => until(() => here.asked.length === 2))
  assert.deepEqual(await here.prompt(sessionId, 'and now?'), { stopReason: 'end_turn' })
  await until(() => here.said() === 'Still here.')
  const [open] = here.at.rows<{ open: number }>(
    `SELECT (SELECT count(*) FROM transcript_entries, json_each(payload_json, '$.content') b
             WHERE entry_type = 'assistant' AND json_extract(b.value, '$.type') = 'tool_use')
          - (SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_result') AS open`,
  )
  assert.equal(open?.open, 0, 'every call has its result')
})

test('a session is loaded in another process, with all that was said; and listed, resumed and closed', async (t) => {
  const at = place(t)
  at.write('a.txt', 'apples')
  const cwd = realpathSync(at.folder)
  const first = await editor(t, { at, lines: [call('Read', { file_path: 'a.txt' }), { text: 'Apples.' }] })
  const sessionId = await first.newSession()
  await first.prompt(sessionId, 'what is in a.txt?')
  await first.leave()

  const second = await editor(t, { at, lines: [{ text: 'As I said.' }] })
  const { sessions } = await second.agent.request('session/list', { cwd })
  assert.deepEqual(
    sessions.map(({ sessionId: id, cwd: where, title }) => [id, where, title]),
    [[sessionId, cwd, 'what is in a.txt?']],
  )
  await second.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  await until(() => second.of('agent_message_chunk').length > 0)
  const told = second.updates.map((update) => update.sessionUpdate)
  assert.deepEqual(
    told.filter((kind) => kind !== 'available_commands_update'),
    ['user_message_chunk', 'tool_call', 'tool_call_update', 'agent_message_chunk'],
  )
  await second.prompt(sessionId, 'again?')
  assert.ok(
    second.model.chats[0]?.messages.some(({ text }) => text === 'Apples.'),
    'the model sees what was said',
  )
  await second.agent.request('session/close', { sessionId })
  await assert.rejects(second.prompt(sessionId, 'hello?'), { code: -32002 })
  await second.agent.request('session/resume', { sessionId, cwd })
  assert.deepEqual(await second.prompt(sessionId, 'hello?'), { stopReason: 'end_turn' })
  await assert.rejects(second.agent.request('session/load', { sessionId: crypto.randomUUID(), cwd, mcpServers: [] }), {
    code: -32002,
  })
})

test('modes are offered, set, and told when they change; commands are offered', async (t) => {
  const here = await editor(t, {
    lines: [
      call('EnterPlanMode', {}),
      call('ExitPlanMode', { plan: '# Plan\n\n## Success criteria\n- It works\n' }),
      { text: 'On it.' },
    ],
    choose: (request) => request.options[0]!.optionId,
  })
  const { at, agent } = here
  at.write('.ona/skills/greet/SKILL.md', '---\nname: greet\ndescription: Says hello\n---\nSay hello to $ARGUMENTS.\n')
  const { sessionId, modes } = await agent.request('session/new', { cwd: realpathSync(at.folder), mcpServers: [] })
  assert.deepEqual(
    [modes?.currentModeId, modes?.availableModes.map(({ id }) => id)],
    ['default', ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions']],
  )
  await until(() => here.of('available_commands_update').length > 0)
  const availableCommands = here.of('available_commands_update')[0]?.availableCommands ?? []
  assert.ok(['compact', 'greet'].every((name) => availableCommands.some((each) => each.name === name)))

  await agent.request('session/set_mode', { sessionId, modeId: 'plan' })
  await assert.rejects(agent.request('session/set_mode', { sessionId, modeId: 'yolo' }), { code: -32602 })
  await here.prompt(sessionId, 'plan it')
  assert.deepEqual(
    here.of('current_mode_update').map(({ currentModeId }) => currentModeId),
    ['acceptEdits'],
  )
  const plan = here.asked.find(({ toolCall }) => toolCall.title === 'Approve the plan?')
  assert.match(JSON.stringify(plan?.toolCall.content), /Success criteria/)
  assert.deepEqual(
    at.rows('SELECT status FROM plans').map((row) => ({ ...row })),
    [{ status: 'approved' }],
  )
  await here.prompt(sessionId, '/greet Ada')
  assert.match(here.model.chats.at(-1)!.messages.at(-1)!.text, /Say hello to Ada\./)
  await here.prompt(sessionId, '/nonsense')
  await until(() => here.said().includes('Unknown command: /nonsense'))
})

test('the mode is kept with the session: plan mode still holds after the session is loaded elsewhere', async (t) => {
  const first = await editor(t)
  const { at } = first
  const sessionId = await first.newSession()
  await first.prompt(sessionId, 'hello')
  await first.agent.request('session/set_mode', { sessionId, modeId: 'plan' })
  await first.leave()
  for (const method of ['session/load', 'session/resume'] as const) {
    const file = join(realpathSync(at.folder), 'a.txt')
    const second = await editor(t, {
      at,
      lines: [call('Write', { file_path: file, content: 'x' })],
      choose: () => 'allow',
    })
    const loaded = await second.agent.request(method, { sessionId, cwd: realpathSync(at.folder), mcpServers: [] })
    assert.equal(loaded.modes?.currentModeId, 'plan', method)
    await second.prompt(sessionId, 'write it')
    assert.deepEqual([existsSync(file), second.asked.length], [false, 0], method)
    await second.leave()
  }
})

test('mode and model are config options; /model switches too', async (t) => {
  const { agent, at, of, prompt, said } = await editor(t)
  const { sessionId, configOptions } = await agent.request('session/new', {
    cwd: realpathSync(at.folder),
    mcpServers: [],
  })
  const current = (options: typeof configOptions) =>
    options?.map(({ id, category, currentValue }) => [id, category, currentValue])
  assert.deepEqual(current(configOptions), [
    ['mode', 'mode', 'default'],
    ['model', 'model', 'default'],
  ])
  const changed = await agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'plan' })
  assert.deepEqual(current(changed.configOptions)?.[0], ['mode', 'mode', 'plan'])
  await until(() => of('current_mode_update').length === 1)
  for (const [configId, value] of [
    ['mode', 'yolo'],
    ['model', 'no-such-model'],
    ['colour', 'red'],
  ] as const)
    await assert.rejects(agent.request('session/set_config_option', { sessionId, configId, value }), { code: -32602 })
  await prompt(sessionId, '/model no-such-model')
  await prompt(sessionId, '/model default')
  assert.match(said(), /no-such-model[\s\S]*The model is now \S+\./)
  await until(() => of('config_option_update').length === 1)
})

test('without a credential a session needs a sign-in first', async (t) => {
  const { agent, at } = await editor(t, { env: { ANTHROPIC_MODEL: 'claude-sonnet-4-20250514' } })
  const opened = agent.request('session/new', { cwd: realpathSync(at.folder), mcpServers: [] })
  await assert.rejects(opened, { code: -32000 })
})

test('questions become a form where the editor has forms, and buttons where it has not', async (t) => {
  const question = { question: 'Which colour?', header: 'Colour', multiSelect: false }
  const options = [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ]
  const ask = call('AskUserQuestion', { questions: [{ ...question, options }] })
  const forms = await editor(t, { lines: [ask], can: { elicitation: { form: {} } }, choose: () => 'allow' })
  await forms.prompt(await forms.newSession(), 'ask me')
  const answered = (here: Editor) =>
    here.of('tool_call_update').find(({ status }) => status === 'completed')?.rawOutput as { content: string }
  assert.match(answered(forms).content, /Blue/)
  const buttons = await editor(t, {
    lines: [ask],
    choose: ({ options: shown }) => (shown.some(({ optionId }) => optionId === 'Red') ? 'Red' : 'allow'),
  })
  await buttons.prompt(await buttons.newSession(), 'ask me')
  assert.match(answered(buttons).content, /Red/)
})

test("a failing model is the request's error; the session can be used again", async (t) => {
  const here = await editor(t, { lines: [{ fail: { status: 400, message: 'too odd' } }, { text: 'Fine.' }] })
  const sessionId = await here.newSession()
  await assert.rejects(here.prompt(sessionId, 'hello'), /too odd/)
  assert.deepEqual(await here.prompt(sessionId, 'hello'), { stopReason: 'end_turn' })
})

test('two sessions work side by side, each with its own place; servers that the editor brings are used', async (t) => {
  const here = await editor(t, {
    lines: [(chat) => ({ text: chat.messages.at(-1)!.text }), (chat) => ({ text: chat.messages.at(-1)!.text })],
  })
  const [one, two] = [await here.newSession(), await here.newSession()]
  assert.notEqual(one, two)
  const ends = await Promise.all([here.prompt(one, 'first'), here.prompt(two, 'second')])
  assert.deepEqual(ends, [{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }])
  const cwd = realpathSync(here.at.folder)
  const server = { name: 'gone', command: '/nonexistent', args: [], env: [{ name: 'A', value: 'b' }] }
  const third = await here.agent.request('session/new', { cwd, mcpServers: [server] })
  assert.ok(third)
  const rows = here.at.rows<{ n: number }>("SELECT count(*) AS n FROM transcript_entries WHERE entry_type = 'user'")
  assert.equal(rows[0]?.n, 2)
})

test('ona acp says how it is used, and what it cannot use', async (t) => {
  const at = place(t)
  const { code, stdout } = await at.run(['acp', '--help'])
  assert.deepEqual([code, /agent_servers/.test(stdout)], [0, true])
  for (const words of [
    ['acp', '--nonsense'],
    ['acp', 'word'],
  ]) {
    const ran = await at.run(words)
    assert.deepEqual([ran.code, ran.stdout], [2, ''])
    assert.match(ran.stderr, /^ona acp: /)
  }
})
