import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addEvent } from '../audit.ts'
import { createConversation, createSession, getSession, newestSession } from '../conversations.ts'
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
  for (const key of ['mode', 'names', 'zone']) setState(db, conversationId, key, 'another value')
  assert.equal(listSessions(db)[0]?.name, null)
  setState(db, conversationId, 'name', 'my work')
  for (const [sessionId, type, branch] of [
    [id, 'session_start', 'resumed/elsewhere'],
    ['s2', 'session_start', 'other'],
    [id, 'other', 'x'],
  ] as const)
    addEvent(db, { conversationId, sessionId, type, detail: { branch } })
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
  session(db, '/shop', '2026-11-01 09:00:00', ['of another'])
  assert.deepEqual(
    listSessions(db).map(({ name, firstPrompt, branch, entries }) => [name, firstPrompt, branch, entries]),
    [
      ['my work', 'first', 'feature/cart', 4],
      [null, 'of another', null, 2],
    ],
  )
  assert.deepEqual([countMessages(db, id, 100), countMessages(db, id, 3)], [4, 3])
})

test('sessions of sub-agents, those of another agent’s history and those without a word are not listed', (t) => {
  const db = record(t)
  const [own, imported, logged] = [0, 1, 2].map((at) => session(db, '/shop', `2026-11-01 10:00:0${at}`, ['x']))
  const { conversationId } = listSessions(db).find(({ sessionId }) => sessionId === own)!
  for (const [id, parent] of [['silent'], ['inner', { sessionId: own!, agentId: 'a', agentType: 'x' }]] as const)
    createSession(db, conversationId, id, parent)
  appendEntries(db, 'inner', [said('user', 'x')])
  db.run("INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES (?, 'x', 'y', 'z')", imported!)
  db.run("INSERT INTO ona_dispatcher_imports(project_dir, sid, session_id, bytes) VALUES ('/shop', 'd', ?, 1)", logged!)
  assert.deepEqual(
    listSessions(db).map(({ sessionId }) => sessionId),
    [own],
  )
  assert.equal(newestSession(db)?.conversationId, conversationId)
})

test('a session that is archived is listed, without what its rows tell', (t) => {
  const db = record(t)
  const id = session(db, '/shop', '2026-11-01 10:00:00', [])
  assert.deepEqual(listSessions(db), [])
  const other = session(db, '/shop', '2026-11-01 11:00:00', ['one', 'two'], 'main')
  const { conversationId } = getSession(db, id)!
  db.run(
    "INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES (?, 'f', 0, 1, x'00', 2)",
    conversationId,
  )
  db.run('DELETE FROM events')
  assert.deepEqual(
    listSessions(db).map(({ startedAt: _, conversationId: __, ...found }) => found),
    [
      {
        ...{ sessionId: other, projectDir: '/shop', phase: 'idle', lastActive: '2026-11-01 11:00:00' },
        ...{ name: null, firstPrompt: 'one', branch: null, entries: 4, archived: 0 },
      },
      {
        ...{ sessionId: id, projectDir: '/shop', phase: 'idle', lastActive: '2026-11-01 10:00:00' },
        ...{ name: null, firstPrompt: null, branch: null, entries: 0, archived: 1 },
      },
    ],
  )
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
  for (const name of ['my session', 'release', '-bcdef01', 'abcdef01 or so']) createSession(db, id, name)
  assert.deepEqual(
    ['my session', 'release', '-bcdef01', 'abcdef01 or so', 'abcde', `${'a'.repeat(37)}`].map(found),
    Array(6).fill(undefined),
    'what is no beginning of an id is none, even where a session is called so',
  )
  for (const last of ['0', 'f']) {
    const whole = `0badca${last}1-1111-4111-8111-111111111111`
    createSession(db, id, whole)
    assert.equal(found('0badca'), last === '0' ? whole : undefined)
    assert.deepEqual([`0badca${last}`, whole, '0badc'].map(found), [whole, whole, undefined], 'from six characters on')
  }
  createSession(db, id, 'ffffffg')
  createSession(db, id, 'fffffff1-1111-4111-8111-111111111111')
  assert.equal(found('ffffff'), 'fffffff1-1111-4111-8111-111111111111')
  createSession(db, id, 'abcdea')
  assert.equal(found('abcdea'), 'abcdea')
  const [imported, inner] = ['abcdeb11-1111-4111-8111-111111111111', 'abcdeb22-1111-4111-8111-111111111111']
  createSession(db, id, imported)
  assert.equal(found('abcdeb'), imported)
  createSession(db, id, inner, { sessionId: imported, agentId: 'a', agentType: 'x' })
  assert.equal(found('abcdeb'), imported, 'a sub-agent is not resumed')
  db.run("INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES (?, 'x', 'y', 'z')", imported)
  assert.equal(found('abcdeb'), undefined, 'another agent’s history is not resumed')
  assert.equal(found('abcdef02'), 'abcdef02-1111-4111-8111-111111111111', 'the others are')
})

test('a first prompt is its first text, cut after 300 characters, wherever among four blocks it is', (t) => {
  const db = record(t)
  const block = { type: 'tool_use', id: 'x', name: 'T', input: {} } as const
  const prompts = [0, 1, 2, 3, 4].map((at) => {
    const id = session(db, '/shop', `2026-11-01 10:00:0${at}`, [])
    const text = { type: 'text', text: `${at}${'x'.repeat(400)}` } as const
    const content = [...Array.from({ length: at }, () => block), text]
    appendEntries(db, id, [{ _t: 'user', uuid: 'u', content }, said('user', 'later')])
    return listSessions(db).find(({ sessionId }) => sessionId === id)?.firstPrompt
  })
  assert.deepEqual(prompts, [...[0, 1, 2, 3].map((at) => `${at}${'x'.repeat(299)}`), null])
})

test('a page has 50 sessions unless another number is asked for', (t) => {
  const db = record(t)
  for (let at = 0; at < 51; at++) session(db, '/shop', '2026-11-01 10:00:00', ['x'])
  assert.deepEqual([listSessions(db).length, listSessions(db, { limit: 51 }).length], [50, 51])
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
