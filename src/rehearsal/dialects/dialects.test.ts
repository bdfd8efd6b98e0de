import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../hooks/shape.ts'
import { playScript } from '../play.ts'
import { loadScript } from '../script.ts'
import { startRehearsal } from '../server.ts'

// biome-ignore lint/suspicious/noExplicitAny: replies of four vendors' APIs, read field by field
type Json = any

/** The least that an agent of each dialect does: send the conversation so far, read text and calls. */
interface Client {
  readonly path: string
  readonly streamPath?: string
  /** The agent's own shell tool, and the input that `Bash { command: "ls" }` becomes. */
  readonly shell: { name: string; schema: JsonObject; input: JsonObject }
  request(history: History, tool: Client['shell'], stream: boolean): JsonObject
  whole(reply: Json): Got
  stream(events: Json[]): Got
  readonly failure: unknown
}

interface History {
  readonly prompt: string
  readonly turn?: { readonly got: Got; readonly output: string; readonly isError: boolean }
}

interface Got {
  readonly text: string
  readonly calls: readonly { id: string; name: string; input: unknown }[]
}

const strings = { type: 'string' }

const clients: Record<string, Client> = {
  'Chat Completions': {
    path: '/v1/chat/completions',
    shell: {
      name: 'bash',
      schema: { type: 'object', properties: { command: strings, description: strings }, required: ['description'] },
      input: { command: 'ls', description: 'description' },
    },
    request: ({ prompt, turn }, { name, schema }, stream) => ({
      model: 'm',
      stream,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: [{ type: 'text', text: prompt }] },
        ...(turn
          ? [
              {
                role: 'assistant',
                content: turn.got.text,
                tool_calls: turn.got.calls.map(({ id, name, input }) => ({
                  id,
                  type: 'function',
                  function: { name, arguments: JSON.stringify(input) },
                })),
              },
              ...turn.got.calls.map(({ id }) => ({
                role: 'tool',
                tool_call_id: id,
                content: (turn.isError ? 'Error: ' : '') + turn.output,
              })),
            ]
          : []),
      ],
      tools: [{ type: 'function', function: { name, parameters: schema } }],
    }),
    whole: ({ choices: [{ message }] }) => ({
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map(({ id, function: made }: Json) => ({
        id,
        name: made.name,
        input: JSON.parse(made.arguments),
      })),
    }),
    stream(events) {
      assert.equal(events.pop(), '[DONE]')
      const deltas = events.map(({ choices }) => choices[0].delta)
      const calls = deltas.flatMap(({ tool_calls = [] }) => tool_calls)
      return {
        text: deltas.map(({ content }) => content ?? '').join(''),
        calls: calls
          .filter(({ id }) => id)
          .map(({ id, index, function: { name } }) => ({
            id,
            name,
            input: JSON.parse(
              calls
                .filter((call) => call.index === index)
                .map((call) => call.function.arguments)
                .join(''),
            ),
          })),
      }
    },
    failure: { error: { message: 'busy', type: 'overloaded_error', param: null, code: null } },
  },
  Messages: {
    path: '/v1/messages',
    shell: { name: 'Bash', schema: { type: 'object' }, input: { command: 'ls' } },
    request: ({ prompt, turn }, { name, schema }, stream) => ({
      model: 'm',
      max_tokens: 100,
      stream,
      system: [{ type: 'text', text: 'be brief' }],
      messages: [
        { role: 'user', content: prompt },
        ...(turn
          ? [
              {
                role: 'assistant',
                content: [
                  { type: 'text', text: turn.got.text },
                  ...turn.got.calls.map((call) => ({ type: 'tool_use', ...call })),
                ],
              },
              {
                role: 'user',
                content: [
                  ...turn.got.calls.map(({ id }) => ({
                    type: 'tool_result',
                    tool_use_id: id,
                    content: [{ type: 'text', text: turn.output }],
                    is_error: turn.isError,
                  })),
                  { type: 'text', text: '<system-reminder>be careful</system-reminder>' },
                ],
              },
            ]
          : []),
      ],
      tools: [{ name, input_schema: schema }],
    }),
    whole: ({ content }) => ({
      text: content.map((block: Json) => block.text ?? '').join(''),
      calls: content.flatMap(({ type, id, name, input }: Json) => (type === 'tool_use' ? [{ id, name, input }] : [])),
    }),
    stream(events) {
      assert.deepEqual([events[0].type, events.at(-1).type], ['message_start', 'message_stop'])
      const deltas = events.filter(({ type }) => type === 'content_block_delta')
      return {
        text: deltas.map(({ delta }) => delta.text ?? '').join(''),
        calls: events.flatMap(({ type, index, content_block: block }) =>
          type === 'content_block_start' && block.type === 'tool_use'
            ? [
                {
                  id: block.id,
                  name: block.name,
                  input: JSON.parse(
                    deltas
                      .filter((each) => each.index === index)
                      .map(({ delta }) => delta.partial_json)
                      .join(''),
                  ),
                },
              ]
            : [],
        ),
      }
    },
    failure: { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
  },
  Responses: {
    path: '/v1/responses',
    shell: {
      name: 'exec_command',
      schema: { type: 'object', properties: { cmd: strings, workdir: strings }, required: ['cmd'] },
      input: { cmd: 'ls' },
    },
    request: ({ prompt, turn }, { name, schema }, stream) => ({
      model: 'm',
      stream,
      instructions: 'be brief',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] },
        ...(turn
          ? [
              { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'x' },
              { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.got.text }] },
              ...turn.got.calls.map(({ id, name, input }) => ({
                type: 'function_call',
                call_id: id,
                name,
                arguments: JSON.stringify(input),
              })),
              ...turn.got.calls.map(({ id }) => ({
                type: 'function_call_output',
                call_id: id,
                output: `Process exited with code ${turn.isError ? 1 : 0}\nOutput:\n${turn.output}`,
              })),
            ]
          : []),
      ],
      tools: [{ type: 'function', name, parameters: schema }, { type: 'web_search' }],
    }),
    whole: ({ output }) => itemsOf(output),
    stream(events) {
      assert.deepEqual(
        events.map(({ sequence_number }) => sequence_number),
        events.map((_, at) => at),
      )
      const { response } = events.at(-1)
      const got = itemsOf(
        events.flatMap(({ type, item }: Json) => (type === 'response.output_item.done' ? [item] : [])),
      )
      const deltas = (kind: string) => events.flatMap(({ type, delta }) => (type === kind ? [delta] : [])).join('')
      assert.deepEqual([got, deltas('response.output_text.delta')], [itemsOf(response.output), got.text])
      return got
    },
    failure: { error: { message: 'busy', type: 'overloaded_error', param: null, code: null } },
  },
  Gemini: {
    path: '/v1beta/models/m:generateContent',
    streamPath: '/v1beta/models/m:streamGenerateContent?alt=sse',
    shell: {
      name: 'run_shell_command',
      schema: { type: 'OBJECT', properties: { command: { type: 'STRING' }, dir: { type: 'STRING' } } },
      input: { command: 'ls' },
    },
    request: ({ prompt, turn }, { name, schema }) => ({
      systemInstruction: { role: 'user', parts: [{ text: 'be brief' }] },
      contents: [
        { role: 'user', parts: [{ text: prompt }] },
        ...(turn
          ? [
              {
                role: 'model',
                parts: [
                  { text: 'hm', thought: true },
                  { text: turn.got.text },
                  ...turn.got.calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
                ],
              },
              {
                role: 'user',
                parts: turn.got.calls.map(({ name }) => ({
                  functionResponse: { name, response: turn.isError ? { error: turn.output } : { output: turn.output } },
                })),
              },
            ]
          : []),
      ],
      tools: [{ functionDeclarations: [{ name, parameters: schema }] }],
    }),
    whole: ({ candidates: [{ content, finishReason }] }) => {
      assert.equal(finishReason, 'STOP')
      return partsOf(content.parts)
    },
    stream(events) {
      assert.deepEqual(
        events.map(({ candidates: [{ finishReason }] }) => finishReason),
        events.map((_, at) => (at === events.length - 1 ? 'STOP' : undefined)),
      )
      return partsOf(events.flatMap(({ candidates: [{ content }] }) => content.parts))
    },
    failure: { error: { code: 529, message: 'busy', status: 'INTERNAL' } },
  },
}

