import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import type { Invocation } from '../../hooks/plane.ts'
import { listEvents, listHookInvocations, recordHooks } from '../audit.ts'
import {
  createConversation,
  createSession,
  getConversation,
  newestConversation,
  newestSession,
  setPhase,
} from '../conversations.ts'
import { openDb } from '../open.ts'
import { keepOut } from '../secrets.ts'
import { setState } from '../state.ts'
import { commitRound, commitToolCall } from './commit.ts'
import { listSessions } from './session-list.ts'
import {
  appendEntries,
  appendEntry,
  countEntries,
  type Entry,
  entryProblem,
  entryTypes,
  lastEntries,
  readEntries,
} from './transcript.ts'

function session(t: TestContext) {
  const place = mkdtempSync(join(tmpdir(), 'ona-transcript-'))
  const db = openDb(join(place, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(place, { recursive: true })
  })
  const { id: conversationId } = createConversation(db, { projectDir: '/project' })
  const { sessionId } = createSession(db, conversationId)
  return { db, conversationId, sessionId }
}

const said = (text: string): Entry => ({ _t: 'user', uuid: 'u', content: [{ type: 'text', text }] })
const hook = (more: Partial<Invocation> = {}): Invocation => ({
  event: 'PreToolUse',
  ordinal: 0,
  matcher: 'Bash',
  command: 'exit 2',
  toolUseId: 'call-1',
  toolName: 'Bash',
  inputJson: '{}',
  exitCode: 2,
  stdout: '',
  stderr: 'no',
  startedAt: '2026-01-01T00:00:00.000Z',
  completedAt: '2026-01-01T00:00:01.000Z',
  skippedReason: null,
  ...more,
})

test('entries are numbered from 0 in each session, and come back as they were', (t) => {
  const { db, conversationId, sessionId } = session(t)
  const other = createSession(db, conversationId).sessionId
  const entries: Entry[] = [
    said('hello'),
    {
      _t: 'assistant',
      uuid: 'a',
      content: [{ type: 'tool_use', id: 'c1', name: 'Read', input: { a: [1, { b: null }] } }],
    },
    { _t: 'tool_use', id: 'c1', name: 'Read', input: {} },
    { _t: 'tool_result', tool_use_id: 'c1', content: 'text', is_error: false },
    { _t: 'system', subtype: 'note', more: 1 },
    { _t: 'progress', data: { a: 1 } },
    { _t: 'attachment', attachment: { name: 'x' } },
    { _t: 'ai_title', title: 'x' },
  ]
  appendEntry(db, other, said('elsewhere'))
  const appended = appendEntries(db, sessionId, entries)
  assert.deepEqual(
    appended.map(({ sequence }) => sequence),
    [0, 1, 2, 3, 4, 5, 6, 7],
  )
  const rows = [...readEntries(db, sessionId)]
  assert.deepEqual(
    rows.map(({ entry }) => entry),
    entries,
  )
  assert.deepEqual(
    rows.map(({ toolUseId }) => toolUseId),
    [null, null, 'c1', 'c1', null, null, null, null],
  )
  const child = appendEntry(db, sessionId, said('below'), rows[0]!.id)
  assert.deepEqual(lastEntries(db, sessionId, 1), [
    {
      ...child,
      parentId: rows[0]!.id,
      toolUseId: null,
      createdAt: lastEntries(db, sessionId, 1)[0]!.createdAt,
      entry: said('below'),
    },
  ])
  assert.deepEqual([countEntries(db, sessionId), countEntries(db, other), countEntries(db, 'none')], [9, 1, 0])
})

test('a range and a choice of types is read in pages, without gaps or repeats', (t) => {
  const { db, sessionId } = session(t)
  const entries = Array.from(
    { length: 200 },
    (_, index): Entry => (index % 3 === 0 ? { _t: 'system', subtype: String(index) } : said(String(index))),
  )
  appendEntries(db, sessionId, entries)
  const numbers = (range: Parameters<typeof readEntries>[2]) =>
    [...readEntries(db, sessionId, range)].map(({ sequence }) => sequence)
  const all = entries.map((_, index) => index)
  assert.deepEqual(numbers({}), all)
  assert.deepEqual(numbers({ after: 9, before: 120 }), all.slice(10, 120))
  assert.deepEqual(
    numbers({ types: ['system'] }),
    all.filter((index) => index % 3 === 0),
  )
  assert.deepEqual(
    lastEntries(db, sessionId, 3).map(({ sequence }) => sequence),
    [197, 198, 199],
  )
})

