import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { type TestOptions, type TestSession, testSession } from '../../test/support/agent-session.ts'
import { until } from '../../test/support/until.ts'
import { defineHook, defineStepHook } from '../hooks/define.ts'
import { textBlock } from '../hooks/step/blocks.ts'
import { spend } from './model/spend.ts'
import { Session } from './session/session.ts'
import { runTurn } from './turn.ts'

const open: TestSession[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.end()
})

function start(options: TestOptions): TestSession {
  const started = testSession(options)
  open.push(started)
  return started
}

const say = (test: TestSession, text: string) => runTurn(test.session, [textBlock(text)])
const free: TestOptions = { mode: 'bypassPermissions' }

test('a turn without tools is two rows, and what it cost is an event', async () => {
  const it = start({ script: ['hello'] })
  assert.deepEqual(await say(it, 'hi'), { stop: 'end_turn', text: 'hello' })
  assert.deepEqual(it.transcript(), [
    { _t: 'user', content: [{ type: 'text', text: 'hi' }], source: 'prompt' },
    { _t: 'assistant', content: [{ type: 'text', text: 'hello' }] },
  ])
  assert.deepEqual(
    it.rows('SELECT event_type FROM events ORDER BY id').map((row) => row['event_type']),
    ['model_reply', 'turn_end'],
  )
})

test('a reply that was cut off and tells no usage leaves the window as full as it was', () => {
  const it = start({ script: [] })
  const usage = { inputTokens: 900, outputTokens: 100, cacheReadTokens: null, cacheWriteTokens: null }
  spend(it.session, { usage, model: 'm' })
  spend(it.session, { usage: { ...usage, inputTokens: null, outputTokens: null }, model: 'm' })
  assert.equal(it.session.contextTokens, 1000)
})

test('calls run in the order they were declared, each with its result before the next request', async () => {
  const it = start({
    ...free,
    script: [
      {
        text: 'looking',
        calls: [
          { id: 'a', name: 'Bash', input: { command: 'echo one' } },
          { id: 'b', name: 'Bash', input: { command: 'echo two; false' } },
        ],
      },
      'done',
    ],
  })
  await say(it, 'go')
  assert.deepEqual(it.transcript().slice(2), [
    { _t: 'tool_result', tool_use_id: 'a', content: 'one\n', is_error: false },
    { _t: 'tool_result', tool_use_id: 'b', content: 'two\nExit code 1', is_error: true },
    { _t: 'assistant', content: [{ type: 'text', text: 'done' }] },
  ])
  const [, second] = it.model.requests
  assert.deepEqual(
    second!.messages[2]!.content.map((block) => block.type === 'tool_result' && block.tool_use_id),
    ['a', 'b'],
  )
})

test('that a tool starts is committed before it runs', async () => {
  const it = start({ ...free })
  const seen = join(it.folder, 'seen')
  const query = `SELECT detail FROM events WHERE event_type = 'tool_start'`
  const reading = `sqlite3 ${it.session.db.path} "${query}"`
  const command = `${reading} > ${seen}`
  // the database is protected: only a rule that names this very command lets it through
  it.session.permissions = { ...it.session.permissions, allow: ['Bash', 'Write', `Bash(${reading})`] }
  const { model } = it
  model.reply = async () => ({
    content:
      it.transcript().length > 2
        ? [{ type: 'text', text: 'ok' }]
        : [{ type: 'tool_use', id: 'a', name: 'Bash', input: { command } }],
    stop: it.transcript().length > 2 ? 'end_turn' : 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
    model: 'scripted',
  })
  await say(it, 'go')
  assert.equal(
    readFileSync(seen, 'utf8'),
    '{"tool_use_id":"a","tool_name":"Bash","permission_mode":"bypassPermissions","sandboxed":false}\n',
  )
})

test('a tool that is not there, words that are not JSON and input that does not fit are answered, and no hook is asked', async () => {
  let asked = 0
  const it = start({
    ...free,
    handlers: [defineHook('PreToolUse', () => void asked++)],
    script: [
      { calls: [{ name: 'Rocket' }, { name: 'Read', input: {} }] },
      {
        content: [{ type: 'tool_use', id: 'c', name: 'Read', input: {}, malformed: '{"file' }],
        stop: 'tool_use',
        usage: { inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheWriteTokens: null },
        model: 'scripted',
      },
      'done',
    ],
  })
  await say(it, 'go')
  const results = it.transcript().filter((entry) => entry['_t'] === 'tool_result')
  assert.match(String(results[0]!['content']), /^there is no tool named Rocket; there are: Read, Write/)
  assert.equal(results[1]!['content'], 'Read: the input does not fit: file_path is missing')
  assert.equal(results[2]!['content'], 'Read: the input is not a JSON object; send one')
  assert.equal(asked, 0)
})