const itemsOf = (items: Json[]): Got => ({
  text: items.flatMap(({ content = [] }) => content.map(({ text }: Json) => text)).join(''),
  calls: items.flatMap(({ type, call_id, name, arguments: args }) =>
    type === 'function_call' ? [{ id: call_id, name, input: JSON.parse(args) }] : [],
  ),
})

const partsOf = (parts: Json[]): Got => ({
  text: parts.map(({ text }) => text ?? '').join(''),
  calls: parts.flatMap(({ functionCall }) =>
    functionCall ? [{ id: functionCall.id, name: functionCall.name, input: functionCall.args }] : [],
  ),
})

const script = `
steps:
  - prompt: look around
  - fail: 529
    message: busy
    retryAfter: 0
  - sees: { contains: [look around, be brief] }
  - say: I look at the folder.
  - call: Bash
    input: { command: ls }
  - expect: { error: ERROR, contains: a.txt, excludes: be careful }
  - say: There is one file.
`

for (const [name, client] of Object.entries(clients)) {
  describe(name, () => {
    for (const stream of [true, false])
      for (const isError of [true, false])
        test(`plays a script, ${stream ? 'streamed' : 'in one piece'}, with a call that ${isError ? 'fails' : 'succeeds'}`, async () => {
          const loaded = await loadScript(script.replace('ERROR', String(isError)), 's.yaml')
          assert.ok(loaded.ok)
          const play = playScript(loaded.script, { cwd: '/' })
          const server = await startRehearsal({ player: play.player })
          const ask = async (history: History): Promise<{ status: number; got: () => Got; text: string }> => {
            const path = (stream && client.streamPath) || client.path
            const body = JSON.stringify(client.request(history, client.shell, stream))
            const response = await fetch(server.url + path, { method: 'POST', body })
            const text = await response.text()
            return {
              status: response.status,
              text,
              got: () => (stream ? client.stream(eventsOf(text)) : client.whole(JSON.parse(text))),
            }
          }
          const prompt = 'look around'
          const refused = await ask({ prompt })
          assert.deepEqual([refused.status, JSON.parse(refused.text)], [529, client.failure])
          const first = (await ask({ prompt })).got()
          const { name, input } = client.shell
          assert.deepEqual(first, {
            text: 'I look at the folder.',
            calls: [{ id: first.calls[0]!.id, name, input }],
          })
          const second = (await ask({ prompt, turn: { got: first, output: 'a.txt', isError } })).got()
          assert.deepEqual(second, { text: 'There is one file.', calls: [] })
          play.finish()
          assert.deepEqual([play.problems, play.met()], [[], 2])
          await server.close()
        })
  })
}

