/** The record at an OpenTelemetry collector: a server on loopback that reads OTLP/HTTP. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type Place, place } from '../support/program.ts'

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

const spansIn = (received: readonly Received[]) =>
  received
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans[0].scopeSpans[0].spans)

const printing = (here: Place, env: Record<string, string>) =>
  here.run(['-p', 'run touch made.txt', '--model', 'rehearsal', '--allowed-tools', 'Bash', '--trust'], { env })

test('a run sends what it did when it ends, in the trace that it was started in', async (t) => {
  const here = place(t)
  const { url, received } = await collector(t)
  const env = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  }
  const run = await printing(here, env)
  assert.equal(run.code, 0, run.stderr)
  const spans = spansIn(received)
  const byName = (start: string) => spans.filter(({ name }: { name: string }) => name.startsWith(start))
  assert.deepEqual(new Set(spans.map(({ traceId }: { traceId: string }) => traceId)).size, 1)
  assert.equal(spans[0].traceId, '0af7651916cd43dd8448eb211c80319c')
  assert.deepEqual(
    byName('invoke_agent').map(({ parentSpanId }: { parentSpanId: string }) => parentSpanId),
    ['b7ad6b7169203331'],
  )
  assert.ok(byName('chat').length >= 2 && byName('execute_tool').length === 1)
  const metrics = received
    .filter(({ path }) => path === '/v1/metrics')
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceMetrics[0].scopeMetrics[0].metrics)
    .map(({ name }: { name: string }) => name)
  assert.deepEqual(new Set(metrics), new Set(['gen_ai.client.token.usage', 'gen_ai.client.operation.duration']))
})

test('hooks and Bash get the trace of the run; one is made where there is none', async (t) => {
  const here = place(t)
  const { url, received } = await collector(t)
  here.write('.ona/settings.json', {
    hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'echo $TRACEPARENT > hook.txt' }],
  })
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }
  const run = await here.run(
    ['-p', 'run printenv TRACEPARENT > bash.txt', '--model', 'rehearsal', '--allowed-tools', 'Bash', '--trust'],
    { env },
  )
  assert.equal(run.code, 0, run.stderr)
  const read = (name: string) => readFileSync(join(here.folder, name), 'utf8').trim()
  const [hook, bash] = [read('hook.txt'), read('bash.txt')]
  assert.match(bash, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  assert.equal(hook, bash)
  const [root] = spansIn(received).filter(({ name }: { name: string }) => name === 'session')
  assert.equal(`00-${root.traceId}-${root.spanId}-01`, bash)
})

test('a collector that never answers holds the end of a run for a bounded time, and loses nothing', async (t) => {
  const here = place(t)
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.closeAllConnections())
  t.after(() => silent.close())
  const dead = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const run = await printing(here, { OTEL_EXPORTER_OTLP_ENDPOINT: dead })
  assert.equal(run.code, 0, run.stderr)
  assert.match(run.stderr, /telemetry: the collector took no more: .*the rest is sent the next time/)
  const { url } = await collector(t)
  const later = await here.run(['otel', 'ship', '--json'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } })
  assert.ok(JSON.parse(later.stdout).spans >= 4, later.stdout + later.stderr)
})

test('settings turn it on', async (t) => {
  const here = place(t)
  const { url, received } = await collector(t)
  here.write('../home/.ona/settings.json', { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } })
  assert.equal((await printing(here, {})).code, 0)
  assert.ok(received.some(({ path }) => path === '/v1/traces'))
})

test('the settings of a repository, trusted or not, do not say where the record goes', async (t) => {
  const here = place(t)
  const { url, received } = await collector(t)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, ONA_OTEL_CONTENT: '1', SEEN: 'yes' }
  here.write('.ona/settings.json', { env })
  here.write('.ona/settings.local.json', { env })
  const words = ['-p', 'run printenv SEEN > seen.txt', '--model', 'rehearsal', '--allowed-tools', 'Bash', '--trust']
  const run = await here.run(words)
  assert.equal(run.code, 0, run.stderr)
  assert.equal(readFileSync(join(here.folder, 'seen.txt'), 'utf8'), 'yes\n', 'the control: other variables count')
  assert.equal((await here.run(['otel', 'ship'])).code, 1)
  assert.deepEqual(received, [])
  assert.match(
    run.stderr,
    /settings\.json: OTEL_EXPORTER_OTLP_ENDPOINT, ONA_OTEL_CONTENT ignored: set it in the environment/,
  )
})

test('a hook verdict says what the hook decided and why, whichever form it chose', async (t) => {
  const here = place(t)
  const { url, received } = await collector(t)
  const deny = JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'not on Sundays',
    },
  })
  here.write('.ona/settings.json', {
    hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', command: `echo '${deny}'` }],
  })
  await printing(here, {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  })
  const [verdict] = received
    .filter(({ path }) => path === '/v1/logs')
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceLogs[0].scopeLogs[0].logRecords)
    .filter(({ eventName }: { eventName: string }) => eventName === 'ona.hook_verdict')
  const value = (name: string) => verdict.attributes.find(({ key }: { key: string }) => key === name)?.value.stringValue
  assert.equal(value('decision'), 'deny')
  assert.equal(value('reason'), 'not on Sundays')
  assert.match(value('ona.policy.sha256'), /^[0-9a-f]{64}$/)
})
