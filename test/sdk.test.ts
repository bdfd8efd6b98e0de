/** The hook specification's examples and success criteria (spec 002), through the package as others import it. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  AgentError,
  type Chat,
  Context,
  defineAgent,
  defineTool,
  hookNames,
  type OwnModel,
  openRuntime,
  type RuntimeOptions,
  run,
  type Said,
} from 'ona'
import * as z from 'zod'
import { removeFolder } from './support/remove-folder.ts'

const model = 'rehearsal'
const base = { name: 'spec', model, instructions: 'Do.' } as const

/** The rehearsal model says these one after another. */
function lines(t: TestContext, ...said: (Said | string | ((chat: Chat) => Said))[]): RuntimeOptions & { cwd: string } {
  const cwd = mkdtempSync(join(tmpdir(), 'ona-sdk-'))
  t.after(() => removeFolder(cwd))
  let at = 0
  return {
    cwd,
    env: { HOME: cwd, PATH: process.env['PATH'], ONA_KEYCHAIN: 'off' },
    rehearsal(chat) {
      const line = said[at++] ?? 'nothing more'
      return typeof line === 'function' ? line(chat) : typeof line === 'string' ? { text: line } : line
    },
  }
}

test('the standard parameters are there by name', async (t) => {
  const received: unknown[] = []
  const agent = defineAgent({
    ...base,
    hooks: { onContextBuilt: ({ context, agent, timestamp }) => received.push(context, agent, timestamp) },
  })
  const before = Date.now()
  await run(agent, { ...lines(t, 'ok'), input: 'go', context: { test: 'value' } })
  const [context, seen, timestamp] = received as [Context, unknown, Date]
  assert.ok(context instanceof Context && timestamp instanceof Date && timestamp.getTime() >= before)
  assert.deepEqual([context.get('test'), seen === agent, received.length], ['value', true, 3])
})

test('a hook takes what it needs and ignores the rest, now and when more is added', async (t) => {
  const failed: unknown[] = []
  const results: unknown[] = []
  const agent = defineAgent({
    ...base,
    output: z.object({ age: z.number() }),
    hooks: {
      onValidationFailed: ({ error, field }) => failed.push([error, field]),
      onResultReady: ({ processedResult }) => results.push(processedResult),
    },
  })
  await run(agent, { ...lines(t, '{"age":"invalid"}', '{"age":7}'), input: 'go' })
  assert.deepEqual(failed, [['age: Invalid input: expected number, received string', 'age']])
  assert.deepEqual(results, [{ age: 7 }])
})

test('all parameters can be taken at once', async (t) => {
  const tracker: Record<string, unknown>[] = []
  const agent = defineAgent({ ...base, hooks: { onTokensCounted: (all) => tracker.push({ ...all }) } })
  await run(agent, { ...lines(t, 'x'.repeat(200)), input: 'y'.repeat(397) })
  const { inputTokens, outputTokens, totalTokens } = tracker[0]!
  assert.deepEqual([inputTokens, outputTokens, totalTokens], [101, 50, 151])
  assert.deepEqual(Object.keys(tracker[0]!).sort(), [
    ...['agent', 'cacheReadTokens', 'cacheWriteTokens', 'context', 'estimatedCost', 'inputTokens'],
    ...['model', 'outputTokens', 'timestamp', 'totalTokens'],
  ])
})

test('nothing defensive is needed: nested keys are there in the spelling of the code', async (t) => {
  const names: unknown[] = []
  const agent = defineAgent({
    ...base,
    resultTransform: { lead: { from: 'leadInfo' } },
    hooks: {
      onResultReady: ({ rawResult, processedResult }) =>
        names.push(rawResult.leadInfo.fullName, processedResult.lead.fullName),
    },
  })
  await run(agent, { ...lines(t, '{"lead_info":{"full_name":"Ada"}}'), input: 'go' })
  assert.deepEqual(names, ['Ada', 'Ada'])
})

test('transforms: of the value, of value and raw data, with more, and by the name of a method', async (t) => {
  type Prospect = { name: string; passed_filter?: boolean }
  const logged: string[] = []
  const agent = defineAgent({
    ...base,
    resultTransform: {
      simpleField: { from: 'data', transform: (data: string) => data.toUpperCase() },
      prospects: {
        transform: (prospects: Prospect[], rawData) => prospects.map((p) => ({ ...p, by: rawData.metadata.by })),
      },
      filteredProspects: {
        from: 'prospects',
        transform(prospects: Prospect[], _rawData, { field }) {
          const survivors = prospects.filter((p) => p.passed_filter === true)
          logged.push(`${field}: ${survivors.length} of ${prospects.length}`)
          return survivors.map(({ name }) => name)
        },
      },
      enrichedProspects: { from: 'prospects', transform: 'enhanceProspects' },
    },
    methods: {
      enhanceProspects: (prospects: Prospect[], rawData?: { metadata: { by: string } }) =>
        prospects.map(({ name }) => `${name} of ${rawData?.metadata.by}`),
    },
  })
  const raw = { data: 'abc', prospects: [{ name: 'A', passed_filter: true }, { name: 'B' }], metadata: { by: 'us' } }
  const result = await run(agent, { ...lines(t, JSON.stringify(raw)), input: 'go' })
  assert.deepEqual(result.output, {
    simpleField: 'ABC',
    prospects: [
      { name: 'A', passed_filter: true, by: 'us' },
      { name: 'B', by: 'us' },
    ],
    filteredProspects: ['A'],
    enrichedProspects: ['A of us', 'B of us'],
  })
  assert.deepEqual(
    [result.rawResult, result.processedResult, logged],
    [raw, result.output, ['filteredProspects: 1 of 2']],
  )
})

