/** A model that answers at once, in a process of its own: `node bench/lib/model-server.ts`, prints its port. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

const frame = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const start = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } }
const end = [
  frame({ type: 'content_block_stop', index: 0 }),
  frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
  frame({ type: 'message_stop' }),
].join('')
const delta = (text: string) => frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const open = frame(start) + frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
const bodies: Record<string, string> = {
  '/short/v1/messages': open + delta('All is well.') + end,
  '/long/v1/messages': open + Array.from({ length: 4000 }, (_, index) => delta(`word ${index} `)).join('') + end,
}

const server = http.createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(bodies[request.url ?? ''])
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
