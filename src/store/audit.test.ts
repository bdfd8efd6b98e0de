/** How rows of the audit are found: how many, by which index, and with what a hook was given. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Invocation } from '../hooks/plane.ts'
import { listEvents, listHookInvocations, recordHooks } from './audit.ts'
import { createConversation, createSession } from './conversations.ts'
import { type Db, inMemory, openDb } from './open.ts'
import { commitRound, commitToolCall } from './session/commit.ts'
import { appendEntry } from './session/transcript.ts'

function opened(t: TestContext, path = inMemory): Db {
  const db = openDb(path)
  t.after(() => db.close())
  createConversation(db, { projectDir: '/p', id: 'c' })
  createSession(db, 'c', 's')
  return db
}

const invocation: Invocation = {
  ...{ event: 'PostToolUse', ordinal: 1, matcher: '', command: 'log', toolUseId: 't1', toolName: 'Bash' },
  ...{ inputJson: '{}', exitCode: 0, stdout: '', stderr: '', skippedReason: null },
  ...{ startedAt: '2026-01-01T00:00:00.000Z', completedAt: '2026-01-01T00:00:01.000Z' },
}

test('the newest 1000 rows unless more are asked for; a filter that is undefined is none, and an empty text matches no row', (t) => {
  const db = opened(t)
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1005) SELECT'
  db.run(`INSERT INTO events(conversation_id, session_id, event_type) ${numbers} 'c', 's', 'x' FROM n`)
  commitRound(db, {
    ...{ sessionId: 's', conversationId: 'c', entries: [] },
    invocations: Array.from({ length: 1005 }, () => invocation),
  })
  const ends = (rows: readonly { id: number }[]) => [rows.length, rows[0]?.id, rows.at(-1)?.id]
  const none = { type: undefined, sessionId: undefined, conversationId: undefined } as object
  for (const list of [listEvents, listHookInvocations] as ((db: Db, filter?: object) => { id: number }[])[]) {
    assert.deepEqual(ends(list(db)), [1000, 6, 1005])
    assert.deepEqual(ends(list(db, none)), [1000, 6, 1005])
    assert.deepEqual(ends(list(db, { limit: 1003, sessionId: 's' })), [1003, 3, 1005])
    for (const empty of [{ sessionId: '' }, { conversationId: '' }]) assert.deepEqual(list(db, empty), [])
  }
  assert.deepEqual(listEvents(db, { type: '' }), [])
  for (const empty of [{ event: '' }, { toolUseId: '' }, { toolName: '' }, { toolName: 'Bash', sessionId: '' }])
    assert.deepEqual(listHookInvocations(db, empty), [])
  assert.deepEqual(ends(listHookInvocations(db, { toolName: 'Bash' })), [1000, 6, 1005])
  assert.deepEqual(ends(listHookInvocations(db, { toolName: 'Bash', limit: 1003 })), [1003, 3, 1005])
})

test('rows are found by the index that narrows most, however many there are', (t) => {
  const db = opened(t)
  commitRound(db, { sessionId: 's', conversationId: 'c', entries: [], invocations: [invocation] })
  const used = (list: (db: Db, filter: object) => unknown, filter: object) => {
    const plans: string[] = []
    const all = <Row>(sql: string, ...values: never[]): Row[] => {
      const plan = db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      // the first line reads the rows that were chosen, by their ids
      const chosen = plan.findLast(({ detail }) => /^(SCAN|SEARCH)/.test(detail))!
      plans.push(chosen.detail.replace(/^.* USING (COVERING )?INDEX /, ''))
      return db.all(sql, ...values)
    }
    list(Object.assign(Object.create(db), { all, get: db.get.bind(db), path: db.path }) as Db, filter)
    return plans.at(-1)
  }
  const tool = { toolName: 'Bash' }
  const post = { event: 'PostToolUse' }
  const rows: [object, string][] = [
    [{}, 'SCAN hook_invocations'],
    [{ sessionId: 's' }, 'idx_hook_inv_session (session_id=?)'],
    [{ sessionId: 's', conversationId: 'c', ...post, ...tool }, 'idx_hook_inv_session (session_id=?)'],
    [{ conversationId: 'c', ...post, ...tool }, 'ona_hooks_conversation (conversation_id=?)'],
    [{ ...tool, conversationId: 'c' }, 'ona_hooks_conversation (conversation_id=?)'],
    [{ ...tool, sessionId: 's' }, 'idx_hook_inv_session (session_id=?)'],
    [post, 'ona_hooks_event (hook_event=?)'],
    [tool, 'ona_hooks_tool (tool_name=? AND hook_event=?)'],
    [{ ...tool, ...post }, 'ona_hooks_tool (tool_name=? AND hook_event=?)'],
  ]
  assert.deepEqual(
    rows.map(([filter]) => [filter, used(listHookInvocations, filter)]),
    rows,
  )
  const events: [object, string][] = [
    [{ sessionId: 's', type: 'x' }, 'ona_events_session (session_id=?)'],
    [{ conversationId: 'c', type: 'x' }, 'ona_events_conversation (conversation_id=?)'],
  ]
  assert.deepEqual(
    events.map(([filter]) => [filter, used(listEvents, filter)]),
    events,
  )
})

test('a long output is stored once, with the result, and read back in what the hooks were given', (t) => {
  const db = opened(t)
  const call = (id: string, content: string) => {
    const inputJson = JSON.stringify({ tool_name: 'Bash', tool_response: content, again: [content] })
    commitToolCall(db, {
      ...{ sessionId: 's', conversationId: 'c', result: { tool_use_id: id, content, is_error: false } },
      invocations: [
        { ...invocation, toolUseId: id, inputJson },
        { ...invocation, toolUseId: id, inputJson: '{"no":"output"}' },
      ],
    })
    const stored = db.all<{ text: string }>('SELECT input_json AS text FROM hook_invocations WHERE tool_use_id = ?', id)
    const read = listHookInvocations(db, { toolUseId: id }).map((each) => each.inputJson)
    assert.deepEqual(read, [inputJson, '{"no":"output"}'])
    assert.equal(stored[1]!.text, '{"no":"output"}')
    return stored[0]!.text
  }
  const reference = (id: string, entry: number) =>
    JSON.stringify({ stored_in_transcript: { tool_use_id: id, entry, at: '/content', characters: 2048 } })
  const short = 'x'.repeat(2047)
  assert.equal(call('short', short), `{"tool_name":"Bash","tool_response":"${short}","again":["${short}"]}`)
  const odd = reference("$& $' $1", 1)
  assert.equal(call("$& $' $1", 'y'.repeat(2048)), `{"tool_name":"Bash","tool_response":${odd},"again":[${odd}]}`)
  const [first, second] = ['1'.repeat(2048), '2'.repeat(2048)]
  call('twice', first)
  appendEntry(db, 's', { _t: 'tool_result', tool_use_id: 'twice', content: second, is_error: false })
  appendEntry(db, 's', { _t: 'tool_use', id: 'twice', name: 'Bash', input: {}, content: 'of no result' })
  assert.equal(JSON.parse(listHookInvocations(db, { toolUseId: 'twice' })[0]!.inputJson).tool_response, first)
  const ref = reference('a "quoted" id', 5)
  assert.equal(
    call('a "quoted" id', `$& "${'x'.repeat(2044)}`),
    `{"tool_name":"Bash","tool_response":${ref},"again":[${ref}]}`,
  )
  db.run("UPDATE transcript_entries SET payload_json = '{' WHERE tool_use_id = 'a \"quoted\" id'")
  const [damaged] = listHookInvocations(db, { toolUseId: 'a "quoted" id' })
  assert.equal(
    damaged!.inputJson,
    `{"tool_name":"Bash","tool_response":${ref},"again":[${ref}]}`,
    'the reference stays',
  )
})

test('where no hook ran, nothing is written and no lock is taken', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-audit-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.db')
  const db = opened(t, path)
  const other = openDb(path)
  t.after(() => other.close())
  other.get('PRAGMA busy_timeout=0')
  db.transaction(() => recordHooks(other, 's', 'c', []))
})
