import { test } from 'node:test'
import {
  type Agent,
  addGlobalHooks,
  ask,
  asTool,
  Context,
  defineAgent,
  defineHook,
  defineTool,
  deny,
  guard,
  handoff,
  type RunResult,
  run,
  stream,
} from 'ona'
import * as z from 'zod'

/** Compiles only where both are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>) => {}
type AnswerOf<A> = A extends Agent<never, infer Answer> ? Answer : never

const prospects = z.object({ list: z.array(z.object({ name: z.string(), score: z.number() })), threshold: z.number() })
const base = { name: 'typed', instructions: 'Find.' } as const

// Never run: what matters is which lines compile.
const _checked = () => {
  defineAgent({
    ...base,
    context: z.object({ region: z.string(), account: z.object({ owner_name: z.string() }).optional() }),
    output: prospects,
    instructions({ context }) {
      same<string, ReturnType<typeof region>>(true)
      const region = () => context.get('region')
      const deep: string | undefined = context.get('account.ownerName')
      // @ts-expect-error there is no such variable
      context.get('regoin')
      // @ts-expect-error a context does not change
      context.data.region = 'US'
      return region() + deep
    },
    hooks: {
      onPromptGenerated: ({ systemPrompt, userPrompt, context, agent, timestamp }) => {
        const all: [string, string, string, string, Date] = [
          systemPrompt,
          userPrompt,
          context.get('region'),
          agent.name,
          timestamp,
        ]
        return all
      },
      // @ts-expect-error a misspelt field
      onTokensCounted: ({ inputToken }) => inputToken,
      onResultReady: ({ rawResult }) => {
        const threshold: number = rawResult.threshold
        // @ts-expect-error not in the schema
        rawResult.treshold
        return threshold
      },
      onValidationFailed: ({ attempt, ...failure }) => {
        same<number | undefined, typeof attempt>(true)
        if (failure.errorType === 'output') same<'output', typeof failure.errorType>(true)
      },
      // @ts-expect-error two parameters
      onEnd: (context: unknown, agent: unknown) => [context, agent],
      onToolEnd: ['note', ({ tool, result, error }) => [tool, result, error satisfies string | undefined]],
      // @ts-expect-error no method of that name
      onError: 'notThere',
    },
    methods: { note: () => {} },
  })
  // @ts-expect-error there is no such hook
  defineAgent({ ...base, hooks: { onReady: () => {} } })
  // @ts-expect-error there is no such option
  defineAgent({ ...base, instruction: 'Find.' })

  const plain = defineAgent(base)
  same<AnswerOf<typeof plain>, string>(true)
  const strict = defineAgent({ ...base, output: prospects })
  same<AnswerOf<typeof strict>, z.infer<typeof prospects>>(true)
  const reshaped = defineAgent({
    ...base,
    output: prospects,
    resultTransform: {
      best: { from: 'list', transform: (list, raw) => list.filter((p) => p.score > raw.threshold) },
      list: { default: [] as string[], transform: async (list) => list.map(({ name }) => name) },
      first: { from: 'data.list[0].name', transform: (name) => name.length },
      count: { computed: async (raw) => raw.list.length },
      half: { computed: (raw) => raw.threshold / 2, transform: (half: number) => half.toFixed() },
      threshold: {},
      title: { from: 'text', default: '', transform: 'shorten' },
      words: { from: 'text', transform: (text) => text.split(' ') },
      owner: { fields: { name: { type: 'string', default: 'nobody' }, limit: { from: 'threshold', default: 0 } } },
      names: {
        from: 'list',
        items: { name: { default: '' }, points: { from: 'score', default: 0, transform: (score) => score * 10 } },
        default: [],
      },
    },
    methods: { shorten: (value: string) => value.slice(0, 3) },
  })
  type Reshaped = AnswerOf<typeof reshaped>
  same<Reshaped['best'], { name: string; score: number }[] | undefined>(true)
  same<Reshaped['list'], string[]>(true)
  same<Reshaped['first'], number | undefined>(true)
  same<Reshaped['count'], number | undefined>(true)
  same<Reshaped['half'], string | undefined>(true)
  same<Reshaped['threshold'], number | undefined>(true)
  same<Reshaped['title'], string>(true)
  same<Reshaped['words'], string[] | undefined>(true)
  same<Reshaped['owner'], { name: string; limit: number } | undefined>(true)
  same<Reshaped['names'][number], { name: string; points: number }>(true)
  defineAgent({
    ...base,
    output: prospects,
    // @ts-expect-error the schema has no such place
    resultTransform: { a: { from: 'lits', transform: (list) => list.length } },
  })
  // @ts-expect-error a list is no number
  defineAgent({ ...base, output: prospects, resultTransform: { list: { transform: (list: number) => list } } })
  defineAgent({
    ...base,
    output: prospects,
    // @ts-expect-error an item has no such place
    resultTransform: { list: { items: { who: { transform: (who) => who.length } } } },
  })
  // @ts-expect-error there is no such key
  defineAgent({ ...base, resultTransform: { title: { form: 'text' } } })
  // @ts-expect-error nor further inside
  defineAgent({ ...base, resultTransform: { title: { fields: { words: { form: 'text' } } } } })
  defineAgent({ ...base, resultTransform: { lead: { from: 'leads[0]', transform: (lead) => lead.name } } })
  defineAgent({
    ...base,
    hooks: { onEnd: 'note' },
    resultTransform: { title: { transform: 'shorten' } },
    methods: {
      shorten(value, raw) {
        return this.cut(value, raw.length)
      },
      cut: (text: string, length: number) => text.slice(0, length),
      note() {},
    },
  })
  defineAgent({
    ...base,
    output: prospects,
    // @ts-expect-error the answer has no such field
    resultTransform: { count: { computed: (raw) => raw.lits.length } },
  })
  // @ts-expect-error no method of that name
  defineAgent({ ...base, resultTransform: { title: { transform: 'shortn' } }, methods: { shorten: () => '' } })

  const triage = defineAgent({ ...base, handoffs: [strict, handoff(plain)] })
  type Either = AnswerOf<typeof triage>
  same<Extract<Either, string>, string>(true)
  same<Exclude<Either, string>['threshold'], number>(true)
  same<ReturnType<typeof runStrict>, Promise<RunResult<z.infer<typeof prospects>, z.infer<typeof prospects>>>>(true)
  same<Awaited<ReturnType<typeof runReshaped>>['rawResult'], z.infer<typeof prospects>>(true)
  const runReshaped = () => run(reshaped, { input: 'go' })
  same<Awaited<ReturnType<typeof runEither>>['rawResult'], unknown>(true)
  const runEither = () => run(triage, { input: 'go' })
  const runStrict = () => run(strict, { input: 'go', context: { anything: 1 } })

  const needs = defineAgent({ ...base, context: z.object({ region: z.string() }) })
  // @ts-expect-error the context is missing
  run(needs, { input: 'go' })
  // @ts-expect-error and has no region
  run(needs, { input: 'go', context: { place: 'EU' } })
  run(needs, { input: 'go', context: { region: 'EU' } })
  run(needs, { input: 'go', context: new Context({ region: 'EU' }) })

  defineTool({
    name: 'search',
    description: 'Searches.',
    input: z.object({ query: z.string() }),
    // @ts-expect-error the input has no such field
    run: ({ qery }) => qery,
  })
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    input: z.object({ cents: z.number() }),
    context: z.object({ limit: z.number() }),
    run({ cents }, { context }) {
      same<number, ReturnType<typeof limit>>(true)
      const limit = () => context.get('limit')
      // @ts-expect-error the schema has no such variable
      context.get('limti')
      return cents
    },
  })
  const desk = { ...base, context: z.object({ limit: z.number(), region: z.string() }) }
  defineAgent({ ...desk, tools: [refund, 'Read'] })
  // @ts-expect-error the tool needs a limit
  defineAgent({ ...base, context: z.object({ region: z.string() }), tools: [refund] })
  // @ts-expect-error and an agent without a context schema promises none
  defineAgent({ ...base, tools: [refund] })
  const limited = guard(refund, ({ input, context }) => {
    same<{ cents: number }, typeof input>(true)
    same<number, ReturnType<typeof limit>>(true)
    const limit = () => context.get('limit')
    // @ts-expect-error the input has no such field
    input.cent
    return input.cents > limit() ? deny('too much') : undefined
  })
  defineAgent({ ...desk, tools: [refund], handlers: [limited, guard('Bash', ({ input }) => ask(String(input)))] })
  // @ts-expect-error the guard needs a limit
  defineAgent({ ...base, context: z.object({ region: z.string() }), handlers: [limited] })
  defineHook('PostToolUse', refund, ({ tool_input, tool_name }) => {
    same<{ cents: number }, typeof tool_input>(true)
    same<string, typeof tool_name>(true)
    return undefined
  })
  // @ts-expect-error the event is about no tool
  defineHook('SessionStart', refund, () => undefined)
  const inner = defineAgent(desk)
  // @ts-expect-error the agent needs a region
  defineAgent({ ...base, context: z.object({ limit: z.number() }), tools: [asTool(inner)] })
  defineAgent({ ...desk, tools: [asTool(inner), asTool(plain)] })
  const heard = async () => {
    for await (const event of stream(plain, { input: 'go' })) {
      same<string, typeof event.agentName>(true)
      if (event.type === 'handoff') same<string, typeof event.to>(true)
    }
  }
  heard()
  addGlobalHooks({ onStart: ({ agent, input }) => [agent.name, input] })
  // @ts-expect-error a hook for all agents cannot name a method
  addGlobalHooks({ onStart: 'record' })

  const context = new Context({ a: { b: 1 } })
  same<number, ReturnType<typeof b>>(true)
  const b = () => context.get('a.b')
  same<string, ReturnType<typeof c>>(true)
  const c = () => context.set('c', 'x').get('c')
  const lists = new Context({ list: [{ owner: null as { name: string } | null }] })
  same<string | undefined, ReturnType<typeof owner>>(true)
  const owner = () => lists.get('list[0].owner.name')
  // @ts-expect-error a list has numbered items and nothing else
  lists.get('list.length')
}

test('what must not compile does not, and answers have the types that were declared', () => {}) // tsc is the test
