/** What every dialect must do, whatever the server does: run for each of them against a server that speaks it. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { fixed } from '../../../src/auth/credential.ts'
import { createProvider, type ProviderOptions } from '../../../src/providers/create.ts'
import type { Message, ModelRequest, Part, Provider, Reply } from '../../../src/providers/model.ts'
import type { ProviderName } from '../../../src/providers/models/models.ts'
import { sampled } from '../campaign-size.ts'
import { type Answer, cut, stall, status, stream, type WireServer, wireServer } from './wire-server.ts'

/** What a test wants the model to say. */
export interface Saying {
  /** Text, in the pieces in which it is streamed. */
  readonly text?: readonly string[]
  /** Calls, with their arguments in pieces. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: readonly string[] }[]
  readonly stop?: 'length' | 'refusal'
}

export interface WireDialect {
  readonly provider: ProviderName
  readonly options?: Partial<ProviderOptions>
  /** The base address of a server. */
  base(url: string): string
  /** The frames of a stream, each `data: …\n\n` or with its event name, the last one ending it. */
  frames(saying: Saying): string[]
  whole(saying: Saying): unknown
  /** The frame of an error in the middle of a stream. */
  errorFrame(type: string, message: string): string
  /** What the server would refuse about a request; undefined when it is right. */
  refuses(body: unknown): string | undefined
  readonly usage: Reply['usage']
}

const KEY = 'sk-planted-0123456789abcdef'
const hello: Message = { role: 'user', content: [{ type: 'text', text: 'hello' }] }
const tool = { name: 'Read', description: 'Reads a file.', inputSchema: { type: 'object', properties: {} } }

const asking = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'some-model',
  system: [{ text: 'Be brief.', cache: true }],
  messages: [hello],
  tools: [tool],
  maxTokens: 100,
  signal: new AbortController().signal,
  ...more,
})

