/** Every built-in tool through `ona --eval`, as an operator sees it: its answer, its exit code and its rows. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isFull } from './support/campaign-size.ts'
import { stream, wireServer } from './support/model/wire-server.ts'
import { type Place, place } from './support/program.ts'

interface Evaluated {
  readonly code: number | null
  readonly content: string
  readonly isError: boolean
}

async function evaluate(p: Place, tool: string, input: object, env?: Record<string, string>): Promise<Evaluated> {
  const ran = await p.run(['--eval', JSON.stringify({ tool, input })], { env })
  assert.match(ran.stdout, /^\{"content":.*\}\n$/, ran.stderr)
  const { content, is_error } = JSON.parse(ran.stdout) as { content: string; is_error: boolean }
  assert.equal(ran.code, is_error ? 1 : 0)
  const [row] = p.rows<{ payload_json: string }>(
    "SELECT payload_json FROM transcript_entries WHERE entry_type = 'tool_result' ORDER BY rowid DESC LIMIT 1",
  )
  const stored = JSON.parse(row!.payload_json) as { content: string; is_error: boolean }
  assert.deepEqual([stored.content, stored.is_error], [content, is_error])
  return { code: ran.code, content, isError: is_error }
}

interface Case {
  /** What is done first, by other calls. */
  before?(p: Place): Promise<unknown>
  input(p: Place): object
  /** What the answer to it holds. */
  answer: RegExp
  /** An input that is refused, and how. */
  wrong?: { input(p: Place): object; answer: RegExp }
  env?: Record<string, string>
}

const notebook = {
  cells: [{ id: 'a', cell_type: 'code', source: ['x'] }],
  nbformat: 4,
  nbformat_minor: 5,
  metadata: {},
}
const question = {
  question: 'Which?',
  header: 'H',
  options: [
    { label: 'a', description: '' },
    { label: 'b', description: '' },
  ],
}

