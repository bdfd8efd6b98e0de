/** Every control at every step, from a function and from a command (whose veto is exit 2), in whole turns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import { defineStepHook } from '../../src/hooks/define.ts'
import { type StepName, stepNames } from '../../src/hooks/steps.ts'
import { defineAgent } from '../../src/sdk/agent.ts'
import { run } from '../../src/sdk/run.ts'
import { defineTool } from '../../src/sdk/tool.ts'
import { plays } from '../support/sdk-run.ts'

const controls = ['proceed', 'break', 'continue', 'skip', 'veto'] as const
type Control = (typeof controls)[number]

/** How far a turn gets: requests to the model, and whether the tool ran. The compaction is a request of its own. */
interface Reached {
  readonly requests: number
  readonly ran: boolean
}
const whole: Reached = { requests: 3, ran: true }

/** Where a break ends the turn. */
const broken: Record<StepName, Reached> = {
  after_session_enter: { requests: 0, ran: false },
  after_turn_enter: { requests: 0, ran: false },
  before_ingest: { requests: 0, ran: false },
  after_ingest: { requests: 0, ran: false },
  before_generate: { requests: 0, ran: false },
  after_generate: { requests: 1, ran: false },
  before_tool_apply: { requests: 1, ran: false },
  before_permission: { requests: 1, ran: false },
  after_permission: { requests: 1, ran: false },
  after_tool_apply: { requests: 1, ran: true },
  after_tool_batch: { requests: 1, ran: true },
  before_compact: { requests: 1, ran: true },
  after_compact: { requests: 2, ran: true },
  before_turn_end: whole,
}

function expected(step: StepName, control: Control): Reached {
  const uncompacted = { requests: 2, ran: true }
  const goesOn = { requests: 4, ran: true }
  if (step === 'before_compact') {
    if (control === 'skip' || control === 'veto') return uncompacted
  } else if (control === 'veto') return step === 'before_turn_end' ? goesOn : broken[step]
  if (control === 'continue' && step === 'before_turn_end') return goesOn
  return control === 'break' ? broken[step] : whole
}

const isSummary = (chat: { messages: readonly unknown[] }) => JSON.stringify(chat.messages).includes('summar')

async function reached(t: Parameters<typeof plays>[0], step: StepName, control: Control, by: 'function' | 'command') {
  let ran = false
  let compacted = false
  let called = false
  const tool = defineTool({
    name: 'Act',
    description: 'x',
    input: z.object({}),
    safety: 'mutating',
    run: () => {
      ran = true
      return 'x'.repeat(8000)
    },
  })
  const play = (chat: { messages: readonly unknown[] }) => {
    if (called && !compacted && isSummary(chat)) {
      compacted = true
      return { text: 'a summary' }
    }
    if (called) return { text: 'done' }
    called = true
    return { calls: [{ name: 'Act', input: {} }] }
  }
  const { options, chats } = plays(t, ...Array.from({ length: 8 }, () => play as never))
  let asked = 0
  const once = () => asked++ === 0
  const hook = defineStepHook(step, (() => (once() ? { control } : undefined)) as never)
  const verdict = control === 'veto' ? 'exit 2' : `printf '{"control":"${control}"}'`
  const command = `[ -e ${step} ] && exit 0; touch ${step}; ${verdict}`
  const agent = defineAgent({
    name: 'a',
    model: 'rehearsal',
    instructions: 'x',
    tools: [tool],
    permissions: { ask: ['Act'] },
    ...(by === 'function' && { handlers: [hook] }),
  })
  await run(agent, {
    ...options,
    env: { ...options.env, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '1' },
    input: 'go',
    user: { permission: async () => ({ allow: true }) },
    ...(by === 'command' && { settings: { hooks: [{ hook_event_name: step, command, shell: 'sh' }] } }),
  }).catch(() => {}) // a turn that a hook ended is no answer
  return { requests: chats.length, ran }
}

for (const by of ['function', 'command'] as const)
  test(`14 steps × 5 controls, by a ${by}: each has its meaning, and one out of place is no more than a warning`, async (t) => {
    const found: Record<string, Reached> = {}
    const wanted: Record<string, Reached> = {}
    for (const step of stepNames)
      for (const control of controls) {
        found[`${step} ${control}`] = await reached(t, step, control, by)
        wanted[`${step} ${control}`] = expected(step, control)
      }
    assert.deepEqual(found, wanted)
  })

test('a reply that a hook supplies is generated once: no request, and after_generate is raised once', async (t) => {
  const { options, chats } = plays(t)
  const raised: string[] = []
  const handlers = [
    defineStepHook('before_generate', () => ({ assistant: 'from the hook' })),
    defineStepHook('after_generate', ({ step }) => {
      raised.push(step.stop)
    }),
  ]
  const agent = defineAgent({ name: 'a', model: 'rehearsal', instructions: 'x', handlers })
  const { text } = await run(agent, { ...options, input: 'go' })
  assert.deepEqual([text, raised, chats.length], ['from the hook', ['end_turn'], 0])
})

test('an image by URL in the result that a hook gives a tool is named to the model, and is no bad verdict', async (t) => {
  for (const by of ['function', 'command'] as const) {
    const { options, chats } = plays(t, { calls: [{ name: 'Act', input: {} }] }, 'done')
    const data = { kind: 'url', url: 'https://example.com/a.png' } as const
    const blocks = [{ kind: 'text', text: 'see' } as const, { kind: 'image', mime: 'image/png', data } as const]
    const result = { kind: 'content', blocks } as const
    const tool = defineTool({ name: 'Act', description: 'x', input: z.object({}), run: () => 'its own' })
    const agent = defineAgent({
      name: 'a',
      model: 'rehearsal',
      instructions: 'x',
      tools: [tool],
      ...(by === 'function' && { handlers: [defineStepHook('before_tool_apply', () => ({ result }))] }),
    })
    const command = `printf '%s' '${JSON.stringify({ result })}'`
    const hooks = [{ hook_event_name: 'before_tool_apply', command, shell: 'sh' }]
    await run(agent, { ...options, input: 'go', ...(by === 'command' && { settings: { hooks } }) })
    const sent = JSON.stringify(chats[1]!.messages.at(-1))
    assert.match(sent, /\[image: image\/png at https:\/\/example\.com\/a\.png\]/)
    assert.doesNotMatch(sent, /its own/)
  }
})
