import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sampled } from './support/campaign-size.ts'
import { anthropic as wireOf } from './support/model/wire.ts'
import { anthropicWire } from './support/model/wire-anthropic.ts'
import { openaiWire } from './support/model/wire-chat-completions.ts'
import { type Answer, cut, status, stream, type WireServer, wireServer } from './support/model/wire-server.ts'
import { place } from './support/program.ts'

/** How each provider is chosen, and how its model writes a file and then says that it is done. */
const providers = [
  {
    provider: 'claude_code_subscription',
    model_id: 'claude_3_5_haiku',
    wire: 'claude-3-5-haiku-20241022',
    env: (url: string) => ({ ANTHROPIC_API_KEY: 'sk-ant-planted-1111', ANTHROPIC_BASE_URL: url }),
    path: '/v1/messages',
    call: anthropic('tool_use', { type: 'tool_use', id: 'toolu_1', name: 'Write', input: {} }, [
      { type: 'input_json_delta', partial_json: '{"file_path":"made.txt",' },
      { type: 'input_json_delta', partial_json: '"content":"by the model"}' },
    ]),
    say: anthropic('end_turn', { type: 'text', text: '' }, [{ type: 'text_delta', text: 'It is done.' }]),
  },
  {
    provider: 'openai_compatible',
    model_id: 'gpt_4o_mini',
    wire: 'gpt-4o-mini',
    env: (url: string) => ({ OPENAI_API_KEY: 'sk-openai-planted-22', OPENAI_BASE_URL: `${url}/v1` }),
    path: '/v1/chat/completions',
    ...openai(),
  },
  {
    provider: 'lm_studio_local',
    model_id: 'lm_studio_server_routed',
    wire: 'qwen3-coder',
    env: (url: string) => ({ LM_STUDIO_BASE_URL: `${url}/v1`, LM_STUDIO_MODEL: 'qwen3-coder' }),
    path: '/v1/chat/completions',
    ...openai(),
  },
]

function anthropic(stop_reason: string, content_block: object, deltas: object[]): string[] {
  const frame = (data: { type: string; [key: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-3-5-haiku-20241022', content: [] }
  return [
    frame({ type: 'message_start', message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } }),
    frame({ type: 'content_block_start', index: 0, content_block }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index: 0, delta })),
    frame({ type: 'content_block_stop', index: 0 }),
    frame({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } }),
    frame({ type: 'message_stop' }),
  ]
}

function openai(): { call: string[]; say: string[] } {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const end = [`data: ${JSON.stringify({ id: 'c', model: 'm', choices: [], usage })}\n\n`, 'data: [DONE]\n\n']
  const made = { name: 'Write', arguments: '{"file_path":"made.txt","content":' }
  return {
    call: [
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: made }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"by the model"}' } }] }),
      chunk({}, 'tool_calls'),
      ...end,
    ],
    say: [chunk({ content: 'It is ' }), chunk({ content: 'done.' }), chunk({}, 'stop'), ...end],
  }
}

async function serve(t: { after(work: () => unknown): void }, ...answers: Answer[]): Promise<WireServer> {
  const server = await wireServer(...answers)
  t.after(() => server.close())
  return server
}

