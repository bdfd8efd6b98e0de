/** What a model's server can do wrong, through the whole program: the turn ends cleanly or goes on, and so does the session. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type Answer,
  cut,
  type Seen,
  status,
  stream,
  type WireServer,
  wireServer,
} from '../src/providers/wire-server.ts'
import { live } from './lib/live.ts'
import { type Place, place, type Ran } from './lib/program.ts'

interface Call {
  readonly id: string
  readonly name: string
  readonly args: string
}

interface Dialect {
  readonly name: string
  env(url: string): Record<string, string>
  frames(saying: { text?: readonly string[]; calls?: readonly Call[] }): string[]
  error(code: number): Answer
  /** The ids of the calls in a request and of their results, in order. */
  pairs(body: { messages: Message[] }): { called: string[]; answered: string[] }
}

// biome-ignore lint/suspicious/noExplicitAny: a request as it came over the wire
type Message = any

const sse = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const anthropic: Dialect = {
  name: 'anthropic',
  env: (url) => ({ ANTHROPIC_API_KEY: 'sk-ant-test', ANTHROPIC_BASE_URL: url }),
  frames({ text = [], calls = [] }) {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] }
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      sse({ type: 'content_block_start', index, content_block } as never),
      ...deltas.map((delta) => sse({ type: 'content_block_delta', index, delta } as never)),
      sse({ type: 'content_block_stop', index } as never),
    ]
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
    return [
      sse({ type: 'message_start', message: { ...message, usage: { input_tokens: 9, output_tokens: 1 } } } as never),
      ...(text.length > 0
        ? block(
            0,
            { type: 'text', text: '' },
            text.map((piece) => ({ type: 'text_delta', text: piece })),
          )
        : []),
      ...calls.flatMap(({ id, name, args }, index) =>
        block(index + 1, { type: 'tool_use', id, name, input: {} }, [{ type: 'input_json_delta', partial_json: args }]),
      ),
      sse({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } } as never),
      sse({ type: 'message_stop' }),
    ]
  },
  error: (code) => status(code, { type: 'error', error: { type: 'api_error', message: 'a bad day' } }),
  pairs({ messages }) {
    const blocks = messages.flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    return {
      called: blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id),
      answered: blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id),
    }
  },
}