const cases: Record<string, Case> = {
  Read: {
    input: (p) => ({ file_path: p.write('a.txt', 'line1\nline2\nline3\n') }),
    answer: /^3 lines in .*\n {5}1\tline1\n/,
    wrong: { input: () => ({ file_path: '/nowhere/at/all' }), answer: /does not exist/ },
  },
  Write: {
    input: () => ({ file_path: 'sub/new.txt', content: 'x\n' }),
    answer: /^Created .*sub\/new\.txt: 1 line$/,
    wrong: { input: (p) => ({ file_path: p.folder, content: '' }), answer: /is a directory/ },
  },
  Edit: {
    before: (p) => evaluate(p, 'Read', { file_path: p.write('e.txt', 'one\n') }),
    input: () => ({ file_path: 'e.txt', old_string: 'one', new_string: 'two' }),
    answer: /^Edited .*e\.txt: 1 replacement, now 1 line$/,
    wrong: { input: () => ({ file_path: 'e.txt', old_string: 'nope', new_string: 'x' }), answer: /was not found/ },
  },
  NotebookEdit: {
    before: (p) => evaluate(p, 'Read', { file_path: p.write('n.ipynb', notebook) }),
    input: () => ({ notebook_path: 'n.ipynb', cell_id: 'a', new_source: 'y' }),
    answer: /^Updated cell a in .*n\.ipynb: now 1 cell$/,
    wrong: {
      input: () => ({ notebook_path: 'n.ipynb', cell_id: 'z', new_source: '' }),
      answer: /there is no cell "z"/,
    },
  },
  Bash: {
    input: () => ({ command: 'echo out; echo err >&2' }),
    answer: /^out\n\n--- stderr ---\nerr\n$/,
    wrong: { input: () => ({ command: 'false' }), answer: /^Exit code 1$/ },
  },
  Glob: {
    before: async (p) => p.write('src/a.ts', ''),
    input: () => ({ pattern: '**/*.ts' }),
    answer: /src\/a\.ts$/,
    wrong: { input: () => ({ pattern: '*', path: 'nowhere' }), answer: /does not exist/ },
  },
  Grep: {
    before: async (p) => p.write('src/a.ts', 'needle\n'),
    input: () => ({ pattern: 'need', output_mode: 'content' }),
    answer: /^src\/a\.ts:1:needle$/,
    wrong: { input: () => ({ pattern: '(' }), answer: /cannot be searched/ },
  },
  WebSearch: {
    input: () => ({ query: 'anything' }),
    answer: /Web search results for "anything":\n- One — https:\/\/one\.example\/$/,
    wrong: { input: () => ({ query: 'x' }), answer: /too short/ },
  },
  AskUserQuestion: {
    input: () => ({ questions: [question], answers: { 'Which?': 'a' } }),
    answer: /"Which\?"="a"/,
    wrong: { input: () => ({ questions: [question] }), answer: /did not answer/ },
  },
  TodoWrite: {
    input: () => ({ todos: [{ content: 'x', status: 'pending', activeForm: 'x' }] }),
    answer: /1 pending/,
    wrong: { input: () => ({ todos: [{ content: 'x' }] }), answer: /todos\[0\]\.status is missing/ },
  },
  TaskOutput: { input: () => ({ task_id: 'none' }), answer: /there is no task "none"/ },
  TaskStop: { input: () => ({ task_id: 'none' }), answer: /there is no task "none"/ },
  Agent: {
    input: () => ({ description: 'x', prompt: 'y', subagent_type: 'none' }),
    answer: /Agent type 'none' not found/,
  },
  Skill: {
    input: () => ({ skill: 'help', args: 'how do I plan?' }),
    answer: /^Launching skill: help\n[\s\S]*how do I plan\?$/,
    wrong: { input: () => ({ skill: 'none' }), answer: /Unknown skill: none/ },
  },
  EnterPlanMode: { input: () => ({}), answer: /planning/ },
  ExitPlanMode: { input: () => ({ plan: '' }), answer: /./ },
  ListMcpResources: {
    input: () => ({}),
    answer: /No MCP server/,
    wrong: { input: () => ({ server: 'x' }), answer: /no MCP server/i },
  },
  ReadMcpResource: { input: () => ({ server: 'x', uri: 'y' }), answer: /no MCP server/i },
  ToolSearch: { input: () => ({ query: 'mail' }), answer: /^No tool matches "mail"/ },
  Brief: {
    input: () => ({ message: 'Half done' }),
    answer: /^Message delivered to user: Half done$/,
    wrong: { input: () => ({ message: ' ' }), answer: /message is empty/ },
  },
  WebFetch: {
    input: () => ({ url: 'http://127.0.0.1:PORT/page', prompt: 'what?' }),
    answer: /a page/,
    wrong: {
      input: () => ({ url: 'http://localhost:PORT/', prompt: 'x' }),
      answer: /private, loopback or special address/,
    },
  },
}
/** Those that nothing but an error can be had of here: no task, agent or server is there to answer. */
const alwaysErrors = ['TaskOutput', 'TaskStop', 'Agent', 'ReadMcpResource', 'ExitPlanMode']
/** What planning shuts. */
const mutating = ['Write', 'Edit', 'Bash', 'NotebookEdit']

