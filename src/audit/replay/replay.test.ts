import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { defineHook } from '../../hooks/define.ts'
import { readHooks } from '../../hooks/settings.ts'
import { archiveConversation, unarchiveConversation } from '../../store/archive/archive.ts'
import { createConversation, createSession, type ParentAgent } from '../../store/conversations.ts'
import { type Db, openDb, readDb } from '../../store/open.ts'
import { commitToolCall } from '../../store/session/commit.ts'
import { appendEntry } from '../../store/session/transcript.ts'
import { importedCalls } from './dispatcher-calls.ts'
import type { Policy } from './judge-call.ts'
import { type CallFilter, recordedCalls } from './recorded-calls.ts'
import { type Change, replay } from './replay.ts'

type Permission = { decision: 'allow' | 'deny'; by: string }

/** A history in a database: each call is made, judged and answered. */
function history(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-replay-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { id: conversationId } = createConversation(db, { projectDir: '/no/project' })
  let made = 0
  return {
    db,
    conversationId,
    session: (parent?: ParentAgent) => createSession(db, conversationId, undefined, parent).sessionId,
    call(sessionId: string, name: string, input: Record<string, unknown>, permission?: Permission, ran = true) {
      const id = `call_${++made}`
      appendEntry(db, sessionId, {
        _t: 'assistant',
        uuid: id,
        content: [{ type: 'tool_use', id, name, input: input as never }],
      })
      commitToolCall(db, {
        sessionId,
        conversationId,
        invocations: [],
        events: ran ? [{ type: 'tool_start', detail: { tool_use_id: id, tool_name: name } }] : [],
        ...(permission && {
          permission: { toolName: name, decision: permission.decision, reason: { by: permission.by, reason: 'so' } },
        }),
        result: { tool_use_id: id, content: 'done', is_error: false },
      })
      return id
    },
  }
}

const policy = (more: Partial<Policy>): Policy => ({
  permissions: {},
  mode: 'bypassPermissions',
  handlers: [],
  home: '/home/x',
  dbPath: '/nowhere.db',
  env: {},
  runCommands: false,
  tool: (_, input) => ({ input, safety: 'mutating', brought: false }),
  ...more,
})

async function replayed(db: Db, asked: Policy) {
  const changes: Change[] = []
  const summary = await replay(recordedCalls(db), asked, (change) => changes.push(change))
  return {
    ...summary,
    changes: changes.map(({ call, was, would, because }) => `${call.toolUseId} ${was}→${would} ${because.name}`),
  }
}

test('what was decided is read from the record: rules and hooks deny, a user only answers', (t) => {
  const { db, session, call } = history(t)
  const id = session()
  const cases: [Permission | undefined, boolean, string][] = [
    [undefined, true, 'allow'],
    [undefined, false, 'nothing'],
    [{ decision: 'deny', by: 'rule' }, false, 'deny'],
    [{ decision: 'deny', by: 'gate' }, false, 'deny'],
    [{ decision: 'deny', by: 'hook' }, false, 'deny'],
    [{ decision: 'deny', by: 'person' }, false, 'ask'],
    [{ decision: 'deny', by: 'nobody' }, false, 'ask'],
    [{ decision: 'allow', by: 'person' }, true, 'ask'],
    [{ decision: 'allow', by: 'operator' }, true, 'ask'],
  ]
  const twice = [...cases, ...cases] // reasons are remembered
  for (const [permission, ran] of twice) call(id, 'Write', { file_path: 'a' }, permission, ran)
  assert.deepEqual(
    Array.from(recordedCalls(db), ({ was }) => was?.decision ?? 'nothing'),
    twice.map(([, , was]) => was),
  )
})

test('a refusal by a hook that was asked in the place of a user counts as asked', (t) => {
  const { db, session, call, conversationId } = history(t)
  const sessionId = session()
  const toolUseId = call(sessionId, 'Write', {}, { decision: 'deny', by: 'hook' }, false)
  db.run(
    `INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command, tool_use_id,
       input_json, started_at) VALUES (?, ?, 'PermissionRequest', 0, '', 'x', ?, '{}', '')`,
    sessionId,
    conversationId,
    toolUseId,
  )
  assert.deepEqual(
    Array.from(recordedCalls(db), ({ was }) => was?.decision),
    ['ask'],
  )
})