test('a session may be written to while it is read', (t) => {
  const { db, sessionId } = session(t)
  appendEntries(
    db,
    sessionId,
    Array.from({ length: 40 }, () => said('x')),
  )
  let count = 0
  for (const { sequence } of readEntries(db, sessionId, { before: 40 })) {
    assert.equal(sequence, count++)
    appendEntry(db, sessionId, said('y'))
  }
  assert.deepEqual([count, countEntries(db, sessionId)], [40, 80])
})

test('any text survives: NUL, lone surrogates, quotes', (t) => {
  const { db, sessionId } = session(t)
  const any = anyText().map((text) => `${text}\0\ud800"\\`)
  fc.assert(
    fc.property(any, fc.jsonValue(), (text, value) => {
      const entry: Entry = { _t: 'system', subtype: text, value: JSON.parse(JSON.stringify(value)) }
      appendEntry(db, sessionId, entry)
      assert.deepEqual(lastEntries(db, sessionId, 1)[0]!.entry, entry)
    }),
    { numRuns: 100 },
  )
  assert.equal(
    db.get<{ n: number }>('SELECT count(*) AS n FROM transcript_entries WHERE json_valid(payload_json)')!.n,
    100,
  )
})

test('what is outside the closed set is refused at the door, and nothing is stored', (t) => {
  const { db, sessionId } = session(t)
  const text = { type: 'text', text: 'x' }
  const result = { type: 'tool_result', tool_use_id: 'x', content: 'y', is_error: false }
  const closed = `_t must be one of ${entryTypes.join(', ')}`
  const bad: [entry: unknown, why: string][] = [
    [{ _t: 'thinking' }, closed],
    [{ _t: 'constructor' }, closed],
    [{}, closed],
    [null, closed],
    ['user', closed],
    [{ _t: 'user', content: [text] }, 'uuid is missing'],
    [{ _t: 'user', uuid: 7, content: [] }, 'uuid must be a string, not a number'],
    [{ _t: 'user', uuid: 'u', content: 'x' }, 'content must be a list, not a string'],
    [{ _t: 'user', uuid: 'u', content: [{ ...text, cache: true }] }, 'content[0].tool_use_id is missing'],
    [{ _t: 'user', uuid: 'u', content: [{ type: 'image', data: '' }] }, 'content[0].tool_use_id is missing'],
    [
      { _t: 'assistant', uuid: 'u', content: [{ type: 'tool_use', id: 'x', name: 'y' }] },
      'content[0].tool_use_id is missing',
    ],
    [
      { _t: 'user', uuid: 'u', content: [{ ...result, cache: true }] },
      'content[0].cache is not known here; known: type,tool_use_id,content,is_error',
    ],
    [
      { _t: 'user', uuid: 'u', content: [text, { ...result, is_error: 0 }] },
      'content[1].is_error must be true or false, not a number',
    ],
    [
      { _t: 'assistant', uuid: 'u', content: [{ type: 'tool_use', id: 'x', name: 'y', input: {}, cache: true }] },
      'content[0].tool_use_id is missing',
    ],
    [{ _t: 'tool_result', tool_use_id: 'x', content: ['x'], is_error: false }, 'content must be a string, not a list'],
    [{ _t: 'tool_result', tool_use_id: 'x', content: 'x' }, 'is_error is missing'],
    [{ _t: 'tool_use', id: 'x', name: 'y', input: [] }, 'input must be an object, not a list'],
    [{ _t: 'system' }, 'subtype is missing'],
    [{ _t: 'progress', data: 'x' }, 'data must be an object, not a string'],
    [{ _t: 'attachment', attachment: 1 }, 'attachment must be an object, not a number'],
  ]
  for (const [entry, why] of bad) {
    assert.equal(entryProblem(entry), why)
    if (entry === null) continue
    const message = `transcript entry ${(entry as { _t?: unknown })._t}: ${why}`
    assert.throws(() => appendEntries(db, sessionId, [said('before'), entry as Entry]), { name: 'TypeError', message })
  }
  assert.equal(countEntries(db, sessionId), 0)
  assert.equal(entryTypes.length, 15)
  fc.assert(fc.property(fc.anything(), (value) => void entryProblem(value)))
})