for (const { provider, model_id, wire, env, path, call, say } of providers) {
  test(`${provider} takes a whole turn, with a hook and a tool, and leaves every row`, async (t) => {
    const server = await serve(t, stream(call), stream(say))
    const at = place(t, env(server.url))
    at.write('hook.sh', '#!/bin/sh\ncat >> hook-stdin.txt\n')
    const settings = {
      model_config: { provider, model_id },
      permissions: { allow: ['Write'] },
      hooks: { PreToolUse: [{ matcher: 'Write', hooks: [{ type: 'command', command: './hook.sh' }] }] },
    }
    const ran = await at.run(['-p', 'make the file', '--settings', JSON.stringify(settings)])
    assert.deepEqual([ran.code, ran.stdout], [0, 'It is done.\n'], ran.stderr)
    assert.equal(readFileSync(join(at.folder, 'made.txt'), 'utf8'), 'by the model')
    assert.equal(JSON.parse(readFileSync(join(at.folder, 'hook-stdin.txt'), 'utf8')).tool_name, 'Write')
    assert.deepEqual(
      server.seen.map((request) => [request.path, JSON.parse(request.body).model]),
      [
        [path, wire],
        [path, wire],
      ],
    )
    const types = at.rows<{ entry_type: string }>('SELECT entry_type FROM transcript_entries ORDER BY sequence')
    assert.deepEqual(
      types.map(({ entry_type }) => entry_type).filter((type) => ['user', 'assistant', 'tool_result'].includes(type)),
      ['user', 'assistant', 'tool_result', 'assistant'],
    )
    const hooks = at.rows("SELECT tool_name, exit_code FROM hook_invocations WHERE hook_event = 'PreToolUse'")
    assert.deepEqual(
      hooks.map((row) => ({ ...row })),
      [{ tool_name: 'Write', exit_code: 0 }],
    )
    const used = at.rows<{ detail: string }>("SELECT detail FROM events WHERE detail LIKE '%utput%okens%'")
    assert.equal(used.length, 2, 'each request has its usage in events')
  })

  test(`${provider} that breaks off in the middle of a call leaves a conversation that goes on`, async (t) => {
    const half = Buffer.from(call.slice(0, 3).join(''))
    const server = await serve(t, cut(half), stream(say))
    const at = place(t, { ...env(server.url), CLAUDE_CODE_MAX_RETRIES: '0' })
    const settings = ['--settings', JSON.stringify({ model_config: { provider, model_id } })]
    const broken = await at.run(['-p', 'make the file', ...settings])
    assert.equal(broken.code, 1)
    assert.match(broken.stdout, /closed the connection/)
    assert.equal(existsSync(join(at.folder, 'made.txt')), false)
    const again = await at.run(['-p', 'try again', '--continue', ...settings])
    assert.deepEqual([again.code, again.stdout], [0, 'It is done.\n'], again.stderr)
    assert.doesNotMatch(server.seen[1]!.body, /tool_use"|tool_calls/)
  })
}

test('a stream that is cut in mid-word and tried again is printed once', async (t) => {
  const { frames } = wireOf
  const half = Buffer.from(
    frames({ text: ['It is do'] })
      .slice(0, 3)
      .join(''),
  )
  const whole = frames({ text: ['It is do', 'ne.'] })
  const words = ['-p', 'go', '--model', 'claude_opus_4']
  for (const [format, last] of [
    [[], undefined],
    [['--output-format', 'stream-json', '--verbose'], 'result'],
  ] as const) {
    const server = await serve(t, cut(half), stream(whole))
    const at = place(t, wireOf.env(server.url))
    const ran = await at.run([...words, ...format])
    assert.deepEqual([ran.code, server.seen.length], [0, 2], ran.stderr)
    if (last === undefined) assert.equal(ran.stdout, 'It is done.\n')
    const said = last
      ? ran.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
    const texts = said.filter(({ type }) => type === 'assistant').map(({ message }) => message.content[0].text)
    assert.deepEqual(texts, last ? ['It is done.'] : [])
    assert.equal(said.at(-1)?.result, last && 'It is done.')
    const kept = at.rows<{ payload_json: string }>(
      "SELECT payload_json FROM transcript_entries WHERE entry_type = 'assistant'",
    )
    assert.deepEqual(
      kept.map(({ payload_json }) => JSON.parse(payload_json).content),
      [[{ type: 'text', text: 'It is done.' }]],
    )
  }
})

test('a refused key ends the run with what to do, and nothing is tried twice', async (t) => {
  const server = await serve(
    t,
    status(401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }),
  )
  const at = place(t, { ANTHROPIC_API_KEY: 'sk-ant-planted-3333', ANTHROPIC_BASE_URL: server.url })
  const ran = await at.run(['-p', 'hello'])
  assert.equal(ran.code, 1)
  assert.match(ran.stdout, /Invalid API key · Fix external API key/)
  assert.equal(server.seen.length, 1)
})

test('a model that does not belong to its provider is refused before anything is sent', async (t) => {
  const server = await serve(t, status(500, ''))
  const at = place(t, { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: server.url, ANTHROPIC_BASE_URL: server.url })
  const settings = { model_config: { provider: 'openai_compatible', model_id: 'claude_opus_4' } }
  const ran = await at.run(['-p', 'hello', '--settings', JSON.stringify(settings)])
  assert.notEqual(ran.code, 0)
  assert.match(ran.stderr, /"claude_opus_4" is no model of openai_compatible; it has gpt_4o, gpt_4o_mini, o3, o3_mini/)
  assert.equal(server.seen.length, 0)
})

