import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import fc from 'fast-check'
import { type TestOptions, type TestSession, testSession } from '../../../test/support/agent-session.ts'
import type { Line } from '../../../test/support/model/scripted-model.ts'
import { defineHook, defineStepHook } from '../../hooks/define.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import type { Message, Reply } from '../../providers/model.ts'
import { liveRanges, loadConversation, loadMessages, recover } from '../session/history.ts'
import { runTurn } from '../turn.ts'
import { compact } from './compact.ts'
import { importsIn, instructionsFor, instructionsText } from './instructions.ts'
import { charsOf, clipped, transcriptPieces, transcriptText } from './window.ts'

const open: TestSession[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.end()
})

function start(options: TestOptions = {}): TestSession {
  const started = testSession(options)
  open.push(started)
  return started
}

const say = (it: TestSession, text: string) => runTurn(it.session, [textBlock(text)])

test('compaction puts a summary in place of the conversation, and the old rows stay', async () => {
  const raised: string[] = []
  const it = start({
    script: ['one', 'They said hi.', 'two'],
    handlers: [
      defineHook('PreCompact', ({ trigger }) => void raised.push(`pre ${trigger}`)),
      defineHook('PostCompact', ({ compact_summary }) => void raised.push(`post ${compact_summary}`)),
      defineHook('SessionStart', ({ source }) => void raised.push(`start ${source}`)),
    ],
  })
  await say(it, 'hi')
  assert.deepEqual(await compact(it.session, 'manual', null), { done: true, summary: 'They said hi.' })
  await say(it, 'go on')
  const said = 'The conversation so far, in summary:\nThey said hi.'
  assert.deepEqual(
    it.session.messages.map((message) => message.content.map((block) => 'text' in block && block.text)),
    [[said, 'go on'], ['two']],
  )
  assert.deepEqual(loadMessages(it.session.db, it.session.id, 100_000), it.session.messages)
  assert.deepEqual(raised, ['pre manual', 'post They said hi.', 'start compact'])
  assert.deepEqual(
    it.rows('SELECT content, word_count FROM summaries').map((row) => ({ ...row })),
    [{ content: 'They said hi.', word_count: 3 }],
  )
  assert.deepEqual(
    it.transcript().map((entry) => entry['_t']),
    ['user', 'assistant', 'system', 'user', 'user', 'assistant'],
  )
})

test('a veto skips compaction and nothing changes', async () => {
  const it = start({
    script: ['one'],
    handlers: [defineStepHook('before_compact', () => ({ kind: 'skip' }))],
  })
  await say(it, 'hi')
  const before = [...it.session.messages]
  assert.equal((await compact(it.session, 'auto', null)).done, false)
  assert.deepEqual(it.session.messages, before)
})