const openai: Dialect = {
  name: 'openai',
  env: (url) => ({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${url}/v1` }),
  frames({ text = [], calls = [] }) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    return [
      chunk({ role: 'assistant' }),
      ...text.map((content) => chunk({ content })),
      ...calls.map(({ id, name, args }, index) =>
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] }),
      ),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      'data: [DONE]\n\n',
    ]
  },
  error: (code) => status(code, { error: { message: 'a bad day', type: 'server_error' } }),
  pairs: ({ messages }) => ({
    called: messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }: Call) => id)),
    answered: messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id),
  }),
}

interface Faulty {
  readonly at: Place
  readonly server: WireServer
  ask(prompt: string, ...words: string[]): Promise<Ran>
  last(): Seen
}

async function faulty(t: TestContext, dialect: Dialect, answers: readonly Answer[], retries = '2'): Promise<Faulty> {
  const server = await wireServer(...answers)
  t.after(() => server.close())
  const at = place(t, { ...dialect.env(server.url), CLAUDE_CODE_MAX_RETRIES: retries })
  return {
    at,
    server,
    ask: (prompt, ...words) => at.run(['-p', prompt, '--permission-mode', 'bypassPermissions', ...words]),
    last: () => server.seen.at(-1)!,
  }
}

/** Every call in the request has its result, once, and the ids are told apart. */
function isValid(dialect: Dialect, { body }: Seen): void {
  const { called, answered } = dialect.pairs(JSON.parse(body))
  assert.deepEqual(answered, called)
  assert.equal(new Set(called).size, called.length, 'no id twice')
}

for (const dialect of [anthropic, openai]) {
  const say = (...text: string[]) => stream(dialect.frames({ text }))
  const fine = say('Fine.')
  const ls: Call = { id: 'call_1', name: 'Bash', args: '{"command":"echo here"}' }

  for (const [what, fault] of [
    ['429 with retry-after', status(429, { error: { message: 'slow down' } }, { 'retry-after': '1' })],
    ['529', dialect.error(529)],
    ['500', dialect.error(500)],
  ] as const) {
    test(`${dialect.name}: after ${what} it is tried again`, async (t) => {
      const { server, ask } = await faulty(t, dialect, [fault, fine])
      const ran = await ask('hello', '--output-format', 'stream-json')
      const messages = ran.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.deepEqual([ran.code, server.seen.length, messages.at(-1).result], [0, 2, 'Fine.'], ran.stderr)
      const [retry] = messages.filter(({ subtype }) => subtype === 'api_retry')
      assert.equal(retry.attempt, 1)
      if (what.startsWith('429')) assert.equal(retry.retry_delay_ms, 1000)
    })
  }

  test(`${dialect.name}: a server that stays broken ends the run with exit code 1, and the session goes on later`, async (t) => {
    const { at, ask, last } = await faulty(t, dialect, [dialect.error(500), dialect.error(500), fine], '1')
    const ran = await ask('hello')
    assert.equal(ran.code, 1)
    assert.match(ran.stdout, /a bad day/)
    const again = await ask('and now?', '--continue')
    assert.deepEqual([again.code, again.stdout], [0, 'Fine.\n'], again.stderr)
    assert.match(last().body, /hello[\s\S]*and now\?/)
    const ends = at.rows<{ detail: string }>("SELECT detail FROM events WHERE event_type = 'turn_end' ORDER BY id")
    assert.deepEqual(
      ends.map(({ detail }) => JSON.parse(detail).stop),
      ['error', 'end_turn'],
    )
  })

  test(`${dialect.name}: a page of HTML with status 200 is told as what it is`, async (t) => {
    const page: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html><body>Log in to the hotel</body></html>')
    }
    const { ask } = await faulty(t, dialect, [page, fine], '0')
    assert.equal((await ask('hello')).code, 1)
    assert.equal((await ask('again', '--continue')).stdout, 'Fine.\n')
  })

  test(`${dialect.name}: a reply that trickles in byte by byte is a reply`, async (t) => {
    const bytes = Buffer.from(dialect.frames({ text: ['Ö', 'n', 'ä.'], calls: [ls] }).join(''))
    const { ask, last } = await faulty(t, dialect, [stream([...bytes].map((byte) => Buffer.from([byte]))), fine])
    const ran = await ask('hello')
    assert.deepEqual([ran.code, ran.stdout], [0, 'Fine.\n'], ran.stderr)
    isValid(dialect, last())
    assert.match(last().body, /Önä\./)
  })

  test(`${dialect.name}: a reply of 40 MB ends; the session can be used again`, async (t) => {
    const piece = 'x'.repeat(64 * 1024)
    const { ask } = await faulty(t, dialect, [say(...Array.from({ length: 640 }, () => piece)), fine], '0')
    const ran = await ask('hello', '--output-format', 'json')
    assert.equal(typeof JSON.parse(ran.stdout).is_error, 'boolean')
    const again = await ask('again', '--continue')
    assert.deepEqual([again.code, again.stdout], [0, 'Fine.\n'], again.stderr)
  })

  test(`${dialect.name}: broken arguments, unknown tools and repeated ids are answered, and the turn goes on`, async (t) => {
    const calls: Call[] = [
      { id: 'a', name: 'Bash', args: '{"command":' },
      { id: 'b', name: 'Teleport', args: '{}' },
      { id: 'c', name: 'Bash', args: '[1]' },
      { id: 'c', name: 'Bash', args: '{"command":"echo one"}' },
      { id: 'd', name: 'Bash', args: '{"command":7}' },
    ]
    const again = { id: 'c', name: 'Bash', args: '{"command":"echo two"}' }
    const { at, ask, last } = await faulty(t, dialect, [
      stream(dialect.frames({ calls })),
      stream(dialect.frames({ calls: [again] })),
      fine,
    ])
    const ran = await ask('hello')
    assert.deepEqual([ran.code, ran.stdout], [0, 'Fine.\n'], ran.stderr)
    isValid(dialect, last())
    const results = at.rows<{ payload: string }>(
      "SELECT payload_json AS payload FROM transcript_entries WHERE entry_type = 'tool_result' ORDER BY sequence",
    )
    assert.deepEqual(
      results.map(({ payload }) => JSON.parse(payload).is_error),
      [true, true, true, false, true, false],
    )
    const resumed = await ask('more', '--continue')
    assert.deepEqual([resumed.code, resumed.stdout], [0, 'Fine.\n'], resumed.stderr)
    isValid(dialect, last())
  })

  test(`${dialect.name}: a stream that is cut at any byte leaves a conversation that goes on`, async (t) => {
    const frames = dialect.frames({ text: ['Let me ', 'look.'], calls: [ls] })
    const bytes = Buffer.from(frames.join(''))
    // up to the frame that says why the model stopped: with it, the call is whole
    const places = Array.from({ length: Buffer.byteLength(frames.slice(0, -2).join('')) }, (_, index) => index)
    const { at, server, last } = await faulty(t, dialect, [...places.map((end) => cut(bytes.subarray(0, end))), fine])
    const words = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json']
    const running = live(t, at, words, { ...dialect.env(server.url), CLAUDE_CODE_MAX_RETRIES: '0' })
    const results = () => running.messages().filter(({ type }) => type === 'result')
    for (let index = 0; index <= places.length; index++)
      running.send(JSON.stringify({ type: 'user', message: { role: 'user', content: `prompt ${index}` } }))
    await running.until(() => results().length === places.length + 1)
    const { code } = await running.end()
    assert.deepEqual([code, results().at(-1)!['result']], [0, 'Fine.'])
    for (const seen of server.seen) isValid(dialect, seen)
    assert.ok(last().body.includes(`prompt ${places.length}`))
    assert.deepEqual(
      at.rows("SELECT 1 FROM transcript_entries WHERE entry_type = 'tool_result'"),
      [],
      'no half call ran',
    )
  })
}
