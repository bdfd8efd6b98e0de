import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bench } from '../../test/support/tool-host.ts'
import type { AgentRequest } from './host.ts'

const plain = ({ content, isError }: { content: string; isError: boolean }) => ({ content, isError })
const todo = (content: string, status: 'pending' | 'in_progress' | 'completed') => ({
  content,
  status,
  activeForm: `${content}ing`,
})
const question = (text: string, labels = ['Red', 'Blue']) => ({
  question: text,
  header: 'Colour',
  options: labels.map((label) => ({ label, description: `${label} it is` })),
  multiSelect: false,
})

test('the todo list is replaced as a whole', async (t) => {
  const b = bench(t)
  const todos = [todo('test', 'completed'), todo('build', 'in_progress'), todo('ship', 'pending')]
  assert.deepEqual(await b.use('TodoWrite', { todos }), {
    content:
      'The todo list has been replaced: 1 completed, 1 in progress, 1 pending. Keep it current, and go on with the current task.',
    isError: false,
    display: { kind: 'todos', todos },
  })
  await b.use('TodoWrite', { todos: [] })
  assert.deepEqual(b.context.host.todos(), [])
  const bad = await b.use('TodoWrite', { todos: [{ ...todos[0], status: 'doing' }] })
  assert.deepEqual(plain(bad), {
    content: 'TodoWrite: the input does not fit: todos[0].status must be one of pending, in_progress, completed',
    isError: true,
  })
})

test('the user is asked, and their answers come back', async (t) => {
  const asked: unknown[] = []
  const b = bench(t, {
    askUser: async (questions) => {
      asked.push(questions)
      return { 'Which?': 'Red' }
    },
  })
  assert.deepEqual(plain(await b.use('AskUserQuestion', { questions: [question('Which?')] })), {
    content: 'User has answered your questions: "Which?"="Red". You can now continue with the user\'s answers in mind.',
    isError: false,
  })
  assert.deepEqual(asked, [[question('Which?')]])
  const filled = await b.use('AskUserQuestion', { questions: [question('Which?')], answers: { 'Which?': 'Blue' } })
  assert.match(filled.content, /"Which\?"="Blue"/)
  assert.equal(asked.length, 1)
})

test('nobody there is an error, and so are questions that cannot be asked', async (t) => {
  const b = bench(t)
  const said = async (questions: unknown[]) => (await b.use('AskUserQuestion', { questions })).content
  assert.match(await said([question('Which?')]), /^The user did not answer\./)
  assert.equal(await said([]), 'AskUserQuestion: the input does not fit: questions must have at least 1 entry')
  assert.equal(
    await said(Array.from({ length: 5 }, (_, i) => question(`${i}?`))),
    'questions has 5 entries; ask at most 4 at a time',
  )
  assert.equal(await said([question('a?'), question('a?')]), 'two questions are the same')
  assert.equal(
    await said([{ ...question('a?'), header: 'much too long' }]),
    'questions[0].header has 13 characters; use at most 12',
  )
  assert.equal(
    await said([question('a?', ['1', '2', '3', '4', '5'])]),
    'questions[0].options has 5 entries; offer at most 4',
  )
  assert.equal(await said([question('a?', ['1', '1'])]), 'questions[0] has two options of one label')
  assert.equal(
    await said([question('a?', ['1'])]),
    'AskUserQuestion: the input does not fit: questions[0].options must have at least 2 entries',
  )
})

test('a background command is seen and ended by its id', async (t) => {
  const b = bench(t)
  await b.use('Bash', { command: 'echo ready; sleep 60', run_in_background: true })
  while ((await b.use('TaskOutput', { task_id: 'task-1', block: false })).content.includes('<output>') === false) {
    await new Promise(setImmediate)
  }
  assert.deepEqual(plain(await b.use('TaskOutput', { task_id: 'task-1', timeout: 20 })), {
    content:
      '<retrieval_status>timeout</retrieval_status>\n<task_id>task-1</task_id>\n<task_type>local_bash</task_type>\n<status>running</status>',
    isError: false,
  })
  assert.deepEqual(plain(await b.use('TaskStop', { task_id: 'task-1' })), {
    content: 'Stopped task task-1 (echo ready; sleep 60)',
    isError: false,
  })
  assert.equal((await b.use('TaskStop', { shell_id: 'task-1' })).content, 'task task-1 is not running: it is killed')
  assert.equal((await b.use('TaskStop', {})).content, 'TaskStop: the input does not fit: task_id is missing')
  assert.equal(
    (await b.use('TaskStop', { task_id: 'x' })).content,
    'there is no task "x"; use the id that its start answered',
  )
  assert.equal(
    (await b.use('TaskOutput', { task_id: 'x' })).content,
    'there is no task "x"; use the id that its start answered',
  )
})

