/** The tools that need a session around them, called by a model through `ona -p`: what each answers, and its rows. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packageRoot } from '../src/package-root.ts'
import type { Chat } from '../src/rehearsal/chat.ts'
import { call, type Line, testModel } from './support/model/model.ts'
import { type Place, place } from './support/program.ts'

interface Played {
  readonly at: Place
  readonly chats: readonly Chat[]
  /** Results of the session that the user talks with, in order. */
  readonly results: readonly { readonly content: string; readonly is_error: boolean }[]
}

interface PlayOptions {
  readonly words?: readonly string[]
  /** Beside the model's own, or made from its address. */
  readonly env?: Record<string, string> | ((baseUrl: string) => Record<string, string>)
  prepare?(at: Place): void
}

/** One prompt, and a model that says these lines. */
async function play(
  t: TestContext,
  lines: readonly Line[],
  settings: object = {},
  { words = [], env = {}, prepare }: PlayOptions = {},
): Promise<Played> {
  const at = place(t)
  at.write('../home/.ona/settings.json', settings)
  prepare?.(at)
  const model = await testModel(t, lines)
  const more = typeof env === 'function' ? env(model.env['LM_STUDIO_BASE_URL']!) : { ...model.env, ...env }
  const ran = await at.run(['-p', 'go on', ...words], { env: more })
  assert.equal(ran.code, 0, ran.stderr + ran.stdout)
  const rows = at.rows<{ payload_json: string }>(
    `SELECT payload_json FROM transcript_entries
     WHERE entry_type = 'tool_result' AND session_id = (SELECT session_id FROM transcript_entries ORDER BY id LIMIT 1)
     ORDER BY id`,
  )
  return { at, chats: model.chats, results: rows.map((row) => JSON.parse(row.payload_json)) }
}

const allow = (...rules: string[]) => ({ permissions: { allow: rules } })
const work = { description: 'look', prompt: 'Read a.txt and say what is in it.' }
const git = (at: Place, ...words: string[]) => execFileSync('git', words, { cwd: at.folder, encoding: 'utf8' }).trim()

function repository(at: Place): void {
  at.write('a.txt', 'the content\n')
  git(at, 'init', '-q', '-b', 'main')
  git(at, 'add', '.')
  git(at, '-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qm', 'first')
}

