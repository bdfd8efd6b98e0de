import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { verifyChain } from '../../audit/evidence/verify.ts'
import type { Invocation } from '../../hooks/plane.ts'
import { listHookInvocations } from '../audit.ts'
import { createConversation, createSession } from '../conversations.ts'
import { openDb } from '../open.ts'
import { keepOut } from '../secrets.ts'
import { commitToolCall } from './commit.ts'
import { asLiteral, usesIn, withReferences, withTexts } from './stored-once.ts'
import { appendEntry, type Entry } from './transcript.ts'

function record(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-once-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const conversationId = createConversation(db, { projectDir: '/' }).id
  return { db, conversationId, sessionId: createSession(db, conversationId).sessionId }
}

const at = '2026-01-01T00:00:00.000Z'
const row = (inputJson: string, toolUseId: string | null = 'call "1"'): Invocation => ({
  ...{ event: 'PostToolUse', ordinal: 0, matcher: '*', command: './hook.sh', toolUseId, toolName: 'Bash', inputJson },
  ...{ exitCode: 0, stdout: '', stderr: '', startedAt: at, completedAt: at, skippedReason: null },
})
const given = (response: unknown): Invocation => row(JSON.stringify({ tool_response: response }))
const output = `${'a "quoted" line\n'.repeat(4000)}$& $1 \ud800 \0 end`

test('a long output is stored once, and the log still shows what every hook was given', (t) => {
  const { db, conversationId, sessionId } = record(t)
  const invocations = [
    given(null),
    given({ content: output, is_error: false }),
    given({ stdout: output, stderr: '' }),
    given({ content: output.slice(0, 3000), is_error: false }), // more was added for the model
    given({ content: `${output} as another hook changed it`, is_error: false }),
    given({ content: `another ${output}`, is_error: false }),
    given({ [output]: output }), // the name of a field stays
    given('x'.repeat(3000)),
    row(JSON.stringify({ content: output }), null), // of no call
    row(JSON.stringify({ content: output }), 'call 2'),
    row(`{"content":"${'cut '.repeat(600)}`), // no JSON
  ]
  const result = { tool_use_id: 'call "1"', content: output, is_error: false }
  commitToolCall(db, { sessionId, conversationId, invocations, result })
  const lengths = db.all<{ n: number }>('SELECT length(input_json) AS n FROM hook_invocations ORDER BY id')
  assert.deepEqual(
    lengths.map(({ n }) => n < 300),
    [true, true, true, true, false, false, false, false, false, false, false],
  )
  assert.deepEqual(
    listHookInvocations(db).map(({ inputJson }) => inputJson),
    invocations.map(({ inputJson }) => inputJson),
  )
  assert.equal(verifyChain(db).fault, undefined)
})

test('from 2048 characters on', () => {
  const stored = (length: number) => {
    const content = 'x'.repeat(length)
    const [one] = withReferences([given({ content, also: 'y'.repeat(3000) })], undefined, {
      ...{ sequence: 3, id: 'call "1"', content },
    })
    return JSON.parse(one!.inputJson).tool_response.content
  }
  assert.equal(stored(2047), 'x'.repeat(2047))
  assert.deepEqual(stored(2048), {
    stored_in_transcript: { tool_use_id: 'call "1"', entry: 3, at: '/content', characters: 2048 },
  })
})

test('a long input is named by the entry that holds the call, wherever in it the text is', (t) => {
  const { db, sessionId } = record(t)
  const texts = ['one', 'two', 'three'].map((word) => `${word} `.repeat(1000))
  const input = { file_path: '/a', edits: [{ 'odd/na~me': texts[0] }, texts[1]], short: 'x' }
  const entries: Entry[] = [
    { _t: 'system', subtype: 'first' },
    {
      ...{ _t: 'assistant', uuid: 'u' },
      content: [
        { type: 'text', text: texts[2]! },
        { type: 'tool_use', id: 'other', name: 'Write', input: { content: texts[2]! } },
        { type: 'tool_use', id: 'call "1"', name: 'Edit', input },
      ],
    },
    { _t: 'tool_use', id: 'typed', name: 'Write', input: { content: texts[2]! } },
  ]
  const uses = new Map(entries.flatMap((entry) => [...usesIn(entry, appendEntry(db, sessionId, entry).sequence)]))
  assert.deepEqual([...uses.keys()], ['other', 'call "1"', 'typed'])
  const json = JSON.stringify({ tool_input: { ...input, added: 'by default' } })
  const [one, same, other] = withReferences(
    [row(json), row(json), row(JSON.stringify({ tool_input: { content: texts[2] } }), 'typed')],
    uses,
  )
  const place = (text: number, at: string, id = 'call "1"', entry = 1) => ({
    stored_in_transcript: { tool_use_id: id, entry, at: `/input${at}`, characters: texts[text]!.length },
  })
  assert.deepEqual(JSON.parse(one!.inputJson), {
    tool_input: {
      file_path: '/a',
      edits: [{ 'odd/na~me': place(0, '/edits/0/odd~1na~0me') }, place(1, '/edits/1')],
      ...{ short: 'x', added: 'by default' },
    },
  })
  assert.equal(same!.inputJson, one!.inputJson)
  assert.deepEqual(JSON.parse(other!.inputJson), { tool_input: { content: place(2, '/content', 'typed', 2) } })
  assert.equal(withTexts(db, sessionId, one!.inputJson), json)
})

