/** Permission questions in `-p`: put to an MCP tool, or to the program that drives ona. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Live, live } from '../support/live.ts'
import { call, type Line, type TestModel, testModel } from '../support/model/model.ts'
import { testPassedFlags } from '../support/passed-flags.ts'
import { type Place, place } from '../support/program.ts'

/** A server with one tool, `judge`, that keeps what it is asked and answers what the function says. */
function server(at: Place, answer: string): string {
  const file = at.write(
    'server.mjs',
    `import { createInterface } from 'node:readline'
import { appendFileSync } from 'node:fs'
const answer = ${answer}
const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] })
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'gate', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'judge', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: asked }) => {
    appendFileSync('asked', JSON.stringify(asked) + '\\n')
    return text(answer(asked))
  },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: methods[method]?.(params) ?? {} }))
}
`,
  )
  return JSON.stringify({ mcpServers: { gate: { command: process.execPath, args: [file] } } })
}

const permissionRows = (at: Place) =>
  at
    .rows<{ decision: string; reason: string }>('SELECT decision, reason_json AS reason FROM tool_permission_log')
    .map(({ decision, reason }) => [decision, JSON.parse(reason).by])

async function asked(t: TestContext, answer: string, lines: readonly Line[], ...words: string[]) {
  const at = place(t)
  const model = await testModel(t, lines)
  const flags = ['--permission-prompt-tool', 'mcp__gate__judge', '--mcp-config', server(at, answer)]
  const ran = await at.run(['-p', 'go', ...flags, ...words], { env: model.env })
  return { at, model, ran, told: () => model.chats.at(-1)!.messages.at(-1)!.text }
}

test('a tool is asked what the rules would ask a user: its yes runs the call, with the input that it gives', async (t) => {
  const answer = '({ input }) => ({ behavior: "allow", updatedInput: { ...input, command: "echo changed > out" } })'
  const { at, model, ran } = await asked(t, answer, [call('Bash', { command: 'echo asked > out' })])
  assert.equal(ran.code, 0, ran.stderr)
  assert.equal(readFileSync(join(at.folder, 'out'), 'utf8'), 'changed\n')
  const { tool_use_id, ...rest } = JSON.parse(readFileSync(join(at.folder, 'asked'), 'utf8'))
  assert.deepEqual(rest, { tool_name: 'Bash', input: { command: 'echo asked > out' } })
  assert.match(tool_use_id, /^call_/)
  assert.deepEqual(permissionRows(at), [['allow', 'prompt_tool']])
  assert.ok(!model.chats[0]!.tools.some(({ name }) => name === 'mcp__gate__judge'), 'the model cannot ask it')
})

test('its no is the reason that the model reads; a deny rule stands above its yes, and what is allowed is not asked', async (t) => {
  const no = '() => ({ behavior: "deny", message: "not on Friday" })'
  const refused = await asked(t, no, [call('Bash', { command: 'touch out' })])
  assert.match(refused.told(), /not on Friday/)
  assert.deepEqual(
    [existsSync(join(refused.at.folder, 'out')), permissionRows(refused.at)],
    [false, [['deny', 'prompt_tool']]],
  )

  const sly = '() => ({ behavior: "allow", updatedInput: { command: "touch secret" } })'
  const denied = await asked(t, sly, [call('Bash', { command: 'mkdir d' })], '--disallowed-tools', 'Bash(touch *)')
  assert.equal(existsSync(join(denied.at.folder, 'secret')), false)
  assert.match(denied.told(), /Bash\(touch \*\)/)

  const allowed = await asked(t, no, [call('Bash', { command: 'touch out' })], '--allowed-tools', 'Bash')
  assert.deepEqual(
    [existsSync(join(allowed.at.folder, 'out')), existsSync(join(allowed.at.folder, 'asked'))],
    [true, false],
  )
})

test('an answer that is none is a no that says so; a rule that it adds holds; its interrupt ends the turn', async (t) => {
  for (const answer of [
    '() => "yes"',
    '() => ({ behavior: "maybe" })',
    '() => []',
    '() => { throw new Error("gone") }',
  ]) {
    const { at, ran, told } = await asked(t, answer, [call('Bash', { command: 'touch out' })])
    assert.deepEqual([ran.code, existsSync(join(at.folder, 'out'))], [0, false], answer)
    assert.match(told(), /the answer to the permission prompt cannot be used/, answer)
  }
  const rule = '{ type: "addRules", rules: [{ toolName: "Bash" }], behavior: "allow", destination: "session" }'
  const again = () => call('Bash', { command: 'mkdir -p d' })
  const once = await asked(t, `() => ({ behavior: "allow", updatedPermissions: [${rule}] })`, [again(), again()])
  assert.equal(readFileSync(join(once.at.folder, 'asked'), 'utf8').trim().split('\n').length, 1)
  const ended = await asked(t, '() => ({ behavior: "deny", message: "stop", interrupt: true })', [again()])
  assert.equal(ended.model.chats.length, 1, 'the model is not asked again')
})