test('Agent: a session of its own does the work, and its last words, id and cost are the result', async (t) => {
  const { at, results, chats } = await play(
    t,
    [call('Agent', work), call('Read', { file_path: 'a.txt' }), { text: 'It holds milk.' }],
    allow('Agent', 'Read'),
    { prepare: (at) => at.write('a.txt', 'milk\n') },
  )
  assert.match(
    results[0]!.content,
    /^It holds milk\.\n\nagentId: [0-9a-f-]{36}\n<usage>total_tokens: [1-9]\d*, tool_uses: 1, duration_ms: \d+<\/usage>$/,
  )
  assert.equal(results[0]!.is_error, false)
  const [child] = at.rows<{ session_id: string; results: number }>(
    `SELECT session_id, count(*) AS results FROM transcript_entries WHERE entry_type = 'tool_result'
     AND session_id <> (SELECT session_id FROM transcript_entries ORDER BY id LIMIT 1) GROUP BY 1`,
  )
  assert.equal(child!.results, 1)
  assert.match(JSON.stringify(chats[0]), /# Agents \(use the Agent tool\)\\n- general-purpose: /)
})

test('Agent: a call may narrow the mode and may not widen it', async (t) => {
  const write = call('Write', { file_path: 'b.txt', content: 'x' })
  const { at, results } = await play(
    t,
    [
      call('Agent', { ...work, mode: 'plan' }),
      write,
      { text: 'No.' },
      call('Agent', { ...work, mode: 'bypassPermissions' }),
    ],
    allow('Agent'),
    { words: ['--permission-mode', 'acceptEdits'] },
  )
  assert.equal(existsSync(join(at.folder, 'b.txt')), false)
  assert.match(results[1]!.content, /^mode bypassPermissions allows more than acceptEdits/)
})

test('Agent: in a worktree of its own, which goes when nothing changed and stays when something did', async (t) => {
  const aside = { ...work, isolation: 'worktree' }
  const { at, results } = await play(
    t,
    [
      call('Agent', aside),
      call('Read', { file_path: 'a.txt' }),
      { text: 'Read it.' },
      call('Agent', aside),
      call('Write', { file_path: 'new.txt', content: 'x\n' }),
      { text: 'Wrote it.' },
    ],
    allow('Agent', 'Read', 'Edit(/**)', 'Write'),
    { prepare: repository },
  )
  assert.doesNotMatch(results[0]!.content, /worktree/)
  const kept = /\nworktree: (\S+) \(it has changes and stays\)/.exec(results[1]!.content)?.[1]
  assert.ok(kept, results[1]!.content)
  assert.deepEqual([existsSync(join(kept, 'new.txt')), existsSync(join(at.folder, 'new.txt'))], [true, false])
  assert.equal(git(at, 'worktree', 'list').split('\n').length, 2)
})

test('Agent: what its definition names is there before it starts', async (t) => {
  const { chats, results } = await play(
    t,
    [call('Agent', { ...work, subagent_type: 'judge' }), { text: 'Judged.' }],
    allow('Agent'),
    {
      prepare(at) {
        at.write(
          '../home/.ona/agents/judge.md',
          '---\nname: judge\ndescription: judges\nskills: [law]\n---\nYou judge.',
        )
        at.write('../home/.ona/skills/law/SKILL.md', 'The law of the land.')
      },
    },
  )
  assert.match(results[0]!.content, /^Judged\./)
  assert.match(JSON.stringify(chats[1]), /# Skill: law[\s\S]*The law of the land\.[\s\S]*Read a\.txt/)
})

test('TaskOutput and TaskStop: a background command is heard of and ended', async (t) => {
  const { results } = await play(
    t,
    [
      call('Bash', { command: 'echo begun; sleep 60', run_in_background: true }),
      call('Bash', { command: 'echo short', run_in_background: true }),
      call('TaskOutput', { task_id: 'bash_2' }),
      call('TaskOutput', { task_id: 'bash_1', block: false }),
      call('TaskStop', { task_id: 'bash_1' }),
      call('TaskOutput', { task_id: 'bash_1' }),
      call('TaskStop', { task_id: 'bash_1' }),
    ],
    allow('Bash', 'TaskOutput', 'TaskStop'),
  )
  assert.deepEqual(
    results.map(({ is_error }) => is_error),
    [false, false, false, false, false, false, true],
  )
  assert.match(
    results[2]!.content,
    /<status>completed<\/status>\n<exit_code>0<\/exit_code>\n<output>\nshort\n<\/output>$/,
  )
  assert.match(results[3]!.content, /<task_type>local_bash<\/task_type>\n<status>running<\/status>/)
  assert.equal(results[4]!.content, 'Stopped task bash_1 (echo begun; sleep 60)')
  assert.match(results[5]!.content, /<status>killed<\/status>/)
  assert.equal(results[6]!.content, 'task bash_1 is not running: it is killed')
})

test('TaskOutput and TaskStop: a background agent is waited for, and another is ended', async (t) => {
  const isChild = (chat: Chat) => JSON.stringify(chat).includes('You work on one task for another agent')
  const never = new Promise<never>(() => {})
  const parent: Line[] = [
    call('Agent', { ...work, run_in_background: true }),
    call('TaskOutput', { task_id: 'agent_1' }),
    call('Agent', { description: 'hang', prompt: 'Hang.', run_in_background: true }),
    call('TaskStop', { task_id: 'agent_2' }),
    call('TaskOutput', { task_id: 'agent_2' }),
  ]
  // Parent and child ask at the same time: each request is answered by who asks.
  const either: Line = (chat) => {
    if (isChild(chat)) return JSON.stringify(chat).includes('Hang.') ? never : { text: 'Found it.' }
    const line = parent.shift()
    return line === undefined ? { text: 'Done.' } : (line as ReturnType<typeof call>)
  }
  const { results } = await play(t, Array(12).fill(either), allow('Agent', 'TaskOutput', 'TaskStop'))
  assert.match(results[0]!.content, /in the background as agent_1/)
  assert.match(
    results[1]!.content,
    /<task_type>local_agent<\/task_type>\n<status>completed<\/status>[\s\S]*Found it\.\n\nagentId: /,
  )
  assert.equal(results[3]!.content, 'Stopped task agent_2 (hang)')
  assert.match(results[4]!.content, /<status>killed<\/status>/)
})

const everything = join(packageRoot, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const servers = { mcpServers: { every: { command: process.execPath, args: [everything] } } }

test('ToolSearch, MCP tools and resources: deferred tools are found, told of and called', async (t) => {
  const { results, chats } = await play(
    t,
    [
      call('ToolSearch', { query: 'select:mcp__every__echo' }),
      call('mcp__every__echo', { message: 'hi' }),
      call('ListMcpResources', { server: 'every' }),
      (chat) => {
        const listed = chat.messages.findLast(({ role }) => role === 'tool')!
        const [{ uri }] = JSON.parse(listed.text)
        return call('ReadMcpResource', { server: 'every', uri })
      },
    ],
    {
      ...servers,
      ...allow('ToolSearch', 'mcp__every__*', 'ListMcpResources', 'ReadMcpResource'),
      env: { ENABLE_TOOL_SEARCH: 'true' },
    },
  )
  assert.deepEqual(
    results.map(({ is_error }) => is_error),
    [false, false, false, false],
    JSON.stringify(results),
  )
  assert.match(results[0]!.content, /^Loaded mcp__every__echo:\n\{"name":"mcp__every__echo"/)
  assert.equal(results[1]!.content, 'Echo: hi')
  assert.match(results[3]!.content, /"contents"/)
  const told = (chat: Chat) => chat.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__'))
  assert.deepEqual([told(chats[0]!), told(chats[1]!)], [[], ['mcp__every__echo']])
})

test('ToolSearch: a resumed session and its copy keep the tools that were loaded', async (t) => {
  const settings = { ...servers, ...allow('ToolSearch', 'mcp__every__*') }
  const env = { ENABLE_TOOL_SEARCH: 'true' }
  const { at } = await play(t, [call('ToolSearch', { query: 'select:mcp__every__echo' })], settings, { env })
  for (const words of [['--continue'], ['--continue', '--fork-session']]) {
    const model = await testModel(t, [call('mcp__every__echo', { message: 'hi' })])
    const ran = await at.run(['-p', 'go on', ...words], { env: { ...model.env, ...env } })
    assert.equal(ran.code, 0, ran.stderr)
    const told = model.chats[0]!.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__'))
    assert.deepEqual(told, ['mcp__every__echo'])
  }
})

const planText = '# Plan\n\n1. Do it\n\n## Success criteria\n\n- C1: it is done'
const planHook = (decision: object) => ({
  hooks: [
    {
      hook_event_name: 'PermissionRequest',
      matcher: 'ExitPlanMode',
      shell: 'sh',
      command: `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })}'`,
    },
  ],
})
const planRows = (at: Place) => [
  at.rows('SELECT phase FROM conversations').map((row) => ({ ...row })),
  at.rows('SELECT status FROM plans ORDER BY id').map((row) => ({ ...row })),
]

test('EnterPlanMode and ExitPlanMode: approved by a hook, the plan is kept and the work may begin', async (t) => {
  const { at, results } = await play(
    t,
    [
      call('EnterPlanMode', {}),
      call('Bash', { command: 'touch early' }),
      call('ExitPlanMode', { plan: planText }),
      call('Bash', { command: 'touch late' }),
    ],
    { ...allow('EnterPlanMode', 'ExitPlanMode', 'Bash'), ...planHook({ behavior: 'allow' }) },
  )
  assert.deepEqual(
    results.map(({ is_error }) => is_error),
    [false, true, false, false],
    JSON.stringify(results),
  )
  assert.match(results[2]!.content, /^A hook approved the plan\. Begin to implement it/)
  assert.deepEqual([existsSync(join(at.folder, 'early')), existsSync(join(at.folder, 'late'))], [false, true])
  assert.deepEqual(planRows(at), [[{ phase: 'implement' }], [{ status: 'approved' }]])
})

test('ExitPlanMode: refused, the plan stays a draft and planning goes on', async (t) => {
  const { at, results } = await play(
    t,
    [call('EnterPlanMode', {}), call('ExitPlanMode', { plan: planText }), call('Bash', { command: 'true' })],
    { ...allow('EnterPlanMode', 'ExitPlanMode', 'Bash'), ...planHook({ behavior: 'deny', message: 'too vague' }) },
  )
  assert.match(results[1]!.content, /^The plan was not approved\. Keep planning\. A hook says: .*too vague/)
  assert.equal(results[2]!.is_error, true)
  assert.deepEqual(planRows(at), [[{ phase: 'planning' }], [{ status: 'draft' }]])
})

test('ExitPlanMode: with nobody there the plan waits for ona plan approve', async (t) => {
  const { at, results } = await play(
    t,
    [call('EnterPlanMode', {}), call('ExitPlanMode', { plan: planText })],
    allow('EnterPlanMode', 'ExitPlanMode'),
  )
  const id = /ona plan approve (\d+)/.exec(results[1]!.content)?.[1]
  assert.ok(id, results[1]!.content)
  assert.equal((await at.run(['plan', 'approve', id])).code, 0)
  assert.deepEqual(planRows(at), [[{ phase: 'implement' }], [{ status: 'approved' }]])
})

test('AskUserQuestion: a hook answers in the place of the user', async (t) => {
  const questions = [
    { question: 'Which?', header: 'H', options: ['a', 'b'].map((label) => ({ label, description: '' })) },
  ]
  const hookSpecificOutput = {
    hookEventName: 'PreToolUse',
    permissionDecision: 'allow',
    updatedInput: { questions, answers: { 'Which?': 'b' } },
  }
  const { results } = await play(t, [call('AskUserQuestion', { questions })], {
    hooks: [
      {
        hook_event_name: 'PreToolUse',
        matcher: 'AskUserQuestion',
        shell: 'sh',
        command: `echo '${JSON.stringify({ hookSpecificOutput })}'`,
      },
    ],
  })
  assert.deepEqual(
    [results[0]!.is_error, /"Which\?"="b"/.test(results[0]!.content)],
    [false, true],
    results[0]!.content,
  )
})

const skill = (at: Place, name: string, text: string) => at.write(`../home/.ona/skills/${name}/SKILL.md`, text)

test('Skill: what it allows holds in the session that loaded it, and nowhere else', async (t) => {
  const touch = (name: string) => call('Bash', { command: `touch ${name}` })
  const { at } = await play(
    t,
    [
      call('Agent', work),
      call('Skill', { skill: 'toucher' }),
      touch('by-the-agent'),
      { text: 'Touched.' },
      touch('by-the-parent'),
      call('Skill', { skill: 'toucher' }),
      touch('by-the-parent-after'),
    ],
    allow('Agent', 'Skill'),
    { prepare: (at) => skill(at, 'toucher', '---\nallowed-tools: Bash(touch *)\n---\nTouch things.') },
  )
  const made = ['by-the-agent', 'by-the-parent', 'by-the-parent-after'].map((name) => existsSync(join(at.folder, name)))
  assert.deepEqual(made, [true, false, true])
})

test('Skill: with context: fork it is the task of a sub-agent, and its powers are gone with it', async (t) => {
  const { at, results, chats } = await play(
    t,
    [
      call('Skill', { skill: 'forked', args: 'here' }),
      call('Bash', { command: 'echo made > forked.txt' }),
      { text: 'Forked.' },
      call('Bash', { command: 'echo again > parent.txt' }),
    ],
    allow('Skill'),
    {
      prepare: (at) =>
        skill(at, 'forked', '---\ncontext: fork\nagent: general-purpose\nallowed-tools: Bash\n---\nWork $ARGUMENTS.'),
    },
  )
  assert.match(results[0]!.content, /^The sub-agent that ran skill forked answers:\n\nForked\.\n\nagentId: /)
  assert.match(JSON.stringify(chats[1]), /Work here\./)
  assert.equal(readFileSync(join(at.folder, 'forked.txt'), 'utf8'), 'made\n')
  assert.deepEqual([results[1]!.is_error, existsSync(join(at.folder, 'parent.txt'))], [true, false])
})

test('Skill: its model is used to the end of the turn', async (t) => {
  const { chats } = await play(t, [call('Skill', { skill: 'small' }), { text: 'Done.' }], allow('Skill'), {
    env: (baseUrl) => ({ OPENAI_API_KEY: 'sk-planted', OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: 'gpt-4o' }),
    words: ['--model', 'gpt_4o'],
    prepare: (at) => skill(at, 'small', '---\nmodel: gpt_4o_mini\n---\nBe small.'),
  })
  assert.deepEqual(
    chats.map(({ model }) => model),
    ['gpt-4o', 'gpt-4o-mini'],
  )
})