test('calls of sessions that ran side by side are each answered by their own result', (t) => {
  const { db, session } = history(t)
  const [one, two] = [session(), session()]
  for (const [id, name] of [
    [one, 'Read'],
    [two, 'Write'],
  ] as const)
    appendEntry(db, id, { _t: 'assistant', uuid: name, content: [{ type: 'tool_use', id: 'same', name, input: {} }] })
  for (const id of [two, one])
    appendEntry(db, id, { _t: 'tool_result', tool_use_id: 'same', content: '', is_error: false })
  assert.deepEqual(
    Array.from(recordedCalls(db), ({ tool, sessionId }) => [tool, sessionId]),
    [
      ['Read', one],
      ['Write', two],
    ],
  )
})

test('calls that wait side by side are each answered once, the last of an id alone', (t) => {
  const { db, conversationId, session } = history(t)
  const id = session()
  const use = (call: string, command: string) => ({
    type: 'tool_use' as const,
    id: call,
    name: 'Bash',
    input: { command },
  })
  const ids = Array.from({ length: 30 }, (_, at) => `call_${at}`)
  appendEntry(db, id, { _t: 'assistant', uuid: 'a', content: ids.map((call) => use(call, `first ${call}`)) })
  appendEntry(db, id, { _t: 'assistant', uuid: 'b', content: [use('call_2', 'again 2'), use('call_25', 'again 25')] })
  const order = [...ids.slice(20), ...ids.slice(0, 20), 'call_2', 'call_25', 'unknown']
  for (const call of order)
    commitToolCall(db, {
      ...{ sessionId: id, conversationId, invocations: [] },
      events: [{ type: 'tool_start', detail: { tool_use_id: call, tool_name: 'Bash' } }],
      result: { tool_use_id: call, content: 'done', is_error: false },
    })
  const commands = new Map(ids.map((call) => [call, `first ${call}`]))
  commands.set('call_2', 'again 2').set('call_25', 'again 25')
  assert.deepEqual(
    [...recordedCalls(db)].map(({ toolUseId, input, was }) => [toolUseId, input['command'], was?.decision]),
    order.slice(0, 30).map((call) => [call, commands.get(call), 'allow']),
  )
})

test('in a long session every call that ran is judged', (t) => {
  const { db, session, call } = history(t)
  const id = session()
  db.transaction(() => {
    for (let n = 0; n < 9000; n++) call(id, 'Read', { file_path: `/a${n}` })
  })
  let judged = 0
  for (const { was } of recordedCalls(db)) if (was?.decision === 'allow') judged++
  assert.equal(judged, 9000)
})

test('rows that another program wrote are no calls, and stop nothing', (t) => {
  const { db, session, call } = history(t)
  const id = session()
  const payloads = [
    '',
    '{',
    'null',
    '"name"',
    '{"name":1}',
    '{"content":{"name":1}}',
    '{"content":[null,{"name":"x"}]}',
  ]
  for (const [at, payload] of payloads.entries())
    db.run(
      "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES (?, ?, 'assistant', ?)",
      id,
      at,
      payload,
    )
  db.run("INSERT INTO events(conversation_id, session_id, event_type, detail) VALUES ('', '', 'tool_start', '{')")
  call(id, 'Read', { file_path: 'a' })
  assert.deepEqual(
    Array.from(recordedCalls(db), ({ tool }) => tool),
    ['Read'],
  )
})

test('a rule changes what it names and nothing else, and is named', async (t) => {
  const { db, session, call } = history(t)
  const id = session()
  const env = call(id, 'Read', { file_path: '/no/project/.env' })
  call(id, 'Read', { file_path: '/no/project/a.ts' })
  const written = call(id, 'Write', { file_path: '/no/project/a.ts' }, { decision: 'allow', by: 'person' })
  call(id, 'Write', { file_path: '/no/project/b.ts' }, undefined, false)
  assert.deepEqual(await replayed(db, policy({ permissions: { deny: ['Read(.env)'] } })), {
    calls: 3,
    same: 1,
    newlyDenied: 1,
    newlyAsked: 0,
    newlyAllowed: 1,
    notJudged: 1,
    notReplayed: 0,
    notAsked: [],
    failed: [],
    byAgent: { ona: { calls: 3, changed: 2 } },
    changes: [`${env} allow→deny deny:Read(.env)`, `${written} ask→allow bypassPermissions`],
  })
})