test('the end of a background command comes with its exit code and output', async (t) => {
  const b = bench(t)
  await b.use('Bash', { command: 'echo out; exit 3', run_in_background: true })
  assert.equal(
    (await b.use('TaskOutput', { task_id: 'task-1' })).content,
    '<retrieval_status>success</retrieval_status>\n<task_id>task-1</task_id>\n<task_type>local_bash</task_type>\n<status>failed</status>\n<exit_code>3</exit_code>\n<output>\nout\n</output>',
  )
})

test('a sub-agent is given its work, and its last words come back', async (t) => {
  const requests: Partial<AgentRequest>[] = []
  const b = bench(t, {
    agentTypes: () => [
      { name: 'general-purpose', description: '' },
      { name: 'Explore', description: '' },
    ],
    runAgent: async ({ signal, progress, ...request }) => {
      requests.push(request)
      return { content: request.type === 'Explore' ? '' : 'done', isError: false }
    },
  })
  const work = { description: 'find it', prompt: 'find the thing' }
  assert.equal((await b.use('Agent', work)).content, 'done')
  assert.equal(
    (await b.use('Agent', { ...work, subagent_type: 'Explore', model: 'haiku', run_in_background: true })).content,
    '(The agent ended without a message.)',
  )
  assert.deepEqual(requests, [
    { ...work, type: 'general-purpose', background: false, toolUseId: 'call' },
    { ...work, type: 'Explore', model: 'haiku', background: true, toolUseId: 'call' },
  ])
  assert.deepEqual(plain(await b.use('Agent', { ...work, subagent_type: 'X' })), {
    content: "Agent type 'X' not found. Available agents: general-purpose, Explore",
    isError: true,
  })
})

test('a skill is loaded by its name, with its arguments', async (t) => {
  const b = bench(t, {
    skills: {
      list: () => [{ name: 'help', description: '' }],
      load: async (name, args) =>
        name === 'help' ? { ok: true, text: `help on ${args}` } : { ok: false, why: `Unknown skill: ${name}` },
    },
  })
  assert.equal(
    (await b.use('Skill', { skill: '/help', args: 'hooks' })).content,
    'Launching skill: help\n\nhelp on hooks',
  )
  assert.deepEqual(plain(await b.use('Skill', { skill: 'x' })), {
    content: 'Unknown skill: x. Skills: help',
    isError: true,
  })
})

test('planning begins and ends with the host', async (t) => {
  const plans: string[] = []
  const b = bench(t, {
    exitPlanMode: async (plan) => {
      plans.push(plan)
      return { content: 'approved', isError: false }
    },
  })
  assert.equal((await b.use('EnterPlanMode', {})).content, 'planning')
  assert.equal((await b.use('ExitPlanMode', { plan: '# Do it' })).content, 'approved')
  await b.use('ExitPlanMode', {})
  assert.deepEqual(plans, ['# Do it', ''])
})

test('MCP resources come from the servers, where there are any', async (t) => {
  const none = bench(t)
  assert.deepEqual(plain(await none.use('ListMcpResources', {})), {
    content: 'No MCP server is configured, so there are no resources.',
    isError: false,
  })
  const error = { content: 'there is no MCP server "s": none is configured', isError: true }
  assert.deepEqual(plain(await none.use('ListMcpResources', { server: 's' })), error)
  assert.deepEqual(plain(await none.use('ReadMcpResource', { server: 's', uri: 'u' })), error)
  const some = bench(t, {
    mcp: {
      listResources: async (server) => ({ content: `list ${server}`, isError: false }),
      readResource: async (server, uri) => ({ content: `read ${server} ${uri}`, isError: false }),
      callTool: async () => ({ content: '', isError: false }),
    },
  })
  assert.equal((await some.use('ListMcpResources', { server: 's' })).content, 'list s')
  assert.equal((await some.use('ReadMcpResource', { server: 's', uri: 'u' })).content, 'read s u')
})

