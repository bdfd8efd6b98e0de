/** Records that an agent writes more than once: forks, copies, rows that change in place, sessions that were archived. */
import assert from 'node:assert/strict'
import { appendFileSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Place, place } from '../support/program.ts'

const fixtures = join(import.meta.dirname, '../fixtures/histories')

interface Found {
  readonly sessions: number
  readonly prompts: number
  readonly calls: number
  readonly copied: number
  readonly errors: number
}

async function importing(here: Place, ...words: string[]): Promise<Found> {
  const ran = await here.run(['audit', 'import', ...words, '--json'])
  assert.equal(ran.code, 0, ran.stderr)
  const [{ sessions, prompts, calls, copied, errors }] = JSON.parse(ran.stdout).agents
  return { sessions, prompts, calls, copied, errors }
}

const texts = (here: Place, session: string): string[] =>
  here
    .rows<{ text: string }>(
      `SELECT coalesce(payload_json ->> '$.content[0].text', payload_json ->> '$.content[0].input.command') AS text
       FROM transcript_entries WHERE session_id = '${session}' AND entry_type <> 'tool_result' ORDER BY sequence`,
    )
    .map(({ text }) => text)

/** Lines as Claude Code 2.1 writes them. */
const claudeLine = (sessionId: string, uuid: string, more: object) =>
  JSON.stringify({ sessionId, uuid, cwd: '/p', version: '2', timestamp: '2026-11-16T10:00:00.000Z', ...more })
const said = (sessionId: string, uuid: string, content: unknown, more: object = {}) =>
  claudeLine(sessionId, uuid, { type: 'user', message: { role: 'user', content }, ...more })

function claudeFile(here: Place, session: string, lines: readonly string[]): string {
  const file = join(here.home, `.claude/projects/-p/${session}.jsonl`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

const call = (session: string) => [
  claudeLine(session, 'u2', {
    type: 'assistant',
    message: { id: 'm1', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'echo 1' } }] },
  }),
  said(session, 'u3', [{ type: 'tool_result', tool_use_id: 't1', content: '1' }]),
]

for (const order of [
  ['a', 'b'],
  ['b', 'a'],
] as const)
  test(`what a fork copies is stored once, whichever is read first: ${order}`, async (t) => {
    const here = place(t)
    const files: Record<string, string[]> = {
      a: [said('a', 'u1', 'Begin.'), ...call('a'), said('a', 'u4', 'On in the first.')],
      b: [said('b', 'u1', 'Begin.'), ...call('b'), said('b', 'u5', 'On in the fork.')],
    }
    const found: Found[] = []
    for (const session of order) {
      claudeFile(here, session, files[session]!)
      found.push(await importing(here, 'claude'))
    }
    assert.deepEqual(found, [
      { sessions: 1, prompts: 2, calls: 1, copied: 0, errors: 0 },
      { sessions: 1, prompts: 1, calls: 0, copied: 3, errors: 0 },
    ])
    const last = order[1] === 'a' ? 'On in the first.' : 'On in the fork.'
    assert.deepEqual(texts(here, `claude-${order[1]}`), [last])
  })

test('a compaction is an event, and its summary is no prompt; a command is what was typed', async (t) => {
  const here = place(t)
  const command = (name: string, args: string) =>
    `<command-name>${name}</command-name>\n            <command-message>x</command-message>\n <command-args>${args}</command-args>`
  claudeFile(here, 's', [
    said('s', 'u1', 'Begin.'),
    claudeLine('s', 'u2', {
      ...{ type: 'system', subtype: 'compact_boundary', isMeta: false },
      compactMetadata: { trigger: 'manual', preTokens: 9913 },
    }),
    said('s', 'u3', 'This session is being continued from …', { isCompactSummary: true }),
    said('s', 'u4', '<local-command-caveat>The command below …', { isMeta: true }),
    said('s', 'u5', command('/compact', '')),
    said('s', 'u6', '<local-command-stdout>Compacted</local-command-stdout>'),
    said('s', 'u7', command('/review', 'the last\ncommit')),
  ])
  await importing(here, 'claude')
  assert.deepEqual(texts(here, 'claude-s'), ['Begin.', '/compact', '/review the last\ncommit'])
  assert.deepEqual(
    here.rows('SELECT event_type, detail FROM events').map((row) => Object.values(row)),
    [['compacted', '{"trigger":"manual","tokens":9913,"record":"u2"}']],
  )
})

for (const [agent, sample] of [
  ['codex', 'sessions/2026/11/15/rollout-2026-11-15T11-47-50-01a1df08-fafe-71a1-be4f-fb1c2c9dee15.jsonl'],
  ['copilot', 'session-state/4e4e3bb0-9b06-41c2-99b9-16d5baa541a7/events.jsonl'],
] as const)
  test(`a copy of a ${agent} file under another name adds nothing`, async (t) => {
    const here = place(t)
    const file = join(fixtures, agent, sample)
    const copy = join(here.folder, agent === 'codex' ? 'rollout-copy.jsonl' : 'copy/events.jsonl')
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(file, copy)
    const first = await importing(here, agent, file)
    assert.ok(first.calls > 10)
    const { copied, ...added } = await importing(here, agent, copy)
    assert.deepEqual(added, { sessions: 0, prompts: 0, calls: 0, errors: 0 })
    assert.ok(copied > 10)
  })