test('what the planning gate refused stays refused: it is no part of a policy', async (t) => {
  const { db, session, call } = history(t)
  call(session(), 'Write', { file_path: '/no/project/a' }, { decision: 'deny', by: 'gate' }, false)
  const { same, changes } = await replayed(db, policy({}))
  assert.deepEqual([same, changes], [1, []])
})

test('a tool that a program brought along and granted is not asked about, unless a rule speaks of it', async (t) => {
  const { db, session, call } = history(t)
  const id = session()
  call(id, 'WriteTestCase', {})
  call(id, 'Refund', {}, { decision: 'allow', by: 'person' })
  const tool: Policy['tool'] = (_, input) => ({ input, safety: 'mutating', brought: true })
  assert.equal((await replayed(db, policy({ mode: 'default', tool }))).same, 2)
  const { changes } = await replayed(db, policy({ mode: 'default', tool, permissions: { deny: ['WriteTestCase'] } }))
  assert.equal(changes.length, 1)
})

test('a hook in TypeScript is told when it happened, by whom and where; what it changes is judged', async (t) => {
  const { db, session, call } = history(t)
  const main = session()
  const sub = session({ sessionId: main, agentId: 'a1', agentType: 'scout' })
  call(main, 'Bash', { command: 'ls' })
  const scouted = call(sub, 'Bash', { command: 'ls' })
  db.run("UPDATE transcript_entries SET created_at = '2026-10-02 09:00:00' WHERE session_id = ?", sub)
  const seen: unknown[] = []
  const hook = defineHook('PreToolUse', function rename({ agent, timestamp, context, tool_input }) {
    seen.push([agent.type, timestamp.toISOString().slice(0, 10) === '2026-10-02', context.cwd])
    const command = agent.type === 'scout' ? 'rm all' : (tool_input as { command: string }).command
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command } } }
  })
  const { changes } = await replayed(db, policy({ handlers: [hook], permissions: { deny: ['Bash(rm *)'] } }))
  assert.deepEqual(changes, [`${scouted} allow→deny deny:Bash(rm *)`])
  assert.deepEqual(seen, [
    [null, false, '/no/project'],
    ['scout', true, '/no/project'],
  ])
})

test('the hook that denied, asked or allowed is named', async (t) => {
  const { db, session, call } = history(t)
  const id = session()
  const calls = ['deny', 'ask', 'allow'].map((word) =>
    call(id, 'mcp__x__y', { word }, { decision: 'deny', by: 'rule' }),
  )
  const hook = defineHook('PreToolUse', function says({ tool_input }) {
    const permissionDecision = (tool_input as { word: 'deny' }).word
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision } }
  })
  const { changes, same } = await replayed(db, policy({ handlers: [hook], mode: 'default' }))
  assert.deepEqual([changes, same], [[`${calls[1]} deny→ask function:says`, `${calls[2]} deny→allow function:says`], 1])
})

test('a hook that fails or has another answer beside the one that decided is not named for it', async (t) => {
  const { db, session, call } = history(t)
  const id = session()
  const calls = ['deny', 'ask'].map((word) => call(id, 'mcp__x__y', { word }))
  const parallel = true as const
  const decides = ({ tool_input }: { tool_input: unknown }) => {
    const permissionDecision = (tool_input as { word: 'deny' }).word
    return { hookSpecificOutput: { hookEventName: 'PreToolUse' as const, permissionDecision } }
  }
  const asks = () => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse' as const, permissionDecision: 'ask' as const },
  })
  const broken = () => {
    throw new Error('no')
  }
  const handlers = [decides, asks, broken].map((run) => defineHook('PreToolUse', run, { parallel }))
  const { changes } = await replayed(db, policy({ handlers, mode: 'default' }))
  assert.deepEqual(changes, [`${calls[0]} allow→deny function:decides`, `${calls[1]} allow→ask function:decides`])
})

