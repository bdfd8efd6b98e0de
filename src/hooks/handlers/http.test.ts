/** A handler behind a URL: what is sent, and what each end of the exchange is called. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { after, before, test } from 'node:test'
import type { Handler } from '../handler.ts'
import { post } from './http.ts'

let serve: (request: IncomingMessage, response: ServerResponse, body: string) => void = () => {}
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  serve(request, response, body)
})
let url = ''
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=1`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const send = (
  more: { url?: string; headers?: Record<string, string>; signal?: AbortSignal; allowedEnvVars?: string[] } = {},
) => {
  const { signal = new AbortController().signal, ...rest } = more
  const handler = { kind: 'http', url, headers: {}, allowedEnvVars: [], ...rest } as unknown as Handler & {
    kind: 'http'
  }
  return post(handler, { input: '{"a":"é"}', env: { TOKEN: 'abc', OTHER: 'hidden' }, signal })
}

test('the event is posted as one line of JSON, with the headers given and the variables allowed in them', async () => {
  const seen: [string | undefined, string | undefined, string, IncomingHttpHeaders][] = []
  serve = ({ method, url, headers }, response, body) => {
    seen.push([method, url, body, headers])
    response.end('fine')
  }
  const headers = {
    ...{ a: 'Key $TOKEN', b: '${TOKEN}!', c: '$OTHER-$GONE-', d: '$TOKEN_2', 'Content-Type': 'text/plain' },
  }
  assert.deepEqual(await send({ headers, allowedEnvVars: ['TOKEN', 'GONE'] }), { ok: true, body: 'fine' })
  const [method, path, body, { a, b, c, d, ...sent }] = seen[0]!
  assert.deepEqual([method, path, body], ['POST', '/hook?key=1', '{"a":"é"}\n'])
  assert.deepEqual([a, b, c, d], ['Key abc', 'abc!', '--', ''])
  assert.deepEqual([sent['content-type'], sent['content-length']], ['application/json', '11'])
})

test('only a status of 2xx is an answer, and redirects are not followed', async () => {
  const rows: [number, object][] = [
    [200, { ok: true, body: 'said' }],
    [299, { ok: true, body: 'said' }],
    [300, { ok: false, why: 'answered 300', body: 'said' }],
    [302, { ok: false, why: 'answered 302', body: 'said' }],
    [404, { ok: false, why: 'answered 404', body: 'said' }],
    [500, { ok: false, why: 'answered 500', body: 'said' }],
  ]
  for (const [status, reply] of rows) {
    serve = (_, response) => response.writeHead(status, { location: url }).end('said')
    assert.deepEqual(await send(), reply)
  }
})

test('each way not to answer is a failure with its reason', async () => {
  const failed = (why: string) => ({ ok: false, why, body: '' })
  assert.deepEqual(await send({ url: 'ftp://x' }), failed('its url is ftp:; only http and https can be posted to'))
  assert.deepEqual(await send({ headers: { a: 'b\nc' } }), failed('Invalid character in header content ["a"]'))
  assert.deepEqual(await send({ url: 'http://127.0.0.1:1/' }), failed('connect ECONNREFUSED 127.0.0.1:1'))
  for (const scheme of ['https', 'HTTPS', ' https']) {
    const secure = await send({ url: url.replace('http', scheme) })
    assert.match(secure.ok ? '' : secure.why, /SSL|EPROTO|wrong version/i, scheme)
  }
  serve = (request) => request.socket.destroy()
  assert.deepEqual(await send(), failed('socket hang up'))
  serve = (request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half')
    setImmediate(() => request.socket.destroy())
  }
  assert.deepEqual(await send(), failed('aborted'))
  serve = ({ socket }) => socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
  assert.deepEqual(await send(), failed('closed the connection without an answer'))
  const closed = Promise.withResolvers<void>()
  serve = (_, response) => {
    response.once('close', closed.resolve).write('x'.repeat(4 * 1024 * 1024 + 1))
  }
  assert.deepEqual(await send(), failed('answered with more than 4194304 bytes'))
  await closed.promise // though the server would go on
  serve = (_, response) => response.end('x'.repeat(4 * 1024 * 1024))
  assert.equal((await send()).body.length, 4 * 1024 * 1024)
})

test('a connection that the server has closed while it was idle is no failure, and one that it closes at once is', async () => {
  let asked = 0
  let keeps = 1
  const closing = createSocketServer((socket) => {
    let served = 0
    socket.on('error', () => {}) // what was on its way when it closed
    socket.on('data', () => {
      asked++
      if (served++ < keeps) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
      else socket.destroy()
    })
  })
  await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve))
  after(() => closing.close())
  const url = `http://127.0.0.1:${(closing.address() as AddressInfo).port}/`
  const ok = { ok: true, body: '{}' }
  assert.deepEqual([await send({ url }), await send({ url }), asked], [ok, ok, 3])
  keeps = 0
  assert.deepEqual([await send({ url }), asked], [{ ok: false, why: 'socket hang up', body: '' }, 4])
})

test('an answer that does not come in time, or does not end in time', async () => {
  const late = { ok: false, why: 'gave no answer in time', body: '' }
  const silent = new AbortController()
  serve = () => silent.abort()
  assert.deepEqual(await send({ signal: silent.signal }), late)
  const begun = new AbortController()
  const begins = () => setImmediate(() => begun.abort())
  subscribe('http.client.response.finish', begins) // the client has the head of the answer
  serve = (_, response) => response.writeHead(200).write('half')
  assert.deepEqual(await send({ signal: begun.signal }), late)
  assert.equal(unsubscribe('http.client.response.finish', begins), true)
  assert.deepEqual(await send({ signal: AbortSignal.abort() }), late)
})
