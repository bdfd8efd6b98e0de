import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import { plays } from '../../test/support/sdk-run.ts'
import { defineAgent } from './agent.ts'
import type { AnyAgent, HookName } from './agent-types.ts'
import { Context } from './context.ts'
import { addGlobalHooks, hookNames } from './hooks.ts'
import { run } from './run.ts'
import { openRuntime } from './runtime.ts'
import { defineTool } from './tool.ts'

const model = 'rehearsal'
const base = { name: 'a', model, instructions: 'x' } as const
type Args = Record<string, unknown>

/** Hooks that keep everything they are given. */
function recorder() {
  const fired: { hook: HookName; args: Args }[] = []
  const hooks = Object.fromEntries(
    hookNames.map((hook) => [hook, (args: unknown) => void fired.push({ hook, args: args as Args })]),
  )
  return { fired, hooks }
}

/** Without what is there in every hook, after checking that it is. */
function own(args: Args, agent: AnyAgent, context: unknown): Args {
  const { context: seen, agent: by, timestamp, ...rest } = args
  assert.ok(seen instanceof Context && timestamp instanceof Date)
  assert.equal(by, agent)
  assert.deepEqual(seen.data, context)
  return rest
}

test('each of the eleven hooks fires where its name says, with all its fields', async (t) => {
  const { fired, hooks } = recorder()
  const echo = defineTool({
    name: 'echo_back',
    description: 'x',
    input: z.object({ a: z.number() }),
    run: ({ a }) => `${a}`,
  })
  const last: AnyAgent = defineAgent({
    ...base,
    name: 'last',
    output: z.object({ n: z.number() }),
    resultTransform: { twice: { from: 'n', transform: (n: number) => n * 2 }, bad: { from: 'n', type: 'string' } },
    hooks,
  })
  const first: AnyAgent = defineAgent({ ...base, name: 'first', tools: [echo], handoffs: [last], hooks })
  const { options } = plays(
    t,
    { calls: [{ name: 'echo_back', input: { a: 1 } }] },
    { calls: [{ name: 'transfer_to_last', input: { reason: 'yours' } }] },
    { n: 'x' },
    { n: 4 },
  )
  await run(first, { ...options, input: 'go', context: { region: 'EU' } })
  assert.deepEqual(
    fired.map(({ hook }) => hook),
    [
      ...['onContextBuilt', 'onStart', 'onPromptGenerated', 'onTokensCounted', 'onToolStart', 'onToolEnd'],
      ...['onTokensCounted', 'onToolStart', 'onToolEnd', 'onHandoff'],
      ...['onContextBuilt', 'onStart', 'onPromptGenerated', 'onTokensCounted', 'onValidationFailed'],
      ...['onTokensCounted', 'onEnd', 'onValidationFailed', 'onResultReady'],
    ],
  )
  const of = (hook: HookName, at = 0) => {
    const { args } = fired.filter((each) => each.hook === hook).at(at)!
    const { toolCallId: _id, durationMs: _ms, ...rest } = own(args, args['agent'] as AnyAgent, { region: 'EU' })
    return rest
  }
  assert.equal(fired[0]!.args['agent'], first)
  assert.equal(fired.at(-1)!.args['agent'], last)
  assert.deepEqual(of('onContextBuilt'), {})
  assert.deepEqual(of('onStart'), { input: 'go' })
  assert.deepEqual(of('onPromptGenerated'), { systemPrompt: 'x', userPrompt: 'go' })
  const counts = { inputTokens: 2, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0, totalTokens: 22 }
  assert.deepEqual(of('onTokensCounted'), { ...counts, estimatedCost: null, model })
  assert.deepEqual(of('onToolStart'), { tool: 'echo_back', args: { a: 1 } })
  assert.deepEqual(of('onToolEnd'), { tool: 'echo_back', args: { a: 1 }, result: '1' })
  const ended = fired.find(({ hook }) => hook === 'onToolEnd')!.args
  assert.match(`${ended['toolCallId']} ${ended['durationMs']}`, /^call_\S+ [\d.]+$/)
  assert.deepEqual(of('onHandoff'), { from: first, to: last, reason: 'yours' })
  const { error, ...misfit } = of('onValidationFailed')
  assert.match(String(error), /^n: Invalid input: expected number/)
  assert.deepEqual(misfit, { errorType: 'output', field: 'n', value: 'x', expectedType: 'number', attempt: 1 })
  assert.deepEqual(of('onValidationFailed', 1), {
    ...{ errorType: 'transform', field: 'bad', value: 4 },
    ...{ error: 'bad: must be of type string', expectedType: 'string' },
  })
  assert.deepEqual(of('onEnd'), { output: { n: 4 } })
  assert.deepEqual(of('onResultReady'), { rawResult: { n: 4 }, processedResult: { twice: 8, bad: undefined } })

  fired.length = 0
  await assert.rejects(run(first, { ...plays(t).options, input: 'go' }))
  assert.deepEqual(fired.at(-1)!.hook, 'onError')
  assert.match(String(own(fired.at(-1)!.args, first, {})['error']), /the script is over/)
})