test('what is vetoed is no compaction: a full conversation goes on as often as hooks say no', async () => {
  const usage = { inputTokens: 900, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const look = (at: number): Reply => ({
    content: [{ type: 'tool_use', id: `call_${at}`, name: 'Glob', input: { pattern: '*' } }],
    stop: 'tool_use',
    model: 'scripted',
    usage,
  })
  const it = start({
    window: 1000,
    permissions: { allow: ['Glob'] },
    script: [look(1), look(2), look(3), look(4), look(5), 'done'],
    handlers: [defineHook('PreCompact', () => ({ decision: 'block', reason: 'keep every word' }))],
  })
  const { stop, text, why } = await say(it, 'hi')
  assert.deepEqual([stop, text, why], ['end_turn', 'done', undefined])
})

test('old bulky results are blanked before anything is summarised, and a resume sees the same', async () => {
  const big = 'x'.repeat(5000)
  const usage = { inputTokens: 700, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const it = start({
    mode: 'bypassPermissions',
    window: 1000,
    script: [
      {
        content: [{ type: 'tool_use', id: 'a', name: 'Read', input: { file_path: 'big.txt' } }],
        stop: 'tool_use',
        usage: { ...usage, inputTokens: 1 },
        model: 'scripted',
      },
      ...Array.from({ length: 6 }, (_, index) => `answer ${index}`),
      { content: [{ type: 'text', text: 'full' }], stop: 'end_turn', usage, model: 'scripted' },
      'last',
    ],
  })
  writeFileSync(join(it.folder, 'big.txt'), big)
  for (let index = 0; index < 8; index++) await say(it, `ask ${index}`)
  const blanked = '[An old result, removed to make room. Run the tool again if it is needed.]'
  const first = it.session.messages[2]!.content[0]!
  assert.equal(first.type === 'tool_result' && first.content, blanked)
  assert.deepEqual(loadMessages(it.session.db, it.session.id, 100_000), it.session.messages)
})

test('a result that is larger than the window is shown in part and kept whole, and the session goes on', async () => {
  const output = `first\n${'x'.repeat(1_000_000)}\nlast`
  const it = start({ window: 10_000, script: ['a summary', 'on we go'] })
  it.session.say([textBlock('look')])
  const use = { type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'cat' } } as const
  it.session.assistant([use])
  it.session.result(use, { content: output, isError: false })
  const shown = it.session.messages.at(-1)!.content[0]!
  assert.ok(shown.type === 'tool_result' && shown.content.length <= 10_000)
  assert.match(
    shown.content,
    /^first\nx+\n\[SDLC_TRUNCATED\] 990\d{3} of 1000011 characters are left out: .*\nx+\nlast$/,
  )
  const kept = it.transcript().find((entry) => entry['_t'] === 'tool_result')!
  assert.equal(kept['content'], output)
  assert.deepEqual(loadMessages(it.session.db, it.session.id, 10_000), it.session.messages)
  assert.equal((await compact(it.session, 'manual', null)).done, true)
  assert.equal((await say(it, 'go on')).text, 'on we go')
})

test('what a background agent comes back with is shown in part, too', async () => {
  const it = start({ window: 10_000, script: ['seen'] })
  const run = async (_: AbortSignal, write: (text: string) => void) => {
    write(`first\n${'x'.repeat(1_000_000)}\nlast`)
    return { exitCode: 0 }
  }
  it.session.tasks.start({ kind: 'agent', about: 'a look', run })
  await it.session.tasks.settle(1000)
  assert.equal((await say(it, 'well?')).text, 'seen')
  const [news] = it.session.messages[0]!.content
  assert.ok(news?.type === 'text' && news.text.length < 11_000)
  assert.match(news.text, /<result>first\nx+\n\[SDLC_TRUNCATED\] .*\nx+\nlast<\/result>/)
})

test('images that the server rejects are left out, the newest first, and that is said', async () => {
  const images = (messages: readonly Message[]) =>
    messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'image' ? [block.data] : [])))
  const rejected = { kind: 'invalid-request', status: 400, message: 'image exceeds 5 MB maximum' } as const
  const line: Line = ({ messages }) => (images(messages).includes('large') ? { failure: rejected } : 'seen')
  const it = start({ script: [line, line, line, { failure: rejected }, { failure: rejected }] })
  const look = (data: string) =>
    runTurn(it.session, [textBlock('look'), { type: 'image', mimeType: 'image/png', data }])
  assert.equal((await look('small')).text, 'seen')
  assert.equal((await look('large')).text, 'seen')
  assert.deepEqual(images(it.session.messages), ['small'])
  assert.match(JSON.stringify(it.session.messages), /An image was here; the server rejected it: image exceeds 5 MB/)
  const told = it.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
  assert.deepEqual(told, ['1 image is left out, because the server rejected it: image exceeds 5 MB maximum'])
  assert.equal((await say(it, 'on')).stop, 'error')
  assert.deepEqual(images(it.session.messages), [])
})

