import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Invocation } from '../../hooks/plane.ts'
import { archiveConversation, unarchiveConversation } from '../../store/archive/archive.ts'
import { bringArchived } from '../../store/archive/reading.ts'
import { addEvent, recordHooks } from '../../store/audit.ts'
import { createConversation, createSession, type ParentAgent } from '../../store/conversations.ts'
import { type Db, openDb, type ReadDb, readDb } from '../../store/open.ts'
import { draftPlan } from '../../store/plans.ts'
import { commitRound, commitToolCall } from '../../store/session/commit.ts'
import { overview } from './overview.ts'
import { timeline } from './timeline.ts'
import type { Item } from './timeline-items.ts'

/** Writes what a turn writes, in its order and, as it is quick, within a second or two. */
function story(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-timeline-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { id: conversationId } = createConversation(db, { projectDir: '/p' })
  let made = 0
  return {
    db,
    conversationId,
    session: (parent?: ParentAgent) => createSession(db, conversationId, undefined, parent).sessionId,
    event: (sessionId: string | null, type: string, detail: object = {}) =>
      addEvent(db, { conversationId, sessionId, type, detail }),
    hook: (sessionId: string, more: Partial<Invocation>) =>
      recordHooks(db, sessionId, conversationId, [{ ...invocation, startedAt: now(), ...more }]),
    prompt: (sessionId: string, text: string) =>
      commitRound(db, {
        ...{ sessionId, conversationId },
        entries: [{ _t: 'user', uuid: '', content: [{ type: 'text', text }], source: 'prompt' }],
      }),
    reply(sessionId: string, text: string, ...tools: string[]): string[] {
      const ids = tools.map(() => `call_${++made}`)
      const uses = tools.map((name, at) => ({ type: 'tool_use' as const, id: ids[at]!, name, input: { at } }))
      const said = text === '' ? [] : [{ type: 'text' as const, text }]
      commitRound(db, {
        ...{ sessionId, conversationId },
        entries: [{ _t: 'assistant', uuid: '', content: [...said, ...uses] }],
        events: [{ type: 'model_reply', detail: { inputTokens: 10, outputTokens: 5, costUsd: 0.5 } }],
      })
      return ids
    },
    start: (sessionId: string, id: string) =>
      addEvent(db, { conversationId, sessionId, type: 'tool_start', detail: { tool_use_id: id } }),
    result: (sessionId: string, id: string, content = 'ok') =>
      commitToolCall(db, {
        ...{ sessionId, conversationId, invocations: [] },
        result: { tool_use_id: id, content, is_error: false },
      }),
  }
}

const now = () => new Date().toISOString()

/** As if a quick machine had written it all within one second, which says nothing of the order. */
function inOneSecond(db: Db): void {
  db.run("UPDATE transcript_entries SET created_at = '2026-11-15 08:00:00'")
  db.run("UPDATE events SET timestamp = '2026-11-15 08:00:00'")
  db.run("UPDATE hook_invocations SET started_at = '2026-11-15T08:00:00.500Z'")
  db.run("UPDATE sessions SET started_at = '2026-11-15 08:00:00'")
}

const invocation: Invocation = {
  ...{ event: 'Stop', ordinal: 0, matcher: '', command: 'check.sh', toolUseId: null, toolName: null, inputJson: '{}' },
  ...{ exitCode: 0, stdout: null, stderr: null, startedAt: '', completedAt: null, skippedReason: null },
}

/** An item in a word or two, with what is nested in it. */
function brief(item: Item): string {
  const inner = (items: readonly Item[]) => (items.length === 0 ? '' : ` [${items.map(brief).join(', ')}]`)
  switch (item.kind) {
    case 'prompt':
    case 'reply':
      return `${item.kind} ${item.text}`
    case 'call':
      return `call ${item.tool}${item.output === null ? ' without result' : ''}${inner(item.agents)}`
    case 'hook':
      return `hook ${item.event}`
    case 'phase':
      return `phase ${item.to}`
    case 'plan':
      return `plan ${item.what}`
    case 'agent':
      return `agent ${item.type}${inner(item.items)}`
    case 'note':
      return `note ${item.about}`
  }
}

const told = (items: Iterable<Item>) => Array.from(items, brief)

