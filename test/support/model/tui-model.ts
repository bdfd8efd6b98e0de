/** A model for tests that says one text, in pieces, over Chat Completions on loopback. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export async function startScripted(
  text: string,
  { pieceMs = 0, pieceSize = 40, firstMs = 0 } = {},
): Promise<{ baseUrl: string; requests: string[]; close(): void }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', async () => {
      if (request.method === 'GET') {
        response.end(JSON.stringify({ object: 'list', data: [{ id: 'scripted', object: 'model' }] }))
        return
      }
      requests.push(body)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const send = (delta: object, finish: string | null = null) =>
        response.write(
          `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        )
      await new Promise((resolve) => setTimeout(resolve, firstMs))
      for (let at = 0; at < text.length && !response.destroyed; at += pieceSize) {
        send({ content: text.slice(at, at + pieceSize) })
        await new Promise((resolve) => setTimeout(resolve, pieceMs))
      }
      send({}, 'stop')
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    requests,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