test('where a request has too many bytes, images go before the conversation is summarised', async () => {
  const rejected = { kind: 'invalid-request', status: 413, message: 'too large', contextOverflow: true } as const
  const it = start({ script: ['seen', { failure: rejected }, 'read', { failure: rejected }, 'a summary', 'shorter'] })
  assert.equal((await say(it, 'first')).text, 'seen')
  const image = { type: 'image', mimeType: 'image/png', data: 'large' } as const
  assert.equal((await runTurn(it.session, [textBlock('look'), image])).text, 'read')
  const texts = () =>
    it.session.messages.map(({ content }) => content.map((block) => block.type === 'text' && block.text))
  assert.deepEqual(texts(), [
    ['first'],
    ['seen'],
    ['look', '[An image was here; the server rejected it: too large]'],
    ['read'],
  ])
  assert.equal((await say(it, 'on')).text, 'shorter')
  assert.match(String(texts()[0]), /in summary:\na summary/)
})

test('what is summarised fits: the largest results are shortened first, and the rest goes on in further pieces', () => {
  const result = (id: string, content: string) =>
    ({ type: 'tool_result', tool_use_id: id, content, is_error: false }) as const
  const user = (content: string) => ({ role: 'user', content: [{ type: 'text', text: content }] }) as const
  const large = [
    user('the task'),
    { role: 'user', content: [result('a', 'y'.repeat(100_000))] } as const,
    user('the end'),
  ]
  const one = transcriptPieces(large, 5_000)
  assert.deepEqual([one.pieces.length, one.shortened], [1, 1])
  assert.ok(one.pieces[0]!.length <= 5_000)
  assert.match(one.pieces[0]!, /^user: the task\n\nuser: \[result: y+\n\[SDLC_TRUNCATED\][\s\S]*user: the end$/)
  const prompt = [user('p'.repeat(12_000)), ...large.slice(1)]
  const said = transcriptPieces(prompt, 5_000)
  assert.deepEqual([said.pieces.join('').match(/p+/g)?.join('').length, said.shortened], [12_000, 1])
  const many = Array.from({ length: 1000 }, (_, at) => user(`message ${at}`))
  const { pieces, shortened } = transcriptPieces(many, 2_000)
  assert.ok(pieces.length > 5 && pieces.every(({ length }) => length <= 2_000))
  assert.deepEqual([pieces.join('\n\n'), shortened], [transcriptText(many), 0])
  const wide = [
    { role: 'user', content: Array.from({ length: 50 }, (_, at) => result(`${at}`, 'z'.repeat(9_000))) } as const,
  ]
  assert.ok(transcriptPieces(wide, 10_000).pieces.every(({ length }) => length <= 10_000))
})

test('a conversation beyond the window is summarised in pieces, each with the summary so far, and that is said', async () => {
  const asked: string[] = []
  const line: Line = ({ messages }) => {
    const [block] = messages[0]!.content
    asked.push(block?.type === 'text' ? block.text : '')
    return `summary ${asked.length}`
  }
  const it = start({ window: 2_000, script: Array.from({ length: 9 }, () => line) })
  for (let at = 0; at < 300; at++) it.session.say([textBlock(`message ${at} ${'x'.repeat(20)}`)])
  const done = await compact(it.session, 'manual', null)
  assert.ok(asked.length > 1)
  assert.deepEqual(done, { done: true, summary: `summary ${asked.length}` })
  for (const [at, text] of asked.entries())
    assert.equal(text.startsWith(`The summary of what came before:\nsummary ${at}\n\nWhat followed:\n`), at > 0)
  for (let at = 0; at < 300; at++) assert.ok(asked.some((text) => text.includes(`message ${at} x`)))
  const notices = it.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
  assert.deepEqual(notices, [`Summarised in ${asked.length} pieces`])
})

test('where the server finds even the summary request too long, smaller pieces are sent', async () => {
  const tooLong = { kind: 'invalid-request', message: 'prompt is too long', contextOverflow: true } as const
  const line: Line = ({ messages }) => {
    const [block] = messages[0]!.content
    return block?.type === 'text' && block.text.length > 6_000 ? { failure: tooLong } : 'short'
  }
  const it = start({ window: 10_000, script: Array.from({ length: 20 }, () => line) })
  for (let at = 0; at < 20; at++) it.session.say([textBlock('字'.repeat(900))])
  assert.deepEqual(await compact(it.session, 'manual', null), { done: true, summary: 'short' })
})

test('where the server names a smaller window, a result is bounded by that one, and nothing is summarised', async () => {
  const contextWindow = 15_000
  const overflow = { kind: 'invalid-request', message: 'too long', contextOverflow: true, contextWindow } as const
  const line: Line = ({ messages }) => (charsOf(messages) > contextWindow * 4 ? { failure: overflow } : 'seen')
  const print = { calls: [{ name: 'Bash', input: { command: 'seq 1 20000' } }] }
  const it = start({ window: 200_000, mode: 'bypassPermissions', script: [print, line, line, print, line] })
  for (const prompt of ['one', 'two']) assert.equal((await say(it, prompt)).stop, 'end_turn')
  const results = it.session.messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_result' ? [block.content] : [])),
  )
  assert.deepEqual(
    results.map((text) => [text.length <= contextWindow, text.startsWith('1\n2\n'), text.endsWith('\n20000\n')]),
    [
      [true, true, true],
      [true, true, true],
    ],
  )
  const told = it.events.flatMap((event) =>
    event.type === 'notice' ? [event.text] : event.type === 'compacted' ? ['compacted'] : [],
  )
  const name = it.session.model.wireModel
  assert.deepEqual(told, [
    `${name} reads 15000 tokens, not 200000; results and replies are bounded by it. Set models."${name}".contextWindow in the settings`,
  ])
})