test('everything stands where it happened, although times are whole seconds', (t) => {
  const { db, conversationId, session, event, hook, prompt, reply, start, result } = story(t)
  const main = session()
  event(main, 'session_start', { cwd: '/p' })
  hook(main, { event: 'UserPromptSubmit' })
  prompt(main, 'plan it')
  const [enter, scout] = reply(main, 'first', 'EnterPlanMode', 'Agent')
  start(main, enter!)
  event(main, 'phase', { from: 'idle', to: 'planning', by: 'the agent' })
  result(main, enter!)
  start(main, scout!)
  const sub = session({ sessionId: main, agentId: 'a', agentType: 'explore' })
  prompt(sub, 'look')
  const [glob] = reply(sub, '', 'Glob')
  start(sub, glob!)
  result(sub, glob!)
  reply(sub, 'seen')
  result(main, scout!)
  const [exit] = reply(main, 'second', 'ExitPlanMode')
  start(main, exit!)
  const { id: plan } = draftPlan(db, { conversationId, content: '# The plan' })
  event(main, 'plan_draft', { plan })
  event(main, 'plan_approved', { plan, by: 'person' })
  event(main, 'phase', { from: 'planning', to: 'implement', by: 'person' })
  result(main, exit!)
  reply(main, 'done')
  hook(main, { event: 'Stop' })
  event(main, 'turn_end', { stop: 'end_turn' })
  event(null, 'phase', { from: 'implement', to: 'test', by: 'demo' })
  const later = session({ sessionId: main, agentId: 'b', agentType: 'test-generator' })
  reply(later, 'cases')
  prompt(main, 'go on')
  reply(main, 'gone')
  inOneSecond(db)

  assert.deepEqual(told(timeline(db, conversationId)), [
    ...['note session start', 'hook UserPromptSubmit', 'prompt plan it', 'reply first'],
    ...['call EnterPlanMode', 'phase planning'],
    'call Agent [agent explore [prompt look, call Glob, reply seen]]',
    ...['reply second', 'call ExitPlanMode', 'plan drafted', 'plan approved', 'phase implement', 'reply done'],
    ...['hook Stop', 'phase test', 'agent test-generator [reply cases]', 'prompt go on', 'reply gone'],
  ])
  const { entries, prompts, calls, subagents, sessions, cost_usd, tokens, title } = overview(db, conversationId)!
  assert.deepEqual(
    { entries, prompts, calls, subagents, sessions, cost_usd, tokens, title },
    {
      ...{ entries: 9, prompts: 2, calls: 4, subagents: 2, sessions: 1 },
      ...{ cost_usd: 3.5, tokens: 105, title: 'plan it' },
    },
  )
})

test('parts put together are the whole, wherever they are cut', (t) => {
  const { db, conversationId, session, event, hook, prompt, reply, start, result } = story(t)
  for (const id of [session(), session()])
    for (let turn = 0; turn < 4; turn++) {
      event(turn % 2 === 0 ? id : null, 'phase', { to: `${turn}` })
      prompt(id, `prompt ${turn}`)
      const calls = reply(id, `reply ${turn}`, 'Read', 'Write')
      start(id, calls[0]!)
      result(id, calls[0]!)
      if (turn !== 2) result(id, calls[1]!)
      hook(id, { event: 'Stop' })
    }
  inOneSecond(db)
  const whole = told(timeline(db, conversationId))
  assert.equal(whole.filter((each) => each.startsWith('call')).length, 16)
  assert.equal(whole.filter((each) => each === 'call Write without result').length, 2)
  const { entries } = overview(db, conversationId)!
  for (const size of [1, 2, 3, 5, 7, 100]) {
    const parts: string[] = []
    for (let from = 0; from < entries; from += size)
      parts.push(...told(timeline(db, conversationId, { from, to: from + size })))
    assert.deepEqual(parts, whole, `parts of ${size}`)
  }
})