test("opencode's rows are read when they are whole; older sessions when they are asked for", async (t) => {
  const here = place(t)
  const file = join(here.home, '.local/share/opencode/opencode.db')
  mkdirSync(dirname(file), { recursive: true })
  copyFileSync(join(fixtures, 'opencode/opencode.db'), file)
  const db = new DatabaseSync(file)
  t.after(() => db.close())
  const [part] = db.prepare("SELECT id, data FROM part WHERE data ->> 'tool' = 'bash' ORDER BY id").all() as [
    { id: string; data: string },
  ]
  const begin = db.prepare('UPDATE part SET data = ? WHERE id = ?')
  begin.run(JSON.stringify({ ...JSON.parse(part.data), state: { status: 'pending', input: {}, raw: '' } }), part.id)
  const main = `(SELECT session_id FROM part WHERE id = '${part.id}')`
  db.exec(`UPDATE session SET time_updated = iif(id = ${main}, ${Date.now()}, 1700000000000)`)
  const whole = { sessions: 2, prompts: 3, calls: 14 }
  const recent = await importing(here, 'opencode', '--since', '1d')
  assert.equal(recent.sessions, 1, 'the other session is older')
  begin.run(part.data, part.id)
  const all = await importing(here, 'opencode', '--all')
  assert.deepEqual(
    {
      sessions: recent.sessions + all.sessions,
      prompts: recent.prompts + all.prompts,
      calls: recent.calls + all.calls,
    },
    whole,
  )
  const { callID, state } = JSON.parse(part.data)
  assert.deepEqual(
    here
      .rows(
        `SELECT payload_json ->> '$.content[0].input.command' AS command FROM transcript_entries
         WHERE payload_json ->> '$.content[0].id' = '${callID}'`,
      )
      .map((row) => Object.values(row)),
    [[state.input.command]],
  )
})

test('new records of an archived session put it back first; nothing is stored twice', async (t) => {
  const here = place(t)
  const file = claudeFile(here, 's', [said('s', 'u1', 'Begin.'), ...call('s')])
  cpSync(join(fixtures, 'opencode'), join(here.home, '.local/share/opencode'), { recursive: true })
  const opencode = join(here.home, '.local/share/opencode/opencode.db')
  await importing(here, 'claude', '--all')
  await importing(here, 'opencode', '--all')
  const counts = () => here.rows('SELECT count(*) AS n FROM transcript_entries').map((row) => Object.values(row))[0]
  const before = counts()
  const archived = await here.run(['audit', 'archive', '--older-than', '2999-01-01'])
  assert.equal(archived.code, 0, archived.stderr)
  assert.deepEqual(counts(), [0])
  const again = await importing(here, 'opencode', '--all')
  assert.deepEqual([again.prompts, again.calls, counts()], [0, 0, [0]], 'what is archived is known')
  appendFileSync(file, `${said('s', 'u9', 'On.')}\n`)
  assert.equal((await importing(here, 'claude', '--all')).prompts, 1)
  assert.deepEqual(texts(here, 'claude-s'), ['Begin.', 'echo 1', 'On.'])
  const db = new DatabaseSync(opencode)
  db.exec(
    "UPDATE session SET time_updated = time_updated + 1; UPDATE part SET id = id || 'x' WHERE id = (SELECT max(id) FROM part WHERE data ->> 'type' = 'text')",
  )
  db.close()
  await importing(here, 'opencode', '--all')
  assert.deepEqual(counts(), [Number(before![0]) + 2], 'one prompt, and one reply under another name')
})

test("Cursor's deletions are commands, so that rules on rm concern them", async (t) => {
  const here = place(t)
  const file = join(here.home, '.cursor/projects/p/agent-transcripts/d/d.jsonl')
  mkdirSync(dirname(file), { recursive: true })
  const content = [{ type: 'tool_use', name: 'Delete', input: { path: "/p/it's.txt" } }]
  writeFileSync(file, `${JSON.stringify({ role: 'assistant', message: { content } })}\n`)
  await importing(here, 'cursor')
  assert.deepEqual(texts(here, 'cursor-d'), ["rm -- '/p/it'\\''s.txt'"])
  const ran = await here.run(['hooks', 'replay', '--rule', 'deny:Bash(rm *)', '--json'])
  assert.equal(JSON.parse(ran.stdout).newly_denied, 1)
})

test('the table counts sessions: a resumed one once, those of a database each', async (t) => {
  const here = place(t)
  for (const [agent, home] of [
    ['gemini', '.gemini'],
    ['opencode', '.local/share/opencode'],
    ['copilot', '.copilot'],
  ] as const)
    cpSync(join(fixtures, agent), join(here.home, home), { recursive: true })
  const { stdout } = await here.run(['audit', 'import', '--all', '--dry-run'])
  const rows = stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2))
  assert.deepEqual(rows.slice(0, 4), [
    ['agent', 'sessions'],
    ['opencode', '2'],
    ['Copilot CLI', '1 or more'],
    ['Gemini CLI', '2'],
  ])
})
