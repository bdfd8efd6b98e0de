/** What a model's server can do wrong, through the whole program: the turn ends cleanly or goes on, and so does the session. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isFull, sampled } from '../support/campaign-size.ts'
import { live } from '../support/live.ts'
import { anthropic, type Call, type Dialect, openai } from '../support/model/wire.ts'
import {
  type Answer,
  cut,
  type Seen,
  status,
  stream,
  type WireServer,
  wireServer,
} from '../support/model/wire-server.ts'
import { type Place, place, type Ran } from '../support/program.ts'

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

  const statuses = [
    ['429 with retry-after', status(429, { error: { message: 'slow down' } }, { 'retry-after': '1' })],
    ['529', dialect.error(529)],
    ['500', dialect.error(500)],
  ] as const
  for (const [what, fault] of sampled(statuses, dialect === openai ? 3 : 2)) {
    test(`${dialect.name}: after ${what} it is tried again`, async (t) => {
      const { server, ask } = await faulty(t, dialect, [fault, fine])
      const ran = await ask('hello', '--output-format', 'stream-json')
      const messages = ran.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.deepEqual([ran.code, server.seen.length, messages.at(-1).result], [0, 2, 'Fine.'], ran.stderr)
      const [retry] = messages.filter(({ subtype }) => subtype === 'api_retry')
      assert.deepEqual([retry.attempt, retry.max_retries], [1, 2])
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

  test(`${dialect.name}: a reply of 40 MB ends; the session can be used again`, {
    skip: !isFull && dialect === openai,
  }, async (t) => {
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
    const everywhere = sampled([...Array(Buffer.byteLength(frames.slice(0, -2).join(''))).keys()], 67)
    const words = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json']
    // a conversation sends all of itself with each prompt, so several short ones
    for (let begin = 0; begin < everywhere.length; begin += 60) {
      const places = everywhere.slice(begin, begin + 60)
      const { at, server, last } = await faulty(t, dialect, [...places.map((end) => cut(bytes.subarray(0, end))), fine])
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
    }
  })
}
