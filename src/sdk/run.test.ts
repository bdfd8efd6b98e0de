import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import { plays } from '../../test/support/sdk-run.ts'
import { defineStepHook } from '../hooks/define.ts'
import { defineAgent } from './agent.ts'
import { AgentError } from './agent-error.ts'
import type { AnyAgent } from './agent-types.ts'
import { Context } from './context.ts'
import { handoff } from './handoff.ts'
import { run } from './run.ts'
import { openRuntime, type RuntimeOptions } from './runtime.ts'
import { stream } from './stream.ts'
import { defineTool } from './tool.ts'

const model = 'rehearsal'
const call = (name: string, input: object = {}) => ({ calls: [{ name, input: input as Record<string, unknown> }] })
const rejected = async (work: Promise<unknown>): Promise<AgentError> => {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof AgentError, `it did not fail as an AgentError: ${error}`)
  return error
}

test('a plain function among the tools is an error that shows how to make it one', () => {
  const tools = [function look() {}] as never
  assert.throws(() => defineAgent({ name: 'a', model: 'rehearsal', instructions: 'x', tools }), {
    message:
      'defineAgent("a"): the function look is no tool yet; wrap it: defineTool({ name, description, input, run })',
  })
})

test('the smallest agent answers in words', async (t) => {
  const { options, chats } = plays(t, 'Hello.')
  const agent = defineAgent({ name: 'greeter', model, instructions: 'Greet.' })
  const result = await run(agent, { ...options, input: 'Hi' })
  assert.deepEqual([result.output, result.rawResult, result.text], ['Hello.', 'Hello.', 'Hello.'])
  assert.deepEqual([result.agent, result.agents, result.fieldErrors], [agent, ['greeter'], []])
  assert.deepEqual(
    chats[0]!.messages.map(({ role, text }) => [role, text]),
    [
      ['system', 'Greet.'],
      ['user', 'Hi'],
    ],
  )
  assert.deepEqual(chats[0]!.tools, [])
})

test('an answer that does not fit goes back with the error, for every library', async (t) => {
  const schemas = {
    zod: z.object({ score: z.number() }),
    valibot: v.object({ score: v.number() }),
    arktype: type({ score: 'number' }),
  }
  for (const [library, output] of Object.entries(schemas)) {
    const { options, chats } = plays(t, 'no JSON', { score: 'high' }, '```json\n{ "score": 7 }\n```')
    const agent = defineAgent({ name: library, model, instructions: 'Score.', output: output as typeof schemas.zod })
    const result = await run(agent, { ...options, input: 'go' })
    assert.deepEqual(result.output, { score: 7 })
    assert.match(chats[1]!.messages.at(-1)!.text, /^Your answer does not fit: it is not JSON/)
    assert.match(chats[2]!.messages.at(-1)!.text, /^Your answer does not fit: score: .*number/i)
  }
})

test('how often it goes back is bounded, and the last error is reported', async (t) => {
  const { options, chats } = plays(t, ...Array(9).fill({ score: null }))
  const output = z.object({ score: z.number() })
  const agent = defineAgent({ name: 'stubborn', model, instructions: 'x', output, maxOutputRetries: 1 })
  const error = await rejected(run(agent, { ...options, input: 'go' }))
  assert.deepEqual([error.kind, error.agent, chats.length], ['output', 'stubborn', 2])
  assert.match(error.message, /^agent "stubborn": the answer did not fit \(asked 2 times\): score: /)
  assert.equal(error.text, '{"score":null}')
})