test('a hook that denies stops the one call, and the model reads why', async () => {
  const it = start({
    ...free,
    handlers: [
      defineHook('PreToolUse', () => ({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'not on Fridays',
        },
      })),
    ],
    script: [{ calls: [{ id: 'a', name: 'Bash', input: { command: 'touch made' } }] }, 'done'],
  })
  assert.equal((await say(it, 'go')).stop, 'end_turn')
  assert.deepEqual(it.transcript()[2], {
    _t: 'tool_result',
    tool_use_id: 'a',
    content: 'not on Fridays',
    is_error: true,
  })
  assert.equal(existsSync(join(it.folder, 'made')), false)
  assert.deepEqual(
    it.rows('SELECT decision, reason_json FROM tool_permission_log').map((row) => ({ ...row })),
    [{ decision: 'deny', reason_json: '{"by":"hook","reason":"not on Fridays","mode":"bypassPermissions"}' }],
  )
})

test('what hooks make of the input is what the rules judge and the tool gets', async () => {
  const it = start({
    permissions: { allow: ['Bash(echo safe)'] },
    handlers: [
      defineStepHook('before_tool_apply', ({ step }) => {
        step.args = { command: 'echo safe' }
      }),
    ],
    script: [{ calls: [{ id: 'a', name: 'Bash', input: { command: 'rm -rf /tmp/nothing-here' } }] }, 'done'],
  })
  await say(it, 'go')
  assert.equal(it.transcript()[2]!['content'], 'safe\n')
})

test('a filled result reaches the model as given, and the tool does not run', async () => {
  const it = start({
    handlers: [
      defineStepHook('before_tool_apply', ({ step }) => {
        step.result = { body: { kind: 'text', text: 'from the cache' }, isError: false }
      }),
    ],
    script: [{ calls: [{ id: 'a', name: 'Bash', input: { command: 'touch made' } }] }, 'done'],
  })
  await say(it, 'go')
  assert.deepEqual(it.transcript()[2], {
    _t: 'tool_result',
    tool_use_id: 'a',
    content: 'from the cache',
    is_error: false,
  })
  assert.equal(existsSync(join(it.folder, 'made')), false)
})

test('where nobody can be asked the call is denied, with what would allow it', async () => {
  const denied: string[] = []
  const it = start({
    handlers: [defineHook('PermissionDenied', ({ reason }) => void denied.push(reason))],
    script: [{ calls: [{ id: 'a', name: 'Bash', input: { command: 'echo hi' } }] }, 'done'],
  })
  await say(it, 'go')
  const content = String(it.transcript()[2]!['content'])
  assert.match(content, /^Bash needs permission and there is no user to ask: .*--allowed-tools "Bash"/)
  assert.deepEqual(denied, [content])
})

test('a user who says no with words is heard, and the turn goes on', async () => {
  const it = start({
    user: { permission: async () => ({ allow: false, feedback: 'use make instead' }) },
    script: [{ calls: [{ id: 'a', name: 'Bash', input: { command: 'echo hi' } }] }, 'done'],
  })
  assert.equal((await say(it, 'go')).text, 'done')
  assert.equal(it.transcript()[2]!['content'], 'The user rejected this tool call: use make instead')
})

test('a rule that a user adds holds for the rest of the session', async () => {
  let asked = 0
  const it = start({
    user: {
      permission: async () => {
        asked++
        const rules = [{ toolName: 'Bash', ruleContent: 'echo *' }]
        return { allow: true, updates: [{ type: 'addRules', rules, behavior: 'allow', destination: 'session' }] }
      },
    },
    script: [
      {
        calls: [
          { name: 'Bash', input: { command: 'echo 1' } },
          { name: 'Bash', input: { command: 'echo 2' } },
        ],
      },
      'done',
    ],
  })
  await say(it, 'go')
  assert.equal(asked, 1)
})

test('while a plan is being made Write is shut, whatever rules and hooks say', async () => {
  const it = start({
    phase: 'planning',
    permissions: { allow: ['Write'] },
    mode: 'bypassPermissions',
    handlers: [
      defineHook('PreToolUse', () => ({
        hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' },
      })),
    ],
    script: [{ calls: [{ id: 'a', name: 'Write', input: { file_path: 'x.txt', content: 'x' } }] }, 'done'],
  })
  await say(it, 'go')
  assert.match(String(it.transcript()[2]!['content']), /^Write is shut while the plan is being made/)
  assert.equal(existsSync(join(it.folder, 'x.txt')), false)
  assert.deepEqual(
    it
      .rows(`SELECT command, exit_code FROM hook_invocations WHERE command LIKE 'builtin:%'`)
      .map((row) => ({ ...row })),
    [{ command: 'builtin:planning-gate', exit_code: 2 }],
  )
})

