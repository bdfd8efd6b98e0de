/** Tools with a typed context, guards and hooks of one tool, agents as tools, and events that say whose they are. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as z from 'zod'
import { plays } from '../../test/support/sdk-run.ts'
import { ask, deny } from '../hooks/answers.ts'
import { decideApproval } from '../store/approvals.ts'
import { openDb } from '../store/open.ts'
import { defineAgent } from './agent.ts'
import { AgentError } from './agent-error.ts'
import type { FunctionTool } from './agent-types.ts'
import { asTool } from './as-tool.ts'
import { defineHook, guard } from './guard.ts'
import { run } from './run.ts'
import { openRuntime } from './runtime.ts'
import { stream } from './stream.ts'
import { defineTool } from './tool.ts'

const model = 'rehearsal'
const call = (name: string, input: object = {}) => ({ calls: [{ name, input: input as Record<string, unknown> }] })
const lastResult = (chats: { messages: readonly { role: string; text: string }[] }[]) =>
  chats.at(-1)!.messages.findLast(({ role }) => role === 'tool')?.text

const refund = defineTool({
  name: 'refund_order',
  description: 'Refunds.',
  input: z.object({ cents: z.coerce.number() }),
  context: z.object({ limit: z.number(), currency: z.string().default('EUR') }),
  run: ({ cents }, { context }) => `${cents} ${context.get('currency')} of ${context.get('limit')}`,
})

test('a tool gets the context that it declares, with the defaults of its schema', async (t) => {
  const { options, chats } = plays(t, call('refund_order', { cents: '5' }), 'Done.')
  const context = z.object({ limit: z.number() }).transform(({ limit }) => ({ limit, currency: 'USD' }))
  const agent = defineAgent({ name: 'a', model, instructions: 'x', context, tools: [refund] })
  await run(agent, { ...options, input: 'go', context: { limit: 7 } })
  assert.equal(lastResult(chats), '5 USD of 7')
})

test('a tool whose context is not there fails the call, and says what is missing', async (t) => {
  const { options, chats } = plays(t, call('refund_order', { cents: 5 }), 'Done.')
  const agent = defineAgent({ name: 'a', model, instructions: 'x', tools: [refund as never] })
  await run(agent, { ...options, input: 'go' })
  assert.match(lastResult(chats)!, /refund_order: the context does not fit: limit:/)
})

test('a guard sees input and context as the tool does, and refuses, prompts or lets pass', async (t) => {
  const agent = defineAgent({
    name: 'a',
    model,
    instructions: 'x',
    context: z.object({ limit: z.number(), currency: z.string() }),
    tools: [refund],
    handlers: [
      guard(refund, function withinLimit({ input, context, agent: { name }, toolCallId, timestamp }) {
        assert.deepEqual(
          [typeof input.cents, name, typeof toolCallId, timestamp instanceof Date],
          ['number', 'a', 'string', true],
        )
        if (input.cents < 0) throw new Error('no such refund')
        if (input.cents > context.get('limit')) return deny(`more than ${context.get('limit')}`)
        return input.cents === 3 ? ask('three is odd') : undefined
      }),
    ],
  })
  const { options, chats } = plays(
    t,
    call('refund_order', { cents: '8' }),
    call('refund_order', { cents: -1 }),
    call('refund_order', { cents: 3 }),
    call('refund_order', { cents: 2 }),
    'Done.',
  )
  await run(agent, { ...options, input: 'go', context: { limit: 7, currency: 'EUR' } })
  const results = chats.at(-1)!.messages.flatMap((each) => (each.role === 'tool' ? [each.text] : []))
  assert.equal(results[0], 'more than 7')
  assert.match(results[1]!, /no such refund/, 'a guard that throws refuses the call')
  assert.match(results[2]!, /^refund_order needs permission and there is no user to ask: three is odd\. No allow rule/)
  assert.equal(results[3], '2 EUR of 7')
})

test('a guard of a built-in tool is asked for that tool alone; a hook of one tool has its input', async (t) => {
  const { options, chats } = plays(
    t,
    call('Bash', { command: 'echo one' }),
    call('refund_order', { cents: 1 }),
    'Done.',
  )
  const seen: unknown[] = []
  const agent = defineAgent({
    name: 'a',
    model,
    instructions: 'x',
    context: z.object({ limit: z.number(), currency: z.string() }),
    tools: ['Bash', refund],
    permissions: { allow: ['Bash'] },
    handlers: [
      guard('Bash', ({ input }) => deny(`not ${input['command']}`)),
      defineHook('PostToolUse', refund, ({ tool_input, tool_response }) => {
        seen.push(tool_input.cents + 1, tool_response)
        return undefined
      }),
    ],
  })
  await run(agent, { ...options, input: 'go', context: { limit: 7, currency: 'EUR' } })
  const results = chats.at(-1)!.messages.flatMap((each) => (each.role === 'tool' ? [each.text] : []))
  assert.deepEqual(results, ['not echo one', '1 EUR of 7'])
  assert.deepEqual(seen, [2, { content: '1 EUR of 7', is_error: false }])
  assert.throws(() => guard({} as never, () => undefined), /guard: name a tool/)
})

test('an agent is a tool of another one, and events say whose they are', async (t) => {
  const { options, chats } = plays(t, call('fact_checker', { input: 'Is it so?' }), { sure: true }, 'It is so.')
  const checker = defineAgent({
    name: 'checker',
    model,
    description: 'Checks facts.',
    instructions: ({ context }) => `Check for ${context.get('who')}.`,
    output: z.object({ sure: z.boolean() }),
  })
  const writer = defineAgent({
    name: 'writer',
    model,
    instructions: 'Write.',
    tools: [asTool(checker, { name: 'fact_checker' })],
  })
  const events: string[] = []
  await using runtime = openRuntime(options)
  const writing = stream(writer, { runtime, input: 'go', context: { who: 'Ada' } })
  for await (const event of writing)
    if (event.type === 'assistant') events.push(`${event.agentName} ${event.parentToolCallId ? 'in a call' : 'itself'}`)
  const result = await writing.result
  assert.deepEqual([result.output, result.agents, result.usage.replies], ['It is so.', ['writer'], 3])
  assert.deepEqual(events, ['writer itself', 'checker in a call', 'writer itself'])
  assert.equal(lastResult(chats), '{"sure":true}')
  assert.match(chats[1]!.messages[0]!.text, /^Check for Ada\./)
  assert.deepEqual(runtime.query('SELECT agent_type FROM ona_subagents'), [{ agent_type: 'checker' }])
})

test('an agent that fails inside a call is a failed call, and a circle of agents ends', async (t) => {
  const { options, chats } = plays(
    t,
    ...Array.from({ length: 12 }, (_, at) => (at < 6 ? call(at % 2 ? 'a' : 'b', { input: 'x' }) : 'ok')),
  )
  const tools: FunctionTool[] = []
  const a = defineAgent({ name: 'a', model, instructions: 'x', tools })
  const b = defineAgent({ name: 'b', model, instructions: 'x', tools: [asTool(a)] })
  tools.push(asTool(b))
  await run(a, { ...options, input: 'go' })
  assert.equal(chats.length, 12)
  assert.ok(chats.some(({ messages }) => /agents call one another 5 deep/.test(messages.at(-1)!.text)))

  const failing = plays(t, call('strict', { input: 'x' }), 'no JSON', 'none', 'none', 'It failed.')
  const strict = defineAgent({ name: 'strict', model, instructions: 'x', output: z.object({ n: z.number() }) })
  const outer = defineAgent({ name: 'outer', model, instructions: 'x', tools: [asTool(strict)] })
  assert.equal((await run(outer, { ...failing.options, input: 'go' })).output, 'It failed.')
  assert.match(lastResult(failing.chats)!, /agent "strict": the answer did not fit/)
})

test('a handoff is an event, and those after it are of the next agent', async (t) => {
  const { options } = plays(t, call('transfer_to_billing', { reason: 'a refund' }), 'Refunded.')
  const billing = defineAgent({ name: 'billing', model, instructions: 'x' })
  const triage = defineAgent({ name: 'triage', model, instructions: 'x', handoffs: [billing] })
  const seen: unknown[] = []
  for await (const event of stream(triage, { ...options, input: 'go' })) {
    if (event.type === 'handoff') seen.push([event.agentName, event.to, event.reason])
    if (event.type === 'assistant') seen.push(event.agentName)
  }
  assert.deepEqual(seen, ['triage', ['triage', 'billing', 'a refund'], 'billing'])
})

const waiting = async (work: Promise<unknown>): Promise<AgentError> => {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof AgentError && error.kind === 'waiting', String(error))
  return error
}

test('a prompt that nobody answers waits for an approval; the run resumes at that call, also inside an agent used as a tool', async (t) => {
  const hand = defineAgent({ name: 'hand', model, instructions: 'x', tools: ['Bash'] })
  const outer = defineAgent({ name: 'outer', model, instructions: 'x', tools: [asTool(hand)] })
  const touch = call('Bash', { command: 'touch made.txt' })
  for (const [agent, script] of [
    [hand, [touch, 'Made.']],
    [outer, [call('hand', { input: 'Make it.' }), touch, 'I made it.', 'Made.']],
  ] as const) {
    const { options, chats } = plays(t, ...script)
    const db = join(options.cwd, 'agents.db')
    const settings = { approvals: { owner: 'Ada' } }
    const error = await waiting(run(agent, { ...options, db, settings, input: 'go' }))
    const { approval = '', sessionId = '' } = error
    const still = await waiting(run(agent, { ...options, db, settings, resume: sessionId, input: '' }))
    assert.deepEqual([still.approval, existsSync(join(options.cwd, 'made.txt'))], [approval, false])
    const store = openDb(db)
    assert.match(decideApproval(store, approval, { allow: true, by: 'Bob' })!, /belongs to Ada/)
    assert.equal(decideApproval(store, approval, { allow: true, by: 'Ada' }), undefined)
    store.close()
    const result = await run(agent, { ...options, db, settings, resume: sessionId, input: '' })
    assert.deepEqual([result.output, existsSync(join(options.cwd, 'made.txt'))], ['Made.', true])
    assert.equal(chats.length, script.length)
    const idle = run(agent, { ...options, db, settings, resume: sessionId, input: '' })
    await assert.rejects(idle, /no call of the session .* waits for an approval/)
  }
})

test('without a credential a run rejects, and says what kind of failure it is', async (t) => {
  const { options } = plays(t)
  const { rehearsal: _, ...bare } = options
  const agent = defineAgent({ name: 'a', instructions: 'x' })
  await assert.rejects(run(agent, { ...bare, input: 'go' }), (error: AgentError) => {
    assert.deepEqual([error.name, error.kind, error.error], ['AgentError', 'start', 'authentication_failed'])
    return true
  })
})
