/** What an agent in code costs beside many others: `node bench/sdk.ts`. Memory is what stays after a collection. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as z from 'zod'
import { type AgentRuntime, defineAgent, defineTool, type OwnModel, openRuntime, run } from '../src/sdk/index.ts'
import { median } from './lib/processes.ts'
import { report } from './lib/report.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const place = mkdtempSync(join(tmpdir(), 'ona-bench-'))
const env = { HOME: place, PATH: process.env['PATH'], ONA_KEYCHAIN: 'off' }

let waiting = 0
let gate = Promise.resolve()
/** Calls a tool, waits at the gate, and answers: every agent has a conversation, a tool and hooks when it is measured. */
const model: OwnModel = {
  name: 'gated',
  async reply({ messages, model }) {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
    if (messages.length === 1) {
      const call = { type: 'tool_use', id: 'call', name: 'note_it', input: { text: 'x' } } as const
      return { content: [call], stop: 'tool_use', usage, model }
    }
    waiting++
    await gate
    return { content: [{ type: 'text', text: '{"done":true}' }], stop: 'end_turn', usage, model }
  },
}
const tool = defineTool({
  name: 'note_it',
  description: 'Notes.',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
})
const agent = defineAgent({
  name: 'bench',
  model,
  instructions: ({ context }) => `Number ${context.get('n')}.`,
  output: z.object({ done: z.boolean() }),
  tools: [tool],
  hooks: { onToolEnd: () => {}, onTokensCounted: () => {}, onResultReady: () => {} },
  resultTransform: { done: { transform: (done: boolean) => !done } },
})

const used = () => {
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Bytes an agent, while all of them are in the middle of their run; and the milliseconds an agent that all of it took. */
async function sideBySide(count: number, runtime?: AgentRuntime) {
  const before = used()
  const options = runtime ? { runtime } : { cwd: place, env }
  let open = () => {}
  gate = new Promise((resolve) => {
    open = resolve
  })
  waiting = 0
  const begin = performance.now()
  let left = count
  for (let n = 0; n < count; n++) void run(agent, { ...options, input: 'go', context: { n } }).then(() => left--)
  while (waiting < count) await nextTurn()
  const reached = performance.now() - begin
  const bytes = (used() - before) / count
  const { rss } = process.memoryUsage()
  const again = performance.now()
  open()
  while (left > 0) await nextTurn()
  return { bytes, rss, ms: (reached + performance.now() - again) / count, kept: (used() - before) / count }
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

async function oneAfterAnother(count: number, runtime: AgentRuntime): Promise<number> {
  gate = Promise.resolve()
  const begin = performance.now()
  for (let n = 0; n < count; n++) await run(agent, { runtime, input: 'go', context: { n } })
  return (performance.now() - begin) / count
}

const shared = () => openRuntime({ cwd: place, env, db: join(place, `${Math.random()}.db`) })
const runtime = shared()
await sideBySide(200, runtime) // warms up
const one = await oneAfterAnother(300, runtime)
const hundred = await sideBySide(100, runtime)
const thousand = await sideBySide(1000, runtime)
const kept: number[] = []
for (let round = 0; round < 3; round++) kept.push((await sideBySide(1000, runtime)).kept)
await runtime.close()
const alone = await sideBySide(100)
const aloneMany = await sideBySide(1000)
rmSync(place, { recursive: true })

report('Agents in code with two requests and a call each; memory after a garbage collection.', [
  { what: 'memory an agent, 1,000 at once × 100 at once', value: thousand.bytes / hundred.bytes, atMost: 1.1 },
  { what: 'time an agent, 1,000 at once × one after another', value: thousand.ms / one, atMost: 1.2 },
  { what: 'left of an agent when it has ended × while it runs', value: median(kept) / thousand.bytes, atMost: 0.05 },
  { what: 'own runtimes: memory, 1,000 at once × 100 at once', value: aloneMany.bytes / alone.bytes, atMost: 1.1 },
  { what: 'own runtimes: time an agent × a shared one', value: alone.ms / hundred.ms },
])
const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`
process.stdout.write(
  `an agent in mid-run: ${kilobytes(thousand.bytes)} on a shared runtime, ${kilobytes(aloneMany.bytes)} of JavaScript with its own\n` +
    `resident with 1,000: ${(thousand.rss / 1048576).toFixed(0)} MB shared, ${(aloneMany.rss / 1048576).toFixed(0)} MB with their own\n` +
    `${thousand.ms.toFixed(2)} ms an agent (two requests, a call, an answer checked and reshaped), ${alone.ms.toFixed(2)} ms with its own\n`,
)
