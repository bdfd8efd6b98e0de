/** A server of the 2026-07-28 revision that answers calls with tasks: its own side by hand, the rest by the SDK's server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { connectServers } from './hub.ts'
import type { HubDeps } from './hub-deps.ts'

interface Seen {
  readonly method: string
  readonly params: JsonObject
  readonly name: string | undefined
}

/** `states` are what tasks/get answers, one after the other. */
async function serve(t: TestContext, states: readonly JsonObject[], deps: Partial<HubDeps> = {}) {
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'tasks', version: '1' }, { capabilities: { tools: {} } })
      server.setRequestHandler('tools/list', () => ({
        tools: [{ name: 'slow', inputSchema: { type: 'object' as const } }],
      }))
      return server
    },
    { legacy: 'reject' },
  )
  const seen: Seen[] = []
  const left = [...states]
  const task = {
    taskId: 't-1',
    createdAt: '2026-07-28T00:00:00Z',
    lastUpdatedAt: '2026-07-28T00:00:00Z',
    ttlMs: null,
    pollIntervalMs: 20,
  }
  const http = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const chunk of request) parts.push(chunk)
    const body = Buffer.concat(parts).toString()
    const asked = body === '' ? {} : JSON.parse(body)
    if (/^tasks\/|^tools\/call$/.test(asked.method)) {
      seen.push({ method: asked.method, params: asked.params, name: request.headers['mcp-name'] as string | undefined })
      const state = asked.method === 'tasks/get' ? (left.shift() ?? { status: 'working' }) : { status: 'working' }
      const { rpcError, ...rest } = state as JsonObject
      const result =
        asked.method === 'tools/call'
          ? { ...task, status: 'working', resultType: 'task' }
          : { ...task, ...rest, resultType: 'complete' }
      response.setHeader('content-type', 'application/json')
      return response.end(
        JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...(rpcError ? { error: rpcError } : { result }) }),
      )
    }
    const headers = request.headers as Record<string, string>
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? 'GET',
        headers,
        ...(body && { body }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body) for await (const chunk of answer.body) response.write(chunk)
    return response.end()
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as { port: number }
  const transport = { type: 'http' as const, url: `http://127.0.0.1:${port}/mcp`, headers: {} }
  const server = { name: 'jobs', scope: 'user' as const, transport, alwaysLoad: false }
  const hub = connectServers([server], {
    env: {},
    projectDir: '/',
    home: '/nowhere',
    version: '0',
    policy: {},
    ...deps,
  })
  t.after(async () => {
    await hub.close()
    await handler.close()
    http.closeAllConnections()
    http.close()
  })
  await hub.ready(20_000)
  assert.deepEqual(
    hub.status().map(({ status, problem }) => [status, problem]),
    [['connected', '']],
  )
  const call = (signal = new AbortController().signal, progress: (text: string) => void = () => {}) =>
    hub.callTool('mcp__jobs__slow', {}, signal, progress)
  return { call, seen, methods: () => seen.map(({ method }) => method) }
}

const text = (words: string, isError = false) => ({ content: [{ type: 'text', text: words }], isError })

test('a call that becomes a task is polled until it is done, with its progress', async (t) => {
  const { call, seen, methods } = await serve(t, [
    { status: 'working', statusMessage: 'half way' },
    { status: 'completed', result: text('done at last') },
  ])
  const progress: string[] = []
  assert.deepEqual(await call(undefined, (line) => progress.push(line)), { content: 'done at last', isError: false })
  assert.deepEqual([methods(), progress], [['tools/call', 'tasks/get', 'tasks/get'], ['half way']])
  const meta = seen[0]!.params['_meta']
  const can = isObject(meta) ? (meta['io.modelcontextprotocol/clientCapabilities'] as JsonObject) : {}
  assert.deepEqual((can['extensions'] as JsonObject)['io.modelcontextprotocol/tasks'], {})
  assert.deepEqual([seen[1]!.name, seen[1]!.params['taskId']], ['t-1', 't-1'])
})

test('what a task asks the user is asked once, and answered by tasks/update', async (t) => {
  const ask = {
    name: {
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object' } },
    },
  }
  const asked: string[] = []
  const { call, seen, methods } = await serve(
    t,
    [
      { status: 'input_required', inputRequests: ask },
      { status: 'input_required', inputRequests: ask },
      { status: 'completed', result: text('Hello, Ada') },
    ],
    {
      elicit: async ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { name: 'Ada' } }
      },
    },
  )
  assert.equal((await call()).content, 'Hello, Ada')
  assert.deepEqual(
    [methods(), asked],
    [['tools/call', 'tasks/get', 'tasks/update', 'tasks/get', 'tasks/get'], ['Your name?']],
  )
  assert.deepEqual(seen[2]!.params['inputResponses'], { name: { action: 'accept', content: { name: 'Ada' } } })
})

const ends: [string, JsonObject, RegExp][] = [
  ['failed', { status: 'failed', error: { code: -32603, message: 'rate limit' } }, /rate limit/],
  ['cancelled by the server', { status: 'cancelled', statusMessage: 'shut down' }, /ended as cancelled: shut down/],
  ['forgotten', { rpcError: { code: -32602, message: 'Task has expired' } }, /Task has expired/],
  ['done with an error of the tool', { status: 'completed', result: text('no such row', true) }, /no such row/],
]
for (const [what, state, expected] of ends)
  test(`a task that is ${what} gives an error result`, async (t) => {
    const { call } = await serve(t, [state])
    const { content, isError } = await call()
    assert.deepEqual([isError, expected.test(content)], [true, true], content)
  })

test('an interrupted call cancels its task', async (t) => {
  const stop = new AbortController()
  const { call, methods } = await serve(t, [{ status: 'working', statusMessage: 'started' }])
  const ended = call(stop.signal, () => stop.abort())
  assert.match((await ended).content, /interrupted/)
  for (let tries = 0; tries < 500 && !methods().includes('tasks/cancel'); tries++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(methods().at(-1), 'tasks/cancel')
})
