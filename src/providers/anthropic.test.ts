import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixed } from '../auth/credential.ts'
import { isObject } from '../hooks/shape.ts'
import { createProvider } from './create.ts'
import type { Message } from './model.ts'
import { providerSuite, type Saying, type WireDialect } from './suite.ts'
import { stream, wireServer } from './wire-server.ts'

const frame = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const stops = { length: 'max_tokens', refusal: 'refusal' }
const stopOf = ({ calls, stop }: Saying) => (stop ? stops[stop] : calls ? 'tool_use' : 'end_turn')

const wire: WireDialect = {
  provider: 'claude_code_subscription',
  base: (url) => url,
  frames(saying) {
    const { text, calls = [] } = saying
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content: [],
      stop_reason: null,
    }
    const usage = { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 1 }
    const frames = [frame({ type: 'message_start', message: { ...message, usage } }), frame({ type: 'ping' })]
    let index = 0
    const block = (content_block: object, deltas: object[]) => {
      frames.push(frame({ type: 'content_block_start', index, content_block }))
      for (const delta of deltas) frames.push(frame({ type: 'content_block_delta', index, delta }))
      frames.push(frame({ type: 'content_block_stop', index }))
      index++
    }
    // The first delta directly follows the ping: a server may leave out an empty start.
    if (text) {
      const [first = '', ...rest] = text
      block(
        { type: 'text', text: first },
        rest.map((text) => ({ type: 'text_delta', text })),
      )
    }
    for (const { id, name, args } of calls) {
      const deltas = args.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
      block({ type: 'tool_use', id, name, input: {} }, deltas)
    }
    const delta = { stop_reason: stopOf(saying), stop_sequence: null }
    frames.push(frame({ type: 'message_delta', delta, usage: { output_tokens: 7 } }), frame({ type: 'message_stop' }))
    return frames
  },
  whole(saying) {
    const { text, calls = [] } = saying
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content: [
        ...(text ? [{ type: 'text', text: text.join('') }] : []),
        ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args.join('')) })),
      ],
      stop_reason: stopOf(saying),
      usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 7 },
    }
  },
  errorFrame: (type, message) => frame({ type: 'error', error: { type, message } }),
  usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 4, cacheWriteTokens: 2 },
  refuses(body) {
    if (!isObject(body) || !Array.isArray(body.messages)) return 'no messages'
    const messages = body.messages as {
      role: string
      content: { type: string; id?: string; tool_use_id?: string; text?: string }[]
    }[]
    if (messages[0]?.role !== 'user') return 'the first message must be the user’s'
    const used = new Set<string>()
    for (const [at, { role, content }] of messages.entries()) {
      if (content.length === 0) return 'empty content'
      if (content.some(({ type, text }) => type === 'text' && text!.trim() === '')) return 'empty text'
      const calls = content.flatMap(({ type, id }) => (type === 'tool_use' ? [id!] : []))
      for (const id of calls) if (used.size === used.add(id).size) return `tool_use id ${id} is not unique`
      const next = messages[at + 1]?.content ?? []
      if (calls.some((id, index) => next[index]?.tool_use_id !== id))
        return 'tool_use without tool_result immediately after'
      const before =
        at === 0 ? [] : messages[at - 1]!.content.flatMap(({ type, id }) => (type === 'tool_use' ? [id!] : []))
      const results = content.flatMap(({ type, tool_use_id }) => (type === 'tool_result' ? [tool_use_id!] : []))
      if (role === 'user' && results.some((id) => !before.includes(id))) return 'tool_result without tool_use'
    }
    return undefined
  },
}

providerSuite('the Messages API', wire)

const about = { class: 'api_key' as const, source: 'TEST', whenRefused: '' }

test('a request is exactly what the API documents, with the cache marks where they help', async () => {
  const server = await wireServer(stream(wire.frames({ text: ['ok'] })))
  const provider = createProvider({
    provider: 'claude_code_subscription',
    credential: fixed(about, { key: 'k', bearer: 't', beta: 'b-1' }),
    env: { ANTHROPIC_BASE_URL: `${server.url}/`, ANTHROPIC_CUSTOM_HEADERS: 'X-Team: blue\nX-Other: 1' },
  })
  const messages: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: ' ' },
        { type: 'tool_use', id: 'a', name: 'Read', input: { x: 1 } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'no', is_error: true }] },
  ]
  await provider.reply(
    {
      model: 'claude-opus-4-20250514',
      system: [{ text: 'A', cache: true }, { text: 'B', cache: true }, { text: 'C' }],
      messages,
      tools: [{ name: 'Read', description: 'Reads.', inputSchema: { type: 'object' } }],
      maxTokens: 64,
      signal: new AbortController().signal,
    },
    () => {},
  )
  await server.close()
  const [{ path, headers, body }] = server.seen as [(typeof server.seen)[0]]
  assert.equal(path, '/v1/messages')
  assert.deepEqual(
    ['x-api-key', 'authorization', 'anthropic-version', 'anthropic-beta', 'content-type', 'x-team', 'x-other'].map(
      (name) => headers[name],
    ),
    ['k', 'Bearer t', '2023-06-01', 'b-1', 'application/json', 'blue', '1'],
  )
  assert.deepEqual(JSON.parse(body), {
    model: 'claude-opus-4-20250514',
    max_tokens: 64,
    stream: true,
    system: [
      { type: 'text', text: 'A' },
      { type: 'text', text: 'B', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'C' },
    ],
    tools: [{ name: 'Read', description: 'Reads.', input_schema: { type: 'object' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: { x: 1 } }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: 'no',
            is_error: true,
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ],
  })
})

test('a proxy on a Unix socket is spoken to in place of the address', async () => {
  const { createServer } = await import('node:http')
  const { mkdtempSync, rmSync } = await import('node:fs')
  const folder = mkdtempSync(`${(await import('node:os')).tmpdir()}/ona-socket-`)
  const server = createServer((request, response) => {
    request.resume()
    const host = request.headers.host ?? ''
    request.on('end', () =>
      stream(wire.frames({ text: [host, request.url ?? ''] }))(response, {
        method: '',
        path: '',
        headers: {},
        body: '',
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(`${folder}/s`, resolve))
  const provider = createProvider({
    provider: 'claude_code_subscription',
    credential: fixed(about, {}),
    env: { ANTHROPIC_UNIX_SOCKET: `${folder}/s` },
  })
  const signal = new AbortController().signal
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
  const reply = await provider.reply({ model: 'm', system: [], messages, tools: [], maxTokens: 1, signal }, () => {})
  assert.deepEqual(reply.content, [{ type: 'text', text: 'api.anthropic.com/v1/messages' }])
  server.close()
  server.closeAllConnections()
  rmSync(folder, { recursive: true })
})