/** Gives rows the times of a clock that the test sets: those that came since the last stamp have its present second. */
function stamps(db: Db): (second: number) => void {
  const columns = { transcript_entries: 'created_at', events: 'timestamp', hook_invocations: 'started_at' }
  const seen = new Map<string, number>()
  return (second) => {
    const at = new Date(Date.UTC(2026, 10, 15) + second * 1000).toISOString()
    for (const [table, column] of Object.entries(columns)) {
      const time = table === 'hook_invocations' ? at : at.slice(0, 19).replace('T', ' ')
      db.run(`UPDATE ${table} SET ${column} = ? WHERE id > ?`, time, seen.get(table) ?? 0)
      seen.set(table, db.get<{ id: number }>(`SELECT coalesce(max(id), 0) AS id FROM ${table}`)!.id)
    }
  }
}

test('a late part of a long session is what stands there in the whole, and is read without what comes before', (t) => {
  const { db, conversationId, session, event, hook, prompt, reply, start, result } = story(t)
  const id = session()
  const stamp = stamps(db)
  let [second, random] = [0, 1]
  const pick = (most: number) => {
    random = (random * 48271) % 2147483647
    return random % most
  }
  const pass = () => {
    second += Math.max(0, pick(5) - 2)
    stamp(second)
  }
  db.transaction(() => {
    for (let turn = 0; turn < 150; turn++) {
      for (let n = pick(3); n > 0; n--) event(pick(2) === 0 ? id : null, 'phase', { to: `${turn}.${n}` })
      if (pick(3) === 0) hook(id, { event: 'SessionStart' })
      if (pick(2) === 0) pass()
      hook(id, { event: 'UserPromptSubmit' })
      prompt(id, `prompt ${turn}`)
      pass()
      for (let n = pick(4); n >= 0; n--) {
        if (pick(3) === 0) hook(id, { event: 'before_generate' })
        const calls = reply(id, `reply ${turn}.${n}`, ...['Read', 'Write'].slice(pick(3)))
        pass()
        for (const call of calls) {
          start(id, call)
          if (pick(3) === 0) event(id, 'said', { n })
          pass()
          if (pick(9) > 0) result(id, call)
        }
      }
      if (pick(2) === 0) hook(id, { event: 'Stop' })
      pass()
    }
  })
  const { entries } = overview(db, conversationId)!
  const whole = told(timeline(db, conversationId))
  for (const size of [7, 20, 333]) {
    const parts: string[] = []
    for (let from = 0; from < entries; from += size)
      parts.push(...told(timeline(db, conversationId, { from, to: from + size })))
    assert.deepEqual(parts, whole, `parts of ${size}`)
  }
  let rows = 0
  const counted = {
    ...{ path: db.path, get: db.get.bind(db), each: db.each.bind(db), snapshot: db.snapshot.bind(db) },
    all<Row>(sql: string, ...values: string[]) {
      const found = db.all<Row>(sql, ...values)
      rows += found.length
      return found
    },
  } as Pick<ReadDb, 'all'> as ReadDb
  const read = (from: number) => {
    rows = 0
    Array.from(timeline(counted, conversationId, { from, to: from + 20 }))
    return rows
  }
  assert.ok(entries > 600)
  assert.ok(
    read(entries - 20) <= read(100),
    `${read(entries - 20)} rows are read at the end, ${read(100)} at the beginning`,
  )
})

test('what is told of an archived conversation reads none of the tables as a whole', (t) => {
  const { db, conversationId, session, event, hook, prompt, reply, start, result } = story(t)
  const main = session()
  const agent = session({ sessionId: main, agentId: 'a1', agentType: 'explorer' })
  for (let turn = 0; turn < 100; turn++) {
    prompt(main, `prompt ${turn}`)
    hook(main, { event: 'UserPromptSubmit' })
    const [call] = reply(main, `reply ${turn}`, 'Agent')
    start(main, call!)
    if (turn === 90) event(agent, 'phase', { to: 'begin' })
    result(main, call!)
    event(null, 'phase', { to: `${turn}` })
  }
  const late = { from: 250, to: 290 }
  const there = { about: overview(db, conversationId), items: [...timeline(db, conversationId, late)] }
  archiveConversation(db, conversationId, 'old.zst')
  const reader = readDb(db.path)
  t.after(() => reader.close())
  const plans: string[] = []
  const asked = (sql: string) =>
    void plans.push(...reader.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).map(({ detail }) => detail))
  const watched = {
    ...{ path: db.path, runTemp: reader.runTemp.bind(reader), snapshot: reader.snapshot.bind(reader) },
    all<Row>(sql: string, ...values: string[]) {
      asked(sql)
      return reader.all<Row>(sql, ...values)
    },
    get<Row>(sql: string, ...values: string[]) {
      asked(sql)
      return reader.get<Row>(sql, ...values)
    },
  } as Pick<ReadDb, 'path'> as ReadDb
  bringArchived(watched, [conversationId])
  const found = { about: overview(watched, conversationId), items: [...timeline(watched, conversationId, late)] }
  assert.deepEqual(found, there)
  assert.ok(plans.length > 20)
  assert.deepEqual(
    plans.filter((plan) => plan.startsWith('SCAN main.')),
    [],
  )
})