test('a Stop hook sends the model round again, with its reason, until the cap', async () => {
  const seen: boolean[] = []
  const it = start({
    handlers: [
      defineHook('Stop', ({ stop_hook_active }) => {
        seen.push(stop_hook_active)
        return { decision: 'block', reason: 'run the tests' }
      }),
    ],
    script: ['1', '2', '3', '4'],
  })
  assert.deepEqual(await say(it, 'go'), { stop: 'end_turn', text: '4' })
  assert.deepEqual(seen, [false, true, true])
  assert.deepEqual(it.transcript()[2], { _t: 'user', content: [{ type: 'text', text: 'run the tests' }] })
})

test('continue: false ends the turn with its reason, and no call is left without a result', async () => {
  const it = start({
    ...free,
    handlers: [defineHook('PostToolUse', () => ({ continue: false, stopReason: 'budget' }))],
    script: [
      {
        calls: [
          { id: 'a', name: 'Bash', input: { command: 'echo 1' } },
          { id: 'b', name: 'Bash', input: { command: 'echo 2' } },
        ],
      },
    ],
  })
  assert.deepEqual(await say(it, 'go'), { stop: 'end_turn', text: '', why: 'budget' })
  assert.deepEqual(
    it
      .transcript()
      .slice(2)
      .map((entry) => [entry['tool_use_id'], entry['content']]),
    [
      ['a', '1\n'],
      ['b', '[SDLC_INTERNAL] interrupted: budget'],
    ],
  )
})

test('continue: false ends the turn beside a deny, too, of the same hook or of a parallel one', async () => {
  const deny = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' } as const
  const stop = { continue: false, stopReason: 'enough' }
  for (const handlers of [
    [defineHook('PreToolUse', () => ({ ...stop, hookSpecificOutput: deny }))],
    [
      defineHook('PreToolUse', () => ({ hookSpecificOutput: deny }), { parallel: true }),
      defineHook('PreToolUse', () => stop, { parallel: true }),
    ],
  ]) {
    const script = [{ calls: [{ id: 'a', name: 'Bash', input: { command: 'echo 1' } }] }]
    const it = start({ ...free, handlers, script })
    assert.deepEqual(await say(it, 'go'), { stop: 'end_turn', text: '', why: 'enough' })
    assert.equal(it.transcript()[2]!['content'], 'no')
  }
})

test('a prompt that a hook refuses is not stored, and the hook is', async () => {
  const it = start({
    handlers: [defineHook('UserPromptSubmit', () => ({ decision: 'block', reason: 'no secrets here' }))],
  })
  assert.deepEqual(await say(it, 'the password is x'), { stop: 'refusal', text: '', why: 'no secrets here' })
  assert.deepEqual(it.transcript(), [])
  assert.deepEqual(
    it.rows('SELECT hook_event FROM hook_invocations').map((row) => row['hook_event']),
    ['UserPromptSubmit'],
  )
})

test("a model's failure ends the turn, and StopFailure names it", async () => {
  const raised: string[] = []
  const it = start({
    handlers: [defineHook('StopFailure', ({ error, error_details }) => void raised.push(`${error}: ${error_details}`))],
    script: [{ failure: { kind: 'rate-limit', message: 'too many requests' } }],
  })
  const end = await say(it, 'go')
  assert.equal(end.stop, 'error')
  assert.deepEqual(raised, ['rate_limit: too many requests'])
})

test('an interrupt while a tool runs ends the tool, answers every call, and says so to the hooks', async () => {
  const interrupts: unknown[] = []
  const it = start({
    ...free,
    handlers: [defineHook('PostToolUseFailure', ({ is_interrupt }) => void interrupts.push(is_interrupt))],
    script: [
      {
        calls: [
          { id: 'a', name: 'Bash', input: { command: 'echo started > started; sleep 60' } },
          { id: 'b', name: 'Bash', input: { command: 'touch made' } },
        ],
      },
    ],
  })
  const turn = say(it, 'go')
  await until(() => existsSync(join(it.folder, 'started')))
  it.session.interrupt()
  assert.equal((await turn).stop, 'cancelled')
  const results = it.transcript().filter((entry) => entry['_t'] === 'tool_result')
  assert.deepEqual(
    results.map((entry) => [entry['tool_use_id'], entry['is_error']]),
    [
      ['a', true],
      ['b', true],
    ],
  )
  assert.deepEqual(interrupts, [true])
  assert.equal(existsSync(join(it.folder, 'made')), false)
  assert.deepEqual(it.transcript().at(-1), {
    _t: 'user',
    content: [{ type: 'text', text: '[Request interrupted by user for tool use]' }],
  })
})