test('commands, addresses and prompts are not asked, and that is counted; a failing hook is reported', async (t) => {
  const { db, session, call } = history(t)
  const id = session()
  call(id, 'Bash', { command: 'ls' })
  call(id, 'Read', { file_path: '/no/project/a' })
  const settings = readHooks(
    {
      hooks: [
        { event: 'PreToolUse', matcher: 'Bash', command: 'exit 2' },
        { event: 'PreToolUse', matcher: '', type: 'http', url: 'http://127.0.0.1:1/' },
        { event: 'PreToolUse', matcher: 'Read', type: 'prompt', prompt: 'fine?' },
        { event: 'Stop', command: 'exit 2' },
      ].map(({ event, ...rest }) => ({ hook_event_name: event, ...rest })),
    },
    { source: { kind: 'settings' } },
  )
  assert.deepEqual(settings.problems, [])
  const broken = defineHook('PreToolUse', function broken() {
    throw new Error('no')
  })
  const { notAsked, notReplayed, failed, same } = await replayed(
    db,
    policy({ handlers: [broken, ...settings.handlers] }),
  )
  assert.deepEqual(notAsked, [
    { hook: 'exit 2', calls: 1 },
    { hook: 'http:http://127.0.0.1:1/', calls: 2 },
    { hook: 'prompt:fine?', calls: 1 },
  ])
  assert.deepEqual(failed, [
    {
      hook: 'function:broken',
      calls: 2,
      why: 'threw Error: no; failed open: PreToolUse went on unchecked ("onFailure": "refuse" refuses instead)',
    },
  ])
  assert.deepEqual([same, notReplayed], [0, 2])
  const asked = await replayed(
    db,
    policy({ handlers: settings.handlers.slice(0, 1), runCommands: true, env: process.env }),
  )
  assert.equal(asked.failed.length, 1, 'the folder of the call is not there, so its command could not be started')
})

test('imported calls have our names, and what the log cut short is not judged', (t) => {
  const { db } = history(t)
  db.run("INSERT INTO conversations(id, project_dir) VALUES ('d', '/repo')")
  db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('d', 'd')")
  db.run("INSERT INTO ona_dispatcher_imports(project_dir, sid, session_id, bytes) VALUES ('/repo', 'd', 'd', 1)")
  const calls: [string, unknown, string][] = [
    ['run_in_terminal', { command: 'rm x', explanation: 'because… (900 characters)' }, 'allow'],
    ['Bash', { command: 'ls' }, 'deny'],
    ['read_file', { filePath: '/repo/a' }, 'ask'],
    ['run_in_terminal', { command: 'echo… (900 characters)' }, 'allow'],
    ['mcp__x__y', '{"a":… (9000 characters)', 'allow'],
    ['toString', {}, 'nothing'],
  ]
  for (const [tool, input, decision] of calls)
    db.run(
      `INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command, tool_name,
         input_json, stdout_text, started_at) VALUES ('d', 'd', 'PreToolUse', 0, '*', 'dispatch', ?, ?, ?, '2026-10-02T09:00:00.000Z')`,
      tool,
      JSON.stringify({ tool_name: tool, tool_input: input }),
      JSON.stringify({ decision, decidedBy: 'graph' }),
    )
  assert.deepEqual(
    Array.from(importedCalls(db), ({ at, tool, input, was }) => [at, tool, input.command ?? input.file_path, was]),
    [
      ['2026-10-02 09:00:00', 'Bash', 'rm x', { decision: 'allow', by: 'graph' }],
      ['2026-10-02 09:00:00', 'Bash', 'ls', { decision: 'deny', by: 'graph' }],
      ['2026-10-02 09:00:00', 'Read', '/repo/a', { decision: 'ask', by: 'graph' }],
      ['2026-10-02 09:00:00', 'Bash', undefined, null],
      ['2026-10-02 09:00:00', 'mcp__x__y', undefined, null],
      ['2026-10-02 09:00:00', 'toString', undefined, null],
    ],
  )
  assert.deepEqual(Array.from(importedCalls(db, { since: '2026-10-02 09:00:01' })), [])
  assert.deepEqual(Array.from(importedCalls(db, { tool: 'Read' })).length, 1)
})

