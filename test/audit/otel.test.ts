/** The record at an OpenTelemetry collector: a server on loopback that reads OTLP/HTTP. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { place } from '../support/program.ts'

interface Received {
  readonly path: string
  readonly type: string
  readonly authorization: string | undefined
  readonly body: Buffer
}

/** `status` may change while it runs. */
async function collector(t: TestContext): Promise<{ url: string; received: Received[]; answer: { status: number } }> {
  const received: Received[] = []
  const answer = { status: 200 }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const raw = Buffer.concat(chunks)
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw
      if (answer.status === 200)
        received.push({
          path: request.url!,
          type: request.headers['content-type'] ?? '',
          authorization: request.headers.authorization,
          body,
        })
      response.writeHead(answer.status, { 'content-type': request.headers['content-type'] ?? '' })
      response.end(request.headers['content-type'] === 'application/json' ? '{}' : '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, answer }
}

const call = (command: string) => JSON.stringify({ tool: 'Bash', input: { command } })

test('calls, approvals and hooks arrive once, by the conventions; content stays here unless asked for', async (t) => {
  const here = place(t)
  const { url, received } = await collector(t)
  const env = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_SERVICE_NAME: 'test' },
    ...{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x', OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b' },
  }
  await here.run(['--eval', call('touch private-words')])
  assert.equal((await here.run(['otel', 'ship'])).code, 1, 'off without an endpoint')
  const shipped = await here.run(['otel', 'ship', '--json', '--claude-names'], { env })
  assert.equal(shipped.code, 0, shipped.stderr)
  const { spans, logs } = JSON.parse(shipped.stdout)
  assert.ok(spans >= 1 && logs >= 1, shipped.stdout)
  const traces = received.filter(({ path }) => path === '/v1/traces').map(({ body }) => JSON.parse(body.toString()))
  const [resourceSpans] = traces[0].resourceSpans
  const attributes = (list: { key: string; value: { stringValue?: string } }[]) =>
    Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue]))
  assert.deepEqual(attributes(resourceSpans.resource.attributes), { team: 'a b', 'service.name': 'test' })
  const tool = resourceSpans.scopeSpans[0].spans.find(({ name }: { name: string }) => name === 'execute_tool Bash')
  assert.match(tool.traceId, /^[0-9a-f]{32}$/)
  assert.equal(attributes(tool.attributes)['gen_ai.operation.name'], 'execute_tool')
  const names = received
    .filter(({ path }) => path === '/v1/logs')
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceLogs[0].scopeLogs[0].logRecords)
    .map(({ eventName }: { eventName: string }) => eventName)
  assert.ok(names.includes('ona.tool_approval') && names.includes('claude_code.tool_decision'), names.join())
  assert.ok(received.every(({ authorization, type }) => authorization === 'Bearer x' && type === 'application/json'))
  assert.ok(!received.some(({ body }) => body.includes('private-words')))
  const again = JSON.parse((await here.run(['otel', 'ship', '--json'], { env })).stdout)
  assert.deepEqual(again, { spans: 0, logs: 0, metrics: 0 })
})

test('a collector that is down loses nothing; protobuf is the default', async (t) => {
  const here = place(t)
  const { url, received, answer } = await collector(t)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url }
  await here.run(['--eval', call('echo one')])
  answer.status = 400
  const refused = await here.run(['otel', 'ship', '--json'], { env })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /the rest is sent the next time/)
  answer.status = 200
  const sent = await here.run(['otel', 'ship', '--json', '--content'], { env })
  assert.equal(sent.code, 0, sent.stderr)
  const traces = received.find(({ path }) => path === '/v1/traces')!
  assert.equal(traces.type, 'application/x-protobuf')
  assert.ok(traces.body.includes('execute_tool Bash') && traces.body.includes('gen_ai.tool.call.result'))
})