test('what an earlier version stored is read back, where it can only be one text', (t) => {
  const { db, conversationId, sessionId } = record(t)
  const use: Entry = { _t: 'tool_use', id: 'a "call"', name: 'Write', input: { 'odd/name': 'typed' } }
  appendEntry(db, sessionId, use)
  const result = { tool_use_id: 'a "call"', content: 'printed \0', is_error: false }
  const printed = () => commitToolCall(db, { sessionId, conversationId, invocations: [], result })
  printed()
  printed()
  const read = (about: object) => {
    const reference = { stored_in_transcript: { tool_use_id: 'a "call"', ...about } }
    const { given } = JSON.parse(withTexts(db, sessionId, JSON.stringify({ given: reference })))
    return typeof given === 'string' ? given : undefined
  }
  assert.equal(read({ characters: 9 }), 'printed \0')
  assert.equal(read({ characters: 7 }), 'printed')
  assert.equal(read({ characters: 10 }), undefined)
  assert.equal(read({ entry: 0, input: '/odd~1name', characters: 5 }), 'typed')
  const other = { ...result, content: 'of the second call of that id' }
  commitToolCall(db, { sessionId, conversationId, invocations: [], result: other })
  assert.deepEqual([read({ characters: 9 }), read({ characters: 29 })], [undefined, other.content])
})

test('what is not there any more stays a reference', (t) => {
  const { db, conversationId, sessionId } = record(t)
  const entry: Entry = { _t: 'tool_use', id: 'short', name: 'Write', input: { content: 'x', more: 7 } }
  appendEntry(db, sessionId, entry)
  const result = { tool_use_id: 'short', content: 'erased', is_error: false }
  commitToolCall(db, { sessionId, conversationId, invocations: [], result })
  const references = [
    { tool_use_id: 'other', entry: 1, at: '/content', characters: 1 },
    { tool_use_id: 'short', entry: 1, at: '/content', characters: 3000 },
    { tool_use_id: 'short', entry: 0, at: '/input/content', characters: 3000 },
    { tool_use_id: 'short', entry: 0, at: '/input/more', characters: 1 },
    { tool_use_id: 'short', entry: 0, at: '/input/none/deeper', characters: 1 },
    { tool_use_id: 'short', entry: 0, at: '/input/constructor/name', characters: 1 },
    { tool_use_id: 'other', entry: 0, at: '/input/content', characters: 1 },
    { tool_use_id: 'short', entry: 9, at: '/content', characters: 1 },
  ].map((about) => JSON.stringify({ tool_input: { stored_in_transcript: about } }))
  for (const reference of references) assert.equal(withTexts(db, sessionId, reference), reference)
})

test('a text with a secret is read back as a hook was given it, without the secret', (t) => {
  const { db, conversationId, sessionId } = record(t)
  const secret = 'known-only-here-7713'
  keepOut(secret)
  const long = (word: string) => `${`${word} `.repeat(1000)}${secret}${` ${word}`.repeat(1000)}`
  const [typed, printed] = [long('typed'), long('printed')]
  const use: Entry = { _t: 'tool_use', id: 'call "1"', name: 'Write', input: { content: typed } }
  const { sequence } = appendEntry(db, sessionId, use)
  const cut = [typed, typed.slice(0, 3000), typed.slice(0, 6010), printed, printed.slice(0, 9000)]
  const invocations = cut.map((text) => row(JSON.stringify({ text })))
  const result = { tool_use_id: 'call "1"', content: printed, is_error: false }
  commitToolCall(db, { sessionId, conversationId, invocations, result, uses: usesIn(use, sequence) })
  assert.deepEqual(
    listHookInvocations(db).map(({ inputJson }) => JSON.parse(inputJson).text),
    cut.map((text) => text.replace(secret, '[secret]')),
  )
  const stored = db.all<{ length: number }>('SELECT length(input_json) AS length FROM hook_invocations ORDER BY id')
  assert.deepEqual(
    stored.map(({ length }) => length > 2048),
    [false, false, true, false, false],
    'a secret that is cut in two is no secret: that text is stored as it is',
  )
})

test('words of a call that look like a reference are not taken for one', (t) => {
  const { db, conversationId, sessionId } = record(t)
  const forged = { stored_in_transcript: { tool_use_id: 'call "1"', entry: 0, at: '/content', characters: 3000 } }
  const invocations = [given({ forged }), given({ forged, content: output })]
  const result = { tool_use_id: 'call "1"', content: output, is_error: false }
  commitToolCall(db, { sessionId, conversationId, invocations, result })
  assert.deepEqual(
    listHookInvocations(db).map(({ inputJson }) => JSON.parse(inputJson)),
    invocations.map(({ inputJson }) => JSON.parse(inputJson)),
  )
  assert.deepEqual(JSON.parse(asLiteral(JSON.stringify(forged))), forged)
})

test('calls with the same id are told apart: a hook is shown with what it was given', (t) => {
  const { db, conversationId, sessionId } = record(t)
  const outputs = ['first ', 'second '].map((word) => word.repeat(1000))
  for (const content of outputs)
    commitToolCall(db, {
      ...{ sessionId, conversationId, invocations: [given({ content })] },
      result: { tool_use_id: 'call "1"', content, is_error: false },
    })
  assert.deepEqual(
    listHookInvocations(db).map(({ inputJson }) => JSON.parse(inputJson).tool_response.content),
    outputs,
  )
})