test('the entries of one session are not those of another', (t) => {
  const { db, conversationId, sessionId } = session(t)
  const { sessionId: other } = createSession(db, conversationId)
  for (const [id, text] of [
    [sessionId, 'ours'],
    [other, 'theirs'],
    [other, 'theirs too'],
  ] as const)
    appendEntry(db, id, said(text))
  const texts = (rows: Iterable<{ entry: Entry }>) =>
    Array.from(rows, ({ entry }) => (entry['content'] as { text: string }[])[0]!.text)
  assert.deepEqual(
    [texts(lastEntries(db, sessionId, 9)), texts(readEntries(db, sessionId)), texts(lastEntries(db, other, 9))],
    [['ours'], ['ours'], ['theirs', 'theirs too']],
  )
  assert.deepEqual([countEntries(db, sessionId), countEntries(db, other), countEntries(db, 'none')], [1, 2, 0])
})

test('a session that does not exist takes no entry', (t) => {
  const { db } = session(t)
  assert.throws(() => appendEntry(db, 'none', said('x')), /FOREIGN KEY/)
  assert.throws(() => createSession(db, 'none'), { name: 'StoreError', kind: 'not-there' })
})

test('a row that another program wrote wrong is reported by its number', (t) => {
  const { db, sessionId } = session(t)
  const insert =
    "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES (?, ?, 'user', ?)"
  db.run(insert, sessionId, 0, '{"uuid":"u","content":[]}')
  assert.deepEqual([...readEntries(db, sessionId)][0]!.entry, { uuid: 'u', content: [], _t: 'user' })
  db.run(`UPDATE transcript_entries SET payload_json = '{"_t":"system","uuid":"u","content":[]}'`)
  assert.deepEqual([...readEntries(db, sessionId)][0]!.entry, { uuid: 'u', content: [], _t: 'user' }, 'by its column')
  db.run(insert, sessionId, 1, '{"uuid":')
  const damaged = (why: string) => ({
    ...{ name: 'StoreError', kind: 'damaged', message: `${db.path}: transcript_entries row 2: ${why}` },
  })
  assert.throws(() => [...readEntries(db, sessionId)], damaged('Unexpected end of JSON input'))
  db.run("UPDATE transcript_entries SET payload_json = '{}' WHERE id = 2")
  assert.throws(() => lastEntries(db, sessionId, 1), damaged('uuid is missing'))
})

test('a tool call is stored whole: hooks, permission, result', (t) => {
  const { db, conversationId, sessionId } = session(t)
  const invocations = [hook(), hook({ ordinal: 1, exitCode: null, skippedReason: 'prior_block_or_deny' })]
  const call = {
    sessionId,
    conversationId,
    invocations,
    permission: { toolName: 'Bash', decision: 'deny' as const, reason: { by: 'hook' } },
    result: { tool_use_id: 'call-1', content: 'denied', is_error: true },
    extra: [said('and')],
  }
  assert.equal(commitToolCall(db, call).sequence, 0)
  assert.deepEqual(
    listHookInvocations(db, { toolUseId: 'call-1' }),
    invocations.map((each, index) => ({ id: index + 1, sessionId, conversationId, ...each })),
  )
  assert.deepEqual(
    db.all('SELECT session_id, tool_use_id, tool_name, decision, reason_json FROM tool_permission_log'),
    [
      {
        session_id: sessionId,
        tool_use_id: 'call-1',
        tool_name: 'Bash',
        decision: 'deny',
        reason_json: '{"by":"hook"}',
      },
    ],
  )
  assert.deepEqual(
    [...readEntries(db, sessionId)].map(({ entry }) => entry),
    [{ _t: 'tool_result', tool_use_id: 'call-1', content: 'denied', is_error: true }, said('and')],
  )
  // one bad part, and nothing of it is there
  assert.throws(() => commitToolCall(db, { ...call, extra: [{ _t: 'nonsense' } as unknown as Entry] }), TypeError)
  assert.throws(
    () => commitRound(db, { ...call, entries: [said('x'), {} as Entry], events: [{ type: 'x' }] }),
    TypeError,
  )
  const count = (table: string) => db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n
  assert.deepEqual(['hook_invocations', 'tool_permission_log', 'transcript_entries', 'events'].map(count), [2, 1, 2, 0])
})