test('the context is checked before anything is asked, and takes the defaults of its schema', async (t) => {
  const context = z.object({ region: z.string(), limit: z.number().default(5) })
  const failures: unknown[] = []
  const agent = defineAgent({
    name: 'checked',
    model,
    context,
    instructions: ({ context }) => `${context.get('region')} ${context.get('limit')}`,
    hooks: { onValidationFailed: ({ errorType, field, value }) => failures.push([errorType, field, value]) },
  })
  const { options, chats } = plays(t, 'ok')
  const error = await rejected(run(agent, { ...options, input: 'go', context: { region: 3 } as never }))
  assert.deepEqual([error.kind, failures, chats], ['context', [['context', 'region', 3]], []])
  const result = await run(agent, { ...options, input: 'go', context: { region: 'EU' } })
  assert.equal(chats[0]!.messages[0]!.text, 'EU 5')
  assert.deepEqual(result.context.data, { region: 'EU', limit: 5 })
})

const search = defineTool({
  name: 'search_web',
  description: 'Searches.',
  input: z.object({ query: z.string().min(2), most: z.number().default(3) }),
  run({ query, most }, { context, agent }) {
    if (query === 'boom') throw new Error('the index is down')
    return { query, most, region: context.get('region'), for: agent.name }
  },
})

test('a function is a tool: its input is checked, what it gives is reported, what it throws is a failed call', async (t) => {
  const { options, chats } = plays(
    t,
    call('search_web', { query: 'x' }),
    call('search_web', { query: 'boom' }),
    call('search_web', { query: 'fine' }),
    'done',
  )
  const agent = defineAgent({ name: 'searcher', model, instructions: 'Search.', tools: [search] })
  await run(agent, { ...options, input: 'go', context: { region: 'EU' } })
  const results = chats[3]!.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
  assert.match(results[0]!, /^search_web: the input does not fit: query: Too small/)
  assert.deepEqual(results.slice(1), ['the index is down', '{"query":"fine","most":3,"region":"EU","for":"searcher"}'])
  assert.deepEqual(chats[0]!.tools[0]!.parameters['required'], ['query'])
})

test('giving a tool to an agent allows it, unless a rule or the tool itself says otherwise', async (t) => {
  const guarded = defineTool({
    ...{ name: 'wipe', description: 'Wipes.' },
    input: z.object({}),
    needsPermission: true,
    run: () => 'wiped',
  })
  const asked: string[] = []
  const play = () => plays(t, call('search_web', { query: 'it' }), call('wipe'), 'done')
  const agent = defineAgent({ name: 'a', model, instructions: 'x', tools: [search, guarded] })
  const results = async (more: object) => {
    const { options, chats } = play()
    await run(agent, { ...options, ...more, input: 'go' })
    return chats[2]!.messages.filter(({ role }) => role === 'tool').map(({ text }) => text.slice(0, 20))
  }
  const found = '{"query":"it","most"'
  assert.deepEqual(await results({}), [found, 'wipe needs permissio'])
  assert.deepEqual(await results({ settings: { permissions: { deny: ['search_web'] } } }), [
    'Permission to use se',
    'wipe needs permissio',
  ])
  const permission = async ({ tool }: { tool: string }) => {
    asked.push(tool)
    return { allow: true } as const
  }
  assert.deepEqual(await results({ user: { permission } }), [found, 'wiped'])
  assert.deepEqual(asked, ['wipe'])
})

test('built-in tools work in the given folder under the given rules, and the agent has no others', async (t) => {
  const { options, chats } = plays(
    t,
    call('Write', { file_path: 'a.txt', content: 'hello' }),
    call('Read', { file_path: 'a.txt' }),
    call('Bash', { command: 'touch made' }),
    'done',
  )
  const tools = ['Read', 'Write']
  const agent = defineAgent({
    name: 'writer',
    model,
    instructions: 'Write.',
    tools,
    permissions: { mode: 'acceptEdits' },
  })
  await run(agent, { ...options, input: 'go' })
  const results = chats[3]!.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
  assert.match(results[1]!, /hello/)
  assert.equal(results[2], 'there is no tool named Bash; there are: Read, Write')
  assert.equal(chats[0]!.messages[0]!.text, `Write.\n\nWorking directory: ${options.cwd}`)
})