test('where the room for the reply is what does not fit, it becomes smaller, and nothing is summarised', async () => {
  const overflow = { kind: 'invalid-request', message: 'too long', contextOverflow: true, contextWindow: 2000 } as const
  const line: Line = ({ maxTokens }) => (maxTokens > 500 ? { failure: overflow } : `${maxTokens}`)
  const it = start({ script: [line, line, line] })
  assert.equal((await say(it, 'one')).text, '500')
  assert.equal((await say(it, 'two')).text, '500')
  assert.deepEqual(
    it.events.filter(({ type }) => type === 'compacted'),
    [],
  )
})

test('where nothing can be summarised, results are shortened until the request fits, and that is said', async () => {
  const tooLong = { kind: 'invalid-request', message: 'too long', contextOverflow: true } as const
  const line: Line = ({ messages, tools }) => {
    if (tools.length === 0) return ' '
    return charsOf(messages) > 20_000 ? { failure: tooLong } : 'seen'
  }
  const print = { calls: [{ name: 'Bash', input: { command: 'seq 1 9000' } }] }
  for (const env of [{}, { DISABLE_COMPACT: '1' }]) {
    const it = start({ env, mode: 'bypassPermissions', script: [print, ...Array.from({ length: 9 }, () => line)] })
    assert.equal((await say(it, 'one')).text, 'seen')
    assert.equal((await say(it, 'two')).text, 'seen')
    const said = it.events.flatMap((event) => (event.type === 'notice' ? [event.text.replace(/\d+/g, 'N')] : []))
    const shortened = 'Results are shortened, from N characters to N in all; the record keeps them whole'
    const failed = 'Compaction failed: the model gave an empty summary'
    const each = 'DISABLE_COMPACT' in env ? [shortened] : [failed, shortened]
    assert.deepEqual(said, [...each, ...each])
    assert.match(JSON.stringify(it.session.messages), /"1\\n2\\n.*SDLC_TRUNCATED.*\\n9000\\n"/)
    assert.match(JSON.stringify(it.transcript()), /\\n4500\\n/)
  }
})

