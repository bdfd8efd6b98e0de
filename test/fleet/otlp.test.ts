/** Telemetry of other agents in the same tables: as JSON and as OpenTelemetry's own packages encode it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { postgresForTests } from '../support/fleet.ts'

const postgres = postgresForTests()

const attributes = (values: Record<string, unknown>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value:
      typeof value === 'number'
        ? { intValue: String(value) }
        : typeof value === 'boolean'
          ? { boolValue: value }
          : { stringValue: value },
  }))

const logs = (service: string, records: [string, Record<string, unknown>][]) => ({
  resourceLogs: [
    {
      resource: { attributes: attributes({ 'service.name': service }) },
      scopeLogs: [
        {
          logRecords: records.map(([name, values], at) => ({
            timeUnixNano: `${1_763_200_000 + at}000000000`,
            body: { stringValue: name },
            attributes: attributes({ 'event.name': name, ...values }),
          })),
        },
      ],
    },
  ],
})

const secret = `ghp_${'a1B2c3D4'.repeat(5)}`
const claude = logs('claude-code', [
  ['claude_code.user_prompt', { 'session.id': 's1', prompt_length: 12 }],
  ['claude_code.api_request', { 'session.id': 's1', input_tokens: 100, output_tokens: 20, cost_usd: '0.5' }],
  [
    'claude_code.tool_decision',
    { 'session.id': 's1', tool_name: 'Bash', tool_use_id: 't1', decision: 'reject', source: 'config' },
  ],
  [
    'claude_code.tool_result',
    {
      'session.id': 's1',
      tool_name: 'Edit',
      tool_use_id: 't2',
      success: 'true',
      tool_parameters: `{"file_path":"/a.ts","token":"${secret}"}`,
    },
  ],
])
const codex = logs('codex_cli_rs', [
  [
    'codex.tool_decision',
    { 'conversation.id': 'c1', tool_name: 'shell', call_id: 'x', decision: 'approved', source: 'User' },
  ],
  [
    'codex.tool_result',
    {
      'conversation.id': 'c1',
      tool_name: 'shell',
      call_id: 'x',
      arguments: '{"command":["ls","-l"]}',
      success: 'false',
    },
  ],
])
const gemini = logs('gemini-cli', [
  [
    'gemini_cli.tool_call',
    {
      'session.id': 'g1',
      function_name: 'write_file',
      function_args: '{"path":"b.ts"}',
      decision: 'accept',
      success: true,
    },
  ],
])

test('logs of Claude Code, Codex and Gemini CLI as JSON; twice is once; secrets are redacted', async (t) => {
  const it = await postgres.fleet(t)
  const { identity } = await it.node('laptop')
  const token = await it.token('telemetry', 'claude', identity.node)
  const post = (body: object | Buffer, headers: Record<string, string> = {}) =>
    fetch(`${it.service.url}/v1/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
    })
  for (const body of [claude, codex, gemini, claude]) assert.equal((await post(body)).status, 200)
  assert.equal((await post(gzipSync(JSON.stringify(claude)), { 'content-encoding': 'gzip' })).status, 200)
  const rows = await it.rows(
    'SELECT type, session_id, tool_name, decision, decided_by, is_error, tokens::int, cost_usd, state FROM ona_fleet.rows ORDER BY type',
  )
  const none = {
    tool_name: null,
    decision: null,
    decided_by: null,
    is_error: null,
    tokens: null,
    cost_usd: null,
    state: 'exact',
  }
  assert.deepEqual(rows, [
    { ...none, type: 'claude_code.api_request', session_id: 's1', tokens: 120, cost_usd: 0.5 },
    {
      ...none,
      type: 'claude_code.tool_decision',
      session_id: 's1',
      tool_name: 'Bash',
      decision: 'deny',
      decided_by: 'config',
    },
    {
      ...none,
      type: 'claude_code.tool_result',
      session_id: 's1',
      tool_name: 'Edit',
      is_error: false,
      state: 'redacted',
    },
    { ...none, type: 'claude_code.user_prompt', session_id: 's1' },
    {
      ...none,
      type: 'codex.tool_decision',
      session_id: 'c1',
      tool_name: 'shell',
      decision: 'allow',
      decided_by: 'User',
    },
    { ...none, type: 'codex.tool_result', session_id: 'c1', tool_name: 'shell', is_error: true },
    {
      ...none,
      type: 'gemini_cli.tool_call',
      session_id: 'g1',
      tool_name: 'write_file',
      decision: 'allow',
      is_error: false,
    },
  ])
  assert.deepEqual(await it.rows('SELECT tool_name, target FROM ona_fleet.calls ORDER BY 1'), [
    { tool_name: 'Edit', target: '/a.ts' },
    { tool_name: 'shell', target: 'ls -l' },
    { tool_name: 'write_file', target: 'b.ts' },
  ])
  assert.deepEqual(
    await it.rows(
      'SELECT id, agent, prompts::int, calls::int, refused::int, tokens::int FROM ona_fleet.conversations ORDER BY id',
    ),
    [
      { id: 'c1', agent: 'codex', prompts: 0, calls: 1, refused: 0, tokens: 0 },
      { id: 'g1', agent: 'gemini', prompts: 0, calls: 1, refused: 0, tokens: 0 },
      { id: 's1', agent: 'claude', prompts: 1, calls: 1, refused: 1, tokens: 120 },
    ],
  )
  assert.deepEqual(await it.rows('SELECT tool_name, decided_by, target FROM ona_fleet.what_was_denied'), [
    { tool_name: 'Bash', decided_by: 'config', target: null },
  ])
  assert.equal(JSON.stringify(await it.rows('SELECT content FROM ona_fleet.rows')).includes(secret), false)
  assert.deepEqual(await it.rows('SELECT target, is_error FROM ona_fleet.what_changed ORDER BY 1'), [
    { target: '/a.ts', is_error: false },
    { target: 'b.ts', is_error: false },
  ])

  // the token adds rows and does nothing else
  const get = (path: string) =>
    fetch(`${it.service.url}${path}`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)
  assert.deepEqual([await get('/metrics'), await get('/v1/jobs'), await get('/v1/policy-status')], [403, 403, 403])
  assert.equal((await post(claude, { authorization: 'Bearer ona_telemetry_nonsense' })).status, 401)
  assert.equal((await post(Buffer.from('{{'))).status, 400)
  assert.equal((await post(Buffer.from('x'), { 'content-type': 'text/plain' })).status, 415)
  assert.deepEqual(it.errors, [])
})

test('what OpenTelemetry itself encodes is understood, and broken bytes are refused', async (t) => {
  const it = await postgres.fleet(t)
  const { identity } = await it.node('laptop')
  const token = await it.token('telemetry', 'claude', identity.node)
  const resource = {
    attributes: { 'service.name': 'github-copilot' },
    getRawAttributes: () => [['service.name', 'github-copilot']],
  }
  const scope = { name: 'x', version: '1' }
  const log = {
    ...{
      hrTime: [1_763_200_000, 5],
      hrTimeObserved: [1_763_200_000, 5],
      eventName: 'claude_code.api_request',
      body: 'b',
      severityNumber: 9,
    },
    ...{ resource, instrumentationScope: scope, droppedAttributesCount: 0 },
    attributes: { 'session.id': 's9', input_tokens: 7, cost_usd: 0.25, list: ['a', 1, true], deep: { x: -3 } },
  }
  const span = {
    ...{ name: 'execute_tool bash', kind: 0, resource, instrumentationScope: scope, links: [], ended: true },
    ...{
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
      status: { code: 2 },
      duration: [1, 0],
    },
    ...{
      startTime: [1_763_200_000, 0],
      endTime: [1_763_200_001, 0],
      spanContext: () => ({ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), traceFlags: 1 }),
    },
    attributes: {
      'gen_ai.conversation.id': 'p1',
      'gen_ai.tool.call.id': 't',
      'gen_ai.tool.call.arguments': '{"command":"ls"}',
    },
    events: [
      {
        name: 'github.copilot.hook.end',
        time: [1_763_200_000, 0],
        attributes: { 'hook.decision': 'deny' },
        droppedAttributesCount: 0,
      },
    ],
  }
  const post = (path: string, body: Uint8Array) =>
    fetch(`${it.service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(body),
    })
  const encoded = ProtobufLogsSerializer.serializeRequest([log] as never)!
  const first = await post('/v1/logs', encoded)
  assert.deepEqual(
    [first.status, first.headers.get('content-type'), await first.text()],
    [200, 'application/x-protobuf', ''],
  )
  assert.equal((await post('/v1/traces', ProtobufTraceSerializer.serializeRequest([span] as never)!)).status, 200)
  assert.deepEqual(
    await it.rows(
      'SELECT session_id, type, tool_name, decision, is_error, tokens::int, cost_usd FROM ona_fleet.rows ORDER BY type',
    ),
    [
      {
        session_id: 's9',
        type: 'claude_code.api_request',
        tool_name: null,
        decision: null,
        is_error: null,
        tokens: 7,
        cost_usd: 0.25,
      },
      {
        session_id: 'p1',
        type: 'execute_tool bash',
        tool_name: 'bash',
        decision: null,
        is_error: true,
        tokens: null,
        cost_usd: null,
      },
      {
        session_id: 'ab'.repeat(16),
        type: 'github.copilot.hook.end',
        tool_name: null,
        decision: 'deny',
        is_error: null,
        tokens: null,
        cost_usd: null,
      },
    ],
  )
  for (let cut = 1; cut < encoded.length; cut += 3) {
    const { status } = await post('/v1/logs', encoded.slice(0, cut))
    assert.ok(status === 400 || status === 200, `${cut} bytes: ${status}`)
  }
  assert.deepEqual(it.errors, [])
})

/** As Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0 and Copilot CLI 1.0.102 sent it (scripts/test-telemetry.ts --record). */
test('what the agents themselves send is one call with its command, its decision and its tokens, counted once', async (t) => {
  const it = await postgres.fleet(t)
  for (const agent of ['claudecode', 'codex', 'copilot', 'gemini']) {
    const { identity } = await it.node(agent)
    const token = await it.token('telemetry', agent, identity.node)
    const body = JSON.parse(readFileSync(join(import.meta.dirname, `../fixtures/telemetry/${agent}.json`), 'utf8'))
    for (const [path, part] of [
      ['/v1/logs', { resourceLogs: body.resourceLogs }],
      ['/v1/traces', { resourceSpans: body.resourceSpans }],
      ['/v1/metrics', {}],
    ] as const) {
      const answer = await fetch(`${it.service.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(part),
      })
      assert.equal(answer.status, 200, `${agent} ${path}`)
    }
  }
  const found = await it.rows(
    `SELECT n.name AS node, c.agent, sum(c.calls)::int AS calls, sum(c.tokens)::int AS tokens,
       (SELECT string_agg(k.tool_name || ': ' || k.target, ', ') FROM ona_fleet.calls k WHERE k.node_id = n.id) AS ran,
       (SELECT string_agg(DISTINCT r.decision, ', ') FROM ona_fleet.rows r WHERE r.node_id = n.id) AS decision
     FROM ona_fleet.conversations c JOIN ona_fleet.nodes n ON n.id = c.node_id GROUP BY n.id, n.name, c.agent ORDER BY 1`,
  )
  const command = 'echo hello > ran.txt'
  assert.deepEqual(found, [
    { node: 'claudecode', agent: 'claude', calls: 1, tokens: 18_598, ran: `Bash: ${command}`, decision: 'allow' },
    { node: 'codex', agent: 'codex', calls: 1, tokens: 13_354, ran: `exec_command: ${command}`, decision: 'allow' },
    { node: 'copilot', agent: 'copilot', calls: 1, tokens: 10_860, ran: `bash: ${command}`, decision: null },
    {
      node: 'gemini',
      agent: 'gemini',
      calls: 1,
      tokens: 12_031,
      ran: `run_shell_command: ${command}`,
      decision: 'allow',
    },
  ])
  assert.deepEqual(it.errors, [])
})