test('tools that are not loaded are found by name or by words, and loaded', async (t) => {
  const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } })
  const tools = [
    tool('mcp__mail__send', 'Send a message'),
    tool('mcp__mail__list', 'List messages'),
    tool('mcp__db__query', 'Send a query'),
  ]
  const b = bench(t, { deferredTools: () => tools })
  const found = async (query: string, more = {}) =>
    (await b.use('ToolSearch', { query, ...more })).content.split('\n')[0]
  assert.equal(await found('select:mcp__db__query,mcp__mail__list'), 'Loaded mcp__mail__list, mcp__db__query:')
  assert.equal(await found('send'), 'Loaded mcp__mail__send, mcp__db__query:')
  assert.equal(await found('+mail send'), 'Loaded mcp__mail__send, mcp__mail__list:')
  assert.equal(await found('send', { max_results: 1 }), 'Loaded mcp__mail__send:')
  assert.equal(
    await found('calendar'),
    'No tool matches "calendar". Not loaded yet: mcp__mail__send, mcp__mail__list, mcp__db__query',
  )
  assert.equal(
    await found('select:send'),
    'No tool matches "select:send". Not loaded yet: mcp__mail__send, mcp__mail__list, mcp__db__query',
  )
  assert.equal(b.told[0], 'reveal mcp__mail__list mcp__db__query')
  const full = bench(t, { deferredTools: () => tools, revealTools: (names) => names.slice(1) })
  assert.match(
    (await full.use('ToolSearch', { query: '+mail send' })).content,
    /^Loaded mcp__mail__list:\n\{.*\}\nNot loaded, for they would take too much of the context: mcp__mail__send$/,
  )
  assert.equal(
    (await bench(t).use('ToolSearch', { query: 'x' })).content,
    'No tool matches "x". All tools are loaded already.',
  )
})

test('skills and agents that are not described are found with the tools, and nothing is loaded for them', async (t) => {
  const unlisted = () => [
    { kind: 'skill' as const, name: 'release-notes', description: 'Writes the notes of a release' },
    { kind: 'agent' as const, name: 'reviewer', description: 'Reads a release and finds faults' },
  ]
  const b = bench(t, { unlisted })
  const found = async (query: string) => (await b.use('ToolSearch', { query })).content
  assert.equal(
    await found('release'),
    'skill release-notes: Writes the notes of a release\nagent reviewer: Reads a release and finds faults',
  )
  assert.equal(await found('select:reviewer'), 'agent reviewer: Reads a release and finds faults')
  assert.deepEqual(b.told, [])
})

test('of many alike, those with the whole word come first', async (t) => {
  const unlisted = () =>
    ['Checks part 177', 'Checks part 77', 'Zählt Größen', 'Überzählt'].map((description, at) => ({
      ...{ kind: 'skill' as const, name: `skill-${at}`, description },
    }))
  const found = async (query: string) => (await bench(t, { unlisted }).use('ToolSearch', { query })).content.split('\n')
  assert.deepEqual(await found('part 77'), ['skill skill-1: Checks part 77', 'skill skill-0: Checks part 177'])
  assert.deepEqual(await found('zählt'), ['skill skill-2: Zählt Größen', 'skill skill-3: Überzählt'])
})

test('a brief message is shown at once', async (t) => {
  const b = bench(t)
  assert.equal((await b.use('Brief', { message: 'Half done\nmore' })).content, 'Message delivered to user: Half done')
  assert.deepEqual(b.told, ['brief Half done\nmore'])
  assert.deepEqual(plain(await b.use('Brief', { message: ' ' })), {
    content: 'message is empty; write what the user should know',
    isError: true,
  })
})