test('the mode is the one of the agent, else the one of the settings, else a write has to be allowed', async (t) => {
  const writes = async (mode: 'acceptEdits' | 'plan' | undefined, defaultMode: 'acceptEdits' | undefined) => {
    const { options } = plays(t, call('Write', { file_path: 'a.txt', content: 'x' }), 'done')
    const own = { name: 'writer', model, instructions: 'Write.', tools: ['Write'] }
    const agent = defineAgent({ ...own, ...(mode && { permissions: { mode } }) })
    const settings = { permissions: defaultMode ? { defaultMode } : {} }
    await run(agent, { ...options, settings, input: 'go' })
    return existsSync(`${options.cwd}/a.txt`)
  }
  assert.deepEqual(
    [
      await writes(undefined, undefined),
      await writes(undefined, 'acceptEdits'),
      await writes('acceptEdits', undefined),
      await writes('plan', 'acceptEdits'),
    ],
    [false, true, true, false],
  )
})

test('a handoff gives the conversation to another agent, as its filter leaves it', async (t) => {
  const { options, chats } = plays(
    t,
    call('search_web', { query: 'bill' }),
    { text: 'I pass you on.', ...call('transfer_to_billing', { reason: 'a refund' }) },
    'Refunded.',
  )
  const handed: unknown[] = []
  const billing: AnyAgent = defineAgent({
    name: 'billing',
    model,
    description: 'Knows bills.',
    instructions: ({ context }) => `Bills of ${context.get('tier')}.`,
  })
  const triage: AnyAgent = defineAgent({
    name: 'triage',
    model,
    instructions: 'Sort.',
    tools: [search],
    handoffs: [
      handoff(billing, {
        filter: ({ messages, context, from, to, reason }) => {
          handed.push(from.name, to.name, reason, messages.length)
          return { messages: messages.slice(0, 1), context: context.set('tier', 'gold') }
        },
      }),
    ],
    hooks: { onHandoff: ({ from, to, reason }) => handed.push(from === triage, to === billing, reason) },
  })
  await using runtime = openRuntime(options)
  const result = await run(triage, { runtime, input: 'My bill is wrong' })
  assert.deepEqual([result.output, result.agent, result.agents], ['Refunded.', billing, ['triage', 'billing']])
  assert.deepEqual(handed, ['triage', 'billing', 'a refund', 4, true, true, 'a refund'])
  assert.deepEqual(
    chats[2]!.messages.map(({ text }) => text),
    [
      'Bills of gold.',
      'The agent triage hands this conversation over to you. It says: a refund\n\n<conversation>\nuser: My bill is wrong\n</conversation>\n\nGo on from here.',
    ],
  )
  assert.equal(chats[0]!.tools.map(({ name }) => name).join(), 'search_web,transfer_to_billing')
  assert.deepEqual(
    runtime.query('SELECT count(*) AS sessions, count(DISTINCT conversation_id) AS conversations FROM sessions'),
    [{ sessions: 2, conversations: 1 }],
  )
})

test('an agent that is asked for a better answer may hand over instead', async (t) => {
  const { options } = plays(t, 'no JSON', call('transfer_to_helper'), 'I can say it.')
  const helper = defineAgent({ name: 'helper', model, instructions: 'x' })
  const output = z.object({ n: z.number() })
  const agent = defineAgent({ name: 'stuck', model, instructions: 'x', output, handoffs: [helper] })
  const result = await run(agent, { ...options, input: 'go' })
  assert.deepEqual([result.output, result.agents], ['I can say it.', ['stuck', 'helper']])
})

test('agents that hand over in a circle are stopped, and the last one must answer', async (t) => {
  const to = (name: string) => call(`transfer_to_${name}`)
  const { options, chats } = plays(t, to('pong'), to('ping'), to('pong'), 'Then I answer.')
  const ping: AnyAgent = defineAgent({ name: 'ping', model, instructions: 'x', handoffs: () => [pong] })
  const pong: AnyAgent = defineAgent({ name: 'pong', model, instructions: 'x', handoffs: () => [ping] })
  const result = await run(ping, { ...options, input: 'go', maxHandoffs: 2 })
  assert.deepEqual(result.agents, ['ping', 'pong', 'ping'])
  assert.match(chats[3]!.messages.at(-1)!.text, /too many handoffs in this run; answer yourself/)
})

