import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, status, stream, wireServer } from '../../test/support/model/wire-server.ts'
import { fixed } from '../auth/credential.ts'
import { createProvider } from './create.ts'
import type { SearchReply } from './model.ts'

const about = { class: 'api_key' as const, source: 'TEST', whenRefused: '' }
const frame = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

/** A reply of these blocks, each with its deltas. */
function message(...blocks: (readonly [object, ...object[]])[]): string[] {
  const usage = { input_tokens: 10, output_tokens: 1 }
  return [
    frame({ type: 'message_start', message: { id: 'm', model: 'claude', content: [], usage } }),
    ...blocks.flatMap(([content_block, ...deltas], index) => [
      frame({ type: 'content_block_start', index, content_block }),
      ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
      frame({ type: 'content_block_stop', index }),
    ]),
    frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
    frame({ type: 'message_stop' }),
  ]
}

const use = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }
const result = (content: unknown) => ({ type: 'web_search_tool_result', tool_use_id: 'srv_1', content })
const page = (title: string, url: string) => ({ type: 'web_search_result', title, url, encrypted_content: 'x' })

async function searchOf(...answers: Answer[]): Promise<{ reply: SearchReply | undefined; bodies: unknown[] }> {
  const server = await wireServer(...answers)
  const provider = createProvider({
    provider: 'claude_code_subscription',
    credential: fixed(about, { key: 'k' }),
    env: { ANTHROPIC_BASE_URL: server.url },
    retries: { most: 0 },
  })
  const { signal } = new AbortController()
  const reply = await provider.search!({
    query: 'a thing',
    model: 'claude',
    allowed: ['a.example'],
    blocked: [],
    signal,
  })
  await server.close()
  return { reply, bodies: server.seen.map(({ body }) => JSON.parse(body)) }
}

test('pages and cited words are read from blocks and citations, each address once', async () => {
  const cited = {
    type: 'web_search_result_location',
    url: 'https://a.example/2',
    title: 'Two',
    cited_text: 'it\nis so',
  }
  const { reply, bodies } = await searchOf(
    stream(
      message(
        [use, { type: 'input_json_delta', partial_json: '{"query":"a thing"}' }],
        [result([page('One', 'https://a.example/1'), page('Two', 'https://a.example/2'), null, { url: 7 }])],
        [
          { type: 'text', text: '' },
          { type: 'citations_delta', citation: cited },
          { type: 'text_delta', text: 'It is so.' },
        ],
      ),
    ),
  )
  const { reply: whole, ...told } = reply!
  assert.deepEqual(told, {
    found: [
      { title: 'One', url: 'https://a.example/1', excerpt: '' },
      { title: 'Two', url: 'https://a.example/2', excerpt: 'it is so' },
    ],
    text: 'It is so.',
  })
  assert.deepEqual([whole.usage.outputTokens, whole.content], [7, [{ type: 'text', text: 'It is so.' }]])
  const [{ tools, messages }] = bodies as [{ tools: unknown; messages: { content: { text: string }[] }[] }]
  assert.deepEqual(tools, [
    { type: 'web_search_20250305', name: 'web_search', max_uses: 8, allowed_domains: ['a.example'] },
  ])
  assert.equal(messages[0]!.content[0]!.text, 'Search the web for: a thing')
})

test('what goes wrong is reported, and never thrown', async () => {
  const failed = async (answer: Answer) => (await searchOf(answer)).reply!.problem
  const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }
  assert.equal(
    await failed(stream(message([use], [result(error)]))),
    'the provider searched as often as it may without an answer',
  )
  const refusal = { type: 'error', error: { type: 'invalid_request_error', message: 'web search is not enabled' } }
  assert.match((await failed(status(400, refusal)))!, /web search is not enabled/)
  assert.match((await failed(status(200, '<html>')))!, /is the base URL right/)
})

test('a later failure does not take away what was found before it', async () => {
  const error = { type: 'web_search_tool_result_error', error_code: 'unavailable' }
  const found = result([page('One', 'https://a.example/1')])
  const { reply } = await searchOf(stream(message([use], [found], [use], [result(error)])))
  assert.deepEqual([reply!.found.length, reply!.problem], [1, undefined])
})

test('a server of the other dialect has no search of its own', () => {
  const provider = createProvider({
    provider: 'openai_compatible',
    credential: fixed(about, {}),
    env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
  })
  assert.equal(provider.search, undefined)
})