/** The data of server-sent events; an event name, where there is one, must be the type of its data. */
const eventsOf = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n\n')
    .map((frame) => {
      const data = /^data: (.*)$/m.exec(frame)![1]!
      const event = /^event: (.*)$/m.exec(frame)?.[1]
      const value = data === '[DONE]' ? data : JSON.parse(data)
      if (event) assert.equal(event, value.type)
      return value
    })

test('requests of the agent itself get an answer without using up the script', async () => {
  const loaded = await loadScript('steps:\n  - call: Bash\n    input: { command: ls }\n', 's.yaml')
  assert.ok(loaded.ok)
  const server = await startRehearsal({ player: playScript(loaded.script, { cwd: '/' }).player })
  const post = async (path: string, body: object): Promise<Json> =>
    (await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })).json()
  const schema = { type: 'OBJECT', properties: { kind: { type: 'STRING', enum: ['a', 'b'] } } }
  const asked = { contents: [{ role: 'user', parts: [{ text: 'classify' }] }] }
  const classified = await post('/v1beta/models/m:generateContent', {
    ...asked,
    generationConfig: { responseMimeType: 'application/json', responseSchema: schema },
    tools: [{ functionDeclarations: [{ name: 'run_shell_command', parameters: {} }] }],
  })
  assert.deepEqual(classified.candidates[0].content.parts, [{ text: '{"kind":"a"}' }])
  const counted = await post('/v1/messages/count_tokens', { messages: [] })
  assert.deepEqual(counted, { input_tokens: 4, totalTokens: 4 })
  const custom = await post('/v1/responses', { input: 'go', tools: [{ type: 'local_shell' }] })
  assert.deepEqual(custom.output[0].action, { type: 'exec', command: ['bash', '-c', 'ls'], env: {} })
  const wrong = await fetch(`${server.url}/v1/messages`, { method: 'POST', body: '[]' })
  assert.equal(wrong.status, 400)
  await server.close()
})
