import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anthropicWire as wire } from '../../../test/support/wire-anthropic.ts'
import { stream, wireServer } from '../../../test/support/wire-server.ts'
import { fixed } from '../../auth/credential.ts'
import { createProvider } from '../create.ts'
import type { Message } from '../model.ts'
import { providerSuite } from './suite.ts'

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