test('hooks of the settings and of the plane govern agents of code', async (t) => {
  const { options, chats } = plays(
    t,
    call('search_web', { query: 'secret' }),
    call('search_web', { query: 'open' }),
    'done',
  )
  const hook = `grep -q secret && { echo "not that" >&2; exit 2; } || exit 0`
  const settings = { hooks: { PreToolUse: [{ matcher: 'search_web', hooks: [{ type: 'command', command: hook }] }] } }
  const types: unknown[] = []
  const agent = defineAgent({
    name: 'governed',
    model,
    instructions: 'x',
    tools: [search],
    handlers: [
      defineStepHook('before_ingest', ({ step, agent }) => {
        types.push(agent.type)
        step.input = [{ type: 'text', text: 'rewritten' }]
        return undefined
      }),
    ],
    hooks: {
      onPromptGenerated: ({ userPrompt }) => types.push(userPrompt),
      onToolStart: ({ args }) => types.push(args['query']),
    },
  })
  await using runtime = openRuntime({ ...options, settings })
  await run(agent, { runtime, input: 'go' })
  assert.deepEqual(types, ['governed', 'rewritten', 'open'])
  assert.equal(chats[1]!.messages.at(-1)!.text, '[1] not that')
  assert.deepEqual(
    runtime.query("SELECT exit_code FROM hook_invocations WHERE hook_event = 'PreToolUse' ORDER BY id"),
    [{ exit_code: 2 }, { exit_code: 0 }],
  )
})

test('the settings of a folder govern once it is trusted, and the trust ends with the runtime', async (t) => {
  const agent = defineAgent({ name: 'a', model, instructions: 'x', tools: [search] })
  const { options, logged } = plays(
    t,
    call('search_web', { query: 'it' }),
    'one',
    call('search_web', { query: 'it' }),
    'two',
  )
  const command =
    'echo "{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"SessionStart\\",\\"additionalContext\\":\\"from $PWD\\",\\"initialUserMessage\\":\\"First this.\\"}}"'
  const hooks = [
    { hook_event_name: 'PreToolUse', matcher: 'search_web', shell: 'sh', command: 'exit 2' },
    { hook_event_name: 'SessionStart', shell: 'sh', command },
  ]
  mkdirSync(`${options.cwd}/.ona`)
  writeFileSync(`${options.cwd}/.ona/settings.json`, JSON.stringify({ hooks }))
  const prompts: string[] = []
  const told = async (trust: boolean) => {
    const ends: unknown[] = []
    const watching = defineAgent({
      ...agent.definition,
      hooks: {
        onToolEnd: ({ result }) => ends.push(result),
        onPromptGenerated: ({ systemPrompt, userPrompt }) => prompts.push(systemPrompt, userPrompt),
      },
    })
    await run(watching, { ...options, trust, input: 'go' })
    return ends.length
  }
  assert.deepEqual([await told(true), await told(false)], [0, 1])
  assert.deepEqual(prompts, [`x\n\nfrom ${options.cwd}`, 'First this.\n\ngo', 'x', 'go'])
  assert.match(logged.join('\n'), /this folder is not trusted, so hooks does not apply/)
  assert.ok(!existsSync(`${options.cwd}/home/.ona/agent.db`))
})

