/** Cursor's SQLite stores: of its app and of its command line, beside the thin transcripts of the same sessions. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { cursorHistory } from '../../src/hosts/cursor/history.ts'
import { sized } from '../support/campaign-size.ts'
import { type Place, place } from '../support/program.ts'

const begun = Date.parse('2026-11-15T10:00:00.000Z')
const iso = (second: number) => new Date(begun + second * 1000).toISOString()

function opened(path: string, ddl: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true })
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${ddl}`)
  return db
}

const tool = (name: string, input: object, more: object) => ({
  name,
  rawArgs: JSON.stringify(input),
  status: 'completed',
  ...more,
})

/** A session of the app with every form of a message. */
const bubbles: Record<string, object> = {
  b1: { type: 1, text: 'Fix the login' },
  b2: { type: 2, text: '', thinking: { text: 'hm' } },
  b3: {
    ...{ type: 2, text: 'I look first.', tokenCount: { inputTokens: 900, outputTokens: 40 } },
    toolFormerData: tool(
      'read_file_v2',
      { target_file: 'src/a.ts' },
      { toolCallId: 't1', result: '{"contents":"const a = 1"}' },
    ),
  },
  b4: {
    ...{ type: 2, text: '' },
    toolFormerData: {
      ...{ name: 'run_terminal_command_v2', toolCallId: 't2', status: 'completed', rawArgs: '' },
      ...{ params: { command: 'npm test' }, result: { output: '1 failing', exitCode: 1 }, userDecision: 'accepted' },
    },
  },
  b5: {
    ...{ type: 2, text: '' },
    toolFormerData: tool(
      'run_terminal_command_v2',
      { command: 'rm -rf build' },
      {
        ...{ toolCallId: 't3', additionalData: { status: 'rejected' }, result: '{"rejected":true}' },
      },
    ),
  },
  b6: {
    ...{ type: 2, text: '' },
    toolFormerData: tool(
      'edit_file_v2',
      { relativeWorkspacePath: 'src/a.ts' },
      {
        ...{
          toolCallId: 't4',
          status: 'cancelled',
          error: { clientVisibleErrorMessage: 'Edit rejected: User chose to skip' },
        },
      },
    ),
  },
  b7: {
    ...{ type: 2, text: '' },
    toolFormerData: tool(
      'mcp',
      { tools: [{ serverName: 'github', name: 'get_issue', parameters: '{"n":1}' }] },
      {
        ...{ toolCallId: 't5', result: 'token ghp_0123456789abcdefghijklmnopqrstuvwxyz01' },
      },
    ),
  },
  b8: { type: 2, text: '', toolFormerData: { tool: 15, toolCallId: 't6', status: 'loading', rawArgs: '{"comm' } },
  b9: { type: 9, text: 'x' },
  b10: { type: 2, text: 'Done.' },
}

function appStore(here: Place): { path: string; db: DatabaseSync } {
  const user = join(here.home, '.config/Cursor/User')
  const path = join(user, 'globalStorage/state.vscdb')
  const db = opened(
    path,
    'CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)',
  )
  const add = (key: string, value: object | string | null) =>
    db
      .prepare('INSERT INTO cursorDiskKV VALUES (?, ?)')
      .run(key, typeof value === 'object' && value ? JSON.stringify(value) : value)
  add('composerData:s1', {
    ...{
      composerId: 's1',
      name: 'Login',
      createdAt: begun,
      lastUpdatedAt: begun + 60_000,
      modelConfig: { modelName: 'm-1' },
    },
    fullConversationHeadersOnly: [...Object.keys(bubbles), 'gone', 'torn'].map((bubbleId) => ({ bubbleId })),
  })
  for (const [n, [bubbleId, bubble]] of Object.entries(bubbles).entries())
    add(`bubbleId:s1:${bubbleId}`, { bubbleId, createdAt: iso(n), ...bubble })
  add('bubbleId:s1:torn', '{"type":')
  add('composerData:s2', {
    ...{ composerId: 's2', createdAt: begun, conversation: [{ bubbleId: 'o1', type: 1, text: 'An older form' }] },
  })
  add('composerData:s3', '[]')
  add('composerData:s4', null)
  const heads = { allComposers: [{ composerId: 's1', workspaceIdentifier: { id: 'w1', uri: { fsPath: '/repo' } } }] }
  db.prepare('INSERT INTO ItemTable VALUES (?, ?)').run('composer.composerHeaders', JSON.stringify(heads))
  return { path, db }
}

const field = (number: number, bytes: Buffer) => Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes])

