/** The model of the scenes: the Messages API on loopback, with one fixed answer for each prompt and each step of it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from '../../test/support/model/wire.ts'

export interface Call {
  readonly name: readonly string[]
  readonly input: Record<string, unknown>
}

export interface Step {
  readonly text?: string
  /** Tools by their names in order of preference: the first one that the request offers is called. */
  readonly calls?: readonly Call[] | ((offered: ReadonlySet<string>) => readonly Call[])
  readonly status?: number
  /** The answer comes this long after the request. */
  readonly afterMs?: number
}

export type Script = Record<string, readonly Step[]>

interface Message {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string }[]
}
interface Request {
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly name: string }[]
}

/** The prompt that came last is the one that is played, one step for each round of calls since. */
export async function startModel(script: Script, project: string): Promise<{ url: string; close(): void }> {
  let calls = 0
  let messages = 0
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    if (request.method !== 'POST' || !/\/v1\/messages(\?|$)/.test(request.url ?? '')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ data: [], input_tokens: 1200 }))
      return
    }
    const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Request
    const { status, text, calls: wanted = [], afterMs = 0 } = stepOf(script, body)
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
    if (status !== undefined) {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const offered = new Set((body.tools ?? []).map(({ name }) => name))
    const frames = anthropic.frames({
      text: text ? (text.match(/.{1,40}/gs) ?? []) : [],
      calls: (typeof wanted === 'function' ? wanted(offered) : wanted).map(({ name, input }) => ({
        id: `toolu_${++calls}`,
        name: name.find((one) => offered.has(one)) ?? name[0]!,
        args: JSON.stringify(input).replaceAll('{project}', project),
      })),
      inputTokens: 18_400,
    })
    // a client takes messages of one id for parts of one message
    response.end(frames.join('').replace('"id":"m"', `"id":"msg_${++messages}"`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function stepOf(script: Script, { messages, tools = [] }: Request): Step {
  if (tools.length === 0) return { text: 'Rounding of prices' }
  const blocks = (message: Message) =>
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  const firstAt = (prompt: string) =>
    messages.findIndex(
      (message) =>
        message.role === 'user' &&
        blocks(message).some(({ type, text = '' }) => type === 'text' && text.includes(prompt)),
    )
  const found = Object.keys(script).map((prompt) => ({ prompt, at: firstAt(prompt) }))
  const { prompt, at } = found.reduce((last, one) => (one.at > last.at ? one : last), { prompt: '', at: -1 })
  const made = messages.slice(at).filter((message) => blocks(message).some(({ type }) => type === 'tool_use')).length
  if (at >= 0) return script[prompt]![made] ?? { text: 'Done.' }
  return { text: 'Done.' }
}