test('a summary is bounded by the window, too', async () => {
  const it = start({ window: 10_000, script: ['hi', 's'.repeat(90_000)] })
  await say(it, 'hi')
  const done = await compact(it.session, 'manual', null)
  assert.ok(done.done && done.summary.length <= 10_000 && done.summary.includes('[SDLC_TRUNCATED]'))
  assert.ok(charsOf(it.session.messages) < 11_000)
})

test('where the conversation is not what fills the window, it is summarised once, and that is said', async () => {
  const tooLong = { kind: 'invalid-request', message: 'too long', contextOverflow: true } as const
  const line: Line = ({ tools }) => (tools.length === 0 ? 'a summary' : { failure: tooLong })
  const it = start({ script: Array.from({ length: 9 }, () => line) })
  assert.equal((await say(it, 'hi')).stop, 'error')
  assert.equal(it.model.requests.length, 3)
  const notices = it.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
  assert.deepEqual(notices, [
    'scripted has no room for a conversation: the system prompt and the tools fill its window. Use a model with a larger one',
  ])
})

test('a crash between the call and its result leaves a result that says so, once', async () => {
  const it = start()
  const { db, id } = it.session
  it.session.say([textBlock('go')])
  it.session.assistant([{ type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'make' } }])
  assert.deepEqual([recover(db, id), recover(db, id)], [1, 0])
  const last = it.transcript().at(-1)!
  assert.deepEqual([last['tool_use_id'], last['is_error']], ['a', true])
  assert.match(String(last['content']), /^\[SDLC_INTERNAL\] interrupted/)
})

test('calls of the operator are on record and in no request; a call that was open before them still gets its result', () => {
  const it = start()
  const { db, id } = it.session
  it.session.say([textBlock('go')])
  it.session.assistant([{ type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'make' } }])
  it.session.append({ _t: 'tool_use', id: 'mine', name: 'Read', input: { file_path: '/x' } })
  it.session.append({ _t: 'tool_result', tool_use_id: 'mine', content: 'canary', is_error: false })
  assert.equal(recover(db, id), 1)
  const messages = loadMessages(db, id, 100_000)
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content.map((block) => ('id' in block ? block.id : block.type))]),
    [
      ['user', ['text']],
      ['assistant', ['a']],
      ['user', ['tool_result']],
    ],
  )
  assert.equal(JSON.stringify(messages).includes('canary'), false)
})

test('of a conversation that is longer than the window, the end is loaded, from a prompt on', () => {
  const it = start()
  for (let index = 0; index < 200; index++) {
    it.session.say([textBlock(`prompt ${index} ${'x'.repeat(100)}`)])
    it.session.assistant([{ type: 'text', text: `answer ${index}` }])
  }
  const loaded = (compacts: boolean) => {
    const { messages, leftOut } = loadConversation(it.session.db, it.session.id, 1000, { compacts })
    assert.equal(messages[0]!.role, 'user')
    assert.deepEqual(messages, it.session.messages.slice(-messages.length))
    assert.equal(leftOut + messages.length, 400)
    return messages.length
  }
  assert.ok(loaded(false) > 10 && loaded(false) < 30, 'one window where nothing is summarised')
  assert.ok(Math.abs(loaded(true) - 2 * loaded(false)) <= 2, 'two where it is')
})

test('a conversation that has outgrown the window is summarised when it is resumed, and nothing is lost', async () => {
  const asked: string[] = []
  const line: Line = ({ system, messages }) => {
    asked.push(JSON.stringify(messages))
    return JSON.stringify(system).includes('Summarise') ? 'the summary' : 'on we go'
  }
  const it = start({ window: 2_000, script: Array.from({ length: 9 }, () => line) })
  for (let at = 0; at < 12; at++) {
    it.session.say([textBlock(`prompt ${at} ${'x'.repeat(400)}`)])
    it.session.assistant([{ type: 'text', text: `answer ${at} ${'y'.repeat(400)}` }])
  }
  const { messages, leftOut } = loadConversation(it.session.db, it.session.id, 2_000)
  assert.equal(leftOut, 0)
  it.session.messages.splice(0, Infinity, ...messages)
  it.session.unreportedChars = charsOf(messages)
  assert.equal((await say(it, 'go on')).text, 'on we go')
  for (let at = 0; at < 12; at++) assert.ok(asked.some((text) => text.includes(`prompt ${at} x`)))
})