test('a timeline longer than its pages is whole, and while its items are taken the log can be emptied', (t) => {
  const { db, conversationId, session, prompt, reply, event, hook } = story(t)
  const id = session()
  db.transaction(() => {
    for (let n = 0; n < 1100; n++) {
      prompt(id, `prompt ${n}`)
      hook(id, { event: 'UserPromptSubmit' })
      reply(id, `reply ${n}`)
      event(id, 'first', { n })
      event(id, 'second', { n })
      event(null, 'outside', { n })
    }
  })
  const reader = readDb(db.path)
  t.after(() => reader.close())
  db.get('PRAGMA busy_timeout = 0') // whoever is in the way is not waited for
  const counts = new Map<string, number>()
  const busy = new Set<number>()
  let taken = 0
  for (const item of timeline(reader, conversationId)) {
    const kind = item.kind === 'note' ? item.about : item.kind
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    if (++taken % 100 !== 0) continue
    db.transaction(() => event(id, 'turn_end', { stop: 'end_turn' }))
    busy.add(db.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')!.busy)
  }
  assert.deepEqual(
    [...counts].sort(),
    ['first', 'hook', 'outside', 'prompt', 'reply', 'second'].map((kind) => [kind, 1100]),
  )
  assert.deepEqual([...busy], [0])
})

test('where seconds differ, they decide', (t) => {
  const { db, conversationId, session, event, hook, prompt, reply } = story(t)
  const id = session()
  prompt(id, 'one')
  reply(id, 'first')
  hook(id, { event: 'Stop', startedAt: '2026-11-15T08:00:03.000Z' })
  event(id, 'phase', { to: 'test' })
  hook(id, { event: 'Notification', startedAt: '2026-11-15T08:00:09.000Z' })
  prompt(id, 'two')
  hook(id, { event: 'PostCompact', startedAt: '2026-11-15T08:00:30.000Z' })
  db.run("UPDATE transcript_entries SET created_at = '2026-11-15 08:00:0' || (sequence * 2) WHERE sequence < 2")
  db.run("UPDATE transcript_entries SET created_at = '2026-11-15 08:00:20' WHERE sequence = 2")
  db.run("UPDATE events SET timestamp = iif(event_type = 'phase', '2026-11-15 08:00:05', '2026-11-15 08:00:02')")
  assert.deepEqual(told(timeline(db, conversationId)), [
    ...['prompt one', 'reply first', 'hook Stop', 'phase test', 'hook Notification', 'prompt two', 'hook PostCompact'],
  ])
})

test('a call carries what hooks and rules said of it', (t) => {
  const { db, conversationId, session, reply, hook } = story(t)
  const sessionId = session()
  const [id] = reply(sessionId, '', 'Bash')
  const toolUseId = id!
  const json = (decision: string) =>
    JSON.stringify({ hookSpecificOutput: { permissionDecision: decision, permissionDecisionReason: 'so' } })
  hook(sessionId, { event: 'PreToolUse', toolUseId, stdout: json('allow') })
  hook(sessionId, { event: 'PreToolUse', toolUseId, ordinal: 1, stdout: json('ask') })
  hook(sessionId, { event: 'PreToolUse', toolUseId, ordinal: 2, exitCode: 2, stderr: 'not on Fridays\n' })
  hook(sessionId, { event: 'PreToolUse', toolUseId, ordinal: 3, exitCode: 1, stderr: 'oh' })
  hook(sessionId, { event: 'PreToolUse', toolUseId, ordinal: 4, exitCode: null, skippedReason: 'prior_block_or_deny' })
  commitToolCall(db, {
    ...{ sessionId, conversationId, invocations: [] },
    permission: { toolName: 'Bash', decision: 'deny', reason: { by: 'hook', reason: 'not on Fridays', rule: 'r' } },
    result: { tool_use_id: toolUseId, content: 'no', is_error: true },
  })
  const [call] = [...timeline(db, conversationId)] as [Item & { kind: 'call' }]
  assert.deepEqual(call.permission, { decision: 'deny', by: 'hook', reason: 'not on Fridays', rule: 'r' })
  assert.deepEqual(
    call.hooks.map(({ says, why }) => [says, why]),
    [
      ['allow', 'so'],
      ['ask', 'so'],
      ['deny', 'not on Fridays'],
      ['failed', 'exit 1 oh'],
      ['not asked', 'another hook had refused already'],
    ],
  )
})

test('an answer that was not applied has failed, but for a refusal in it', (t) => {
  const { db, conversationId, session, reply, hook } = story(t)
  const sessionId = session()
  const [toolUseId] = reply(sessionId, '', 'Bash')
  const bad = (output: object, ordinal: number) => {
    const stdout = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...output } })
    hook(sessionId, {
      event: 'PreToolUse',
      toolUseId,
      ordinal,
      stdout,
      stderr: 'loading\n[SDLC_HOOK] changes the input',
    })
  }
  bad({ permissionDecision: 'allow', updatedInput: {} }, 0)
  bad({ updatedInput: {} }, 1)
  bad({ permissionDecision: 'deny', permissionDecisionReason: 'no', updatedInput: {} }, 2)
  const step = { event: 'before_tool_apply' as const, toolUseId, ordinal: 3, stdout: '{"args":{},"control":"skip"}' }
  hook(sessionId, { ...step, stderr: '[SDLC_HOOK] a warning: the change is applied' })
  commitToolCall(db, {
    ...{ sessionId, conversationId, invocations: [] },
    result: { tool_use_id: toolUseId!, content: 'no', is_error: true },
  })
  const [call] = [...timeline(db, conversationId)] as [Item & { kind: 'call' }]
  assert.deepEqual(
    call.hooks.map(({ says, why }) => [says, why]),
    [
      ['failed', 'changes the input'],
      ['failed', 'changes the input'],
      ['deny', 'no'],
      ['changed', step.stdout],
    ],
  )
})

