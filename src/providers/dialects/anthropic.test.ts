import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerSuite } from '../../../test/support/model/dialect-suite.ts'
import { anthropicWire as wire } from '../../../test/support/model/wire-anthropic.ts'
import { stream, wireServer } from '../../../test/support/model/wire-server.ts'
import { fixed } from '../../auth/credential.ts'
import { createProvider } from '../create.ts'
import type { Message } from '../model.ts'

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

test('thoughts keep their signatures across the results of calls, and go to the same model alone', async () => {
  const frame = (data: { type: string; [key: string]: unknown }) => `data: ${JSON.stringify(data)}\n\n`
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    frame({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ]
  const thinks = stream([
    frame({ type: 'message_start', message: { model: 'm', usage: {} } }),
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Let me ' },
      { type: 'thinking_delta', thinking: 'see.' },
      { type: 'signature_delta', signature: 'EqQB' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'hidden' }),
    ...block(2, { type: 'tool_use', id: 'c1', name: 'Read', input: {} }),
    frame({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } }),
    frame({ type: 'message_stop' }),
  ])
  const server = await wireServer(thinks, stream(wire.frames({ text: ['ok'] })))
  const provider = createProvider({
    provider: 'claude_code_subscription',
    credential: fixed(about, { key: 'k' }),
    env: {},
    baseUrl: server.url,
  })
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
  const { signal } = new AbortController()
  const ask = (model: string, more: object) =>
    provider.reply({ model, system: [], messages, tools: [], maxTokens: 5000, signal, ...more }, () => {})
  const adaptive = { thinking: { type: 'adaptive' }, effort: 'high' }
  const reply = await ask('m', adaptive)
  const thought = { type: 'thinking', thinking: 'Let me see.', signature: 'EqQB' }
  const hidden = { type: 'redacted_thinking', data: 'hidden' }
  assert.deepEqual(reply.content, [
    { type: 'reasoning', model: 'm', wire: thought },
    { type: 'reasoning', model: 'm', wire: hidden },
    { type: 'tool_use', id: 'c1', name: 'Read', input: {} },
  ])
  messages.push({ role: 'assistant', content: reply.content })
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x', is_error: false }] })
  await ask('m', adaptive)
  await ask('m', { thinking: { type: 'budget', tokens: 1024 } })
  await ask('other', adaptive)
  await ask('m', {})
  const bodies = server.seen.map(({ body }) => JSON.parse(body))
  assert.deepEqual(
    bodies.map(({ thinking, output_config, messages }) => [
      thinking,
      output_config,
      messages[1]?.content.map(({ type }: { type: string }) => type),
    ]),
    [
      [{ type: 'adaptive' }, { effort: 'high' }, undefined],
      [{ type: 'adaptive' }, { effort: 'high' }, ['thinking', 'redacted_thinking', 'tool_use']],
      [{ type: 'enabled', budget_tokens: 1024 }, undefined, ['thinking', 'redacted_thinking', 'tool_use']],
      [{ type: 'adaptive' }, { effort: 'high' }, ['tool_use']],
      [undefined, undefined, ['tool_use']],
    ],
  )
  assert.deepEqual(bodies[1].messages[1].content.slice(0, 2), [thought, hidden])
  await server.close()
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