test('of an agent are the calls of its sessions, wherever they were made', (t) => {
  const { db, call } = history(t)
  for (const [at, agent] of ['ona', 'codex', 'claude', 'codex', 'ona'].entries()) {
    const own = createConversation(db, { projectDir: `/p${at % 2}` }).id
    const { sessionId } = createSession(db, own)
    call(sessionId, 'Read', { file_path: `${agent} ${at}` })
    if (agent === 'ona') continue
    const sql = "INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES (?, ?, '', '')"
    db.run(sql, sessionId, agent)
  }
  const read = (agents: string[], more: CallFilter = {}) =>
    Array.from(recordedCalls(db, { agents, ...more }), ({ source, input }) => {
      assert.equal(String(input.file_path).split(' ')[0], source)
      return input.file_path
    })
  assert.deepEqual(read(['codex']), ['codex 1', 'codex 3'])
  assert.deepEqual(read(['codex'], { project: '/p0' }), [])
  assert.deepEqual(read(['claude', 'codex'], { since: '2020-01-01 00:00:00' }), ['codex 1', 'claude 2', 'codex 3'])
  assert.deepEqual(read(['ona'], { project: '/p0' }), ['ona 0', 'ona 4'])
  assert.deepEqual(read(['ona', 'claude']), ['ona 0', 'claude 2', 'ona 4'])
  assert.deepEqual(read(['gemini']), [])
})

test('of a project are the calls in its folder and below, ours and those of a log', (t) => {
  const { db, call } = history(t)
  const folders = ['/repo', '/repo/a', '/repo-b', '/repo0', '/rep']
  for (const [at, folder] of folders.entries()) {
    const own = createConversation(db, { projectDir: folder }).id
    call(createSession(db, own).sessionId, 'Read', { file_path: `${folder}/file` })
    db.run('INSERT INTO conversations(id, project_dir) VALUES (?, ?)', `d${at}`, folder)
    db.run('INSERT INTO sessions(session_id, conversation_id) VALUES (?1, ?1)', `d${at}`)
    db.run(
      'INSERT INTO ona_dispatcher_imports(project_dir, sid, session_id, bytes) VALUES (?1, ?2, ?2, 1)',
      folder,
      `d${at}`,
    )
    db.run(
      `INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command, tool_name,
         input_json, stdout_text, started_at) VALUES (?1, ?1, 'PreToolUse', 0, '*', 'dispatch', 'Read', '{}', '{}', '2026-10-02')`,
      `d${at}`,
    )
  }
  const read = (project: string) =>
    [recordedCalls, importedCalls].map((calls) => Array.from(calls(db, { project }), ({ projectDir }) => projectDir))
  const below = ['/repo', '/repo/a']
  assert.deepEqual(read('/repo'), [below, below])
  assert.deepEqual(read('/repo/a/b'), [[], []])
  assert.deepEqual(read('/'), [folders, folders])
})

test('a conversation that is archived and restored while its calls are read is whole', (t) => {
  const { db, conversationId, session, call } = history(t)
  const id = session()
  db.transaction(() => {
    for (let n = 0; n < 1500; n++) call(id, 'Bash', { command: `echo ${n}` }, { decision: 'allow', by: 'rule' })
  })
  const reader = readDb(db.path)
  t.after(() => reader.close())
  const whole = [...recordedCalls(reader)]
  const found: typeof whole = []
  for (const each of recordedCalls(reader)) {
    if (found.length === 100) archiveConversation(db, conversationId, 'old.zst')
    if (found.length === 1000) unarchiveConversation(db, conversationId)
    found.push(each)
  }
  assert.ok(isDeepStrictEqual(found, whole), `${found.length} calls of ${whole.length}`)
  assert.equal(whole.length, 1500)
})