/** A chat of the command line: messages as JSON, one in a node of its graph, and nodes that are not understood. */
function chatStore(here: Place): DatabaseSync {
  const folder = join(here.home, '.cursor/chats/0f/c1')
  const db = opened(
    join(folder, 'store.db'),
    'CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)',
  )
  const add = (data: Buffer): Buffer => {
    const id = createHash('sha256').update(data).digest()
    db.prepare('INSERT INTO blobs VALUES (?, ?)').run(id.toString('hex'), data)
    return id
  }
  const json = (message: object) => Buffer.from(JSON.stringify(message))
  const reply = add(
    json({
      ...{ role: 'assistant' },
      content: [
        { type: 'text', text: 'Listing.' },
        { type: 'tool-call', toolCallId: 'k1', toolName: 'Shell', args: { command: 'ls' } },
      ],
    }),
  )
  const prompt = add(json({ role: 'user', content: '<user_query>\nList the files\n</user_query>' }))
  add(json({ role: 'system', content: 'You are' }))
  add(json({ role: 'user', content: '<user_info>\nOS: linux\n</user_info>' }))
  add(json({ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'k1', toolName: 'Shell', result: 'a.ts' }] }))
  add(field(4, json({ role: 'assistant', content: [{ type: 'text', text: 'Bye.' }] })))
  add(Buffer.from([0xff, 0x00, 0x17]))
  const root = add(Buffer.concat([field(1, prompt), field(1, reply), field(9, Buffer.from('/work'))]))
  const meta = { agentId: 'c1', name: 'Files', createdAt: begun, latestRootBlobId: root.toString('hex') }
  db.prepare('INSERT INTO meta VALUES (?, ?)').run('0', json(meta).toString('hex'))
  writeFileSync(
    join(folder, 'meta.json'),
    JSON.stringify({ cwd: '/work', createdAtMs: begun, updatedAtMs: begun + 5000 }),
  )
  return db
}