/** A place with a web of its own, and rules that let WebFetch reach it by its number. */
async function prepared(
  t: TestContext,
  settings: object = {},
): Promise<{ p: Place; port: string; env: Record<string, string> }> {
  const server = createServer((request, response) => {
    if (!request.url!.startsWith('/search')) return response.setHeader('content-type', 'text/plain').end('a page')
    return response
      .setHeader('content-type', 'application/json')
      .end('{"results":[{"title":"One","url":"https://one.example/"}]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const port = String((server.address() as AddressInfo).port)
  const p = place(t)
  const { permissions = {}, ...others } = settings as { permissions?: object }
  p.write('../home/.ona/settings.json', {
    permissions: { allow: ['WebFetch(domain:127.0.0.1)'], ...permissions },
    ...others,
  })
  return { p, port, env: { ONA_SEARCH_URL: `http://127.0.0.1:${port}/` } }
}

const withPort = (input: object, port: string) => JSON.parse(JSON.stringify(input).replaceAll('PORT', port)) as object

for (const [index, [tool, { before, input, answer, wrong }]] of Object.entries(cases).entries()) {
  // the rows of the acceptance matrix call every tool; src/tools/suite.test.ts asks every tool for what is missing
  if (!isFull && index % 3 > 0) continue
  test(`${tool} answers, and says what is wrong`, async (t) => {
    const { p, port, env } = await prepared(t)
    const missing = await evaluate(p, tool, {})
    if (!['EnterPlanMode', 'ListMcpResources', 'ExitPlanMode'].includes(tool)) {
      assert.match(
        missing.content,
        new RegExp(`^${tool}: the input does not fit: (\\w+ is|.*\\w+ and \\w+ are) missing$`),
      )
    }
    await before?.(p)
    const done = await evaluate(p, tool, withPort(input(p), port), env)
    assert.match(done.content, answer)
    assert.equal(done.isError, alwaysErrors.includes(tool), done.content)
    if (!wrong) return
    const refused = await evaluate(p, tool, withPort(wrong.input(p), port), env)
    assert.match(refused.content, wrong.answer)
    assert.equal(refused.isError, true)
  })

  test(`${tool} is stopped by a hook and by a rule`, async (t) => {
    const hooked = await prepared(t, {
      hooks: { PreToolUse: [{ matcher: tool, hooks: [{ type: 'command', command: 'echo not today >&2; exit 2' }] }] },
    })
    await before?.(hooked.p).catch(() => {}) // what prepares it may be stopped by the same hook
    const byHook = await evaluate(hooked.p, tool, withPort(input(hooked.p), hooked.port), hooked.env)
    assert.deepEqual([byHook.isError, /not today/.test(byHook.content)], [true, true], byHook.content)
    const [row] = hooked.p.rows(
      `SELECT exit_code, tool_name FROM hook_invocations WHERE hook_event = 'PreToolUse' ORDER BY id DESC LIMIT 1`,
    )
    assert.deepEqual({ ...row }, { exit_code: 2, tool_name: tool })

    const ruled = await prepared(t, { permissions: { deny: [tool] } })
    const byRule = await evaluate(ruled.p, tool, withPort(input(ruled.p), ruled.port), ruled.env)
    assert.equal(byRule.isError, true)
    assert.match(byRule.content, /denied|there is no tool named/)
  })
}

test('a folder that is not there is wrong usage, and nothing is run', async (t) => {
  const p = place(t)
  const ran = await p.run(['--eval', '{"tool":"Bash","input":{"command":"pwd"}}', '--cwd', 'nowhere'])
  assert.deepEqual([ran.code, ran.stdout], [2, ''])
  assert.match(ran.stderr, /--cwd: .*nowhere is not a folder/)
})

test('while a plan is being made, what changes things is shut and the rest is open', async (t) => {
  const { p } = await prepared(t)
  await evaluate(p, 'EnterPlanMode', {})
  for (const tool of mutating) {
    const { content, isError } = await evaluate(p, tool, cases[tool]!.input(p))
    assert.deepEqual([isError, content.includes('shut while the plan is being made')], [true, true], tool)
  }
  for (const tool of ['Read', 'TodoWrite', 'Brief']) {
    assert.equal((await evaluate(p, tool, cases[tool]!.input(p))).isError, false, tool)
  }
})

test('a time-out is our failure and is marked so', async (t) => {
  const { p } = await prepared(t)
  const { content } = await evaluate(p, 'Bash', { command: 'echo begun; sleep 30', timeout: 300 })
  assert.match(content, /^\[SDLC_INTERNAL\] the command was ended after 300 ms[\s\S]*begun\n$/)
})

test('output is cut at 1 MiB a stream', async (t) => {
  const { p } = await prepared(t)
  const { content } = await evaluate(p, 'Bash', { command: 'head -c 3000000 /dev/zero | tr "\\0" x' })
  assert.deepEqual([content.length, content.slice(-17)], [1_048_576 + 16, 'x[SDLC_TRUNCATED]'])
})

test('a denied file is not shown by a search of its folder', async (t) => {
  const { p } = await prepared(t, { permissions: { deny: ['Read(.env)'] } })
  p.write('.env', 'KEY=needle\n')
  p.write('a.txt', 'needle\n')
  assert.equal((await evaluate(p, 'Grep', { pattern: 'needle', output_mode: 'content' })).content, 'a.txt:1:needle')
  assert.doesNotMatch((await evaluate(p, 'Glob', { pattern: '**/*' })).content, /\.env/)
})

test("a skill's commands run under the rules, and leave a row", async (t) => {
  const { p } = await prepared(t)
  p.write('../home/.ona/skills/now/SKILL.md', '---\nallowed-tools: Bash(echo *)\n---\nSaid: !`echo $1`')
  p.write('../home/.ona/skills/never/SKILL.md', 'Said: !`touch made`')
  assert.match((await evaluate(p, 'Skill', { skill: 'now', args: 'hello' })).content, /Said: hello$/)
  const never = await evaluate(p, 'Skill', { skill: 'never' })
  assert.match(never.content, /^Shell command permission check failed for pattern "!`touch made`"/)
  assert.equal((await evaluate(p, 'Glob', { pattern: 'made' })).content, 'No files found')
  assert.deepEqual(
    p
      .rows("SELECT json_extract(detail, '$.tool_input.command') AS ran FROM events WHERE event_type = 'skill_call'")
      .map((row) => ({ ...row })),
    [{ ran: "echo 'hello'" }],
  )
})

test('a skill of a folder that nobody trusted runs no command', async (t) => {
  const { p } = await prepared(t)
  p.write('.claude/commands/x.md', '---\nallowed-tools: Bash\n---\n!`touch made`')
  assert.match((await evaluate(p, 'Skill', { skill: 'x' })).content, /this folder is not trusted/)
})

test("the model provider's own search answers, unless the operator names a server", async (t) => {
  const { p, env } = await prepared(t)
  const frame = (data: { type: string; [key: string]: unknown }) => `data: ${JSON.stringify(data)}\n\n`
  const found = [{ type: 'web_search_result', title: 'Docs', url: 'https://docs.example/' }]
  const block = { type: 'web_search_tool_result', tool_use_id: 's', content: found }
  const model = await wireServer(
    stream([
      frame({ type: 'message_start', message: { model: 'claude', usage: { input_tokens: 3, output_tokens: 1 } } }),
      frame({ type: 'content_block_start', index: 0, content_block: block }),
      frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      frame({ type: 'message_stop' }),
    ]),
  )
  t.after(() => model.close())
  const claude = { ANTHROPIC_API_KEY: 'sk-ant-planted-1111', ANTHROPIC_BASE_URL: model.url }
  const own = await evaluate(p, 'WebSearch', { query: 'anything', blocked_domains: ['x.example'] }, claude)
  assert.deepEqual(
    [own.content, own.isError],
    ['Web search results for "anything":\n- Docs — https://docs.example/', false],
  )
  const [sent] = model.seen.map(({ body }) => JSON.parse(body) as { tools: unknown })
  assert.deepEqual(sent!.tools, [
    { type: 'web_search_20250305', name: 'web_search', max_uses: 8, blocked_domains: ['x.example'] },
  ])
  const named = await evaluate(p, 'WebSearch', { query: 'anything' }, { ...claude, ...env })
  assert.match(named.content, /https:\/\/one\.example\//)
  assert.equal(model.seen.length, 1)
})
