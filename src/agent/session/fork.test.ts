import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createConversation, createSession } from '../../store/conversations.ts'
import { openDb } from '../../store/open.ts'
import { appendEntries, countEntries, type Entry, readEntries } from '../../store/session/transcript.ts'
import { forkSession } from './fork.ts'
import { loadMessages } from './history.ts'

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-fork-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { db, session: createSession(db, createConversation(db, { projectDir: '/' }).id) }
}

const turn = (n: number, size: number): Entry[] => [
  { _t: 'user', uuid: `u${n}`, content: [{ type: 'text', text: `prompt ${n}` }], source: 'prompt' },
  { _t: 'assistant', uuid: `a${n}`, content: [{ type: 'text', text: 'x'.repeat(size) }] },
]

test('a fork of an ordinary session holds all of it, in its order', (t) => {
  const { db, session } = open(t)
  appendEntries(db, session.sessionId, [
    ...turn(1, 10),
    { _t: 'system', subtype: 'rewind', to: 0 },
    ...turn(2, 10),
  ] as Entry[])
  const { sessionId } = forkSession(db, session)
  const entries = (id: string) => [...readEntries(db, id)].map(({ sequence, entry }) => ({ sequence, entry }))
  assert.deepEqual(entries(sessionId), entries(session.sessionId))
})

test('a fork of a very long session copies what a model can be shown, and says where the rest is', (t) => {
  const { db, session } = open(t)
  for (let n = 0; n < 130; n++) appendEntries(db, session.sessionId, turn(n, 50_000))
  const { sessionId } = forkSession(db, session)
  const copied = countEntries(db, sessionId)
  assert.ok(copied > 100 && copied < 170, `${copied} of 260 entries`)
  const [note, first] = [...readEntries(db, sessionId, { before: 2 })]
  assert.deepEqual(note!.entry, {
    ...{ _t: 'system', subtype: 'forked', session: session.sessionId, first_sequence: 260 - (copied - 1) },
  })
  assert.equal(first!.entry._t, 'user')
  const window = 200_000
  assert.deepEqual(loadMessages(db, sessionId, window), loadMessages(db, session.sessionId, window))
})

test('what was compacted or rewound away is not copied', (t) => {
  const { db, session } = open(t)
  for (let n = 0; n < 100; n++) appendEntries(db, session.sessionId, turn(n, 50_000))
  appendEntries(db, session.sessionId, [
    { _t: 'system', subtype: 'compact_boundary', summary: 'so far' },
    ...turn(200, 10),
    ...turn(201, 10),
    { _t: 'system', subtype: 'rewind', to: 203 },
    ...turn(202, 10),
  ] as Entry[])
  const { sessionId } = forkSession(db, session)
  assert.deepEqual(
    [...readEntries(db, sessionId)].map(({ entry }) => entry['uuid'] ?? entry['subtype']),
    ['forked', 'compact_boundary', 'u200', 'a200', 'u202', 'a202'],
  )
  assert.deepEqual(loadMessages(db, sessionId, 200_000), loadMessages(db, session.sessionId, 200_000))
})