/** The thin transcript of a session. */
function transcript(here: Place, session: string, text: string): string {
  const path = join(here.home, `.cursor/projects/repo/agent-transcripts/${session}/${session}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  const line = (role: string, content: object[]) => `${JSON.stringify({ role, message: { content } })}\n`
  const use = { type: 'tool_use', name: 'Shell', input: { command: 'npm test' } }
  writeFileSync(path, line('user', [{ type: 'text', text }]) + line('assistant', [use]))
  return path
}

const entries = (here: Place, session: string) =>
  here
    .rows<{ line: string }>(
      `SELECT substr(created_at, 12) || ' ' || entry_type || ' ' || payload_json AS line FROM transcript_entries
     WHERE session_id = 'cursor-${session}' ORDER BY sequence`,
    )
    .map(({ line }) => line)

const decisions = (here: Place) =>
  here
    .rows<{ line: string }>(
      `SELECT tool_use_id || ' ' || tool_name || ' ' || decision || ' ' || (reason_json ->> 'was') || ' ' || (reason_json ->> 'by') AS line
     FROM tool_permission_log ORDER BY id`,
    )
    .map(({ line }) => line)

const run = async (here: Place, ...flags: string[]) => {
  const ran = await here.run(['audit', 'import', 'cursor', '--all', '--json', ...flags])
  assert.equal(ran.code, 0, ran.stderr)
  const [{ bytes: _, ...counts }] = JSON.parse(ran.stdout).agents
  return counts
}

test('sessions of the app and of the command line, with results, decisions, tokens and folders', async (t) => {
  const here = place(t)
  const app = appStore(here)
  const chat = chatStore(here)
  t.after(() => [app.db, chat].forEach((db) => void db.close()))
  for (const session of ['s1', 'c1']) transcript(here, session, 'The thin copy')
  transcript(here, 'only', 'A session of which nothing else is left')
  const files = [app.path, `${app.path}-wal`, join(here.home, '.cursor/chats/0f/c1/store.db')]
  const before = files.map((path) => readFileSync(path))
  const dry = await run(here, '--dry-run')
  const counts = await run(here)
  assert.deepEqual(dry, counts)
  assert.deepEqual(counts, {
    ...{ agent: 'cursor', files: 5, sessions: 4, prompts: 4, replies: 10, calls: 7, denied: 2, hooks: 0, errors: 0 },
    // the thin copies of two sessions; a torn message and a session that is a list; a type of message and of blob
    ...{ copied: 6, unreadable: 2, unknown: { 'bubble 9': 1, 'binary blob': 1 } },
  })
  assert.deepEqual(
    files.map((path) => readFileSync(path)),
    before,
    'no byte of the databases is changed',
  )
  assert.deepEqual(entries(here, 's1'), [
    '10:00:00 user {"_t":"user","uuid":"b1","content":[{"type":"text","text":"Fix the login"}]}',
    '10:00:02 assistant {"_t":"assistant","uuid":"b3","content":[{"type":"text","text":"I look first."}]}',
    '10:00:02 assistant {"_t":"assistant","uuid":"b3:call","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"src/a.ts"}}],"original":{"t1":{"name":"read_file_v2","input":{"target_file":"src/a.ts"}}}}',
    '10:00:02 tool_result {"_t":"tool_result","tool_use_id":"t1","content":"const a = 1","is_error":false}',
    '10:00:03 assistant {"_t":"assistant","uuid":"b4:call","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"npm test"}}],"original":{"t2":{"name":"run_terminal_command_v2","input":{}}}}',
    '10:00:03 tool_result {"_t":"tool_result","tool_use_id":"t2","content":"1 failing","is_error":true}',
    '10:00:04 assistant {"_t":"assistant","uuid":"b5:call","content":[{"type":"tool_use","id":"t3","name":"Bash","input":{"command":"rm -rf build"}}],"original":{"t3":{"name":"run_terminal_command_v2","input":{}}}}',
    '10:00:04 tool_result {"_t":"tool_result","tool_use_id":"t3","content":"{\\"rejected\\":true}","is_error":true}',
    '10:00:05 assistant {"_t":"assistant","uuid":"b6:call","content":[{"type":"tool_use","id":"t4","name":"Edit","input":{"file_path":"src/a.ts"}}],"original":{"t4":{"name":"edit_file_v2","input":{"relativeWorkspacePath":"src/a.ts"}}}}',
    '10:00:05 tool_result {"_t":"tool_result","tool_use_id":"t4","content":"Edit rejected: User chose to skip","is_error":true}',
    '10:00:06 assistant {"_t":"assistant","uuid":"b7:call","content":[{"type":"tool_use","id":"t5","name":"mcp__github__get_issue","input":{"n":1}}],"original":{"t5":{"name":"mcp","input":{"tools":[{"serverName":"github","name":"get_issue","parameters":"{\\"n\\":1}"}]}}}}',
    '10:00:06 tool_result {"_t":"tool_result","tool_use_id":"t5","content":"token [redacted]","is_error":false}',
    '10:00:09 assistant {"_t":"assistant","uuid":"b10","content":[{"type":"text","text":"Done."}]}',
  ])
  assert.deepEqual(
    entries(here, 'c1').map((line) => line.slice(9)),
    [
      `user {"_t":"user","uuid":"${idOf(chat, 'List the files')}","content":[{"type":"text","text":"List the files"}]}`,
      `assistant {"_t":"assistant","uuid":"${idOf(chat, 'Listing.')}","content":[{"type":"text","text":"Listing."},{"type":"tool_use","id":"k1","name":"Bash","input":{"command":"ls"}}],"original":{"k1":{"name":"Shell","input":{}}}}`,
      'tool_result {"_t":"tool_result","tool_use_id":"k1","content":"a.ts","is_error":false}',
      `assistant {"_t":"assistant","uuid":"${idOf(chat, 'Bye.')}","content":[{"type":"text","text":"Bye."}]}`,
    ],
  )
  assert.deepEqual(decisions(here), [
    't1 Read allow allow unrecorded',
    't2 Bash allow ask person',
    't3 Bash deny ask person',
    't4 Edit deny ask person',
    't5 mcp__github__get_issue allow allow unrecorded',
    'k1 Bash allow allow unrecorded',
    'only:2:0 Bash allow allow unrecorded',
  ])
  assert.deepEqual(
    here
      .rows<{ folder: string }>(
        "SELECT project_dir AS folder FROM conversations WHERE id IN ('cursor-s1', 'cursor-c1') ORDER BY id",
      )
      .map(({ folder }) => folder),
    ['/work', '/repo'],
  )
  assert.deepEqual(
    here
      .rows<{ detail: string }>("SELECT detail FROM events WHERE event_type = 'model_reply'")
      .map(({ detail }) => JSON.parse(detail)),
    [
      {
        ...{ model: 'm-1', inputTokens: 900, outputTokens: 40, cacheReadTokens: 0, cacheWriteTokens: 0 },
        record: 'b3:usage',
      },
    ],
  )
})

const idOf = (chat: DatabaseSync, text: string) =>
  String(chat.prepare('SELECT id FROM blobs WHERE instr(data, ?) > 0').get(text)!['id'])

test('a session that goes on adds what is new, and is never there twice', async (t) => {
  const here = place(t)
  const { db } = appStore(here)
  t.after(() => db.close())
  const thin = transcript(here, 's1', 'The thin copy')
  await run(here)
  const first = entries(here, 's1').length
  db.prepare("UPDATE cursorDiskKV SET value = ? WHERE key = 'bubbleId:s1:b8'").run(
    JSON.stringify({
      bubbleId: 'b8',
      createdAt: iso(7),
      type: 2,
      text: '',
      toolFormerData: { tool: 15, toolCallId: 't6', status: 'completed', rawArgs: '{"command":"ls"}', result: 'a' },
    }),
  )
  const row = "UPDATE cursorDiskKV SET value = json_set(value, '$.lastUpdatedAt', ?) WHERE key = 'composerData:s1'"
  db.prepare(row).run(begun + 90_000)
  appendFileSync(thin, `${JSON.stringify({ role: 'user', message: { content: 'More' } })}\n`)
  const more = await run(here)
  assert.deepEqual([more.sessions, more.replies, more.calls, more.copied], [0, 1, 1, 1])
  assert.equal(entries(here, 's1').length, first + 2)
  const again = await run(here)
  assert.deepEqual([again.sessions, again.replies, again.calls], [0, 0, 0])
})

test('a session that was read from its transcript stays one when its store appears', async (t) => {
  const here = place(t)
  transcript(here, 's1', 'The thin copy')
  await run(here)
  const before = entries(here, 's1')
  const { db } = appStore(here)
  t.after(() => db.close())
  const { sessions, copied } = await run(here)
  assert.deepEqual([sessions, copied > 10, entries(here, 's1')], [1, true, before])
})

test('a database that is damaged or of another program is named, and the others are imported', async (t) => {
  const here = place(t)
  const { db } = appStore(here)
  t.after(() => db.close())
  const at = (name: string) => join(here.home, '.cursor/chats/0f', name, 'store.db')
  for (const name of ['noise', 'other']) mkdirSync(dirname(at(name)), { recursive: true })
  writeFileSync(at('noise'), Buffer.alloc(9000, 'SQLite?'))
  opened(at('other'), 'CREATE TABLE x (y)').close()
  const ran = await here.run(['audit', 'import', 'cursor', '--all', '--json'])
  assert.equal(ran.code, 1)
  const { agents, problems } = JSON.parse(ran.stdout)
  assert.equal(agents[0].prompts, 2)
  assert.deepEqual(problems, [
    `${at('noise')} cannot be read: file is not a database`,
    `${at('other')} cannot be read: no such table: meta`,
  ])
})

test('the app writes while its store is read', async (t) => {
  const here = place(t)
  const { db, path } = appStore(here)
  t.after(() => db.close())
  db.exec("BEGIN IMMEDIATE; INSERT INTO cursorDiskKV VALUES ('x', 'y')")
  const counts = await run(here)
  assert.equal(counts.prompts, 2)
  db.exec('COMMIT')
  const old = new Date('2026-01-01')
  for (const each of [path, `${path}-wal`]) if (statSync(each, { throwIfNoEntry: false })) utimesSync(each, old, old)
  const recent = await here.run(['audit', 'import', 'cursor', '--json'])
  assert.deepEqual(JSON.parse(recent.stdout).agents, [], 'not active in the last 30 days')
})

test('whatever bytes a store holds, reading it ends, or fails as SQLite does', (t) => {
  const here = place(t)
  const { db, path } = appStore(here)
  const chat = chatStore(here)
  for (const each of [db, chat]) {
    each.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE')
    each.close()
  }
  let seed = 7
  const below = (most: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * most)
  }
  for (const file of [path, join(here.home, '.cursor/chats/0f/c1/store.db')]) {
    const whole = readFileSync(file)
    for (let turn = 0; turn < sized(60, 1500); turn++) {
      const bytes = Buffer.from(whole)
      for (let n = below(40); n >= 0; n--) bytes[below(bytes.length)] = below(256)
      writeFileSync(file, bytes.subarray(0, below(4) === 0 ? below(bytes.length) : undefined))
      const state = {}
      try {
        for (const row of cursorHistory.rows!(file, 0)) if ('line' in row) cursorHistory.read(row.line, state)
      } catch (cause) {
        assert.equal((cause as NodeJS.ErrnoException).code, 'ERR_SQLITE_ERROR', String((cause as Error).stack))
      }
    }
  }
})