test('what ends a run without an answer is an error of its kind', async (t) => {
  const agent = (more: object = {}) => defineAgent({ name: 'a', model, instructions: 'x', tools: [search], ...more })
  const fails = async (made: AnyAgent, ...lines: Parameters<typeof plays>[1][]) => {
    const errors: Error[] = []
    const seen = defineAgent({ ...made.definition, hooks: { onError: ({ error }) => errors.push(error) } })
    const error = await rejected(run(seen, { ...plays(t, ...lines).options, input: 'go' }))
    assert.deepEqual(errors, [error])
    return [error.kind, error.message]
  }
  const refuse = defineStepHook('before_ingest', () => ({ control: 'break' }))
  const stop = defineStepHook('before_generate', () => ({ kind: 'break', reason: 'end_turn' }))
  const again = call('search_web', { query: 'more' })
  assert.deepEqual(await fails(agent({ model: 'nope' })), [
    'start',
    (await rejected(run(agent({ model: 'nope' }), { ...plays(t).options, input: '' }))).message,
  ])
  assert.equal((await fails(agent({ handlers: [refuse] })))[0], 'refused')
  assert.equal((await fails(agent({ handlers: [stop] })))[0], 'stopped')
  assert.deepEqual(
    await fails(agent(), { fail: { status: 400, message: 'bad request' } }).then(([kind]) => kind),
    'model',
  )
  assert.deepEqual(await fails(agent({ maxRequests: 2 }), again, again, again), [
    'limit',
    'agent "a": max_turn_requests',
  ])
  assert.throws(() => openRuntime({ db: '/dev/null', bare: true }), { name: 'AgentError', kind: 'start' })
  assert.throws(() => openRuntime({ settings: { permissions: { defaultMode: 'nope' } }, bare: true }), {
    name: 'AgentError',
    kind: 'start',
  })
})

test('an option that has no effect is refused, and a run that cannot start is reported to onError', async (t) => {
  const told: string[] = []
  const hooks = { onError: ({ error }: { error: Error }) => told.push(error.message) }
  const agent = defineAgent({ name: 'a', model, instructions: 'x', hooks })
  const { options } = plays(t, 'x')
  const runtime = openRuntime(options)
  const wrong = (more: object) => run(agent, { input: 'go', runtime, ...more } as never)
  await assert.rejects(
    wrong({ maxHandoff: 1 }),
    /^TypeError: run: the option is "maxHandoff"; did you mean "maxHandoffs"\?/,
  )
  await assert.rejects(
    wrong({ db: 'x.db' }),
    /^TypeError: run: db has no effect beside runtime; give it to openRuntime/,
  )
  await assert.rejects(wrong({ input: undefined }), /^TypeError: run: input must be a text or a list of blocks/)
  await assert.rejects(run({ name: 'a' } as never, { input: '' }), /^TypeError: run: give it what defineAgent gives/)
  assert.throws(() => openRuntime({ ...options, setings: {} } as never), /openRuntime: the option is "setings"/)
  const gone = await rejected(wrong({ resume: 'gone' }))
  await runtime.close()
  const closed = await rejected(wrong({}))
  const settings = { permissions: { defaultMode: 'nope' } }
  const unset = await rejected(run(agent, { ...options, settings, input: 'go' }))
  assert.deepEqual([gone.kind, closed.kind, unset.kind], ['start', 'start', 'start'])
  assert.equal(closed.message, 'agent "a": its runtime is closed')
  assert.deepEqual(told, [gone.message, closed.message, unset.message])
})

test('a Node that has no SQLite is told which one has', (t) => {
  const { getBuiltinModule } = process
  t.mock.method(process, 'getBuiltinModule', (id: string) => (id === 'node:sqlite' ? undefined : getBuiltinModule(id)))
  assert.throws(() => openRuntime(plays(t).options), {
    kind: 'start',
    message: `ona needs Node 24.15 or later; this is ${process.version}`,
  })
})