test('a hook that only wrote to stderr has no opinion; a row that names a fault has failed, whatever was printed', (t) => {
  const { db, conversationId, session, reply, hook } = story(t)
  const sessionId = session()
  const [toolUseId] = reply(sessionId, '', 'Bash')
  const warning = '[SDLC_HOOK] printed text before its JSON, so the JSON was not read; print nothing else on stdout'
  const rows: [exitCode: number | null, stdout: string | null, stderr: string, says: string, why: string][] = [
    [0, '', '3 rules checked', 'no opinion', ''],
    [0, null, '[SDLC_HOOK] was not read', 'failed', '[SDLC_HOOK] was not read'],
    [null, '', 'nobody answers', 'failed', 'nobody answers'],
    [null, '<html>', 'answered 500', 'failed', 'answered 500'],
    [0, '{oops', '3 rules checked', 'answered', '{oops'],
    [0, '{oops', '3 rules checked\n[SDLC_HOOK] answered with broken JSON', 'failed', 'answered with broken JSON'],
    [0, 'fine', '[SDLC_HOOK] answered with text', 'failed', 'answered with text'],
    [0, '{"allow":1}', '[SDLC_HOOK] answered with allow', 'failed', 'answered with allow'],
    [0, '{"decision":"block","reason":"no"}', '[SDLC_HOOK] answered with x', 'deny', 'no'],
    [0, 'hm\n{}', warning, 'answered', 'hm\n{}'],
  ]
  for (const [ordinal, [exitCode, stdout, stderr]] of rows.entries())
    hook(sessionId, { event: 'PreToolUse', toolUseId, ordinal, exitCode, stdout, stderr })
  commitToolCall(db, {
    ...{ sessionId, conversationId, invocations: [] },
    result: { tool_use_id: toolUseId!, content: 'no', is_error: true },
  })
  const [call] = [...timeline(db, conversationId)] as [Item & { kind: 'call' }]
  assert.deepEqual(
    call.hooks.map(({ says, why }) => [says, why]),
    rows.map(([, , , says, why]) => [says, why]),
  )
})