test('every hook of the specification exists, has the standard three, and refuses the old form', async (t) => {
  const specified = [
    ...['on_context_built', 'on_prompt_generated', 'on_validation_failed', 'on_result_ready', 'on_tokens_counted'],
    ...['on_start', 'on_end', 'on_error', 'on_tool_start', 'on_tool_end', 'on_handoff'],
  ]
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  assert.deepEqual([...hookNames].sort(), specified.map(camel).sort())
  const seen = new Map<string, string[]>()
  const hooks = Object.fromEntries(
    hookNames.map((name) => [name, (args: object) => void seen.set(name, Object.keys(args))]),
  )
  const other = defineAgent({ ...base, name: 'other', output: z.string(), maxOutputRetries: 0, hooks })
  const tool = defineTool({ name: 'noop_tool', description: 'x', input: z.object({}), run: () => 'ok' })
  const agent = defineAgent({ ...base, tools: [tool], handoffs: [other], hooks })
  const call = (name: string) => ({ calls: [{ name, input: {} }] })
  await assert.rejects(
    run(agent, { ...lines(t, call('noop_tool'), call('transfer_to_other'), '3'), input: 'go' }),
    AgentError,
  )
  await run(other, { ...lines(t, '"text"'), input: 'go' })
  assert.deepEqual([...seen.keys()].sort(), [...hookNames].sort())
  for (const keys of seen.values()) for (const key of ['context', 'agent', 'timestamp']) assert.ok(keys.includes(key))
  for (const name of hookNames) {
    const old = { [name]: (_context: unknown, _agent: unknown, _output: unknown) => {} }
    assert.throws(
      () => defineAgent({ ...base, hooks: old }),
      new RegExp(`${name} takes 3 parameters.*Write ${name}: \\(\\{`),
    )
  }
})

test('tools of MCP servers are given by name', async (t) => {
  const options = lines(
    t,
    (chat) => ({ text: 'first', calls: [{ name: chat.tools[0]!.name, input: { path: `${options.cwd}/a.txt` } }] }),
    ({ messages }) => ({ text: messages.at(-1)!.text }),
  )
  writeFileSync(join(options.cwd, 'a.txt'), 'from the server')
  const server = join(import.meta.dirname, '../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
  const mcpServers = { files: { command: process.execPath, args: [server, options.cwd] } }
  const tools = ['mcp__files__read_text_file']
  const agent = defineAgent({ ...base, tools, permissions: { allow: ['mcp__files'] } })
  const read = await run(agent, { ...options, mcpServers, input: 'go' })
  assert.match(read.text, /from the server/)
})

test('a thousand agents run side by side, each with its own answer and context', async (t) => {
  const echo: OwnModel = {
    name: 'echo',
    async reply({ system, messages, model }) {
      await new Promise((resolve) => setImmediate(resolve))
      const used = messages.at(-1)!.content.find((block) => block.type === 'tool_result')
      const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
      const text = used?.type === 'tool_result' ? `${system[0]!.text} ${used.content}` : ''
      return text
        ? { content: [{ type: 'text', text }], stop: 'end_turn', usage, model }
        : {
            content: [{ type: 'tool_use', id: 'call_1', name: 'own_number', input: {} }],
            stop: 'tool_use',
            usage,
            model,
          }
    },
  }
  const own = defineTool({
    name: 'own_number',
    description: 'x',
    input: z.object({}),
    run: (_, { context }) => `${context.get('n')}`,
  })
  let ready = 0
  const agent = defineAgent({
    ...base,
    model: echo,
    instructions: ({ context }) => `agent ${context.get('n')}:`,
    tools: [own],
    hooks: { onResultReady: () => ready++ },
  })
  const numbers = Array.from({ length: 1000 }, (_, n) => n)
  await using runtime = openRuntime(lines(t))
  const results = await Promise.all(numbers.map((n) => run(agent, { runtime, input: 'go', context: { n } })))
  assert.deepEqual(
    results.map(({ output }) => output),
    numbers.map((n) => `agent ${n}: ${n}`),
  )
  assert.equal(ready, 1000)
  assert.deepEqual(runtime.query("SELECT count(*) AS calls FROM transcript_entries WHERE entry_type = 'tool_result'"), [
    { calls: 1000 },
  ])
})