test('a run can be watched as it happens, and leaving the loop ends it', async (t) => {
  const { options } = plays(t, call('search_web', { query: 'it' }), 'One two.')
  const agent = defineAgent({ name: 'a', model, instructions: 'x', tools: [search] })
  const running = stream(agent, { ...options, input: 'go' })
  const types: string[] = []
  let words = ''
  for await (const event of running) {
    types.push(event.type)
    if (event.type === 'text') words += event.text
  }
  assert.deepEqual([words, (await running.result).output], ['One two.', 'One two.'])
  for (const type of ['turn-started', 'tool-started', 'tool-finished', 'turn-ended'])
    assert.ok(types.includes(type), type)

  const left = stream(agent, { ...plays(t, call('search_web', { query: 'it' }), 'never').options, input: 'go' })
  for await (const event of left) if (event.type === 'tool-finished') break
  await assert.rejects(left.result, { name: 'AbortError' })
  const failing = stream(agent, { ...plays(t).options, input: 'go' })
  await assert.rejects(async () => {
    for await (const _ of failing);
  }, AgentError)
})

test('an aborted signal ends the call under way, and the run rejects with its reason', async (t) => {
  const abort = new AbortController()
  const why = new Error('enough')
  const ended: string[] = []
  const slow = defineTool({
    name: 'wait_long',
    description: 'Waits.',
    input: z.object({}),
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('interrupted')))
        abort.abort(why)
      }),
  })
  const hooks = { onError: ({ error }: { error: Error }) => ended.push(error.message), onEnd: () => ended.push('end') }
  const agent = defineAgent({ name: 'a', model, instructions: 'x', tools: [slow], hooks })
  await using runtime = openRuntime(plays(t, call('wait_long'), 'never').options)
  await assert.rejects(run(agent, { runtime, input: 'go', signal: abort.signal }), why)
  await assert.rejects(run(agent, { runtime, input: 'go', signal: abort.signal }), why)
  assert.deepEqual(ended, ['enough', 'enough'])
})

test('a function that never comes back holds up no run that was aborted', { timeout: 20_000 }, async (t) => {
  const base = { name: 'a', model, instructions: 'x' }
  let abort = new AbortController()
  const never = (): Promise<never> => {
    setImmediate(() => abort.abort(new Error('enough')))
    return new Promise(() => {})
  }
  const stuck = defineTool({ name: 'stuck_tool', description: 'x', input: z.object({}), run: never })
  const answers = { a: 1 }
  const cases: [string, AnyAgent, object | string, RuntimeOptions?][] = [
    ['instructions', defineAgent({ ...base, instructions: never }), answers],
    ['context', defineAgent({ ...base, context: z.object({}).refine(never) }), answers],
    ['output', defineAgent({ ...base, output: z.object({}).refine(never) }), answers],
    ['transform', defineAgent({ ...base, resultTransform: { a: { transform: never } } }), answers],
    ['hook', defineAgent({ ...base, hookTimeoutMs: 60_000, hooks: { onStart: never } }), answers],
    ['tool', defineAgent({ ...base, tools: [stuck] }), call('stuck_tool')],
    ['model', defineAgent({ ...base, model: { name: 'm', reply: never } }), answers],
    [
      'filter',
      defineAgent({ ...base, handoffs: [handoff(defineAgent({ ...base, name: 'next' }), { filter: never })] }),
      call('transfer_to_next'),
    ],
    [
      'user',
      defineAgent({ ...base, tools: ['Bash'] }),
      call('Bash', { command: 'touch made' }),
      { user: { permission: never } },
    ],
  ]
  for (const [name, agent, line, more] of cases) {
    abort = new AbortController()
    const running = run(agent, { ...plays(t, line).options, ...more, input: 'go', context: {}, signal: abort.signal })
    await assert.rejects(running, { message: 'enough' }, name)
  }
})

