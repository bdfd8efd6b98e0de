/** What a request costs over the least that any client must do (fetch, JSON, split the stream): `node bench/providers.ts`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fixed } from '../src/auth/credential.ts'
import { createProvider } from '../src/providers/create.ts'
import type { Message } from '../src/providers/model.ts'
import { median } from './lib/processes.ts'
import { report } from './lib/report.ts'

const server = spawn(process.execPath, [join(import.meta.dirname, 'lib/model-server.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const base = `http://127.0.0.1:${String((await once(server.stdout, 'data'))[0]).trim()}`

const tools = Array.from({ length: 21 }, (_, index) => ({
  name: `Tool${index}`,
  description: 'What it does, when to use it, and what it gives back. '.repeat(8),
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, text: { type: 'string' } },
    required: ['path'],
  },
}))
const system = [{ text: 'You are a coding agent. '.repeat(200), cache: true }]
const { signal } = new AbortController()

/** A conversation of so many turns, each with a call and its result. */
const conversation = (turns: number): Message[] => [
  { role: 'user', content: [{ type: 'text', text: 'begin' }] },
  ...Array.from({ length: turns }, (_, turn): Message[] => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `c${turn}`, name: 'Tool1', input: { path: `/w/${turn}.txt` } }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `c${turn}`, content: `line\n`.repeat(60), is_error: false }],
    },
  ]).flat(),
]

const ours = (path: string) => {
  const credential = fixed({ class: 'api_key', source: 'bench', whenRefused: '' }, { key: 'bench' })
  const provider = createProvider({ provider: 'claude_code_subscription', credential, env: {}, baseUrl: base + path })
  return async (messages: Message[]) => {
    const reply = await provider.reply({ model: 'm', system, messages, tools, maxTokens: 100, signal }, () => {})
    if (reply.stop !== 'end_turn') throw new Error(JSON.stringify(reply))
  }
}

const bare = (path: string) => async (messages: Message[]) => {
  const wire = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }))
  const body = JSON.stringify({
    model: 'm',
    max_tokens: 100,
    stream: true,
    system: system[0]!.text,
    tools: wire,
    messages,
  })
  const headers = { 'content-type': 'application/json', 'x-api-key': 'bench' }
  const response = await fetch(`${base}${path}/v1/messages`, { method: 'POST', headers, body })
  const decoder = new TextDecoder()
  let rest = ''
  let text = ''
  for await (const piece of response.body!) {
    rest += decoder.decode(piece, { stream: true })
    for (let at = rest.indexOf('\n\n'); at >= 0; at = rest.indexOf('\n\n')) {
      const line = rest
        .slice(0, at)
        .split('\n')
        .find((each) => each.startsWith('data: '))
      rest = rest.slice(at + 2)
      const event = JSON.parse(line!.slice(6))
      if (event.delta?.text) text += event.delta.text
    }
  }
  if (text === '') throw new Error('no text')
}

/** Milliseconds of one request, ours and bare in turn; the median of their ratios. */
async function ratio(path: string, messages: Message[], rounds: number): Promise<number> {
  const [we, they] = [ours(path), bare(path)]
  const timed = async (work: (messages: Message[]) => Promise<void>) => {
    const started = performance.now()
    // The history is the same objects each time, but for the last one, as in a session.
    await work([...messages, { role: 'user', content: [{ type: 'text', text: 'go on' }] }])
    return performance.now() - started
  }
  for (let warm = 0; warm < 30; warm++) {
    await timed(we)
    await timed(they)
  }
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) ratios.push((await timed(we)) / (await timed(they)))
  return median(ratios)
}

const first = await ratio('/short', conversation(1), 200)
const hundredth = await ratio('/short', conversation(100), 200)
const long = await ratio('/long', conversation(1), 40)
server.kill()
report('One request and its streamed reply, in turns with a bare fetch that splits the stream; medians.', [
  { what: 'a short reply, first turn × a bare fetch', value: first, atMost: 1 },
  { what: 'a short reply, turn 100 × a bare fetch', value: hundredth, atMost: 1 },
  { what: 'a reply of 4000 pieces × a bare fetch', value: long, atMost: 1.1 },
])
