/** What each part of the store writes and reads back, whole: every column, and what it says where it refuses. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import type { Invocation } from '../hooks/plane.ts'
import {
  decideApproval,
  getApproval,
  keepWaitingCall,
  listApprovals,
  openApprovals,
  requestApproval,
  settleApproval,
  takeWaitingCall,
  waitingCalls,
} from './approvals.ts'
import {
  beginRetention,
  begunRetention,
  finishRetention,
  holdConversation,
  holdOf,
  holds,
  releaseConversation,
} from './archive/retention.ts'
import { addEvent, listEvents, listHookInvocations } from './audit.ts'
import {
  createConversation,
  createSession,
  getConversation,
  getSession,
  newestConversation,
  newestSession,
  phases,
  setPhase,
  touchConversation,
} from './conversations.ts'
import { forgetOffer, knownServers, readKnownServer, writeKnownServer } from './mcp-servers.ts'
import { getMemory, listMemories, searchMemories, writeMemory } from './memories.ts'
import { inMemory, openDb } from './open.ts'
import { approvePlan, completePlan, draftPlan, getPlan, hashOf, supersedePlan } from './plans.ts'
import { addRating, lastRating } from './ratings.ts'
import { recentDenials, recentFailures, usageByDay } from './reports.ts'
import { keepProfile } from './sandbox-profiles.ts'
import { keepOut } from './secrets.ts'
import { commitRound, commitToolCall } from './session/commit.ts'
import { addPrompt, readPrompts } from './session/prompt-history.ts'
import { signIn, signOut, workerIn } from './session/session-lock.ts'
import { saveSummary } from './session/summaries.ts'
import { shownBytes } from './size.ts'
import { getState, setState } from './state.ts'
import { isTelemetryVariable, readTraceparent, sendsTelemetry, withTrace } from './telemetry.ts'

function opened(t: TestContext) {
  const db = openDb(inMemory)
  t.after(() => db.close())
  createConversation(db, { projectDir: '/p', id: 'c' })
  createSession(db, 'c', 's')
  return db
}

const isNow = (time: string) => Math.abs(Date.parse(`${time}Z`) - Date.now()) < 120_000
/** A value as JSON, with times within two minutes of now as NOW; 64 hexadecimal digits as HASH. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null)
      .replaceAll(/"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"/g, (found, time) => (isNow(time) ? '"NOW"' : found))
      .replaceAll(/"[0-9a-f]{64}"/g, '"HASH"'),
  )

const onLinux = process.platform === 'linux'
const old = (db: ReturnType<typeof opened>, table: string, column: string, where: string) =>
  db.run(`UPDATE ${table} SET ${column} = '2020-01-01 00:00:00' WHERE ${where}`)

test('conversations and sessions', (t) => {
  const db = opened(t)
  createConversation(db, { projectDir: '/q', id: 'd', phase: 'planning' })
  createSession(db, 'd', 'child', { sessionId: 's', agentId: 'a1', agentType: 'Explore' })
  assert.deepEqual(plain([getConversation(db, 'c'), getConversation(db, 'd'), getSession(db, 's')]), [
    { id: 'c', projectDir: '/p', phase: 'idle', createdAt: 'NOW', lastActive: 'NOW' },
    { id: 'd', projectDir: '/q', phase: 'planning', createdAt: 'NOW', lastActive: 'NOW' },
    { sessionId: 's', conversationId: 'c', startedAt: 'NOW' },
  ])
  assert.deepEqual(db.all('SELECT session_id, parent_session_id, agent_id, agent_type FROM ona_subagents').map(plain), [
    { session_id: 'child', parent_session_id: 's', agent_id: 'a1', agent_type: 'Explore' },
  ])
  assert.deepEqual([getConversation(db, 'x'), getSession(db, 'x')], [undefined, undefined])
  assert.throws(() => createSession(db, 'd', 's'), /UNIQUE constraint/)
  assert.throws(() => createConversation(db, { projectDir: '/q', id: 'c' }), /UNIQUE constraint/)
  assert.throws(() => createSession(db, 'x'), {
    kind: 'not-there',
    name: 'StoreError',
    message: 'there is no conversation x in :memory:',
  })
  const newest = () => [newestConversation(db)?.id, newestConversation(db, '/p')?.id, newestConversation(db, '/r')?.id]
  assert.deepEqual(newest(), ['d', 'c', undefined])
  old(db, 'conversations', 'last_active', "id IN ('c', 'd')")
  touchConversation(db, 'c')
  assert.deepEqual(newest(), ['c', 'c', undefined])
  assert.deepEqual(
    ['c', 'd'].map((id) => plain(getConversation(db, id)?.lastActive)),
    ['NOW', '2020-01-01 00:00:00'],
  )
  assert.deepEqual([setPhase(db, 'd', 'idle', 'test'), setPhase(db, 'd', 'planning', 'test')], [false, true])
  assert.deepEqual(plain(getConversation(db, 'd')), {
    ...{ id: 'd', projectDir: '/q', phase: 'test', createdAt: 'NOW', lastActive: 'NOW' },
  })
  assert.deepEqual(
    [{}, { projectDir: '/p' }, { projectDir: '/q' }, { conversationId: 'c' }, { conversationId: 'd' }].map(
      (where) => newestSession(db, where)?.sessionId,
    ),
    ['s', 's', undefined, 's', undefined],
  )
  assert.deepEqual(
    [newestSession(db, { projectDir: '' }), newestSession(db, { conversationId: '' })],
    [undefined, undefined],
  )
  createConversation(db, { projectDir: '/p/inner', id: 'inner' })
  assert.equal(newestConversation(db, '/p')?.id, 'c', 'a folder below is another project')
  assert.equal(newestConversation(db, ''), undefined)
  db.run("DELETE FROM conversations WHERE id = 'inner'")
  createSession(db, 'c', 's2')
  db.run("UPDATE sessions SET started_at = '2026-01-01 00:00:00'")
  assert.equal(newestSession(db, { conversationId: 'c' })?.sessionId, 's2', 'of the same second the later')
  db.run("UPDATE sessions SET started_at = '2026-01-01 00:00:01' WHERE session_id = 's'")
  assert.equal(newestSession(db, { conversationId: 'c' })?.sessionId, 's', 'the one that started last')
  db.run("UPDATE sessions SET started_at = '2026-01-01 00:00:00' WHERE session_id = 's'")
  createConversation(db, { projectDir: '/p', id: 'imported' })
  createSession(db, 'imported', 'imported')
  assert.deepEqual(
    [newest(), newestSession(db, { projectDir: '/p' })?.sessionId],
    [['imported', 'imported', undefined], 'imported'],
  )
  db.run("INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES ('imported', 'other', 'x', 'f')")
  assert.deepEqual(
    [newest(), newestSession(db, { projectDir: '/p' })?.sessionId],
    [['d', 'c', undefined], 's2'],
    "what came out of another agent's history is not continued",
  )
  assert.deepEqual(phases, ['idle', 'planning', 'implement', 'test', 'verify', 'done'], 'the phases of spec 003')
  assert.match(createConversation(db, { projectDir: '/' }).id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
})

test('approvals: what is asked, who decides, and what is recorded of it', (t) => {
  const db = opened(t)
  const wanted = {
    ...{ conversationId: 'c', sessionId: 's', toolUseId: 't1', tool: 'Bash', input: '{"command":"ls"}' },
    ...{ summary: 'ls', reason: 'default mode prompts for Bash', owner: null, expiresInSeconds: 60 },
  }
  const id = requestApproval(db, wanted)
  assert.match(id, /^[0-9a-f]{8}$/)
  const asked = {
    ...{ id, conversationId: 'c', sessionId: 's', resume: 's', agent: null, projectDir: '/p', prompt: null },
    ...{ toolUseId: 't1', tool: 'Bash', input: '{"command":"ls"}', summary: 'ls', owner: null, status: 'pending' },
    ...{ reason: 'default mode prompts for Bash', createdAt: 'NOW', expiresAt: 'NOW', decidedBy: null, note: null },
  }
  assert.deepEqual(plain(getApproval(db, id)), asked)
  const { createdAt, expiresAt } = getApproval(db, id)!
  assert.equal(Date.parse(`${expiresAt}Z`) - Date.parse(`${createdAt}Z`), 60_000)
  assert.deepEqual(plain(openApprovals(db, 's')), [asked])
  assert.deepEqual(openApprovals(db, 'x'), [])

  createSession(db, 'c', 'child', { sessionId: 's', agentId: 'a1', agentType: 'Explore' })
  const text = (words: string) => ({ type: 'text', text: words }) as const
  for (const content of [[text('first')], [text('do it'), text('well')]])
    commitRound(db, { sessionId: 'child', conversationId: 'c', entries: [{ _t: 'user', uuid: 'u', content }] })
  const owned = requestApproval(db, { ...wanted, sessionId: 'child', toolUseId: 't2', owner: 'ada' })
  const late = requestApproval(db, { ...wanted, toolUseId: 't3', expiresInSeconds: 0 })
  const { resume, agent, prompt, owner } = getApproval(db, owned)!
  assert.deepEqual([resume, agent, prompt, owner], ['s', 'Explore', 'do it\nwell', 'ada'])
  assert.deepEqual([getApproval(db, late)?.status, getApproval(db, 'none')], ['expired', undefined])
  assert.deepEqual(
    openApprovals(db, 's').map((each) => each.id),
    [id, late],
    'oldest first',
  )
  const ids = (all?: boolean) => listApprovals(db, all === undefined ? {} : { all }).map((each) => each.id)
  assert.deepEqual(
    [ids(), ids(true)],
    [
      [owned, id],
      [late, owned, id],
    ],
  )

  assert.deepEqual(
    [
      decideApproval(db, 'none', { allow: true, by: 'ada' }),
      decideApproval(db, late, { allow: true, by: 'ada' }),
      decideApproval(db, owned, { allow: true, by: 'bob' }),
      decideApproval(db, owned, { allow: true, by: 'ada', note: 'fine' }),
      decideApproval(db, owned, { allow: false, by: 'ada' }),
      decideApproval(db, id, { allow: false, by: 'bob' }),
    ],
    [
      'there is no approval none; ona approvals list shows those that wait',
      `approval ${late} is expired; only a pending one can be decided`,
      `approval ${owned} belongs to ada, not to bob; decide it with --as "ada"`,
      undefined,
      `approval ${owned} is approved; only a pending one can be decided`,
      undefined,
    ],
  )
  assert.deepEqual(plain(getApproval(db, id)), { ...asked, status: 'denied', decidedBy: 'bob' })
  assert.deepEqual([getApproval(db, owned)?.note, ids()], ['fine', []])
  assert.deepEqual([settleApproval(db, id), settleApproval(db, id), settleApproval(db, 'none')], [true, false, false])
  assert.deepEqual([openApprovals(db, 's').map((each) => each.id), ids(true)], [[late], [late, owned, id]])
  assert.deepEqual(db.all('SELECT decided_at AS decided, settled FROM ona_approvals ORDER BY rowid').map(plain), [
    { decided: 'NOW', settled: 1 },
    { decided: 'NOW', settled: 0 },
    { decided: null, settled: 0 },
  ])
  const taken = requestApproval(db, { ...wanted, toolUseId: 't4' })
  assert.deepEqual(
    [ids(), settleApproval(db, taken), ids()],
    [[taken], true, []],
    'a call that was taken up waits no more',
  )
  db.run("DELETE FROM events WHERE detail LIKE '%t4%'")
  t.after(() => delete process.env['ONA_GOVERNED'])
  process.env['ONA_GOVERNED'] = 'x'
  assert.equal(
    decideApproval(db, taken, { allow: true, by: 'mallory' }),
    "deciding an approval is for the operator, and this command was started by an agent's tool or hook (ONA_GOVERNED is set); run it in a terminal of your own",
  )
  assert.notEqual(decideApproval(db, taken, { allow: false, by: 'mallory' }), undefined)
  assert.equal(getApproval(db, taken)?.decidedBy, null)
  delete process.env['ONA_GOVERNED']
  assert.deepEqual(
    listEvents(db).map(({ conversationId, sessionId, type, detail }) => [
      conversationId,
      sessionId,
      type,
      JSON.parse(detail!),
    ]),
    [
      ['c', 's', 'approval_requested', { id, tool: 'Bash', tool_use_id: 't1' }],
      ['c', 'child', 'approval_requested', { id: owned, tool: 'Bash', tool_use_id: 't2' }],
      ['c', 's', 'approval_requested', { id: late, tool: 'Bash', tool_use_id: 't3' }],
      ['c', 'child', 'approval_decided', { id: owned, decision: 'approved', by: 'ada', note: 'fine' }],
      ['c', 's', 'approval_decided', { id, decision: 'denied', by: 'bob' }],
    ],
  )
})

test('an approval whose prompt cannot be read has none; a note may be empty', (t) => {
  const db = opened(t)
  db.run("INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES ('s', 0, 'user', '{')")
  const id = requestApproval(db, {
    ...{ conversationId: 'c', sessionId: 's', toolUseId: 't', tool: 'Bash', owner: null, expiresInSeconds: 60 },
    ...{ input: '{}', summary: '', reason: '' },
  })
  assert.equal(decideApproval(db, id, { allow: true, by: 'ada', note: '' }), undefined)
  assert.deepEqual(
    listApprovals(db, { all: true }).map(({ prompt, note, status }) => [prompt, note, status]),
    [[null, '', 'approved']],
  )
  assert.deepEqual(JSON.parse(listEvents(db, { type: 'approval_decided' })[0]!.detail!), {
    ...{ id, decision: 'approved', by: 'ada' },
  })
})

test('approvals are listed by their time, then by their row, a thousand of them', (t) => {
  const db = opened(t)
  db.run(`WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at < 1000)
    INSERT INTO ona_approvals(id, conversation_id, session_id, tool_use_id, tool_name, input_json, summary, reason, created_at,
      expires_at)
    SELECT 'a' || at, 'c', 's', 't', 'Bash', '{}', '', '', '2020-01-01 00:00:0' || iif(at = 3, 1, 0), '2999-01-01 00:00:00' FROM n`)
  const ids = listApprovals(db).map(({ id }) => id)
  assert.deepEqual([ids.length, ids.slice(0, 2), ids.at(-1)], [1000, ['a3', 'a1000'], 'a1'])
})

test('calls that wait for an agent', (t) => {
  const db = opened(t)
  createSession(db, 'c', 'k')
  const call = (toolUseId: string, detail = '{}') => ({ sessionId: 's', toolUseId, childSessionId: 'k', detail })
  for (const each of [call('t1'), call('t2'), call('t1', '{"a":1}'), call('t3')]) keepWaitingCall(db, each)
  assert.deepEqual(plain(waitingCalls(db, 's')), [call('t2'), call('t1', '{"a":1}'), call('t3')])
  takeWaitingCall(db, 's', 't3')
  assert.deepEqual(plain([takeWaitingCall(db, 's', 't1'), takeWaitingCall(db, 's', 't1'), waitingCalls(db, 's')]), [
    call('t1', '{"a":1}'),
    null,
    [call('t2')],
  ])
  assert.deepEqual([waitingCalls(db, 'x'), takeWaitingCall(db, 'x', 't2')], [[], undefined])
  const theirs = { ...call('t2'), sessionId: 'k' }
  keepWaitingCall(db, theirs)
  assert.deepEqual(plain([takeWaitingCall(db, 's', 't2'), waitingCalls(db, 'k')]), [call('t2'), [theirs]])
})

const invocation: Invocation = {
  ...{ event: 'PreToolUse', ordinal: 3, matcher: 'Bash', command: 'guard', toolUseId: 't1', toolName: 'Bash' },
  ...{ inputJson: '{"a":1}', exitCode: 2, stdout: 'out', stderr: 'err', skippedReason: null },
  ...{ startedAt: '2026-01-01T00:00:00.000Z', completedAt: '2026-01-01T00:00:01.000Z' },
}

test('a tool call: its hooks, its permission, its result, its events and what follows, as one', (t) => {
  const db = opened(t)
  old(db, 'conversations', 'last_active', "id = 'c'")
  const skipped = { ...invocation, ordinal: 4, exitCode: null, stdout: null, stderr: null, completedAt: null }
  const call = {
    ...{ sessionId: 's', conversationId: 'c' },
    invocations: [invocation, { ...skipped, skippedReason: 'prior_block_or_deny' }],
    permission: { toolName: 'Bash', decision: 'deny', reason: { by: 'rule', rule: 'Bash(rm *)' } },
    result: { tool_use_id: 't1', content: 'no', is_error: true },
    events: [{ type: 'tool_end', detail: { ms: 5 } }],
    extra: [{ _t: 'system', subtype: 'note' }],
  } as const
  const appended = commitToolCall(db, call)
  assert.deepEqual(plain(appended), { id: 1, sequence: 0 })
  assert.deepEqual(plain(listHookInvocations(db)), [
    { id: 1, sessionId: 's', conversationId: 'c', ...invocation },
    { id: 2, sessionId: 's', conversationId: 'c', ...skipped, skippedReason: 'prior_block_or_deny' },
  ])
  assert.deepEqual(db.all('SELECT * FROM tool_permission_log').map(plain), [
    {
      ...{ id: 1, session_id: 's', tool_use_id: 't1', tool_name: 'Bash', decision: 'deny', created_at: 'NOW' },
      reason_json: '{"by":"rule","rule":"Bash(rm *)"}',
    },
  ])
  assert.deepEqual(
    db
      .all(
        'SELECT session_id, sequence, parent_entry_id, entry_type, payload_json, tool_use_id FROM transcript_entries',
      )
      .map(plain),
    [
      {
        ...{ session_id: 's', sequence: 0, parent_entry_id: null, entry_type: 'tool_result', tool_use_id: 't1' },
        payload_json: '{"_t":"tool_result","tool_use_id":"t1","content":"no","is_error":true}',
      },
      {
        ...{ session_id: 's', sequence: 1, parent_entry_id: null, entry_type: 'system', tool_use_id: null },
        payload_json: '{"_t":"system","subtype":"note"}',
      },
    ],
  )
  assert.deepEqual(plain(listEvents(db)), [
    { id: 1, conversationId: 'c', sessionId: 's', timestamp: 'NOW', type: 'tool_end', detail: '{"ms":5}' },
  ])
  assert.notEqual(getConversation(db, 'c')?.lastActive, '2020-01-01 00:00:00')
  commitRound(db, { sessionId: 's', conversationId: 'c', entries: [{ _t: 'system', subtype: 'x' }], parentId: 1 })
  assert.deepEqual(db.all('SELECT parent_entry_id AS parent FROM transcript_entries ORDER BY id').map(plain), [
    { parent: null },
    { parent: null },
    { parent: 1 },
  ])
  assert.throws(() => commitToolCall(db, { ...call, extra: [{ _t: 'odd' } as never] }), /_t must be one of/)
  assert.deepEqual(
    ['hook_invocations', 'tool_permission_log', 'transcript_entries', 'events'].map(
      (table) => db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n,
    ),
    [2, 1, 3, 1],
  )
})

test('events and hook rows by what they belong to', (t) => {
  const db = opened(t)
  createSession(db, 'c', 's2')
  const add = (sessionId: string | null, type: string, detail?: unknown) =>
    addEvent(db, { conversationId: 'c', sessionId, type, ...(detail !== undefined && { detail }) })
  assert.deepEqual([add('s', 'a', 'text'), add('s2', 'b', { x: 1 }), add(null, 'a'), add('s', 'b', null)], [1, 2, 3, 4])
  assert.deepEqual(
    listEvents(db).map(({ detail }) => detail),
    ['text', '{"x":1}', null, null],
  )
  const events = (filter: object) => listEvents(db, filter).map(({ id }) => id)
  assert.deepEqual(
    [
      {},
      { type: 'a' },
      { sessionId: 's' },
      { conversationId: 'c', type: 'b' },
      { conversationId: 'x' },
      { limit: 2 },
    ].map(events),
    [[1, 2, 3, 4], [1, 3], [1, 4], [2, 4], [], [3, 4]],
  )
  for (const detail of ['', 0, false, []]) add('s', 'empty', detail)
  assert.deepEqual(
    listEvents(db, { type: 'empty' }).map(({ detail }) => detail),
    ['', '0', 'false', '[]'],
    'what is empty is not missing',
  )
  const rows = [
    invocation,
    { ...invocation, event: 'PostToolUse' as const, toolName: 'Read', toolUseId: 't2' },
    { ...invocation, event: 'PostToolUse' as const },
    { ...invocation, event: 'Stop' as const, toolName: null, toolUseId: null },
  ]
  for (const [at, sessionId] of ['s', 's', 's2', 's2'].entries())
    commitRound(db, { sessionId, conversationId: 'c', entries: [], invocations: [rows[at]!] })
  const hooks = (filter: object) => listHookInvocations(db, filter).map(({ id }) => id)
  assert.deepEqual(
    [
      ...[{}, { toolName: 'Bash' }, { toolName: 'Bash', limit: 1 }, { event: 'PostToolUse' }, { toolUseId: 't2' }],
      ...[{ toolName: 'Bash', event: 'PostToolUse' }, { sessionId: 's', toolName: 'Bash' }, { toolName: 'None' }],
      ...[{ conversationId: 'c', toolName: 'Read' }, { limit: 1 }, { conversationId: 'x' }],
    ].map(hooks),
    [[1, 2, 3, 4], [1, 3], [3], [2, 3], [2], [3], [1], [], [2], [4], []],
  )
})

test('plans', (t) => {
  const db = opened(t)
  const draft = draftPlan(db, { conversationId: 'c', content: 'do', filePath: '/p/plan.md' })
  const row = { id: 1, conversationId: 'c', filePath: '/p/plan.md', content: 'do', hash: 'HASH', createdAt: 'NOW' }
  assert.deepEqual(plain(draft), { ...row, status: 'draft', approvedAt: null, completedAt: null })
  assert.equal(completePlan(db, 1), undefined)
  assert.deepEqual(plain(approvePlan(db, 1)), { ...row, status: 'approved', approvedAt: 'NOW', completedAt: null })
  assert.equal(approvePlan(db, 1), undefined)
  assert.deepEqual(plain(completePlan(db, 1)), { ...row, status: 'completed', approvedAt: 'NOW', completedAt: 'NOW' })
  assert.deepEqual(
    [completePlan(db, 1), supersedePlan(db, 1), supersedePlan(db, 9), getPlan(db, 9)],
    [...[undefined, false, false, undefined]],
  )
  const other = draftPlan(db, { conversationId: 'c', content: 'more' })
  assert.equal(other.filePath, null)
  assert.deepEqual([supersedePlan(db, 2), getPlan(db, 2)?.status, supersedePlan(db, 2)], [true, 'superseded', false])
  approvePlan(db, draftPlan(db, { conversationId: 'c', content: 'again' }).id)
  assert.deepEqual([supersedePlan(db, 3), getPlan(db, 3)?.status], [true, 'superseded'])
  assert.equal(getPlan(db, 1)?.status, 'completed', 'whatever was approved since')
})

test('memories', (t) => {
  const db = opened(t)
  const memory = writeMemory(
    db,
    {
      ...{ id: 'm', type: 'fact', title: 'Build', content: 'make all', keywords: 'compile', conceptTags: 'tag' },
      ...{ anticipatedQueries: 'how to compile', projectScope: '/p', attentionScore: 0.9 },
    },
    10,
  )
  const row = {
    ...{ id: 'm', type: 'fact', title: 'Build', content: 'make all', keywords: 'compile', conceptTags: 'tag' },
    ...{ anticipatedQueries: 'how to compile', projectScope: '/p', attentionScore: 0.9, correctionCount: 1 },
    ...{ createdAt: 10, updatedAt: 10, lastAccessed: null, accessCount: 0 },
  }
  assert.deepEqual(plain(memory), row)
  assert.deepEqual(plain(writeMemory(db, { id: 'm', type: 'note', title: 'Make' }, 20)), {
    ...{ id: 'm', type: 'note', title: 'Make', content: null, keywords: null, conceptTags: null, lastAccessed: null },
    ...{ anticipatedQueries: null, projectScope: null, attentionScore: 0.5, correctionCount: 2, accessCount: 0 },
    ...{ createdAt: 10, updatedAt: 20 },
  })
  writeMemory(db, { id: 'q', type: 'fact', title: 'make elsewhere', projectScope: '/q' }, 30)
  writeMemory(db, { id: 'p', type: 'fact', title: 'make here', projectScope: '/p' }, 25)
  const ids = (memories: readonly { id: string }[]) => memories.map(({ id }) => id)
  assert.deepEqual([listMemories(db), listMemories(db, { project: '/p' }), listMemories(db, { limit: 1 })].map(ids), [
    ['q', 'p', 'm'],
    ['p', 'm'],
    ['q'],
  ])
  assert.deepEqual(ids(searchMemories(db, 'here', { project: '/p', now: 40 })), [])
  assert.deepEqual(ids(searchMemories(db, 'elsewhere make', { limit: 1, now: 40 })), ['q'])
  assert.deepEqual(
    [getMemory(db, 'q'), getMemory(db, 'p'), getMemory(db, 'x')].map(
      (each) => each && [each.accessCount, each.lastAccessed],
    ),
    [[1, 40], [0, null], undefined],
  )
  assert.match(writeMemory(db, { type: 'x', title: 'y' }).id, /^[0-9a-f-]{36}$/)
  for (const id of ['b', 'a', 'c']) writeMemory(db, { id, type: 'x', title: 'same' }, Number.MAX_SAFE_INTEGER)
  assert.deepEqual(ids(listMemories(db, { limit: 3 })), ['c', 'a', 'b'], 'of the same moment the later')
})

test('ratings, prompts, profiles and servers', (t) => {
  const db = opened(t)
  assert.equal(addRating(db, { conversationId: 'c', rating: 5, objective: 'ship' }), 1)
  assert.deepEqual(plain(lastRating(db, 'c')), {
    id: 1,
    conversationId: 'c',
    rating: 5,
    objective: 'ship',
    timestamp: 'NOW',
  })
  assert.equal(addRating(db, { conversationId: 'c', rating: 1 }), 2)
  assert.equal(lastRating(db, 'c')?.objective, null)
  addRating(db, { conversationId: 'c', rating: 1, objective: '' })
  assert.equal(lastRating(db, 'c')?.objective, '')
  for (const rating of [0, 6, 1.5])
    assert.throws(() => addRating(db, { conversationId: 'c', rating }), {
      name: 'RangeError',
      message: `a rating is a whole number from 1 to 5, not ${rating}`,
    })
  for (const text of ['one', 'two', 'three']) addPrompt(db, { projectDir: '/p', sessionId: 's', text })
  addPrompt(db, { projectDir: '/q', sessionId: 's', text: 'other' })
  assert.deepEqual(
    [readPrompts(db, '/p', 2), readPrompts(db, '/q', 2), readPrompts(db, '/r', 2)],
    [...[['two', 'three'], ['other'], []]],
  )
  keepProfile(db, 'd', 'first')
  keepProfile(db, 'd', 'second')
  assert.deepEqual(db.all('SELECT digest, profile FROM ona_sandbox_profiles').map(plain), [
    { digest: 'd', profile: 'first' },
  ])
  const server = { key: 'k', server: 'git', identity: 'git 1', offer: '{}', accepted: '{"a":"b"}' }
  writeKnownServer(db, { ...server, server: 'old', identity: 'x', offer: null, accepted: '{}' })
  writeKnownServer(db, server)
  writeKnownServer(db, { ...server, key: 'l', server: 'svn' })
  assert.deepEqual(plain([readKnownServer(db, 'k'), readKnownServer(db, 'x'), knownServers(db, 'git')]), [
    ...[server, null, [server]],
  ])
  writeKnownServer(db, { ...server, key: 'm' })
  old(db, 'ona_mcp_servers', 'seen_at', "key = 'm'")
  assert.deepEqual(
    knownServers(db, 'git').map(({ key }) => key),
    ['m', 'k'],
    'the last that was connected last',
  )
  writeKnownServer(db, { ...server, key: 'm', identity: 'git 2' })
  assert.deepEqual(
    plain(db.all('SELECT * FROM ona_mcp_servers ORDER BY key')),
    [server, { ...server, key: 'l', server: 'svn' }, { ...server, key: 'm', identity: 'git 2' }].map((each) => ({
      ...each,
      seen_at: 'NOW',
    })),
    'seen again',
  )
  forgetOffer(db, 'k')
  assert.deepEqual([readKnownServer(db, 'k')?.offer, readKnownServer(db, 'l')?.offer], [null, '{}'])
})

test('reports: failures and denials of a session, newest first, and usage by day', (t) => {
  const db = opened(t)
  createSession(db, 'c', 's2')
  for (const [at, type] of ['stop_failure', 'hook_failed', 'failed', 'tool_end', 'fail'].entries())
    addEvent(db, { conversationId: 'c', sessionId: 's', type, detail: `d${at}` })
  addEvent(db, { conversationId: 'c', sessionId: 's2', type: 'fail' })
  assert.deepEqual(plain(recentFailures(db, 's')), [
    { type: 'fail', detail: 'd4' },
    { type: 'failed', detail: 'd2' },
    { type: 'hook_failed', detail: 'd1' },
  ])
  for (let at = 0; at < 13; at++)
    commitToolCall(db, {
      ...{ sessionId: at === 12 ? 's2' : 's', conversationId: 'c', invocations: [] },
      permission: { toolName: `T${at}`, decision: at === 11 ? 'allow' : 'deny', reason: { at } },
      result: { tool_use_id: `t${at}`, content: '', is_error: false },
    })
  commitToolCall(db, {
    ...{ sessionId: 's', conversationId: 'c', invocations: [] },
    permission: { toolName: 'Asked', decision: 'ask', reason: {} },
    result: { tool_use_id: 'asked', content: '', is_error: false },
  })
  assert.deepEqual(
    plain(recentDenials(db, 's')),
    [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((at) => ({ tool: `T${at}`, at: 'NOW', reason: `{"at":${at}}` })),
  )
  const reply = (detail: object) => addEvent(db, { conversationId: 'c', sessionId: 's', type: 'model_reply', detail })
  reply({ model: 'b', inputTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 4, outputTokens: 8, costUsd: 0.5 })
  reply({ model: 'b', inputTokens: 10, outputTokens: 20, costUsd: 0.25 })
  reply({ model: 'a' })
  const last = reply({ model: 'old', inputTokens: 9 })
  old(db, 'events', 'timestamp', `id = ${last}`)
  for (const [hours, model] of [
    [7 * 24 - 1, 'a week ago'],
    [7 * 24 + 1, 'before that'],
  ] as const) {
    const at = `UPDATE events SET timestamp = datetime('now', '-${hours} hours') WHERE id = ?`
    db.run(at, reply({ model, outputTokens: 1 }))
  }
  const today = db.get<{ day: string }>("SELECT date('now') AS day")!.day
  const { day: weekAgo } = db.get<{ day: string }>("SELECT date('now', '-167 hours') AS day")!
  assert.deepEqual(plain(usageByDay(db)), [
    { day: today, model: 'a', replies: 1, input: 0, output: null, cost: null },
    { day: today, model: 'b', replies: 2, input: 17, output: 28, cost: 0.75 },
    { day: weekAgo, model: 'a week ago', replies: 1, input: 0, output: 1, cost: null },
  ])
})

test('retention: one run a day, finished once, and what is on hold', (t) => {
  const db = opened(t)
  const at = (hours: number) => new Date(Date.UTC(2026, 0, 2) + hours * 3_600_000)
  assert.deepEqual(
    [beginRetention(db, 30, at(0)), beginRetention(db, 30, at(23)), beginRetention(db, 7, at(24))],
    [...[1, undefined, 2]],
  )
  assert.deepEqual(
    plain([begunRetention(db, 2, at(24.9)), begunRetention(db, 2, at(25)), begunRetention(db, 9, at(24))]),
    [{ days: 7 }, null, null],
  )
  finishRetention(db, 2, { sessions: 3, rows: 40, left: 5 })
  assert.equal(begunRetention(db, 2, at(24.5)), undefined)
  assert.deepEqual(
    plain(db.all('SELECT id, days, started_at AS began, sessions, rows, remaining FROM ona_retention')),
    [
      { id: 1, days: 30, began: '2026-01-02T00:00:00.000Z', sessions: null, rows: null, remaining: null },
      { id: 2, days: 7, began: '2026-01-03T00:00:00.000Z', sessions: 3, rows: 40, remaining: 5 },
    ],
  )
  holdConversation(db, 'c', 'audit')
  holdConversation(db, 'c', 'court')
  createConversation(db, { projectDir: '/', id: 'b' })
  createConversation(db, { projectDir: '/', id: 'z' })
  for (const id of ['b', 'z']) holdConversation(db, id, 'older')
  old(db, 'ona_holds', 'created_at', "conversation_id = 'z'")
  db.run("UPDATE ona_holds SET created_at = '2020-01-02 00:00:00' WHERE conversation_id = 'b'")
  assert.deepEqual(plain(holds(db)), [
    { conversationId: 'z', reason: 'older', since: '2020-01-01 00:00:00' },
    { conversationId: 'b', reason: 'older', since: '2020-01-02 00:00:00' },
    { conversationId: 'c', reason: 'court', since: 'NOW' },
  ])
  for (const id of ['b', 'z']) assert.equal(releaseConversation(db, id), true)
  assert.deepEqual([holdOf(db, 's'), holdOf(db, 'x')], ['court', undefined])
  assert.deepEqual([releaseConversation(db, 'c'), releaseConversation(db, 'c'), holds(db)], [true, false, []])
})

test('who works in a session: not this process, nor one that is gone', { skip: !onLinux }, async (t) => {
  const db = opened(t)
  const place = { db, id: 's', conversationId: 'c' }
  assert.equal(workerIn(place), undefined)
  signIn(place)
  assert.match(getState(db, 'c', 'working:s')!, new RegExp(`^${process.pid} \\d+$`))
  assert.equal(workerIn(place), undefined)
  const parent = process.ppid
  const began = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]
  setState(db, 'c', 'working:s', `${parent} ${began(parent)}`)
  assert.equal(workerIn(place), parent)
  setState(db, 'c', 'working:s', `${parent} 1`)
  assert.equal(workerIn(place), undefined)
  setState(db, 'c', 'working:s', '4194304 1')
  assert.equal(workerIn(place), undefined)
  // one that has ended and that its parent has not waited for
  const script = 'head -c 1 <&3 > /dev/null & echo $!; exec sleep 60 3<&-'
  const holder = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
  t.after(() => holder.kill('SIGKILL'))
  const ended = Number(String((await once(holder.stdout!, 'data'))[0]))
  await until(() => readFileSync(`/proc/${holder.pid}/comm`, 'utf8').startsWith('sleep'))
  ;(holder.stdio[3] as Writable).write('x')
  const state = () => readFileSync(`/proc/${ended}/stat`, 'utf8').split(') ').at(-1)![0]
  await until(() => state() === 'Z')
  setState(db, 'c', 'working:s', `${ended} ${began(ended)}`)
  assert.equal(workerIn(place), undefined)
  assert.deepEqual([signOut(place), signOut(place)], [true, false])
})

test('where the system does not tell when a process began, its number is all there is', (t) => {
  const { value } = Object.getOwnPropertyDescriptor(process, 'platform')!
  t.after(() => Object.defineProperty(process, 'platform', { value }))
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  const db = opened(t)
  const place = { db, id: 's', conversationId: 'c' }
  signIn(place)
  assert.deepEqual([getState(db, 'c', 'working:s'), workerIn(place)], [String(process.pid), undefined])
  const working = [process.ppid, 4194304, ''].map((name) => {
    setState(db, 'c', 'working:s', String(name))
    return workerIn(place)
  })
  assert.deepEqual(working, [process.ppid, undefined, undefined])
})

test('sizes and traces', () => {
  assert.deepEqual([0, 999, 1000, 1234, 99_940, 100_000, 640_000, 1_100_000_000, 5e12, 5e15].map(shownBytes), [
    '0 bytes',
    '999 bytes',
    '1.0 KB',
    '1.2 KB',
    '99.9 KB',
    '100 KB',
    '640 KB',
    '1.1 GB',
    '5.0 TB',
    '5000 TB',
  ])
  const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  assert.deepEqual(readTraceparent(trace), { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) })
  const bad = [
    `x${trace}`,
    `ff${trace.slice(2)}`,
    trace.replace(/a/g, '0'),
    trace.replace(/b/g, '0'),
    trace.slice(0, -3),
    `${trace.slice(0, -3)}b-01`,
    trace.toUpperCase(),
    'x',
    7,
    undefined,
  ]
  assert.deepEqual(
    bad.map(readTraceparent),
    bad.map(() => undefined),
  )
  const endpoints = ['', 'TRACES_', 'LOGS_', 'METRICS_'].map((signal) => ({
    [`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`]: 'x',
  }))
  assert.deepEqual(
    [
      ...[...endpoints, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
      ...['TRUE', 'false', ''].map((value) => ({ ...endpoints[0], OTEL_SDK_DISABLED: value })),
    ].map((env) => sendsTelemetry(env)),
    [true, true, true, true, false, false, false, true, true],
  )
  assert.deepEqual(withTrace({ A: 'b' }), { A: 'b' })
  assert.deepEqual(withTrace({ ...endpoints[0], TRACEPARENT: trace }), { ...endpoints[0], TRACEPARENT: trace })
  assert.deepEqual(['OTEL_X', 'ONA_OTEL_X', 'OTEL', 'X_OTEL_X', 'ONA_X'].map(isTelemetryVariable), [
    ...[true, true, false, false, false],
  ])
  const { TRACEPARENT, ...kept } = withTrace({ ...endpoints[0], A: 'b' })
  assert.deepEqual(kept, { ...endpoints[0], A: 'b' })
  assert.match(TRACEPARENT!, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
})

test('a secret that the process knows is in no column of what each part writes', (t) => {
  const db = opened(t)
  const secret = 'known-only-here-5519'
  keepOut(secret)
  const text = (name: string) => `${name} ${secret}, and again ${secret}`
  const invocation: Invocation = {
    ...{ event: 'PreToolUse', ordinal: 0, toolUseId: 't', toolName: 'Bash', exitCode: 0, skippedReason: null },
    ...{ matcher: text('matcher'), command: text('command'), inputJson: text('input') },
    ...{ stdout: text('stdout'), stderr: text('stderr'), startedAt: '', completedAt: '' },
  }
  commitToolCall(db, {
    ...{
      sessionId: 's',
      conversationId: 'c',
      invocations: [invocation],
      events: [{ type: 'e', detail: text('event') }],
    },
    permission: { toolName: 'Bash', decision: 'allow', reason: { why: text('permission') } },
    result: { tool_use_id: 't', content: text('result'), is_error: false },
  })
  addEvent(db, { conversationId: 'c', type: 'e', detail: { in: text('detail') } })
  const id = requestApproval(db, {
    ...{ conversationId: 'c', sessionId: 's', toolUseId: 't', tool: 'Bash', owner: null, expiresInSeconds: 60 },
    ...{ input: text('asked'), summary: text('summary'), reason: text('reason') },
  })
  assert.equal(decideApproval(db, id, { allow: true, by: 'ada', note: text('note') }), undefined)
  addRating(db, { conversationId: 'c', rating: 5, objective: text('objective') })
  setState(db, 'c', 'k', text('state'))
  saveSummary(db, 'c', text('summarised'))
  addPrompt(db, { projectDir: '/p', sessionId: 's', text: text('prompt') })
  const plan = draftPlan(db, { conversationId: 'c', content: text('plan') })
  assert.equal(plan.hash, hashOf(plan.content), 'the hash of what is stored')
  const parts = ['content', 'keywords', 'anticipatedQueries', 'conceptTags', 'projectScope']
  writeMemory(db, {
    ...{ type: 'x', title: text('title') },
    ...Object.fromEntries(parts.map((name) => [name, text(name)])),
  })
  const tables = db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
  const all = JSON.stringify(tables.map(({ name }) => db.all(`SELECT * FROM "${name}"`)))
  assert.ok(!all.includes(secret))
  const names =
    'matcher command input stdout stderr event permission result detail asked summary reason note objective state summarised plan title'
  for (const name of [...names.split(' '), ...parts]) assert.ok(all.includes(`${name} [secret]`), name)
})