test('a name that the server lists may be chosen, and one that it does not list may not', async (t) => {
  const list = status(200, { data: [{ id: 'llama-3' }] })
  const listing =
    (next: Answer): Answer =>
    (response, request) =>
      (request.method === 'GET' ? list : next)(response, request)
  const server = await serve(t, listing(stream(openai().say)))
  const at = place(t, { LM_STUDIO_BASE_URL: `${server.url}/v1` })
  const chosen = await at.run(['-p', 'hello', '--model', 'lm_studio_local/llama-3'])
  assert.deepEqual([chosen.code, chosen.stdout], [0, 'It is done.\n'], chosen.stderr)
  assert.equal(JSON.parse(server.seen.at(-1)!.body).model, 'llama-3')
  const other = await at.run(['-p', 'hello', '--model', 'lm_studio_local/gpt-9'])
  assert.notEqual(other.code, 0)
  assert.match(other.stderr, /the server has no model "gpt-9"; it lists llama-3/)
  const first = await at.run(['-p', 'hello'])
  assert.deepEqual([first.code, JSON.parse(server.seen.at(-1)!.body).model], [0, 'llama-3'])
})

/** What a server does wrong, and how the run ends: with an answer, or with an error that says why. */
const faults = (wire: typeof anthropicWire): [string, Answer[], 'goes on' | RegExp][] => {
  const done = stream(wire.frames({ text: ['It is done.'] }))
  const reads = (...args: string[]) => args.map((text, index) => ({ id: `c${index}`, name: 'Read', args: [text] }))
  const calling = (calls: ReturnType<typeof reads>) => stream(wire.frames({ calls }))
  const busy = { error: { type: 'rate_limit_error', message: 'slow down' } }
  const piece = wire
    .frames({ text: ['x'.repeat(1 << 20)] })
    .slice(0, 3)
    .join('')
  const flood: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const more = (error?: Error | null): void => {
      if (!error) response.write(piece, (error) => setImmediate(more, error))
    }
    more()
  }
  const trickle = [...Buffer.from(wire.frames({ text: ['It is done.'] }).join(''))].map((byte) => Buffer.from([byte]))
  const page: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<html>Sign in</html>')
  }
  return [
    ['429 with retry-after', [status(429, busy, { 'retry-after': '0' }), done], 'goes on'],
    ['529', [status(529, { error: { type: 'overloaded_error', message: 'busy' } }), done], 'goes on'],
    ['500', [status(500, 'oops'), done], 'goes on'],
    ['500 again and again', [status(500, 'oops')], /answered 500: oops/],
    ['an error in mid-stream', [stream([wire.errorFrame('overloaded_error', 'busy')]), done], 'goes on'],
    [
      'errors in mid-stream, after words',
      [stream([...wire.frames({ text: ['Half.'] }).slice(0, 3), wire.errorFrame('overloaded_error', 'busy')])],
      /^Half\.\n\n.*broke off \(overloaded_error\): busy/,
    ],
    ['a slow trickle', [stream(trickle)], 'goes on'],
    ['a page that is no reply', [page], /is the base URL right/],
    ['more than 40 MB', [flood], /more than 40 MB/],
    ['arguments that are no JSON', [calling(reads('{"file_path":', '[]')), done], 'goes on'],
    ['a tool that nobody knows', [calling([{ id: 'a', name: 'Teleport', args: ['{}'] }]), done], 'goes on'],
    ['ids that are repeated', [calling([...reads('{}'), ...reads('{}')]), calling(reads('{}')), done], 'goes on'],
  ]
}

const wires = [
  [anthropicWire, (url: string) => ({ ANTHROPIC_API_KEY: 'sk-ant-planted-4444', ANTHROPIC_BASE_URL: url })],
  [openaiWire, (url: string) => ({ OPENAI_API_KEY: 'sk-openai-planted-55', OPENAI_BASE_URL: `${url}/v1` })],
] as const

for (const [turn, [wire, env]] of wires.entries()) {
  // each dialect meets another third; src/providers/dialects meets them all
  for (const [fault, answers, end] of sampled(faults(wire), 3, turn)) {
    test(`${wire.provider}, ${fault}: the run ends cleanly and the conversation can go on`, async (t) => {
      const server = await serve(t, ...answers)
      const at = place(t, { ...env(server.url), CLAUDE_CODE_MAX_RETRIES: '1' })
      const ran = await at.run(['-p', 'go'])
      if (end === 'goes on') assert.deepEqual([ran.code, ran.stdout], [0, 'It is done.\n'], ran.stderr)
      else {
        assert.equal(ran.code, 1)
        assert.match(ran.stdout, end)
      }
      const next = await serve(t, stream(wire.frames({ text: ['Still here.'] })))
      const again = await at.run(['-p', 'go on', '--continue'], { env: env(next.url) })
      assert.deepEqual([again.code, again.stdout], [0, 'Still here.\n'], again.stderr)
      assert.equal(wire.refuses(JSON.parse(next.seen[0]!.body)), undefined)
    })
  }
}

const noModel = { ANTHROPIC_MODEL: '' }