test('of a last turn that is longer than the window all is loaded, and nothing of what came before', () => {
  const it = start()
  for (const prompt of ['first', 'second']) {
    it.session.say([textBlock(prompt)])
    for (let index = 0; index < 20; index++)
      it.session.assistant([{ type: 'text', text: `${prompt} ${index} ${'x'.repeat(1000)}` }])
  }
  const { messages, leftOut } = loadConversation(it.session.db, it.session.id, 1000)
  assert.deepEqual([messages, leftOut], [it.session.messages.slice(2), 21])
})

test('to resume, nothing is read of what was compacted away', () => {
  const it = start()
  const { db, id } = it.session
  for (let index = 0; index < 50; index++) it.session.say([textBlock(`prompt ${index}`)])
  it.session.append({ _t: 'system', subtype: 'compact_boundary' })
  it.session.say([textBlock('the summary')])
  const read: unknown[] = []
  const watched = Object.create(db, {
    each: {
      *value(sql: string, ...values: never[]) {
        for (const row of db.each<{ sequence: number }>(sql, ...values)) {
          read.push(row.sequence)
          yield row
        }
      },
    },
    all: { value: (sql: string, ...values: never[]) => db.all(sql, ...values) },
    get: { value: (sql: string, ...values: never[]) => db.get(sql, ...values) },
  })
  assert.equal(loadConversation(watched, id, 1000).messages.length, 1)
  assert.deepEqual(read, [51, 50])
})

test('what is live after compactions and rewinds', () => {
  const cases: [Parameters<typeof liveRanges>[0], [number, number][]][] = [
    [[], [[0, Infinity]]],
    [[{ sequence: 10, kind: 'compact_boundary' }], [[10, Infinity]]],
    [
      [{ sequence: 10, kind: 'rewind', to: 4 }],
      [
        [0, 4],
        [11, Infinity],
      ],
    ],
    [[{ sequence: 10, kind: 'rewind', to: 0 }], [[11, Infinity]]],
    [
      [
        { sequence: 10, kind: 'compact_boundary' },
        { sequence: 20, kind: 'rewind', to: 15 },
      ],
      [
        [10, 15],
        [21, Infinity],
      ],
    ],
    [
      [
        { sequence: 10, kind: 'compact_boundary' },
        { sequence: 20, kind: 'rewind', to: 4 },
      ],
      [
        [0, 4],
        [21, Infinity],
      ],
    ],
    [
      [
        { sequence: 10, kind: 'rewind', to: 4 },
        { sequence: 20, kind: 'rewind', to: 12 },
      ],
      [
        [0, 4],
        [11, 12],
        [21, Infinity],
      ],
    ],
  ]
  for (const [markers, ranges] of cases) {
    assert.deepEqual(
      liveRanges(markers),
      ranges.map(([start, end]) => ({ start, end })),
    )
  }
})

test('a row is live once at the most, whatever was done', () => {
  const marker = fc.record({ rewind: fc.boolean(), back: fc.nat(30), gap: fc.integer({ min: 1, max: 9 }) })
  fc.assert(
    fc.property(fc.array(marker, { maxLength: 12 }), (steps) => {
      let sequence = 0
      const markers = steps.map(({ rewind, back, gap }) => {
        sequence += gap
        return rewind
          ? { sequence, kind: 'rewind' as const, to: Math.max(0, sequence - back) }
          : { sequence, kind: 'compact_boundary' as const }
      })
      const ranges = liveRanges(markers)
      for (let row = 0; row < sequence + 5; row++) {
        assert.ok(ranges.filter(({ start, end }) => row >= start && row < end).length <= 1)
      }
      assert.equal(ranges.at(-1)!.end, Infinity)
    }),
  )
})