test('events and hook rows are listed by what they belong to, newest last', (t) => {
  const { db, conversationId, sessionId } = session(t)
  commitRound(db, {
    sessionId,
    conversationId,
    entries: [],
    events: [{ type: 'tool_start', detail: { id: 'a' } }, { type: 'note', detail: 'text' }, { type: 'note' }],
  })
  const details = (filter: Parameters<typeof listEvents>[1]) => listEvents(db, filter).map(({ detail }) => detail)
  assert.deepEqual(details({ conversationId }), ['{"id":"a"}', 'text', null])
  assert.deepEqual(details({ sessionId, type: 'note', limit: 1 }), [null])
  assert.deepEqual(details({ sessionId: 'none' }), [])
  recordHooks(db, sessionId, conversationId, [hook(), hook({ event: 'Stop', toolName: null })])
  assert.deepEqual(
    listHookInvocations(db, { event: 'Stop' }).map(({ toolName }) => toolName),
    [null],
  )
})

test('a secret that the process knows never reaches the database', (t) => {
  const { db, conversationId, sessionId } = session(t)
  const secret = 'not-a-known-form-8271'
  keepOut(secret)
  keepOut('short')
  commitToolCall(db, {
    sessionId,
    conversationId,
    invocations: [
      hook({ stdout: `key=${secret}`, stderr: secret, inputJson: JSON.stringify({ secret }), command: `x ${secret}` }),
    ],
    permission: { toolName: 'Bash', decision: 'allow', reason: { secret } },
    result: { tool_use_id: 'c', content: `the key is ${secret}, in short`, is_error: false },
    events: [{ type: 'x', detail: secret }],
  })
  setState(db, conversationId, 'k', secret)
  const tables = ['hook_invocations', 'tool_permission_log', 'transcript_entries', 'events', 'state']
  const all = JSON.stringify(tables.map((table) => db.all(`SELECT * FROM ${table}`)))
  assert.ok(!all.includes(secret))
  assert.ok(all.includes('the key is [secret], in short'))
})

test('the newest session of a project is found; those of sub-agents are not offered', (t) => {
  const { db, conversationId, sessionId } = session(t)
  const elsewhere = createConversation(db, { projectDir: '/elsewhere' })
  const second = createSession(db, elsewhere.id).sessionId
  createSession(db, conversationId, 'sub', { sessionId, agentId: 'a1', agentType: 'explore' })
  appendEntries(db, sessionId, [{ _t: 'system', subtype: 'x' }, said('first words'), said('second words')])
  setState(db, conversationId, 'name', 'my work')
  assert.equal(newestSession(db, { projectDir: '/project' })!.sessionId, sessionId)
  assert.equal(newestSession(db)!.sessionId, second)
  assert.equal(newestConversation(db, '/elsewhere')!.id, elsewhere.id)
  assert.equal(newestSession(db, { projectDir: '/nowhere' }), undefined)
  const [found, ...others] = listSessions(db, { projectDir: '/project' })
  assert.deepEqual(
    [found!.sessionId, found!.firstPrompt, found!.name, found!.entries, others],
    [sessionId, 'first words', 'my work', 3, []],
  )
})

test('a phase changes only from where the caller thinks it is', (t) => {
  const { db, conversationId } = session(t)
  assert.equal(setPhase(db, conversationId, 'implement', 'test'), false)
  assert.equal(getConversation(db, conversationId)!.phase, 'idle')
  assert.equal(setPhase(db, conversationId, 'idle', 'planning'), true)
  assert.equal(getConversation(db, conversationId)!.phase, 'planning')
})
