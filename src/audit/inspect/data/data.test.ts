import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../../../test/support/any-text.ts'
import { archiveConversation, unarchiveConversation } from '../../../store/archive/archive.ts'
import { addEvent, recordHooks } from '../../../store/audit.ts'
import { createConversation, createSession } from '../../../store/conversations.ts'
import { type Db, openDb, readDb } from '../../../store/open.ts'
import { commitRound, commitToolCall } from '../../../store/session/commit.ts'
import { eraseSession } from '../../evidence/erase.ts'
import * as dashboard from './dashboard.ts'
import { fill } from './fill.ts'
import type { Filter } from './filter.ts'
import { search } from './search.ts'

function database(t: TestContext): Db {
  const folder = mkdtempSync(join(tmpdir(), 'ona-index-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return db
}

/** One prompt, one call with a hook that took `ms`, and its price. Returns the session. */
function add(db: Db, id: string, words: string, { project = '/p', ms = 10, denied = false } = {}): string {
  createConversation(db, { projectDir: project, id })
  const { sessionId } = createSession(db, id)
  const at = { sessionId, conversationId: id }
  const use = { type: 'tool_use' as const, id: `u-${id}`, name: 'Bash', input: { command: `echo ${words}` } }
  const content = [{ type: 'text' as const, text: words }]
  commitRound(db, { ...at, entries: [{ _t: 'user', uuid: '', content, source: 'prompt' }] })
  commitRound(db, { ...at, entries: [{ _t: 'assistant', uuid: '', content: [use] }] })
  addEvent(db, { ...at, type: 'model_reply', detail: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 } })
  const start = Date.parse('2026-11-15T08:00:00Z')
  recordHooks(db, sessionId, id, [
    {
      ...{ event: 'PreToolUse', ordinal: 0, matcher: '', command: './guard.sh', toolUseId: use.id, toolName: 'Bash' },
      ...{ inputJson: '{}', exitCode: denied ? 2 : 0, stdout: null, stderr: null, skippedReason: null },
      ...{ startedAt: new Date(start).toISOString(), completedAt: new Date(start + ms).toISOString() },
    },
  ])
  commitToolCall(db, {
    ...{ ...at, invocations: [] },
    ...(denied && { permission: { toolName: 'Bash', decision: 'deny', reason: { by: 'rule', rule: 'Bash(echo *)' } } }),
    result: { tool_use_id: use.id, content: 'done', is_error: denied },
  })
  return sessionId
}

const upToDate = (db: Db) => {
  const progress = fill(db, 'main', 10_000)
  assert.equal(progress.read, progress.rows)
}
const found = (db: Db, words: string, filter = {}) => search(db, words, filter).found.map(({ id }) => id)

test('rows are counted once, however often and in however many steps the index is filled', (t) => {
  const db = database(t)
  for (let n = 0; n < 3; n++) {
    add(db, `c${n}`, 'plum', { denied: n === 1 })
    upToDate(db)
    upToDate(db)
  }
  const { cost, ...counts } = dashboard.totals(db, {})
  assert.deepEqual(
    { ...counts, cost },
    { conversations: 3, prompts: 3, calls: 3, refused: 1, asked: 0, tokens: 45, cost: 0.75 },
  )
  assert.deepEqual(dashboard.denials(db, {}), [
    { tool: 'Bash', decider: 'rule', cause: 'Bash(echo *)', times: 1, allowed: 0 },
  ])
})

test('percentiles of hooks come from every run, whichever batch it was in', (t) => {
  const db = database(t)
  for (let n = 1; n <= 20; n++) {
    add(db, `c${n}`, 'plum', { ms: n * 10 })
    if (n % 7 === 0) upToDate(db)
  }
  upToDate(db)
  assert.deepEqual(dashboard.hooks(db, {}), [
    { hook: './guard.sh', runs: 20, denied: 0, failed: 0, p50: 100, p95: 190 },
  ])
})

test('search finds words, phrases, beginnings and other forms, newest first, under the filter', (t) => {
  const db = database(t)
  add(db, 'a', 'the quick brown foxes jumped', { project: '/one' })
  add(db, 'b', 'brown quick', { project: '/two', denied: true })
  add(db, 'c', 'café in src/price-list.ts', { project: '/two' })
  upToDate(db)
  assert.deepEqual(found(db, 'quick'), ['b', 'a'])
  assert.deepEqual(found(db, 'QUICK brown'), ['b', 'a'])
  assert.deepEqual(found(db, '"quick brown"'), ['a'])
  assert.deepEqual(found(db, 'fox jump'), ['a'])
  assert.deepEqual(found(db, 'bro*'), ['b', 'a'])
  assert.deepEqual(found(db, 'bro'), [])
  assert.deepEqual(found(db, 'cafe price-list.ts'), ['c'])
  assert.deepEqual(found(db, 'quick', { project: '/one' }), ['a'])
  assert.deepEqual(found(db, 'quick', { refused: true, hook: './guard.sh' }), ['b'])
  assert.deepEqual(found(db, 'quick', { agent: 'codex' }), [])
  assert.deepEqual(found(db, '  '), [])
  const [fox] = search(db, 'brown', { project: '/one' }).found
  assert.deepEqual(
    fox!.hits.map(({ type, pieces }) => [type, pieces]),
    [
      ['assistant', ['Bash echo the quick ', 'brown', ' foxes jumped']],
      ['user', ['the quick ', 'brown', ' foxes jumped']],
    ],
  )
})

test('what is marked is what matched: other forms of a word, accents, phrases, and not parts of words', (t) => {
  const db = database(t)
  add(db, 'a', 'Rounding prices: he rounds cafés, surrounded by «round» tables')
  upToDate(db)
  const marked = (words: string) =>
    search(db, words, {})
      .found[0]!.hits.at(-1)!
      .pieces.filter((_, at) => at % 2 === 1)
  assert.deepEqual(marked('round'), ['Rounding', 'rounds', 'round'])
  assert.deepEqual(marked('cafe'), ['cafés'])
  assert.deepEqual(marked('"prices he"'), ['prices: he'])
  assert.deepEqual(marked('table pric*'), ['prices', 'tables'])
})

test('a search in few conversations, and in many, finds what one over all finds', (t) => {
  const db = database(t)
  for (let at = 0; at < 45; at++)
    add(db, `c${at}`, `plum ${at % 7 === 0 ? 'pear' : 'fig'}`, { project: at < 30 ? '/one' : '/two' })
  upToDate(db)
  const all = ['c42', 'c35', 'c28', 'c21', 'c14', 'c7', 'c0']
  const filters = [
    ...[{}, { agent: 'ona' }, { agent: 'ona', from: 0 }, { agent: 'other' }],
    ...[{ project: '/one' }, { project: '/two' }, { project: '/three' }],
  ]
  const expected = [all, all, all, [], all.slice(2), all.slice(0, 2), []]
  const asked = () => filters.map((filter) => found(db, 'pear', filter))
  assert.deepEqual(asked(), expected)
  db.transaction(() => db.run('UPDATE ona_inspect_groups SET conversations = conversations + 2000'))
  assert.deepEqual(asked(), expected, 'in many')
})

test('whatever is typed is words: no query is an error', (t) => {
  const db = database(t)
  add(db, 'a', 'plum AND NOT (pear) "quoted" body: ^x + y')
  upToDate(db)
  const signs = fc.string({ unit: fc.constantFrom(...'ab "*()^:+-{}[]|\\/.ANDORNEAT\u0000é'), maxLength: 24 })
  fc.assert(fc.property(fc.oneof(signs, anyText()), (words) => void search(db, words, {})))
})

test('erasing takes the words out of the index too', (t) => {
  const db = database(t)
  const session = add(db, 'a', 'mirabelle')
  add(db, 'b', 'plum')
  upToDate(db)
  assert.deepEqual(found(db, 'mirabelle'), ['a'])
  eraseSession(db, session, 'asked for')
  const left = () =>
    db
      .all<{ block: Uint8Array }>('SELECT block FROM ona_inspect_text_data')
      .map(({ block }) => Buffer.from(block).toString('latin1'))
      .join('')
  assert.doesNotMatch(left(), /mirabel|plum/)
  assert.deepEqual(dashboard.conversationRows(db, ['a']).length, 1, 'who looks meanwhile finds the tables')
  upToDate(db)
  assert.deepEqual([found(db, 'mirabelle'), found(db, 'plum')], [[], ['b']])
  assert.doesNotMatch(left(), /mirabel/)

  // whoever else erases: the tombstone is enough
  const other = add(db, 'c', 'quince')
  upToDate(db)
  db.run("UPDATE transcript_entries SET payload_json = '{}' WHERE session_id = ?", other)
  db.run(
    "INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) VALUES (?, 'transcript_entries', 1, x'', '')",
    other,
  )
  add(db, 'd', 'plum')
  upToDate(db)
  assert.doesNotMatch(left(), /quinc/)
})

test('the index adds no link to the chain and no row to the record', (t) => {
  const db = database(t)
  add(db, 'a', 'plum')
  const rows = () =>
    ['transcript_entries', 'events', 'hook_invocations', 'tool_permission_log', 'ona_chain'].map((name) =>
      db.get(`SELECT count(*) AS n, max(rowid) AS last FROM ${name}`),
    )
  const before = rows()
  upToDate(db)
  assert.deepEqual(rows(), before)
})

test('a database that cannot be written is indexed in memory', (t) => {
  const db = database(t)
  add(db, 'a', 'plum')
  const reader = readDb(db.path) as Db
  t.after(() => reader.close())
  const progress = fill(reader, 'temp', 10_000)
  assert.equal(progress.read, progress.rows)
  assert.deepEqual([found(reader, 'plum'), dashboard.totals(reader, {}).calls], [['a'], 1])
  assert.equal(db.get("SELECT 1 FROM sqlite_master WHERE name LIKE 'ona_inspect%'"), undefined)
})

test('a search looks into archived conversations, whether they were read before or after they were archived', (t) => {
  const db = database(t)
  for (const id of ['early', 'late', 'stays']) add(db, id, `plum-${id} pear`)
  const hits = () => search(db, 'pear', {}).found.map(({ id, hits: each }) => [id, each.map(({ type }) => type)])
  archiveConversation(db, 'early', 'agent.db-archive-1.zst')
  upToDate(db)
  const counted = () =>
    dashboard.conversationRows(db, ['early', 'late', 'stays']).map(({ title: _, lastActive: __, ...row }) => row)
  const sums = counted()
  archiveConversation(db, 'late', 'agent.db-archive-1.zst')
  upToDate(db)
  upToDate(db)
  assert.deepEqual(
    hits().toSorted(),
    ['early', 'late', 'stays'].map((id) => [id, ['assistant', 'user']]),
  )
  assert.deepEqual(counted(), sums, 'and counts each row once')
  assert.deepEqual(
    search(db, 'pear', {})
      .found.map(({ id, title, archived = false }) => [id, title, archived])
      .toSorted(),
    [
      ['early', 'plum-early pear', true],
      ['late', 'plum-late pear', true],
      ['stays', 'plum-stays pear', false],
    ],
  )
  unarchiveConversation(db, 'late')
  archiveConversation(db, 'late', 'agent.db-archive-2.zst')
  upToDate(db)
  assert.deepEqual(found(db, 'plum-late'), ['late'])
  assert.deepEqual(counted(), sums)
  eraseSession(
    db,
    db.get<{ id: string }>("SELECT session_id AS id FROM sessions WHERE conversation_id = 'stays'")!.id,
    'x',
  )
  upToDate(db)
  assert.deepEqual([found(db, 'pear').toSorted(), found(db, 'plum-stays')], [['early', 'late'], []])
})

test('every row counts once, wherever it was when it was read: in the database, in an archive, or put back', (t) => {
  const rows = 4
  const whole = database(t)
  const parts = database(t)
  const grow = (db: Db, sessionId: string, n: number) => {
    const at = { sessionId, conversationId: 'c' }
    addEvent(db, { ...at, type: 'model_reply', detail: { inputTokens: n, costUsd: n } })
    recordHooks(db, sessionId, 'c', [
      {
        ...{
          event: 'Stop',
          ordinal: 0,
          matcher: '',
          command: './stop.sh',
          toolUseId: null,
          toolName: null,
          inputJson: '{}',
        },
        ...{ exitCode: 0, stdout: null, stderr: null, skippedReason: null },
        ...{ startedAt: '2026-11-15T09:00:00.000Z', completedAt: '2026-11-15T09:00:00.050Z' },
      },
    ])
    commitToolCall(db, {
      ...{ ...at, invocations: [], result: { tool_use_id: `u${n}`, content: `pear ${n}`, is_error: false } },
      permission: { toolName: 'Bash', decision: 'deny', reason: { by: 'rule', rule: 'Bash(x)' } },
    })
  }
  const told = (db: Db) => ({
    ...{ totals: dashboard.totals(db, {}), filtered: dashboard.totals(db, { agent: 'ona' }) },
    ...{ hooks: dashboard.hooks(db, {}), denials: dashboard.denials(db, {}), pears: found(db, 'pear') },
  })
  const first = add(whole, 'c', 'plum')
  for (let n = 1; n <= rows; n++) grow(whole, first, n)
  upToDate(whole)

  const archive = () => archiveConversation(parts, 'c', 'agent.db-archive-x.zst')
  const session = add(parts, 'c', 'plum')
  upToDate(parts)
  grow(parts, session, 1)
  archive() // what came after the last look
  upToDate(parts)
  unarchiveConversation(parts, 'c')
  grow(parts, session, 2)
  upToDate(parts)
  grow(parts, session, 3)
  archive()
  grow(parts, session, 4) // puts it back before anybody has looked
  upToDate(parts)
  assert.deepEqual(told(parts), told(whole))
})

test('content that is erased while an archive is read is out of the index, and the rest of the archive is in it', (t) => {
  const db = database(t)
  add(db, 'old', 'plum')
  const other = add(db, 'other', 'pear')
  archiveConversation(db, 'old', 'agent.db-archive-1.zst')
  let isDone = false
  const erasing = new Proxy(db, {
    get(_, name) {
      const member = Reflect.get(db, name, db)
      if (name !== 'transaction') return typeof member === 'function' ? member.bind(db) : member
      return <T>(work: () => T) => {
        const done = db.transaction(work)
        const isBegun = db.get(
          `SELECT 1 FROM ona_inspect_read
           WHERE number = (SELECT number FROM ona_inspect_conversations WHERE id = 'old')`,
        )
        if (isBegun && !isDone) {
          isDone = true
          eraseSession(db, other, 'x')
        }
        return done
      }
    },
  })
  for (let n = 0; n < 3; n++) fill(erasing, 'main', 10_000)
  assert.ok(isDone)
  const { cost, ...counts } = dashboard.totals(db, { project: '/p' })
  assert.deepEqual([counts.calls, cost, found(db, 'plum'), found(db, 'pear')], [2, 0.5, ['old'], []])
})

test('days are those of the time zone, also when it has changed since they were summed', (t) => {
  const db = database(t)
  const before = process.env['TZ']
  t.after(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  for (const [id, at] of [
    ['a', '2026-11-14 18:15:00'],
    ['b', '2026-11-14 18:45:00'],
    ['c', '2026-11-15 00:15:00'],
  ] as const) {
    add(db, id, 'plum')
    for (const [table, column] of [
      ['events', 'timestamp'],
      ['transcript_entries', 'created_at'],
    ])
      db.run(
        `UPDATE ${table} SET ${column} = ? WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?)`,
        at,
        id,
      )
  }
  const days = (filter = {}) => dashboard.days(db, filter).map(({ day, calls, cost }) => [day, calls, cost])
  const told = {
    UTC: [
      ['2026-11-14', 2, 0.5],
      ['2026-11-15', 1, 0.25],
    ],
    'Asia/Kolkata': [
      ['2026-11-14', 1, 0.25],
      ['2026-11-15', 2, 0.5],
    ],
  }
  process.env['TZ'] = 'UTC'
  upToDate(db)
  assert.deepEqual([days(), days({ agent: 'ona' })], [told.UTC, told.UTC])
  process.env['TZ'] = 'Asia/Kolkata'
  assert.deepEqual(days(), told['Asia/Kolkata'], 'before anything was summed for it')
  upToDate(db)
  assert.deepEqual([days(), days({ agent: 'ona' })], [told['Asia/Kolkata'], told['Asia/Kolkata']])
})

test('a stretch of time shows what all conversations did in it, day by day', (t) => {
  const db = database(t)
  const start = Date.parse('2026-11-10T00:00:00Z') / 1000
  for (let at = 0; at < 24; at++) {
    add(db, `c${at}`, 'plum', { denied: at % 5 === 0 })
    const time = new Date((start + at * 7 * 3600) * 1000).toISOString().slice(0, 19).replace('T', ' ')
    const of = `session_id IN (SELECT session_id FROM sessions WHERE conversation_id = 'c${at}')`
    db.transaction(() => {
      db.run(`UPDATE events SET timestamp = ? WHERE ${of}`, time)
      for (const table of ['transcript_entries', 'tool_permission_log'])
        db.run(`UPDATE ${table} SET created_at = ? WHERE ${of}`, time)
      db.run('UPDATE conversations SET last_active = ? WHERE id = ?', time, `c${at}`)
    })
  }
  const shown = (filter: Filter) => ({
    ...{ totals: dashboard.totals(db, filter), days: dashboard.days(db, filter) },
    conversations: dashboard.conversations(db, filter).map(({ id }) => id),
    second: dashboard.conversations(db, filter, { limit: 2, offset: 1 }).map(({ id }) => id),
  })
  const agree = () => {
    const times = [undefined, -1e15, 1e15, ...[-5, 0, 2, 30, 31, 50, 97, 170].map((hours) => start + hours * 3600)]
    for (const from of times)
      for (const to of times) {
        const time = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
        assert.deepEqual(shown(time), shown({ ...time, agent: 'ona' }), JSON.stringify(time)) // conversation by conversation
      }
  }
  upToDate(db)
  agree()
  const { days, totals } = shown({ from: start + 30 * 3600 })
  assert.deepEqual([days.length, totals.calls, totals.refused], [6, 19, 4])
})

test('an archive that is gone or damaged hides its texts and nothing else', (t) => {
  const db = database(t)
  for (const id of ['lost', 'kept']) add(db, id, 'pear')
  upToDate(db)
  archiveConversation(db, 'lost', 'agent.db-archive-1.zst')
  rmSync(join(dirname(db.path), 'agent.db-archive-1.zst'))
  upToDate(db)
  assert.deepEqual(
    search(db, 'pear', {})
      .found.map(({ id, hits }) => [id, hits.length])
      .toSorted(),
    [
      ['kept', 2],
      ['lost', 0],
    ],
  )
})

test('a filter shows the sums of its conversations, whenever they came to be among them', (t) => {
  const db = database(t)
  const sessions = ['a', 'b', 'c', 'd'].map((id, at) =>
    add(db, id, `words of ${id}`, { project: at === 3 ? '' : `/p${at % 2}`, ms: 10 * at, denied: id === 'b' }),
  )
  db.transaction(() => db.run("UPDATE conversations SET last_active = datetime('now', '-' || rowid || ' days')"))
  const filters: Filter[] = [{}, { agent: 'ona' }, { agent: 'none' }, { project: '/p0' }, { project: '/p1' }]
  filters.push({ project: '/late' }, { project: '/none' }, { refused: true }, { hook: './guard.sh' })
  filters.push({ hook: './late.sh' }, { hook: './none.sh' })
  const shown = (filter: Filter) => ({
    ...{ totals: dashboard.totals(db, filter), days: dashboard.days(db, filter), hooks: dashboard.hooks(db, filter) },
    ...{ denials: dashboard.denials(db, filter), prompts: dashboard.prompts(db, filter) },
    conversations: dashboard.conversations(db, filter).map(({ id }) => id),
    second: dashboard.conversations(db, filter, { limit: 1, offset: 1 }).map(({ id }) => id),
  })
  /** From the beginning of time: conversation by conversation. */
  const agree = () => {
    for (const filter of filters) assert.deepEqual(shown(filter), shown({ ...filter, from: 0 }), JSON.stringify(filter))
  }
  upToDate(db)
  agree()
  assert.deepEqual(shown({ refused: true }).conversations, ['b'])
  assert.deepEqual(shown({ project: '/p0' }).conversations, ['a', 'c'])
  assert.equal(shown({ project: '/p0' }).totals.calls, 2)

  // one that had rows before is refused something, runs another hook, or turns out to belong to a folder
  const run = { ordinal: 0, matcher: '', toolUseId: 'more', toolName: 'Bash', inputJson: '{}', skippedReason: null }
  const when = { startedAt: '2026-11-16T08:00:00.000Z', completedAt: '2026-11-16T08:00:00.300Z' }
  recordHooks(db, sessions[0]!, 'a', [
    { ...run, ...when, event: 'PreToolUse', command: './late.sh', exitCode: 2, stdout: null, stderr: null },
  ])
  db.transaction(() => db.run("UPDATE conversations SET project_dir = '/late' WHERE id = 'd'"))
  for (const [at, id] of ['a', 'd'].entries())
    commitToolCall(db, {
      ...{ sessionId: sessions[at * 3]!, conversationId: id, invocations: [] },
      permission: { toolName: 'Bash', decision: 'deny', reason: { by: 'person', reason: 'not now' } },
      result: { tool_use_id: `more ${id}`, content: 'no', is_error: true },
    })
  upToDate(db)
  agree()
  const { totals } = shown({ refused: true })
  assert.deepEqual([totals.conversations, totals.calls, totals.refused, totals.cost], [3, 5, 3, 0.75])
  assert.deepEqual([shown({ hook: './late.sh' }).totals.calls, shown({ project: '/late' }).totals.calls], [2, 2])

  const { TZ } = process.env
  t.after(() => {
    if (TZ === undefined) delete process.env['TZ']
    else process.env['TZ'] = TZ
  })
  process.env['TZ'] = 'Pacific/Kiritimati'
  agree() // not summed by these days yet
  upToDate(db)
  agree()
})

test('as many conversations are listed as are counted, also where one has no rows yet', (t) => {
  const db = database(t)
  add(db, 'a', 'plum')
  createConversation(db, { projectDir: '/p', id: 'b' })
  upToDate(db)
  for (const filter of [{}, { project: '/p' }, { agent: 'ona' }, { project: '/p', agent: 'ona' }])
    assert.equal(dashboard.conversations(db, filter).length, dashboard.countConversations(db, filter))
})

test('the newest conversations of a large group are listed as those of a small one', (t) => {
  const db = database(t)
  for (let at = 0; at < 30; at++) add(db, `c${at}`, 'words', { denied: at % 3 === 0 })
  upToDate(db)
  const ids = (filter: Filter, offset: number) =>
    dashboard.conversations(db, filter, { limit: 4, offset }).map(({ id }) => id)
  const expected = Array.from({ length: 10 }, (_, at) => `c${27 - 3 * at}`)
  assert.deepEqual([ids({ refused: true }, 0), ids({ refused: true }, 8)], [expected.slice(0, 4), expected.slice(8)])
  db.transaction(() => db.run('UPDATE ona_inspect_groups SET conversations = conversations + 1000'))
  assert.deepEqual([ids({ refused: true }, 0), ids({ refused: true }, 8)], [expected.slice(0, 4), expected.slice(8)])
})