test('instructions come from the project, with their imports, told once under two names, and each raises its event', async () => {
  const raised: unknown[] = []
  const it = start({
    handlers: [defineHook('InstructionsLoaded', ({ event }) => void raised.push([event.file_path, event.load_reason]))],
  })
  const at = (name: string) => join(it.folder, name)
  mkdirSync(at('docs'))
  writeFileSync(at('CLAUDE.md'), 'Use tabs. See @docs/style.md and `@not/this.md`.')
  writeFileSync(at('AGENTS.md'), 'Use tabs. See @docs/style.md and `@not/this.md`.')
  writeFileSync(at('docs/style.md'), 'Short names.')
  const text = await instructionsText(it.session)
  assert.equal(
    text,
    `# Instructions from ${at('CLAUDE.md')}\nUse tabs. See @docs/style.md and \`@not/this.md\`.\n\n# Instructions from ${at('docs/style.md')}\nShort names.`,
  )
  assert.deepEqual(raised, [
    [at('CLAUDE.md'), 'session_start'],
    [at('docs/style.md'), 'include'],
  ])
})

test('instructions take no more of a small window than a result, and what is left out is said', async () => {
  const it = start({ window: 10_000 })
  const [first, second] = ['CLAUDE.md', 'AGENTS.md'].map((name) => join(it.folder, name)) as [string, string]
  writeFileSync(first, `first ${'a'.repeat(5_000)}`)
  writeFileSync(second, `second ${'b'.repeat(50_000)}`)
  const text = await instructionsText(it.session)
  assert.ok(text.includes('first aaa') && text.includes('second bbb') && text.length < 10_500)
  const notices = it.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
  assert.deepEqual(notices, [`${second} is over the 4994 characters that there is room for; the rest is left out`])
})

test('instructions of a folder come in when it is first touched', async () => {
  const it = start()
  mkdirSync(join(it.folder, 'pkg', 'deep'), { recursive: true })
  writeFileSync(join(it.folder, 'pkg', 'AGENTS.md'), 'Package rules.')
  assert.equal(await instructionsText(it.session), '')
  const path = join(it.folder, 'pkg', 'deep', 'x.ts')
  assert.equal(
    await instructionsFor(it.session, path),
    `# Instructions from ${join(it.folder, 'pkg', 'AGENTS.md')}\nPackage rules.`,
  )
  assert.equal(await instructionsFor(it.session, path), undefined)
})

test('a project cannot import what lies outside of it', async () => {
  const it = start()
  writeFileSync(join(it.folder, 'CLAUDE.md'), 'See @/etc/passwd.txt and @../../other/secret.md')
  await instructionsText(it.session)
  const warnings = it.events.filter((event) => event.type === 'notice')
  assert.equal(warnings.length, 2)
})

test('only what stands outside of code is an import', () => {
  assert.deepEqual(importsIn('@a.md x@b.md `@c.md`\n```\n@d.md\n```\n- @./e/f.md, @~/g.md'), [
    'a.md',
    './e/f.md',
    '~/g.md',
  ])
})

test('a long text is never cut in the middle of a character', () => {
  for (const before of ['', 'a']) {
    const text = `${before}${'🐢'.repeat(5_000)}`
    const shown = clipped(text, 1_000)
    assert.ok(shown.isWellFormed())
    const note = /^\[SDLC_TRUNCATED\] (\d+) of (\d+) characters/m.exec(shown)!
    const [head, , tail] = shown.split('\n')
    assert.equal(Number(note[1]), text.length - head!.length - tail!.length)
    const blocks = Array.from({ length: 4 }, () => ({ type: 'text', text }) as const)
    const { pieces } = transcriptPieces([{ role: 'user', content: blocks }], 3_001)
    assert.deepEqual([pieces.every((piece) => piece.isWellFormed()), pieces.length > 1], [true, true])
  }
})