test('a failed call is reported to onToolEnd with its error, and one that was refused was never started', async (t) => {
  const seen: unknown[] = []
  const tool = defineTool({
    name: 'break_it',
    description: 'x',
    input: z.object({}),
    run() {
      throw new Error('broken')
    },
  })
  const agent = defineAgent({
    ...base,
    tools: [tool, 'Bash'],
    hooks: {
      onToolStart: ({ tool }) => seen.push(tool),
      onToolEnd: ({ tool, error, result }) => seen.push([tool, error, result]),
    },
  })
  const call = (name: string, input = {}) => ({ calls: [{ name, input }] })
  await run(agent, { ...plays(t, call('break_it'), call('Bash', { command: 'touch made' }), 'x').options, input: 'go' })
  assert.deepEqual(seen, ['break_it', ['break_it', 'broken', 'broken']])
})

test('a function, a method and a list are reported in order, those for all agents first, each awaited', async (t) => {
  const order: string[] = []
  const slowly = async (name: string) => {
    await new Promise((resolve) => setImmediate(resolve))
    order.push(name)
  }
  const remove = addGlobalHooks({ onStart: [() => slowly('all 1'), () => order.push('all 2')] })
  t.after(remove)
  const agent = defineAgent({
    ...base,
    hooks: { onStart: [() => slowly('own 1'), 'second', () => order.push('own 3')], onEnd: 'second' },
    methods: {
      second({ agent, context }: { agent: AnyAgent; context: Context }) {
        order.push(this.words(agent.name, context.get('region')))
      },
      words: (name: string, region: unknown) => `${name} in ${region}`,
    },
  })
  await run(agent, { ...plays(t, 'x').options, input: 'go', context: { region: 'EU' } })
  assert.deepEqual(order, ['all 1', 'all 2', 'own 1', 'a in EU', 'own 3', 'a in EU'])
  remove()
  order.length = 0
  await run(agent, { ...plays(t, 'x').options, input: 'go' })
  assert.deepEqual(order[0], 'own 1')
})

test('a handler that throws, rejects or hangs is logged with hook, agent and cause, and the run goes on', async (t) => {
  const told: string[] = []
  const agent = defineAgent({
    ...base,
    hookTimeoutMs: 20,
    hooks: {
      onStart: [
        function thrower() {
          throw new Error('boom')
        },
        () => told.push('next'),
      ],
      onEnd: async () => Promise.reject('a text'),
      onResultReady: [() => new Promise(() => {}), () => told.push('last')],
    },
  })
  const { options, logged } = plays(t, 'x')
  await using runtime = openRuntime(options)
  assert.equal((await run(agent, { runtime, input: 'go' })).output, 'x')
  assert.deepEqual(told, ['next', 'last'])
  assert.deepEqual(logged, [
    'agent "a": the hook onStart (thrower) failed: boom',
    'agent "a": the hook onEnd (onEnd) failed',
    'agent "a": the hook onResultReady (anonymous) failed: it did not settle within 20 ms',
  ])
  const rows = runtime.query<{ detail: string }>("SELECT detail FROM events WHERE event_type = 'agent_hook_failed'")
  assert.deepEqual(JSON.parse(rows[1]!.detail), { hook: 'onEnd', handler: 'onEnd', agent: 'a', why: 'a text' })
})

