/**
 * A model that calls a tool so many times and then ends, in a process of its own; prints its port. It keeps the time from
 * the end of each answer to the next request: what the agent took. A second argument: how many ms an answer takes. GET /gaps gives them, in milliseconds, and starts over.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

const turns = Number(process.argv[2])
const answerMs = Number(process.argv[3] ?? 0)
const frame = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const message = {
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [],
  usage: { input_tokens: 1, output_tokens: 1 },
}
const reply = (content_block: object, delta: object, stop_reason: string) =>
  [
    frame({ type: 'message_start', message }),
    frame({ type: 'content_block_start', index: 0, content_block }),
    frame({ type: 'content_block_delta', index: 0, delta }),
    frame({ type: 'content_block_stop', index: 0 }),
    frame({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } }),
    frame({ type: 'message_stop' }),
  ].join('')

let gaps: number[] = []
let asked = 0
let answeredAt = 0

const server = http.createServer((request, response) => {
  const now = performance.now()
  if (request.url === '/gaps') {
    response.end(JSON.stringify(gaps))
    gaps = []
    asked = 0
    return
  }
  if (asked > 0) gaps.push(now - answeredAt)
  const tool = request.headers['x-api-key'] ? 'Bash' : 'bash' // the floor sends no key
  request.resume()
  request.on('end', async () => {
    asked++
    if (answerMs > 0) await new Promise((resolve) => setTimeout(resolve, answerMs))
    const call = { type: 'tool_use', id: `call_${asked}`, name: tool, input: {} }
    const args = { type: 'input_json_delta', partial_json: '{"command":"echo here"}' }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(
      asked <= turns
        ? reply(call, args, 'tool_use')
        : reply({ type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' }, 'end_turn'),
    )
    response.on('finish', () => {
      answeredAt = performance.now()
    })
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
