import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerSuite } from '../../../test/support/model/dialect-suite.ts'
import { chunk, openaiWire as wire } from '../../../test/support/model/wire-chat-completions.ts'
import { type Answer, status, stream, wireServer } from '../../../test/support/model/wire-server.ts'
import { fixed } from '../../auth/credential.ts'
import { createProvider } from '../create.ts'
import type { Message, ModelRequest, Reply } from '../model.ts'

providerSuite('Chat Completions', wire)

const user: Message = { role: 'user', content: [{ type: 'text', text: 'hi' }] }

async function ask(
  answers: Answer[],
  more: Partial<ModelRequest> = {},
  turns = 1,
): Promise<{ reply: Reply; bodies: Record<string, unknown>[] }> {
  const server = await wireServer(...answers)
  const provider = createProvider({
    provider: 'lm_studio_local',
    credential: fixed({ class: 'local', source: 'default', whenRefused: '' }, { bearer: 'lm-studio' }),
    env: { LM_STUDIO_BASE_URL: `${server.url}/v1` },
    retries: { most: 0 },
  })
  const request = {
    model: 'm',
    system: [],
    messages: [user],
    tools: [],
    maxTokens: 9,
    signal: new AbortController().signal,
    ...more,
  }
  let reply = await provider.reply(request, () => {})
  for (let turn = 1; turn < turns; turn++) reply = await provider.reply(request, () => {})
  await server.close()
  return { reply, bodies: server.seen.map(({ body }) => JSON.parse(body)) }
}
const ok = stream(wire.frames({ text: ['ok'] }))

test('OPENAI_CUSTOM_HEADERS go with every request, in both dialects', async () => {
  for (const openaiDialect of ['chat_completions', 'responses'] as const) {
    const server = await wireServer(ok)
    const provider = createProvider({
      provider: 'openai_compatible',
      credential: fixed({ class: 'api_key', source: 'TEST', whenRefused: '' }, { key: 'k' }),
      env: { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_CUSTOM_HEADERS: 'X-Team: blue\nX-Other: 1' },
      openaiDialect,
      retries: { most: 0 },
    })
    const { signal } = new AbortController()
    await provider.reply({ model: 'm', system: [], messages: [user], tools: [], maxTokens: 9, signal }, () => {})
    await server.close()
    const { headers } = server.seen[0]!
    assert.deepEqual([headers['x-team'], headers['x-other'], headers['authorization']], ['blue', '1', 'Bearer k'])
  }
})
const uses = (reply: Reply) => reply.content.filter((block) => block.type === 'tool_use')

test('a request is exactly what the API documents', async () => {
  const messages: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: { x: 1 } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'no', is_error: true },
        { type: 'text', text: 'go' },
        { type: 'text', text: 'on' },
      ],
    },
  ]
  const tools = [{ name: 'Read', description: 'Reads.', inputSchema: { type: 'object' } }]
  const { bodies } = await ask([ok], { system: [{ text: 'A' }, { text: 'B' }], messages, tools })
  assert.deepEqual(bodies, [
    {
      model: 'm',
      max_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'Read', description: 'Reads.', parameters: { type: 'object' } } }],
      messages: [
        { role: 'system', content: 'A\n\nB' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'Read', arguments: '{"x":1}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Error: no' },
        { role: 'user', content: 'go\n\non' },
      ],
    },
  ])
})

test('the reasoning models are given the limit under its newer name', async () => {
  const { bodies } = await ask([ok], { model: 'o3-mini' })
  assert.deepEqual([bodies[0]!.max_tokens, bodies[0]!.max_completion_tokens], [undefined, 9])
})

test('a server that knows no stream_options, or the limit by its other name, is asked as it likes, and that is remembered', async () => {
  const no = (message: string) => status(400, { error: { message, type: 'invalid_request_error' } })
  const { reply, bodies } = await ask(
    [
      no('Unrecognized request argument supplied: stream_options'),
      no("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
      ok,
    ],
    {},
    2,
  )
  assert.deepEqual(reply.content, [{ type: 'text', text: 'ok' }])
  assert.deepEqual(
    bodies.map((body) => ['stream_options' in body, 'max_tokens' in body, 'max_completion_tokens' in body]),
    [
      [true, true, false],
      [false, true, false],
      [false, false, true],
      [false, false, true],
    ],
  )
})

test('a limit that is too high is no reason to rename it', async () => {
  const { reply, bodies } = await ask([status(400, { error: { message: 'max_tokens is too large: 9' } })])
  assert.deepEqual([reply.failure?.kind, bodies.length], ['invalid-request', 1])
})

test('[DONE] may be missing', async () => {
  const frames = wire.frames({ text: ['ok'] }).slice(0, -1)
  assert.deepEqual((await ask([stream(frames)])).reply.content, [{ type: 'text', text: 'ok' }])
  const bare = stream([chunk({ content: 'ok' }), 'data: [DONE]'])
  assert.deepEqual((await ask([bare])).reply.content, [{ type: 'text', text: 'ok' }])
})

test('calls without an index, with the same index, without an id, or with the whole name again are told apart', async () => {
  const call = (id: string | undefined, name: string | undefined, args: string, index?: number) => ({
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    function: { ...(name !== undefined && { name }), arguments: args },
  })
  const cases: [object[][], [string, string, object][]][] = [
    [
      [[call('a', 'Read', '{"n":1}')], [call('b', 'Grep', '{"n":2}')]],
      [
        ['a', 'Read', { n: 1 }],
        ['b', 'Grep', { n: 2 }],
      ],
    ],
    [
      [[call('a', 'Read', '{"n":1}', 0)], [call('b', 'Grep', '{"n":2}', 0)]],
      [
        ['a', 'Read', { n: 1 }],
        ['b', 'Grep', { n: 2 }],
      ],
    ],
    [[[call('a', 'Read', '{"n"', 0)], [call('a', 'Read', ':1}', 0)]], [['a', 'Read', { n: 1 }]]],
    [
      [[call(undefined, 'Read', '{}', 0), call(undefined, 'Grep', '{}', 1)]],
      [
        ['call_1', 'Read', {}],
        ['call_2', 'Grep', {}],
      ],
    ],
    [
      [
        [call('b', 'Grep', '{"n"', 1), call('a', 'Read', '{"n"', 0)],
        [call('', '', ':1}', 0), call('', '', ':2}', 1)],
      ],
      [
        ['b', 'Grep', { n: 2 }],
        ['a', 'Read', { n: 1 }],
      ],
    ],
  ]
  for (const [rounds, expected] of cases) {
    const frames = [...rounds.map((tool_calls) => chunk({ tool_calls })), chunk({}, 'stop')]
    const { reply } = await ask([stream(frames)])
    assert.deepEqual([reply.stop, uses(reply).map(({ id, name, input }) => [id, name, input])], ['tool_use', expected])
  }
})

test('thinking is passed on and is no part of the answer', async () => {
  const frames = [chunk({ reasoning_content: 'hm' }), chunk({ content: 'ok' }, 'stop')]
  assert.deepEqual((await ask([stream(frames)])).reply.content, [{ type: 'text', text: 'ok' }])
})