test('a session that was imported has no transcript: its hooks and events are reported by time', (t) => {
  const { db, conversationId, session, event, hook } = story(t)
  const id = session()
  event(id, 'dispatcher.SESSION_INIT')
  hook(id, {
    event: 'PreToolUse',
    toolUseId: 'x',
    toolName: 'read_file',
    stdout: '{"decision":"ask","denyReason":"why"}',
  })
  inOneSecond(db)
  const [, asked] = [...timeline(db, conversationId)] as [Item, Item & { kind: 'hook' }]
  assert.deepEqual([asked.tool, asked.says, asked.why], ['read_file', 'ask', 'why'])
})

test('rows that another program wrote tell nothing, and stop nothing', (t) => {
  const { db, conversationId, session, prompt, event } = story(t)
  const id = session()
  const types = ['user', 'assistant', 'tool_use', 'tool_result', 'system', 'attachment', 'progress']
  const payloads = [
    '',
    '{',
    'null',
    '[]',
    '{"content":[null,1,{"text":1,"id":1,"name":2}]}',
    '{"content":{"text":"x"}}',
  ]
  let at = 0
  for (const type of types)
    for (const payload of payloads)
      db.run(
        'INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES (?, ?, ?, ?)',
        ...[id, at++, type, payload],
      )
  for (const detail of ['', '{', 'null', '[1]'])
    db.run(
      'INSERT INTO events(conversation_id, session_id, event_type, detail) VALUES (?, ?, ?, ?)',
      conversationId,
      id,
      'phase',
      detail,
    )
  event(id, 'plan_draft', { plan: 99 })
  prompt(id, 'still here')
  assert.ok(told(timeline(db, conversationId)).includes('prompt still here'))
  assert.equal(overview(db, conversationId)!.entries, at + 1)
})

test('what looks like a secret is not reported, wherever it stands', (t) => {
  const { db, conversationId, session, prompt, reply, result, event, hook } = story(t)
  const id = session()
  const secret = `sk-ant-${'a1'.repeat(20)}`
  prompt(id, `my key is ${secret}`)
  const [use] = reply(id, `I use ${secret}`, 'Bash')
  result(id, use!, `ANTHROPIC_API_KEY=${secret}`)
  event(id, 'turn_end', { stop: 'error', why: `bad key ${secret}` })
  db.run('UPDATE transcript_entries SET payload_json = replace(payload_json, \'"at":0\', ?)', `"key":"${secret}"`)
  hook(id, { command: `curl -H 'x-api-key: ${secret}'`, exitCode: 2, stderr: secret })
  const all = JSON.stringify([[...timeline(db, conversationId)], overview(db, conversationId)])
  assert.ok(all.includes('[redacted]'))
  assert.ok(!all.includes(secret))
})

test('a conversation that is archived and restored while its timeline is read is whole', (t) => {
  const { db, conversationId, session, prompt, reply, event, hook } = story(t)
  const id = session()
  db.transaction(() => {
    for (let n = 0; n < 1100; n++) {
      prompt(id, `prompt ${n}`)
      hook(id, { event: 'UserPromptSubmit' })
      reply(id, `reply ${n}`)
      event(id, 'first', { n })
      event(null, 'outside', { n })
    }
  })
  const reader = readDb(db.path)
  t.after(() => reader.close())
  const whole = [...timeline(reader, conversationId)]
  const found: Item[] = []
  for (const item of timeline(reader, conversationId)) {
    if (found.length % 1000 === 0) archiveConversation(db, conversationId, 'old.zst')
    if (found.length % 1000 === 500) unarchiveConversation(db, conversationId)
    found.push(item)
  }
  const withoutMoves = (items: readonly Item[]) => told(items).filter((item) => !/^note .*archived$/.test(item))
  assert.ok(isDeepStrictEqual(withoutMoves(found), told(whole)), `${found.length} items of ${whole.length}`)
  assert.equal(whole.length, 5500)
})