test('a tool that is not there is an error before the model is asked; what makes no sense is wrong usage', async (t) => {
  const at = place(t)
  const model = await testModel(t)
  const missing = await at.run(['-p', 'go', '--permission-prompt-tool', 'mcp__no__such'], { env: model.env })
  assert.deepEqual([missing.code, missing.stdout, model.chats], [1, '', []])
  assert.match(missing.stderr, /MCP tool mcp__no__such \(passed via --permission-prompt-tool\) not found/)
  const wrong: [string[], RegExp][] = [
    [['-p', 'go', '--permission-prompt-tool', 'judge'], /takes mcp__SERVER__TOOL or stdio/],
    [['-p', 'go', '--permission-prompt-tool', 'stdio'], /needs --input-format stream-json/],
    [['go', '--permission-prompt-tool', 'mcp__a__b'], /needs -p/],
  ]
  for (const [words, why] of wrong) {
    const ran = await at.run(words, { env: model.env })
    assert.equal(ran.code, 2, words.join(' '))
    assert.match(ran.stderr, why)
  }
})

const pipes = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json']

function drive(t: TestContext, at: Place, model: TestModel, ...words: string[]) {
  const it = live(t, at, [...pipes, '--permission-prompt-tool', 'stdio', ...words], model.env)
  const said = (type: string) => (each: Live) => each.messages().filter((message) => message['type'] === type)
  return {
    it,
    say: (content: string) => it.send(JSON.stringify({ type: 'user', message: { role: 'user', content } })),
    /** The requests of one kind, once there are so many. */
    until: (type: string, count: number) => it.until((each) => said(type)(each).length >= count && said(type)(each)),
    answer: (request_id: string, response: object) =>
      it.send(JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id, response } })),
  }
}

test('the driver is asked over the pipe: yes, no, and a question of the model', async (t) => {
  const at = place(t)
  const options = [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ]
  const questions = [{ question: 'Which colour?', header: 'Colour', options }]
  const model = await testModel(t, [
    {
      calls: [
        { name: 'Bash', input: { command: 'touch one' } },
        { name: 'Bash', input: { command: 'touch two' } },
      ],
    },
    call('AskUserQuestion', { questions }),
    { text: 'Asked.' },
  ])
  const { it, say, until, answer } = drive(t, at, model, '--allowed-tools', 'AskUserQuestion')
  say('go')
  const [first] = await until('control_request', 1)
  const { tool_use_id, permission_suggestions, ...request } = first!['request']
  assert.deepEqual(request, {
    subtype: 'can_use_tool',
    tool_name: 'Bash',
    input: { command: 'touch one' },
    description: 'touch one',
    decision_reason: request.decision_reason,
  })
  assert.ok(tool_use_id && permission_suggestions.length > 0)
  answer(first!['request_id'], { behavior: 'allow' })
  const [, second] = await until('control_request', 2)
  answer(second!['request_id'], { behavior: 'deny', message: 'one is enough' })
  const [, , third] = await until('control_request', 3)
  assert.equal(third!['request'].tool_name, 'AskUserQuestion')
  answer(third!['request_id'], { behavior: 'allow', updatedInput: { questions, answers: { 'Which colour?': 'Blue' } } })
  await until('result', 1)
  assert.match(model.chats.at(-1)!.messages.at(-1)!.text, /"Which colour\?"="Blue"/)
  assert.deepEqual([existsSync(join(at.folder, 'one')), existsSync(join(at.folder, 'two'))], [true, false])
  assert.deepEqual(permissionRows(at), [
    ['allow', 'driver'],
    ['deny', 'driver'],
  ])
  assert.equal((await it.end()).code, 0)
})

test('the driver approves a plan, with the words that it puts there', async (t) => {
  const at = place(t)
  const plan = '# Plan\n\n## Success criteria\n- a.txt exists\n'
  const model = await testModel(t, [call('EnterPlanMode', {}), call('ExitPlanMode', { plan })])
  const { it, say, until, answer } = drive(t, at, model, '--allowed-tools', 'EnterPlanMode,ExitPlanMode')
  say('plan it')
  const [asked] = await until('control_request', 1)
  assert.deepEqual([asked!['request'].tool_name, asked!['request'].input], ['ExitPlanMode', { plan }])
  answer(asked!['request_id'], { behavior: 'allow', updatedInput: { plan: `${plan}- b.txt exists\n` } })
  await until('result', 1)
  assert.deepEqual(at.rows("SELECT status, content LIKE '%b.txt exists%' AS changed FROM plans").at(-1), {
    __proto__: null,
    status: 'approved',
    changed: 1,
  })
  const [approved] = at.rows<{ detail: string }>("SELECT detail FROM events WHERE event_type = 'plan_approved'")
  assert.equal(JSON.parse(approved!.detail).by, 'driver', 'the record says who it was')
  await it.end()
})

test('a question is withdrawn when the turn is interrupted, and given up when the driver goes', async (t) => {
  const at = place(t)
  const model = await testModel(t, [call('Bash', { command: 'touch x' }), call('Bash', { command: 'touch x' })])
  const { it, say, until } = drive(t, at, model)
  say('go')
  const [first] = await until('control_request', 1)
  it.send('{"type":"control_request","request_id":"c","request":{"subtype":"interrupt"}}')
  const [withdrawn] = await until('control_cancel_request', 1)
  assert.equal(withdrawn!['request_id'], first!['request_id'])
  const [ended] = await until('result', 1)
  assert.equal(ended!['stop_reason'], 'cancelled')
  say('again')
  await until('control_request', 2)
  const ran = await it.end() // stdin closes with the question open
  assert.equal(ran.code, 0)
  assert.match(model.chats.at(-1)!.messages.at(-1)!.text, /there is no user to ask/)
  assert.equal(existsSync(join(at.folder, 'x')), false)
})

testPassedFlags(import.meta.filename)
