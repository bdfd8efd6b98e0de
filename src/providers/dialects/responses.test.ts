import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerSuite } from '../../../test/support/model/dialect-suite.ts'
import { event, responsesWire as wire } from '../../../test/support/model/wire-responses.ts'
import { stream, wireServer } from '../../../test/support/model/wire-server.ts'
import { fixed } from '../../auth/credential.ts'
import { createProvider } from '../create.ts'
import type { Message, ModelRequest } from '../model.ts'

providerSuite('Responses', wire)

const { signal } = new AbortController()
const about = { class: 'api_key' as const, source: 'K', whenRefused: '' }

test('a request is what the API documents, and reasoning is kept from turn to turn of the same model', async () => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'Read', arguments: '{}' }
  const response = { model: 'gpt-6-sol', status: 'completed', output: [item, call], usage: {} }
  const thinks = stream([
    event('response.output_item.added', { output_index: 0, item: { ...item, encrypted_content: '' } }),
    event('response.reasoning_summary_text.delta', { output_index: 0, delta: 'Hm.' }),
    event('response.output_item.done', { output_index: 0, item }),
    event('response.output_item.added', { output_index: 1, item: { ...call, arguments: '' } }),
    event('response.output_item.done', { output_index: 1, item: call }),
    event('response.completed', { response }),
  ])
  const server = await wireServer(thinks, stream(wire.frames({ text: ['ok'] })))
  const provider = createProvider({
    provider: 'openai_compatible',
    credential: fixed(about, { bearer: 'key' }),
    env: {},
    baseUrl: `${server.url}/v1`,
    openaiDialect: 'responses',
  })
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
  const request = (model: string): ModelRequest => ({
    model,
    system: [{ text: 'Be brief.' }],
    messages,
    tools: [{ name: 'Read', description: 'Reads.', inputSchema: { type: 'object' } }],
    maxTokens: 99,
    thinking: { type: 'adaptive' },
    effort: 'high',
    signal,
  })
  const thoughts: string[] = []
  const reply = await provider.reply(
    request('gpt-6-sol'),
    (part) => part.type === 'thinking' && thoughts.push(part.text),
  )
  assert.deepEqual(thoughts, ['Hm.'])
  assert.deepEqual(reply.content, [
    { type: 'reasoning', model: 'gpt-6-sol', wire: item },
    { type: 'tool_use', id: 'c1', name: 'Read', input: {} },
  ])
  messages.push({ role: 'assistant', content: reply.content })
  messages.push({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'no such file', is_error: true }],
  })
  await provider.reply(request('gpt-6-sol'), () => {})
  await provider.reply(request('gpt-6-luna'), () => {})
  const [first, second, other] = server.seen.map(({ body }) => JSON.parse(body))
  assert.deepEqual(first, {
    model: 'gpt-6-sol',
    max_output_tokens: 99,
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    instructions: 'Be brief.',
    tools: [{ type: 'function', name: 'Read', description: 'Reads.', parameters: { type: 'object' }, strict: false }],
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
  })
  const sent = { type: 'function_call', call_id: 'c1', name: 'Read', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: 'Error: no such file' }
  assert.deepEqual(second.input.slice(1), [item, sent, output])
  assert.deepEqual(other.input.slice(1), [sent, output])
  await server.close()
})
