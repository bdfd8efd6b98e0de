/**
 * A model on loopback for real agents: Anthropic Messages, OpenAI Chat Completions and Responses, Gemini. It asks once for
 * a shell command and then says that it is done; requests that offer no shell (titles and the like) get a short text.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Model {
  readonly url: string
  /** What the agents sent, newest last. */
  readonly requests: { path: string; body: string }[]
  close(): void
}

/** `command`: what the model has the agent run. */
export async function startModel(command: string): Promise<Model> {
  const { createServer } = process.getBuiltinModule('node:http')
  const requests: Model['requests'] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      requests.push({ path: request.url ?? '', body })
      answer(request, response, body, command)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, requests, close }
}

// biome-ignore lint/suspicious/noExplicitAny: the bodies of four vendors' APIs, read field by field below
type Body = any
type Next = { call: { name: string; args: Record<string, unknown> } } | { text: string }
type Reply = (body: Body, send: Send, next: Next) => void
/** One server-sent event. */
type Send = (data: unknown, event?: string) => void

interface Dialect {
  readonly path: RegExp
  /** The tools offered, as name and JSON schema. */
  tools(body: Body): { name: string; schema: Body }[]
  /** Whether the agent already sent back what a tool gave. */
  hasResult(body: Body): boolean
  readonly reply: Reply
}

const shell = /^(bash|shell|shell_command|exec_command|run_shell_command|local_shell)$/i
const list = (value: Body): Body[] => (Array.isArray(value) ? value : [])
const usage = { input: 1000, output: 20 }

const dialects: Dialect[] = [
  {
    path: /\/messages(\?|$)/,
    tools: (body) => list(body.tools).map(({ name, input_schema }) => ({ name, schema: input_schema })),
    hasResult: (body) =>
      list(body.messages).some(({ content }) => list(content).some(({ type }) => type === 'tool_result')),
    reply(body, send, next) {
      const call = 'call' in next
      const counted = { input_tokens: usage.input, output_tokens: 1 }
      const message = {
        id: 'msg_live',
        type: 'message',
        role: 'assistant',
        model: body.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: counted,
      }
      send({ type: 'message_start', message }, 'message_start')
      const block = call
        ? { type: 'tool_use', id: 'toolu_live', name: next.call.name, input: {} }
        : { type: 'text', text: '' }
      send({ type: 'content_block_start', index: 0, content_block: block }, 'content_block_start')
      const delta = call
        ? { type: 'input_json_delta', partial_json: JSON.stringify(next.call.args) }
        : { type: 'text_delta', text: next.text }
      send({ type: 'content_block_delta', index: 0, delta }, 'content_block_delta')
      send({ type: 'content_block_stop', index: 0 }, 'content_block_stop')
      const end = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null }
      send({ type: 'message_delta', delta: end, usage: { output_tokens: usage.output } }, 'message_delta')
      send({ type: 'message_stop' }, 'message_stop')
    },
  },
  {
    path: /\/chat\/completions/,
    tools: (body) =>
      list(body.tools).map((tool) => ({ name: tool.function?.name ?? '', schema: tool.function?.parameters })),
    hasResult: (body) => list(body.messages).some(({ role }) => role === 'tool'),
    reply(body, send, next) {
      const chunk = (delta: object, finish_reason: string | null = null) =>
        send({
          id: 'live',
          object: 'chat.completion.chunk',
          created: 0,
          model: body.model,
          choices: [{ index: 0, delta, finish_reason }],
        })
      if ('call' in next) {
        const { name, args } = next.call
        chunk({
          role: 'assistant',
          content: null,
          tool_calls: [
            { index: 0, id: 'call_live', type: 'function', function: { name, arguments: JSON.stringify(args) } },
          ],
        })
        chunk({}, 'tool_calls')
      } else {
        chunk({ role: 'assistant', content: next.text })
        chunk({}, 'stop')
      }
      const counted = {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      }
      send({ id: 'live', object: 'chat.completion.chunk', created: 0, model: body.model, choices: [], usage: counted })
      send('[DONE]')
    },
  },
  {
    path: /\/responses(\?|$)/,
    tools: (body) => list(body.tools).map(({ name, type, parameters }) => ({ name: name ?? type, schema: parameters })),
    hasResult: (body) => list(body.input).some(({ type }) => /_output$/.test(type ?? '')),
    reply(body, send, next) {
      let sequence_number = 0
      const say = (type: string, more: object) => send({ type, sequence_number: sequence_number++, ...more }, type)
      const base = {
        id: 'resp_live',
        object: 'response',
        created_at: 0,
        model: body.model,
        status: 'in_progress',
        output: [] as object[],
        usage: null as object | null,
      }
      const item =
        'call' in next
          ? {
              type: 'function_call',
              id: 'fc_live',
              call_id: 'call_live',
              name: next.call.name,
              arguments: JSON.stringify(next.call.args),
              status: 'completed',
            }
          : {
              type: 'message',
              id: 'msg_live',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: next.text, annotations: [] }],
            }
      say('response.created', { response: base })
      say('response.output_item.added', {
        output_index: 0,
        item: { ...item, ...('call' in next ? { arguments: '' } : { content: [] }) },
      })
      if ('call' in next)
        say('response.function_call_arguments.done', {
          item_id: item.id,
          output_index: 0,
          arguments: JSON.stringify(next.call.args),
        })
      else say('response.output_text.delta', { item_id: item.id, output_index: 0, content_index: 0, delta: next.text })
      say('response.output_item.done', { output_index: 0, item })
      const counted = {
        input_tokens: usage.input,
        output_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      }
      say('response.completed', { response: { ...base, status: 'completed', output: [item], usage: counted } })
    },
  },
  {
    path: /:streamGenerateContent/,
    tools: (body) =>
      list(body.tools).flatMap(({ functionDeclarations }) =>
        list(functionDeclarations).map(({ name, parametersJsonSchema, parameters }) => ({
          name,
          schema: parametersJsonSchema ?? parameters,
        })),
      ),
    hasResult: (body) =>
      list(body.contents).some(({ parts }) => list(parts).some(({ functionResponse }) => functionResponse)),
    reply(_body, send, next) {
      const part = 'call' in next ? { functionCall: next.call } : { text: next.text }
      const usageMetadata = {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      }
      send({
        candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
        usageMetadata,
      })
    },
  },
]