test('all that a hook is given can be read in both spellings, kept whole, and not changed', async (t) => {
  let all: Args = {}
  let ready: Args = {}
  const agent = defineAgent({
    ...base,
    output: z.object({ lead_list: z.array(z.object({ full_name: z.string() })) }),
    hooks: {
      onTokensCounted: (data) => {
        all = data as never
      },
      onResultReady: (data) => {
        ready = data as never
        assert.throws(() => Object.assign(data.rawResult, { lead_list: [] }), TypeError)
        assert.throws(() => Object.assign(data, { rawResult: 1 }), TypeError)
      },
    },
  })
  const { output } = await run(agent, { ...plays(t, { lead_list: [{ full_name: 'Ada' }] }).options, input: 'go' })
  assert.deepEqual([all['input_tokens'], all['total_tokens']], [all['inputTokens'], all['totalTokens']])
  assert.deepEqual(
    Object.keys(all).filter((key) => key.includes('_')),
    [],
  )
  const raw = ready['raw_result'] as { leadList: { fullName: string }[] }
  assert.equal(raw.leadList[0]!.fullName, 'Ada')
  assert.equal(ready['processed_result'], ready['processedResult'])
  output.lead_list.push({ full_name: 'Bob' }) // the caller's own
})

test('whatever cannot work is refused at definition, with what to write instead', () => {
  const define =
    (hooks: object, more: object = {}) =>
    () =>
      defineAgent({ ...base, name: 'finder', hooks, ...more })
  assert.throws(define({ onResultReady: (_raw: unknown, _processed: unknown) => {} }), {
    name: 'TypeError',
    message:
      'defineAgent("finder"): onResultReady takes 2 parameters, but a hook gets one object. ' +
      'Write onResultReady: ({ rawResult, processedResult, context, agent, timestamp }) => { … } with those you need.',
  })
  assert.throws(
    define({ onStart: 'old' }, { methods: { old: (_a: unknown, _b: unknown) => {} } }),
    /takes 2 parameters/,
  )
  assert.throws(define({ onResultsReady: () => {} }), /the hook is "onResultsReady"; did you mean "onResultReady"\?/)
  assert.throws(define({ on_start: () => {} }), /did you mean "onStart"\?/)
  assert.throws(define({ onStart: 'recrod' }, { methods: { record: () => {} } }), /did you mean "record"\?/)
  assert.throws(define({ onStart: 3 }), /onStart must be a function or a method's name, not number/)
  assert.throws(() => addGlobalHooks({ onStart: 'x' as never }), /a hook for all agents must be a function/)
  assert.throws(
    () => addGlobalHooks({ onEnd: ((_a: unknown, _b: unknown) => {}) as never }),
    /Write onEnd: \(\{ output,/,
  )
  define({ onStart: (...all: unknown[]) => all, onEnd: (_args: unknown, _more = 1) => {} })()
})

test('a definition that makes no sense is refused, by name', () => {
  const define = (more: object) => () => defineAgent({ ...base, name: 'finder', ...more } as never)
  const cases: [object, RegExp][] = [
    [{ name: 'two words' }, /a name is a letter/],
    [{ instruction: 'x' }, /the key is "instruction"; did you mean "instructions"\?/],
    [{ instructions: 3 }, /instructions must be a text/],
    [{ output: { type: 'object' } }, /output must be a Standard Schema/],
    [{ context: {} }, /context must be a Standard Schema/],
    [{ tools: ['Reed'] }, /the tool is "Reed"; did you mean "Read"\?/],
    [{ tools: ['Read', 'Read'] }, /two tools are called Read/],
    [{ tools: [{ name: 'search_web' }] }, /a tool is what defineTool gives, or a name/],
    [{ handoffs: ['billing'] }, /handoffs must be agents, or what handoff\(agent\) gives/],
    [{ handlers: [() => {}] }, /handlers must come from guard, defineHook or defineStepHook/],
    [{ hooks: [() => {}] }, /the hook is "0"; it must be one of onContextBuilt/],
    [{ methods: { note: 3 } }, /methods\.note must be a function/],
    [{ permissions: { aloow: [] } }, /permissions: the key is "aloow"; did you mean "allow"\?/],
    [{ permissions: { mode: 'acceptEdit' } }, /permissions\.mode is "acceptEdit"; did you mean "acceptEdits"\?/],
    [{ permissions: { deny: ['Bash('] } }, /permissions\.deny: "Bash\(": /],
  ]
  for (const [more, message] of cases) assert.throws(define(more), message)
  const tool = { name: 'a', description: '', input: z.object({}), run: () => '' }
  assert.throws(() => defineTool({ ...tool, name: 'mcp__x' }), /does not begin with mcp__/)
  assert.throws(() => defineTool({ ...tool, input: {} as never }), /input must be a Standard Schema/)
  assert.throws(() => defineTool({ ...tool, run: undefined as never }), /run must be a function/)
  assert.throws(() => defineTool({ ...tool, saftey: 'x' } as never), /the key is "saftey"; did you mean "safety"\?/)
})