test('without a credential a run fails; the rehearsal model is used only where it is named', async (t) => {
  const at = place(t)
  const ask = (words: readonly string[], env: Record<string, string> = {}, input = '') =>
    at.run(words, { env: { ...noModel, ...env }, input })
  const plain = await ask(['-p', 'hello'])
  assert.deepEqual([plain.code, plain.stdout], [1, ''])
  assert.match(plain.stderr, /^ona: no credentials were found: run ona login, or set ANTHROPIC_API_KEY/)
  for (const format of ['json', 'stream-json']) {
    const ran = await ask(['-p', 'hello', '--output-format', format])
    const { type, is_error, error, errors } = JSON.parse(ran.stdout)
    assert.deepEqual([ran.code, type, is_error, error, errors.length], [1, 'result', true, 'authentication_failed', 1])
  }
  assert.equal((await ask([], {}, 'hello\n')).code, 1, 'lines over a pipe')
  assert.match((await ask(['-p', 'hello', '--model', 'rehearsal'])).stdout, /not a language model/)
  assert.match((await ask(['-p', 'hello', '--settings', '{"model":"rehearsal"}'])).stdout, /not a language model/)
})

test('a configured provider without its credential is never replaced, with --bare neither', async (t) => {
  const at = place(t)
  const claude = { model_config: { provider: 'claude_code_subscription', model_id: 'claude_opus_4' } }
  const openai = { model_config: { provider: 'openai_compatible', model_id: 'o3' } }
  const cases: [object, Record<string, string>, readonly string[], RegExp][] = [
    [claude, {}, [], /Not logged in/],
    [claude, { ANTHROPIC_AUTH_TOKEN: 'bearer-0001' }, ['--bare'], /with --bare, set ANTHROPIC_API_KEY/],
    [{}, { ANTHROPIC_AUTH_TOKEN: 'bearer-0001' }, ['--bare'], /ANTHROPIC_AUTH_TOKEN is not used with --bare/],
    [openai, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, [], /needs OPENAI_API_KEY/],
    [{ model: 'opus' }, {}, [], /Not logged in/],
  ]
  for (const [settings, env, flags, problem] of cases) {
    const words = ['-p', 'hello', '--output-format', 'json', '--settings', JSON.stringify(settings), ...flags]
    const ran = await at.run(words, { env: { ...noModel, ...env } })
    assert.deepEqual([ran.code, JSON.parse(ran.stdout).error], [1, 'authentication_failed'], ran.stderr)
    assert.match(ran.stderr, problem)
  }
})

const listOf = (...ids: string[]): Answer =>
  status(200, { data: ids.map((id, at) => ({ id, display_name: id, created_at: `2026-0${at + 1}-01T00:00:00Z` })) })
const byMethod =
  (list: Answer, post: Answer): Answer =>
  (response, request) =>
    (request.method === 'GET' ? list : post)(response, request)
const claudeEnv = (server: WireServer) => providers[0]!.env(server.url)
const modelsAsked = (server: WireServer) =>
  server.seen.flatMap(({ method, body }) => (method === 'POST' ? [JSON.parse(body).model] : []))