function answer(request: IncomingMessage, response: ServerResponse, text: string, command: string): void {
  const path = request.url ?? ''
  const json = (value: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (/\/models/.test(path) && request.method === 'GET') {
    const model = {
      id: 'live',
      object: 'model',
      name: 'live',
      capabilities: { type: 'chat', supports: { tool_calls: true, streaming: true }, limits: {} },
    }
    return void json({ object: 'list', data: [model] })
  }
  if (/count_tokens|:countTokens/.test(path)) return void json({ input_tokens: usage.input, totalTokens: usage.input })
  const dialect = dialects.find((one) => one.path.test(path))
  if (!dialect || request.method !== 'POST') return void response.writeHead(404).end('{}')
  const body = JSON.parse(text || '{}')
  const tool = dialect.tools(body).find(({ name }) => shell.test(name))
  const next: Next =
    !tool || dialect.hasResult(body)
      ? { text: 'Done.' }
      : { call: { name: tool.name, args: argsFor(tool.schema, command) } }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  dialect.reply(
    body,
    (data, event) =>
      response.write(
        `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      ),
    next,
  )
  response.end()
}

/** Arguments that satisfy the tool's own schema, with the command where it takes one. */
function argsFor(schema: Body, command: string): Record<string, unknown> {
  const properties: Body = schema?.properties ?? {}
  const args: Record<string, unknown> = {}
  for (const name of list(schema?.required)) args[name] = blank(properties[name])
  const key = ['command', 'cmd'].find((name) => properties[name]) ?? 'command'
  args[key] = /array/i.test(String(properties[key]?.type)) ? ['bash', '-c', command] : command
  return args
}

const blanks: Record<string, unknown> = { number: 0, integer: 0, boolean: false, array: [], object: {} }
const blank = (schema: Body) => schema?.enum?.[0] ?? blanks[String(schema?.type).toLowerCase()] ?? 'x'
