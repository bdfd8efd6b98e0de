import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addEvent } from '../audit.ts'
import { createConversation, createSession } from '../conversations.ts'
import { type Db, inMemory, openDb } from '../open.ts'
import { setState } from '../state.ts'
import { countMessages, listSessions, type SessionSummary, sessionByPrefix } from './session-list.ts'
import { appendEntries, type Entry } from './transcript.ts'

const said = (type: 'user' | 'assistant', text: string): Entry => ({
  _t: type,
  uuid: 'u',
  content: [{ type: 'text', text }],
})

function record(t: TestContext): Db {
  const db = openDb(inMemory)
  t.after(() => db.close())
  return db
}

function session(db: Db, projectDir: string, at: string, texts: readonly string[], branch?: string): string {
  const conversation = createConversation(db, { projectDir })
  const { sessionId } = createSession(db, conversation.id)
  addEvent(db, {
    conversationId: conversation.id,
    sessionId,
    type: 'session_start',
    detail: { cwd: projectDir, branch },
  })
  appendEntries(
    db,
    sessionId,
    texts.flatMap((text) => [said('user', text), said('assistant', 'Yes.')]),
  )
  db.transaction(() => db.run('UPDATE conversations SET last_active = ? WHERE id = ?', at, conversation.id))
  return sessionId
}

test('pages follow each other without a gap or a repetition, also within one second', (t) => {
  const db = record(t)
  const made = Array.from({ length: 25 }, (_, at) =>
    session(db, at % 5 === 0 ? '/other' : '/shop', `2026-11-01 10:00:0${Math.floor(at / 10)}`, [`prompt ${at}`]),
  )
  session(db, '/shop', '2026-11-01 11:00:00', [])
  for (const [projectDir, expected] of [
    [null, made.toReversed()],
    ['/shop', made.filter((_, at) => at % 5 !== 0).toReversed()],
  ] as const) {
    const read: SessionSummary[] = []
    for (let page = listSessions(db, { projectDir, limit: 4 }); page.length > 0; ) {
      read.push(...page)
      page = listSessions(db, { projectDir, limit: 4, after: read.at(-1) })
    }
    assert.deepEqual(
      read.map(({ sessionId }) => sessionId),
      expected,
    )
  }
})

test('a session is listed with its name, first prompt, branch and the number of its messages', (t) => {
  const db = record(t)
  const id = session(db, '/shop', '2026-11-01 10:00:00', ['first', 'second'], 'feature/cart')
  const [{ conversationId }] = listSessions(db) as [SessionSummary]
  setState(db, conversationId, 'name', 'my work')
  const [{ startedAt, ...found }, ...others] = listSessions(db) as [SessionSummary, ...SessionSummary[]]
  assert.deepEqual(
    [found, others],
    [
      {
        sessionId: id,
        conversationId,
        projectDir: '/shop',
        phase: 'idle',
        lastActive: '2026-11-01 10:00:00',
        name: 'my work',
        firstPrompt: 'first',
        branch: 'feature/cart',
        entries: 4,
        archived: 0,
      },
      [],
    ],
  )
  assert.deepEqual([countMessages(db, id, 100), countMessages(db, id, 3)], [4, 3])
})

test('the beginning of an id finds the session, unless another begins the same', (t) => {
  const db = record(t)
  const { id } = createConversation(db, { projectDir: '/shop' })
  createSession(db, id, 'abcdef01-1111-4111-8111-111111111111')
  createSession(db, id, 'abcdef02-1111-4111-8111-111111111111')
  const found = (prefix: string) => sessionByPrefix(db, prefix)?.sessionId
  assert.deepEqual(
    [found('abcdef01'), found('abcdef'), found('abc'), found('zzzzzz')],
    ['abcdef01-1111-4111-8111-111111111111', undefined, undefined, undefined],
  )
})

test('the newest sessions are read by index, of one project and of all', (t) => {
  const db = record(t)
  const seen: string[] = []
  const watched = {
    ...db,
    all<T>(sql: string, ...values: never[]): T[] {
      seen.push(...db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail))
      return db.all<T>(sql, ...values)
    },
  } as unknown as Db
  const after = { lastActive: 'x', startedAt: 'y', sessionId: 'z' } as SessionSummary
  for (const projectDir of [null, '/shop'])
    for (const page of [{}, { after }]) listSessions(watched, { projectDir, ...page })
  const slow = seen.filter((line) => /^SCAN (?!.*USING.*INDEX)|TEMP B-TREE FOR ORDER BY/.test(line))
  assert.deepEqual([slow, seen.length > 0], [[], true])
})