test("an alias is the newest of the server's list, which is read beside a turn and kept", async (t) => {
  let kept = ''
  // a model takes longer to answer than its server to list what it has
  const answer: Answer = (response, request) => {
    if (existsSync(kept)) stream(providers[0]!.say)(response, request)
    else setTimeout(answer, 10, response, request)
  }
  const server = await serve(t, byMethod(listOf('claude-opus-4-8', 'claude-opus-5-5'), answer))
  const at = place(t, { ...claudeEnv(server), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' })
  kept = join(at.home, '.ona/models.json')
  const ask = async (...words: string[]) => {
    const ran = await at.run(['-p', 'go', ...words])
    assert.equal(ran.code, 0, ran.stderr)
  }
  await ask('--model', 'opus')
  assert.deepEqual(modelsAsked(server), ['claude-opus-4-20250514'])
  server.seen.length = 0
  await ask('--model', 'opus')
  await ask('--model', 'claude-fable-7')
  await ask('--model', 'claude_opus_4')
  assert.deepEqual(modelsAsked(server), ['claude-opus-5-5', 'claude-fable-7', 'claude-opus-4-20250514'])
  assert.equal(server.seen.filter(({ method }) => method === 'GET').length, 0, 'kept for a day')
})

test('a family whose model is no longer served goes on with the newest that is', async (t) => {
  const gone = status(404, { error: { type: 'not_found_error', message: 'model: claude-sonnet-4-20250514' } })
  const server = await serve(
    t,
    byMethod(listOf('claude-sonnet-4-6', 'claude-sonnet-5-5'), (response, request) =>
      (JSON.parse(request.body).model === 'claude-sonnet-5-5' ? stream(providers[0]!.say) : gone)(response, request),
    ),
  )
  const at = place(t, claudeEnv(server))
  const ran = await at.run(['-p', 'go'])
  assert.deepEqual([ran.code, ran.stdout], [0, 'It is done.\n'])
  assert.match(ran.stderr, /claude-sonnet-4-20250514 is no longer served; using claude-sonnet-5-5, the newest sonnet/)
  const exact = await at.run(['-p', 'go', '--model', 'claude_sonnet_4'])
  assert.equal(exact.code, 1, 'one that was named is not replaced')
})

test('a budget cannot be held with a model of unknown price, and the settings can give one', async (t) => {
  const server = await serve(
    t,
    stream(providers[0]!.say.map((frame) => frame.replaceAll('claude-3-5-haiku-20241022', 'my-own'))),
  )
  const at = place(t, claudeEnv(server))
  const words = ['-p', 'go', '--model', 'claude_code_subscription/my-own', '--output-format', 'json']
  const refused = await at.run([...words, '--max-budget-usd', '1'])
  assert.deepEqual([refused.code, server.seen.length], [1, 0])
  assert.match(
    refused.stderr,
    /--max-budget-usd cannot be held: no price is known for my-own; set models\."my-own"\.price/,
  )
  for (const format of ['json', 'stream-json']) {
    const unknown = await at.run([...words.slice(0, -1), format])
    const { total_cost_usd, modelUsage } = JSON.parse(unknown.stdout.trim().split('\n').at(-1)!)
    assert.deepEqual([total_cost_usd, modelUsage['my-own'].costUSD], [null, null], 'unknown is not free')
  }
  const models = { 'my-own': { price: { input: 1_000_000, output: 0 }, contextWindow: 50_000 } }
  const priced = await at.run([...words, '--max-budget-usd', '1', '--settings', JSON.stringify({ models })])
  assert.deepEqual([priced.code, JSON.parse(priced.stdout).total_cost_usd], [0, 10], priced.stderr)
})

test('room for a reply that takes most of the window is less, unless the settings ask for it', async (t) => {
  const { env, say, wire } = providers[1]!
  const server = await serve(t, stream(say), stream(say), stream(say))
  const at = place(t, env(server.url))
  for (const model of [{}, { contextWindow: 8192 }, { contextWindow: 8192, maxOutput: 6000 }]) {
    const settings = JSON.stringify({ models: { [wire]: model } })
    const { code, stderr } = await at.run(['-p', 'go', '--model', wire, '--settings', settings])
    assert.equal(code, 0, stderr)
  }
  assert.deepEqual(
    server.seen.map(({ body }) => JSON.parse(body).max_tokens),
    [16_384, 2048, 6000],
  )
})

test('what the model thought goes back to it with the result of its call, and after a resume', async (t) => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'EqQBplanted' }
  const [start, ...rest] = providers[0]!.call
  const later = rest.map((frame) => frame.replaceAll('"index":0', '"index":1'))
  const thinking = [
    `data: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: thought })}\n\n`,
    `data: ${JSON.stringify({ type: 'content_block_stop', index: 0 })}\n\n`,
  ]
  const server = await serve(t, stream([start!, ...thinking, ...later]), stream(providers[0]!.say))
  const at = place(t, claudeEnv(server))
  const ask = (...words: string[]) =>
    at.run(['-p', 'go', '--model', 'claude-opus-5-5', '--allowed-tools', 'Write', ...words])
  const first = await ask('--effort', 'low')
  assert.deepEqual([first.code, first.stdout], [0, 'It is done.\n'], first.stderr)
  assert.equal((await ask('--continue')).code, 0)
  const bodies = server.seen.map(({ body }) => JSON.parse(body))
  assert.deepEqual(
    bodies.map(({ thinking, output_config, messages }) => [thinking, output_config, messages[1]?.content[0]]),
    [
      [{ type: 'adaptive' }, { effort: 'low' }, undefined],
      [{ type: 'adaptive' }, { effort: 'low' }, thought],
      [{ type: 'adaptive' }, undefined, thought],
    ],
  )
  const kinds = at.rows<{ kind: string }>(
    `SELECT DISTINCT json_extract(block.value, '$.type') AS kind FROM transcript_entries, json_each(payload_json, '$.content') AS block
     WHERE entry_type = 'assistant' ORDER BY 1`,
  )
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['text', 'tool_use'],
    'the kinds of block in a row are closed',
  )
})
