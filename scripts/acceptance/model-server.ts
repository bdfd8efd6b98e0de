/**
 * The outside world of the acceptance rows: one server on loopback that speaks both model dialects, an account's
 * authorization endpoints, a web page and a search. `node model-server.ts FOLDER` writes FOLDER/env when it listens and
 * adds each request to FOLDER/requests.jsonl. Where there is a FOLDER/runs it runs the program, too (shared-runs.ts).
 *
 * The model does what the last prompt says, line by line:
 *   call NAME {json}   a tool call; several lines are one reply
 *   then               the lines after it are the next reply
 *   anew               the lines before it do not count: prompts that nobody answered are sent again as one
 *   say TEXT           the text of the reply ("done" when nothing is said)
 *   fail STATUS        that HTTP status in place of a reply
 * TASK in a call's input is the id of the task that a result has named last.
 * Asked for test cases (it is offered WriteTestCase), it calls what FOLDER/cases.json holds.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { authorizationServer } from '../../test/support/authorization-server.ts'

interface Call {
  readonly name: string
  readonly input: unknown
}
interface Reply {
  readonly calls: readonly Call[]
  readonly text: string
  readonly fail?: number
}
interface Message {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string }[] | null
}
interface Request {
  readonly messages?: readonly Message[]
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[]
  readonly model?: string
}

const [folder = '.'] = process.argv.slice(2)
const pages: Record<string, [type: string, body: string]> = {
  '/page': ['text/plain', 'a page'],
  '/search': ['application/json', '{"results":[{"title":"One","url":"https://one.example/"}]}'],
  '/v1/models': ['application/json', '{"data":[{"id":"recorder"},{"id":"gpt-4o"},{"id":"other-model"}]}'],
}

let replies = 0
const server = createServer(async (request, response) => {
  const path = new URL(request.url!, 'http://127.0.0.1').pathname
  let body = ''
  for await (const piece of request) body += piece
  appendFileSync(join(folder, 'requests.jsonl'), `${JSON.stringify({ path, headers: request.headers, body })}\n`)
  const page = pages[path]
  if (page) return response.writeHead(200, { 'content-type': page[0] }).end(page[1])
  if (request.method !== 'POST') return response.writeHead(404).end('nothing here')
  const asked = JSON.parse(body) as Request
  const reply = replyTo(asked)
  if (reply.fail) {
    const error = { type: 'error', error: { type: 'api_error', message: 'as the prompt wished' } }
    return response.writeHead(reply.fail, { 'content-type': 'application/json' }).end(JSON.stringify(error))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  replies++
  return path.endsWith('/messages') ? anthropic(response, asked, reply) : openai(response, asked, reply)
})

function replyTo({ messages = [], tools = [] }: Request): Reply {
  const said = messages.filter(({ role }) => role !== 'system' && role !== 'developer')
  const prompt = said.findLastIndex(({ role, content }) => role === 'user' && orders.test(textOf(content)))
  const stage = said.slice(prompt + 1).filter(({ role }) => role === 'assistant').length
  if (tools.some((tool) => (tool.name ?? tool.function?.name) === 'WriteTestCase')) {
    const asked = said.filter(({ role }) => role === 'assistant').length
    if (asked > 0) return { calls: [], text: 'done' }
    return { calls: JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as Call[], text: '' }
  }
  const lines =
    (prompt < 0
      ? ''
      : textOf(said[prompt]!.content)
          .split(/^anew$/m)
          .at(-1)!
    )
      .split(/^then$/m)
      [stage]?.split('\n') ?? []
  const of = (word: string) =>
    lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))
  const task = [...JSON.stringify(said).matchAll(/with ID: (\w+)/g)].at(-1)?.[1] ?? 'TASK'
  const calls = of('call').map((line) => {
    const [, name = '', json = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? []
    return { name, input: JSON.parse((json || '{}').replaceAll('TASK', task)) as unknown }
  })
  const fail = of('fail')[0]
  return { calls, text: of('say').join('\n') || (calls.length > 0 ? '' : 'done'), ...(fail && { fail: Number(fail) }) }
}

const orders = /^(call|say|fail) /m

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ type, text }) => (type === 'text' ? text : '')).join('\n')
}

function anthropic(response: ServerResponse, { model }: Request, { calls, text }: Reply): void {
  const send = (data: { type: string; [key: string]: unknown }) =>
    response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  const usage = { input_tokens: 10, output_tokens: 5 }
  send({ type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model, content: [], usage } })
  const blocks = [
    ...(text ? [{ type: 'text', text }] : []),
    ...calls.map(({ name, input }, at) => ({ type: 'tool_use', id: `toolu_${replies}_${at}`, name, input })),
  ]
  blocks.forEach((content_block, index) => {
    send({ type: 'content_block_start', index, content_block })
    send({ type: 'content_block_stop', index })
  })
  send({ type: 'message_delta', delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' }, usage })
  send({ type: 'message_stop' })
  response.end()
}

function openai(response: ServerResponse, { model }: Request, { calls, text }: Reply): void {
  const send = (delta: object, finish_reason: string | null = null) =>
    response.write(`data: ${JSON.stringify({ id: 'c', model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`)
  const tool_calls = calls.map(({ name, input }, index) => ({
    index,
    id: `call_${replies}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  send({ role: 'assistant', content: text || null })
  if (calls.length > 0) send({ tool_calls })
  send({}, calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  response.write(`data: ${JSON.stringify({ id: 'c', model, choices: [], usage })}\n\n`)
  response.end('data: [DONE]\n\n')
}

const account = await authorizationServer()
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const lines = [
    `WORLD=http://127.0.0.1:${port}`,
    ...Object.entries(account.env).map(([name, value]) => `${name}=${value}`),
  ]
  writeFileSync(join(folder, 'env.new'), lines.map((line) => `export ${line}\n`).join(''))
  renameSync(join(folder, 'env.new'), join(folder, 'env')) // whole, for those who wait for it
})
if (existsSync(join(folder, 'runs'))) await (await import('./shared-runs.ts')).serveRuns(folder)