test('the turn ends at the number of requests that it may make', async () => {
  const it = start({
    ...free,
    script: [
      { calls: [{ name: 'Bash', input: { command: 'true' } }] },
      { calls: [{ name: 'Bash', input: { command: 'true' } }] },
    ],
  })
  it.session.maxRequests = 2
  assert.equal((await say(it, 'go')).stop, 'max_turn_requests')
  assert.equal(it.model.requests.length, 2)
})

test('an edit is kept as it was, and rewinding puts it back', async () => {
  const { rewind, rewindPoints } = await import('./session/rewind.ts')
  const it = start({
    ...free,
    script: [
      'noted',
      { calls: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
      {
        calls: [
          { name: 'Edit', input: { file_path: 'a.txt', old_string: 'old', new_string: 'new' } },
          { name: 'Write', input: { file_path: 'b.txt', content: 'b' } },
        ],
      },
      'done',
    ],
  })
  const file = join(it.folder, 'a.txt')
  writeFileSync(file, 'old\n')
  await say(it, 'first')
  await say(it, 'second')
  assert.equal(readFileSync(file, 'utf8'), 'new\n')
  const [second, first] = rewindPoints(it.session)
  assert.deepEqual(
    [second!.prompt, second!.files, first!.prompt],
    ['second', [file, join(it.folder, 'b.txt')], 'first'],
  )
  assert.deepEqual(rewind(it.session, second!, 'both'), { prompt: 'second', problems: [] })
  assert.deepEqual([readFileSync(file, 'utf8'), existsSync(join(it.folder, 'b.txt'))], ['old\n', false])
  assert.deepEqual(
    it.session.messages.map((message) => message.content),
    [[{ type: 'text', text: 'first' }], [{ type: 'text', text: 'noted' }]],
  )
})

test('the newest thousand prompts can be gone back to, each with the files that were changed since', async () => {
  const { rewindPoints } = await import('./session/rewind.ts')
  const it = start({})
  const { session } = it
  const ask = (prompt: string) =>
    session.append({ _t: 'user', uuid: prompt, source: 'prompt', content: [{ type: 'text', text: prompt }] })
  const change = (path: string) => session.append({ _t: 'file_history_snapshot', snapshot: { path, blob: null } })
  const points = () => rewindPoints(session).map(({ prompt, files }) => [prompt, files])
  session.commit(() => {
    ask('gone')
    change('/gone')
    session.append({ _t: 'system', subtype: 'rewind', to: 0 })
    ask('one')
    change('/a')
    change('/b')
    ask('two')
    session.append({ _t: 'user', uuid: 'u', source: 'hook', content: [] })
    change('/a')
    ask('three')
  })
  const three = [
    ['three', []],
    ['two', ['/a']],
    ['one', ['/b', '/a']],
  ]
  assert.deepEqual(points(), three)
  session.commit(() => {
    for (let n = 0; n < 998; n++) ask(`prompt ${n}`)
  })
  assert.deepEqual([points().length, points().slice(-2)], [1000, three.slice(0, 2)])
})

test('a copy of a session can be rewound like the session itself, files and all', async () => {
  const { rewind, rewindPoints } = await import('./session/rewind.ts')
  const { findSession } = await import('./session/find-session.ts')
  const input = { file_path: 'a.txt' }
  const it = start({
    ...free,
    script: [{ calls: [{ name: 'Read', input }] }, { calls: [{ name: 'Write', input: { ...input, content: 'new' } }] }],
  })
  const file = join(it.folder, 'a.txt')
  writeFileSync(file, 'old')
  await say(it, 'change it')
  assert.equal(readFileSync(file, 'utf8'), 'new')
  const { runtime, services, mode, model, permissions, cwd, projectDir } = it.session
  const found = findSession({ cwd, resume: it.session.id, fork: true } as never, runtime)
  assert.ok(!('problem' in found))
  const copy = new Session({ runtime, services, ...found, mode, model, permissions, cwd, projectDir, messages: [] })
  const [point] = rewindPoints(copy)
  assert.deepEqual(rewind(copy, point!, 'files').problems, [])
  assert.equal(readFileSync(file, 'utf8'), 'old')
})

test('a reply that is interrupted before the server reports anything leaves the costs as they are', () => {
  const it = start({})
  const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: null, cacheWriteTokens: null }
  const spentTotals: (number | null)[] = []
  Object.assign(it.session.runtime, {
    prices: { m: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } },
    spent: (_model: string, _usage: unknown, cost: number | null) => spentTotals.push(cost),
  })
  spend(it.session, { model: 'm', usage })
  const before = { ...it.session.spent }
  const none = { inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheWriteTokens: null }
  assert.equal(spend(it.session, { model: 'm', usage: none }), null)
  assert.deepEqual([it.session.spent, spentTotals], [before, [0.000015]])
})