test('tokens are counted by the table, and by prices of your own', async (t) => {
  const counted: unknown[] = []
  const agent = defineAgent({
    name: 'a',
    model,
    instructions: 'x',
    hooks: { onTokensCounted: ({ estimatedCost, model }) => counted.push([estimatedCost, model]) },
  })
  const unknown = await run(agent, { ...plays(t, 'four').options, input: 'go' })
  assert.equal(unknown.usage.estimatedCost, null)
  const prices = { rehearsal: { input: 1_000_000, output: 2_000_000 } }
  const { usage } = await run(agent, { ...plays(t, 'four').options, input: 'go', prices })
  assert.deepEqual(usage, {
    ...{ inputTokens: 2, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, totalTokens: 3, replies: 1 },
    estimatedCost: 4,
  })
  assert.deepEqual(counted, [
    [null, 'rehearsal'],
    [4, 'rehearsal'],
  ])
})

test('a model of your own that throws has failed as any model may', async (t) => {
  const own = { name: 'broken', reply: async () => Promise.reject(new Error('no line to the model')) }
  const agent = defineAgent({ name: 'a', model: own, instructions: 'x' })
  const error = await rejected(run(agent, { ...plays(t).options, input: 'go' }))
  assert.deepEqual([error.kind, error.failure], ['model', { kind: 'unknown', message: 'no line to the model' }])
})

test('a model of your own answers in place of a provider, within its limits', async (t) => {
  const asked: number[] = []
  const own = {
    name: 'echo',
    async reply({
      messages,
      maxTokens,
      model,
    }: Parameters<Extract<AnyAgent['definition']['model'], object>['reply']>[0]) {
      asked.push(maxTokens)
      const text = JSON.stringify(messages.at(-1)!.content)
      const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: null, cacheWriteTokens: null }
      return { content: [{ type: 'text' as const, text }], stop: 'end_turn' as const, usage, model }
    },
  }
  const agent = defineAgent({ name: 'a', model: own, instructions: 'x', maxTokens: 77 })
  const { output, usage } = await run(agent, {
    ...plays(t).options,
    input: 'go',
    prices: { echo: { input: 1, output: 1 } },
  })
  assert.deepEqual([output, asked, usage.estimatedCost], ['[{"type":"text","text":"go"}]', [77], 0.000002])
  const priced = defineAgent({ name: 'a', model: { ...own, name: 'gpt-4o' }, instructions: 'x' })
  const { usage: known } = await run(priced, { ...plays(t).options, input: 'go' })
  assert.equal(known.estimatedCost, 0.0000125)
})

test('a session is gone on with, from a database in a file', async (t) => {
  const { options, chats } = plays(t, 'My name is Ona.', 'As I said.')
  const agent = defineAgent({ name: 'a', model, instructions: 'x' })
  const db = `${options.cwd}/agents.db`
  const first = await run(agent, { ...options, db, input: 'Who are you?' })
  const second = await run(agent, {
    ...options,
    rehearsal: options.rehearsal,
    db,
    input: 'Again?',
    resume: first.sessionId,
  })
  assert.equal(second.sessionId, first.sessionId)
  assert.deepEqual(
    chats[1]!.messages.map(({ text }) => text),
    ['x', 'Who are you?', 'My name is Ona.', 'Again?'],
  )
  assert.equal((await rejected(run(agent, { ...options, input: 'x', resume: 'gone' }))).kind, 'start')
})

test('the context that was given is the one that everyone sees', async (t) => {
  const seen = new Set<unknown>()
  const see = ({ context }: { context: unknown }) => void seen.add(context)
  const looking = defineTool({
    name: 'look_up',
    description: 'x',
    input: z.object({}),
    run: (_, { context }) => see({ context }),
  })
  const agent = defineAgent({
    name: 'a',
    model,
    instructions: ({ context }) => `${see({ context }) ?? ''}x`,
    tools: [looking],
    hooks: { onStart: see, onToolEnd: see, onResultReady: see },
    resultTransform: { a: { computed: (_, { context }) => see({ context }) } },
  })
  const context = new Context({ region: 'EU' })
  const result = await run(agent, { ...plays(t, call('look_up'), 'x').options, input: 'go', context })
  assert.deepEqual([...seen, result.context], [context, context])
  assert.equal([...seen][0], context)
})