export function providerSuite(name: string, wire: WireDialect): void {
  const servers: WireServer[] = []
  after(() => Promise.all(servers.map((server) => server.close())))

  async function against(
    answers: Answer[],
    options: Partial<ProviderOptions> = {},
  ): Promise<{ provider: Provider; server: WireServer }> {
    const server = await wireServer(...answers)
    servers.push(server)
    const about = { class: 'api_key' as const, source: 'TEST_KEY', whenRefused: 'Fix TEST_KEY' }
    const provider = createProvider({
      provider: wire.provider,
      ...wire.options,
      credential: fixed(about, { key: KEY }),
      env: {},
      baseUrl: wire.base(server.url),
      retries: { most: 2, firstMs: 1 },
      ...options,
    })
    return { provider, server }
  }
  const ask = async (answers: Answer[], request = asking(), options: Partial<ProviderOptions> = {}) => {
    const { provider, server } = await against(answers, options)
    const parts: Part[] = []
    const reply = await provider.reply(request, (part) => parts.push(part))
    return { reply, parts, server }
  }
  const never = { retries: { most: 0 } }
  const said = (text: string, more: Partial<Reply> = {}): Reply => ({
    content: [{ type: 'text', text }],
    stop: 'end_turn',
    usage: wire.usage,
    model: 'some-model',
    ...more,
  })
  const textOf = (parts: readonly Part[]) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

  describe(name, () => {
    const twoCalls: Saying = {
      text: ['Read', 'ing “it” ', '🐢.'],
      calls: [
        { id: 'one', name: 'Read', args: ['{"file_', 'path":"/w/ä', '.txt"}'] },
        { id: 'two', name: 'Read', args: ['{}'] },
      ],
    }
    const twoCallsReply: Reply = said('Reading “it” 🐢.', {
      content: [
        { type: 'text', text: 'Reading “it” 🐢.' },
        { type: 'tool_use', id: 'one', name: 'Read', input: { file_path: '/w/ä.txt' } },
        { type: 'tool_use', id: 'two', name: 'Read', input: {} },
      ],
      stop: 'tool_use',
    })

    test('no half of a character is sent, however deep it lies', async () => {
      const half = 'x\ud83d'
      const messages: Message[] = [
        hello,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'one', name: 'Read', input: { [half]: [half] } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'one', content: half, is_error: false }] },
      ]
      const { server } = await ask(
        [stream(wire.frames({ text: ['ok'] }))],
        asking({ messages, system: [{ text: half }] }),
      )
      const { body } = server.seen[0]!
      assert.deepEqual([body.match(/x\ufffd/g)?.length, /\\ud83d/.test(body)], [4, false])
    })

    test('text comes in parts and as a whole, with its usage', async () => {
      const { reply, parts } = await ask([stream(wire.frames({ text: ['Hel', 'lo.'] }))])
      assert.deepEqual(reply, said('Hello.'))
      assert.deepEqual(parts, [
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo.' },
      ])
    })

    test('several calls in one reply keep their order and their arguments', async () => {
      const { reply, parts } = await ask([stream(wire.frames(twoCalls))])
      assert.deepEqual(reply, twoCallsReply)
      assert.deepEqual(
        parts.filter((part) => part.type === 'tool-call'),
        [
          { type: 'tool-call', id: 'one', name: 'Read' },
          { type: 'tool-call', id: 'two', name: 'Read' },
        ],
      )
    })

    test('the bytes of a stream may come in any pieces', async () => {
      const bytes = Buffer.from(wire.frames(twoCalls).join(''))
      const splits = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(splits, async (marks) => {
          const edges = [0, ...marks.toSorted((a, b) => a - b), bytes.length]
          const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index]!, edge))
          assert.deepEqual((await ask([stream(pieces)])).reply, twoCallsReply)
        }),
        { numRuns: 40 },
      )
    })

    test('a slow trickle, byte by byte, is read like any other', async () => {
      const bytes = [...Buffer.from(wire.frames(twoCalls).join(''))].map((byte) => Buffer.from([byte]))
      assert.deepEqual((await ask([stream(bytes)])).reply, twoCallsReply)
    })

    test('CRLF, comments, several data lines, no space after the colon and a byte order mark are all right', async () => {
      const odd = wire
        .frames(twoCalls)
        .map((frame) =>
          frame
            .replace(/^data: (\{.*\})$/m, (_, json) => `: a comment\nid: 7\nretry: 10\n${pretty(json)}`)
            .replaceAll('\n', '\r\n'),
        )
      assert.deepEqual((await ask([stream(['\ufeff', ': hello\r\n\r\n', ...odd])])).reply, twoCallsReply)
      const lone = wire.frames(twoCalls).join('').replaceAll('\n', '\r')
      assert.deepEqual((await ask([stream([lone])])).reply, twoCallsReply)
    })

    test('a server that does not stream is understood', async () => {
      const { reply, parts } = await ask([status(200, wire.whole(twoCalls))])
      assert.deepEqual(reply, twoCallsReply)
      assert.equal(textOf(parts), 'Reading “it” 🐢.')
    })

    test('a stream is known by its form, not by its content type', async () => {
      const { reply } = await ask([stream(wire.frames(twoCalls), 'text/plain')])
      assert.deepEqual(reply, twoCallsReply)
    })

    test('a page that is no reply is said to be none, and is not asked for again', async () => {
      const page: Answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end('<!doctype html><title>Sign in to the hotel network</title>')
      }
      const { reply, server } = await ask([page])
      assert.equal(reply.stop, 'error')
      assert.equal(reply.failure?.kind, 'server')
      assert.match(reply.failure!.message, /begins "<!doctype html.*is the base URL right\?/)
      assert.equal(server.seen.length, 1)
    })

    test('cut at any byte, a reply is either whole or an error without calls', async () => {
      const bytes = Buffer.from(wire.frames(twoCalls).join(''))
      const lengths = sampled([...Array(bytes.length).keys()], 7)
      const { provider } = await against(
        lengths.map((length) => cut(bytes.subarray(0, length))),
        never,
      )
      for (const length of lengths) {
        const reply = await provider.reply(asking(), () => {})
        if (reply.stop === 'tool_use') assert.deepEqual(reply.content, twoCallsReply.content)
        else {
          assert.deepEqual([reply.stop, reply.failure?.kind], ['error', 'network'], `after ${length} bytes`)
          assert.ok(reply.content.every((block) => block.type === 'text'))
        }
      }
    })

    test('a cut stream is asked for again, and says so', async () => {
      const whole = wire.frames(twoCalls)
      const half = Buffer.from(whole.slice(0, 3).join(''))
      const { reply, parts } = await ask([cut(half), cut(half), stream(whole)])
      assert.deepEqual(reply, twoCallsReply)
      assert.deepEqual(
        parts.flatMap((part) => (part.type === 'retry' ? [[part.attempt, part.failure.kind]] : [])),
        [
          [1, 'network'],
          [2, 'network'],
        ],
      )
    })

    test('the server says how long to wait, and is waited for', async () => {
      const busy = status(429, { error: { type: 'rate_limit_error', message: 'slow down' } }, { 'retry-after': '0' })
      const { reply, parts } = await ask([busy, stream(wire.frames({ text: ['Hi.'] }))])
      assert.deepEqual(reply, said('Hi.'))
      const [retry] = parts
      assert.ok(retry?.type === 'retry')
      assert.deepEqual([retry.waitMs, retry.failure.kind, retry.failure.status], [0, 'rate-limit', 429])
    })

    test('a wait of an hour is not waited', async () => {
      const busy = status(429, { error: { type: 'rate_limit_error', message: 'later' } }, { 'retry-after': '3600' })
      const { reply, server } = await ask([busy])
      assert.deepEqual(
        [reply.stop, reply.failure?.kind, reply.failure?.retryAfterMs],
        ['error', 'rate-limit', 3_600_000],
      )
      assert.equal(server.seen.length, 1)
    })

    const refusals: [number, unknown, string, number][] = [
      [400, { error: { type: 'invalid_request_error', message: 'bad field' } }, 'invalid-request', 1],
      [400, { error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } }, 'billing', 1],
      [401, { error: { type: 'authentication_error', message: 'who are you' } }, 'authentication', 1],
      [401, { error: { type: 'api_error', message: 'some error' } }, 'authentication', 1],
      [402, {}, 'billing', 1],
      [403, 'no', 'authentication', 1],
      [404, { error: { type: 'not_found_error', message: 'no such model' } }, 'invalid-request', 1],
      [413, '<html>too large</html>', 'invalid-request', 1],
      [429, { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'pay' } }, 'billing', 1],
      [429, { error: 'too fast' }, 'rate-limit', 3],
      [408, '', 'invalid-request', 3],
      [500, { error: { type: 'api_error', message: 'oops' } }, 'server', 3],
      [502, '<html><style>b{}</style><b>Bad</b> gateway</html>', 'server', 3],
      [503, '', 'overloaded', 3],
      [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'overloaded', 3],
    ]
    for (const [code, body, kind, tries] of refusals) {
      test(`status ${code} with ${JSON.stringify(body)} is ${kind}, after ${tries} tries`, async () => {
        const { reply, server } = await ask([status(code, body)])
        assert.deepEqual([reply.stop, reply.failure?.kind, reply.failure?.status], ['error', kind, code])
        assert.equal(server.seen.length, tries)
        assert.doesNotMatch(reply.failure!.message, /<|b\{\}/)
      })
    }

    test('an error in the middle of a stream is asked again, and in the end keeps the words that came', async () => {
      const frames = [
        ...wire.frames({ text: ['Half a '] }).slice(0, 3),
        wire.errorFrame('overloaded_error', 'Overloaded'),
      ]
      const { reply, server } = await ask([stream(frames)])
      assert.deepEqual([reply.stop, reply.failure?.kind], ['error', 'overloaded'])
      assert.deepEqual(reply.content, [{ type: 'text', text: 'Half a ' }])
      assert.equal(server.seen.length, 3)
    })

    test('an event that is no JSON is a failure of the server', async () => {
      const { reply } = await ask([stream(['data: {"type":\n\n'])], asking(), never)
      assert.deepEqual([reply.stop, reply.failure?.kind], ['error', 'server'])
    })

    test('silence has a limit, before the reply and in the middle of it', async () => {
      const begun = wire
        .frames({ text: ['Hm'] })
        .slice(0, 3)
        .join('')
      const middle = await ask([stall(begun)], asking(), { ...never, limits: { idleMs: 60 } })
      assert.match(middle.reply.failure!.message, /sent nothing for 0.1 s/)
      const before = await ask([() => {}], asking(), { ...never, limits: { answerMs: 60 } })
      assert.match(before.reply.failure!.message, /did not answer within 0.1 s/)
    })

    test('more than 40 MB is not taken in', async () => {
      const frames = wire.frames({ text: ['x'.repeat(1024 * 1024)] })
      const endless: Answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const more = (error?: Error | null): void => {
          if (!error) response.write(frames.slice(0, 3).join(''), (error) => setImmediate(more, error))
        }
        more()
      }
      const { reply } = await ask([endless])
      assert.deepEqual([reply.stop, reply.failure?.kind], ['error', 'server'])
      assert.match(reply.failure!.message, /more than 40 MB/)
      assert.deepEqual(reply.content, [])
    })

    test('arguments that are no JSON object are kept as the model wrote them', async () => {
      const calls = ['{"a":', '[1]', '"x"', ''].map((args, index) => ({ id: `c${index}`, name: 'Read', args: [args] }))
      const { reply } = await ask([stream(wire.frames({ calls }))])
      assert.deepEqual(reply.content, [
        { type: 'tool_use', id: 'c0', name: 'Read', input: {}, malformed: '{"a":' },
        { type: 'tool_use', id: 'c1', name: 'Read', input: {}, malformed: '[1]' },
        { type: 'tool_use', id: 'c2', name: 'Read', input: {}, malformed: '"x"' },
        { type: 'tool_use', id: 'c3', name: 'Read', input: {} },
      ])
    })

    test('a call of a tool that nobody offered comes through, for the loop to answer', async () => {
      const { reply } = await ask([stream(wire.frames({ calls: [{ id: 'a', name: 'Teleport', args: ['{}'] }] }))])
      assert.deepEqual(reply.content, [{ type: 'tool_use', id: 'a', name: 'Teleport', input: {} }])
    })

    test('ids that were used before become new ones, so that the next request is valid', async () => {
      const call = { id: 'same', name: 'Read', args: ['{}'] }
      const again: Saying = { calls: [call, call] }
      const messages: Message[] = [hello]
      const { provider, server } = await against([stream(wire.frames(again))])
      for (const _turn of [1, 2]) {
        const reply = await provider.reply(asking({ messages }), () => {})
        messages.push({ role: 'assistant', content: reply.content })
        const ids = reply.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
        messages.push({
          role: 'user',
          content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'done', is_error: false })),
        })
      }
      await provider.reply(asking({ messages }), () => {})
      assert.deepEqual(
        messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))),
        ['same', 'same_2', 'same_3', 'same_4'],
      )
      assert.equal(wire.refuses(JSON.parse(server.seen.at(-1)!.body)), undefined)
    })

    test('a conversation with calls that were never answered is made whole before it is sent', async () => {
      const use = (id: string) => ({ type: 'tool_use' as const, id, name: 'Read', input: {} })
      const result = (id: string) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'ok', is_error: false })
      const histories: Message[][] = [
        [hello, { role: 'assistant', content: [use('a')] }],
        [hello, { role: 'assistant', content: [use('a')] }, hello],
        [hello, { role: 'assistant', content: [use('a'), use('b')] }, { role: 'user', content: [result('b')] }],
        [hello, { role: 'assistant', content: [use('a')] }, { role: 'assistant', content: [use('b')] }, hello],
        [{ role: 'user', content: [result('gone'), ...hello.content] }],
        [hello, { role: 'assistant', content: [] }, hello],
        [hello, { role: 'assistant', content: [use('a')] }, { role: 'user', content: [...hello.content, result('a')] }],
      ]
      for (const messages of histories) {
        const { server } = await ask([stream(wire.frames({ text: ['ok'] }))], asking({ messages }))
        assert.equal(wire.refuses(JSON.parse(server.seen[0]!.body)), undefined, JSON.stringify(messages))
      }
    })

    test('what the length limit cut off has no calls', async () => {
      const saying: Saying = { text: ['Well'], calls: [{ id: 'a', name: 'Read', args: ['{"file'] }], stop: 'length' }
      const { reply } = await ask([stream(wire.frames(saying))])
      assert.deepEqual(reply, said('Well', { stop: 'max_tokens' }))
    })

    test('a refusal of the model is a stop of its own', async () => {
      const { reply } = await ask([stream(wire.frames({ text: ['No.'], stop: 'refusal' }))])
      assert.deepEqual(reply, said('No.', { stop: 'refusal' }))
    })

    test('an interrupt ends it at once, wherever it is, and keeps the words that came', async () => {
      const begun = wire
        .frames({ text: ['So far'] })
        .slice(0, 3)
        .join('')
      const stop = new AbortController()
      const { provider } = await against([stall(begun)])
      const middle = await provider.reply(
        asking({ signal: stop.signal }),
        (part) => part.type === 'text' && stop.abort(),
      )
      assert.deepEqual([middle.stop, middle.content], ['cancelled', [{ type: 'text', text: 'So far' }]])

      const already = await provider.reply(asking({ signal: stop.signal }), () => {})
      assert.deepEqual([already.stop, already.content], ['cancelled', []])

      const before = new AbortController()
      const silent = await against([() => before.abort()])
      assert.equal((await silent.provider.reply(asking({ signal: before.signal }), () => {})).stop, 'cancelled')

      const waiting = new AbortController()
      const busy = await against([status(529, '')], { retries: { firstMs: 60_000 } })
      const paused = await busy.provider.reply(asking({ signal: waiting.signal }), () => waiting.abort())
      assert.equal(paused.stop, 'cancelled')
    })

    test('a server that is not there is a failure that names it', async () => {
      const { provider, server } = await against([status(200, '')], never)
      await server.close()
      const { stop, failure } = await provider.reply(asking(), () => {})
      assert.deepEqual([stop, failure?.kind], ['error', 'network'])
      assert.match(failure!.message, /nothing answers at 127\.0\.0\.1:\d+; is the server running\?/)
    })

    test('turns share one connection, and one that the server has closed is not missed', async () => {
      const good: Answer = (response) => response.end(wire.frames({ text: ['ok'] }).join(''))
      const { provider, server } = await against([good])
      for (const _turn of [1, 2, 3]) assert.equal((await provider.reply(asking(), () => {})).stop, 'end_turn')
      assert.equal(server.connections(), 1)
      server.dropIdle()
      assert.equal((await provider.reply(asking(), () => {})).stop, 'end_turn')
      assert.equal(server.connections(), 2)
    })

    test('a server that never ends its stream does not hold up the reply', async () => {
      const { reply } = await ask([stall(wire.frames(twoCalls).join(''))])
      assert.deepEqual(reply, twoCallsReply)
    })

    test('a server that quotes the key does not get it into the message', async () => {
      const { reply } = await ask([status(401, { error: { message: `Incorrect API key provided: ${KEY}.` } })])
      assert.equal(reply.failure?.kind, 'authentication')
      assert.match(reply.failure!.message, /^Fix TEST_KEY \(127\.0\.0\.1:\d+ answered 401: .*\[secret\]/)
      assert.ok(!JSON.stringify(reply).includes(KEY.slice(3, 20)))
    })

    test('after a 401 the credential is renewed once', async () => {
      const secrets = ['old-secret-0000', 'new-secret-1111']
      const credential = {
        ...fixed({ class: 'oauth', source: 'login', whenRefused: 'log in' }, {}),
        now: async () => ({ key: secrets[0]! }),
        renew: async () => (secrets.length > 1 ? secrets.shift() !== undefined : false),
      }
      const refusal = status(401, { error: { type: 'authentication_error', message: 'expired' } })
      const renewed = await ask([refusal, stream(wire.frames({ text: ['ok'] }))], asking(), { credential })
      assert.deepEqual(renewed.reply, said('ok'))
      assert.ok(JSON.stringify(renewed.server.seen[1]!.headers).includes('new-secret-1111'))
      const refused = await ask([refusal], asking(), { credential })
      assert.deepEqual([refused.reply.failure?.kind, refused.server.seen.length], ['authentication', 1])
    })

    test('without a credential nothing is sent', async () => {
      const about = { class: 'oauth' as const, source: 'login', whenRefused: '' }
      const credential = { ...fixed(about, {}), now: async () => ({ problem: 'Not logged in · Please run /login' }) }
      const { reply, server } = await ask([status(200, '')], asking(), { credential })
      assert.deepEqual(reply.failure, { kind: 'authentication', message: 'Not logged in · Please run /login' })
      assert.equal(server.seen.length, 0)
    })

    test('a context that is too long is told apart', async () => {
      const body = { error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000' } }
      const { reply } = await ask([status(400, body)])
      assert.deepEqual([reply.failure?.kind, reply.failure?.contextOverflow], ['invalid-request', true])
    })

    test('a tool whose name does not fit travels under another and comes back under its own', async () => {
      const long = { ...tool, name: `mcp__${'server'.repeat(12)}__tool.with.dots` }
      let sent = ''
      const echo: Answer = (response, { body }) => {
        sent = /"name":"(mcp__[^"]+)"/.exec(body)![1]!
        stream(wire.frames({ calls: [{ id: 'a', name: sent, args: ['{}'] }] }))(response, {
          method: '',
          path: '',
          headers: {},
          body,
        })
      }
      const { reply } = await ask([echo], asking({ tools: [tool, long] }))
      assert.match(sent, /^[\w-]{1,64}$/)
      assert.deepEqual(reply.content, [{ type: 'tool_use', id: 'a', name: long.name, input: {} }])
    })

    test('a conversation is written the same from kept messages as from fresh ones', async () => {
      const messages: Message[] = [hello]
      const { provider, server } = await against([stream(wire.frames(twoCalls))])
      for (let turn = 0; turn < 3; turn++) {
        const { content } = await provider.reply(asking({ messages: [...messages] }), () => {})
        const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
        messages.push(
          { role: 'assistant', content },
          {
            role: 'user',
            content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x', is_error: true })),
          },
        )
      }
      await provider.reply(asking({ messages }), () => {})
      await provider.reply(asking({ messages: structuredClone(messages) }), () => {})
      const [kept, fresh] = server.seen.slice(-2).map(({ body }) => body)
      assert.equal(kept, fresh)
      assert.equal(wire.refuses(JSON.parse(kept!)), undefined)
    })

    test('the models are those that the server lists', async () => {
      const { provider } = await against([status(200, { data: [{ id: 'a' }, { id: 'b' }] })])
      assert.deepEqual(await provider.models(), ['a', 'b'])
      assert.deepEqual(await (await against([status(404, '')])).provider.models(), [])
    })
  })
}

/** The same JSON over several data lines. */
const pretty = (json: string): string =>
  JSON.stringify(JSON.parse(json), null, 1)
    .split('\n')
    .map((line) => `data:${line}`)
    .join('\n')
