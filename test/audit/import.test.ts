/** Other agents' histories in the record: through the program and SQL alone. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { sized } from '../support/campaign-size.ts'
import { type Place, place } from '../support/program.ts'

const fixtures = join(import.meta.dirname, '../fixtures/histories')
const agents = ['claude', 'codex', 'copilot', 'gemini', 'opencode', 'pi', 'qwen', 'cursor', 'vscode']

/** Every row that an import made, without what depends on the clock of this run. */
function dump(here: Place): object {
  const sessions = here.rows<{ session_id: string }>(
    `SELECT s.session_id, s.conversation_id, s.started_at, c.project_dir, c.created_at, c.last_active, i.agent, i.version,
       a.parent_session_id, a.agent_type
     FROM sessions s JOIN conversations c ON c.id = s.conversation_id JOIN ona_imports i ON i.session_id = s.session_id
     LEFT JOIN ona_subagents a ON a.session_id = s.session_id ORDER BY s.session_id`,
  )
  return sessions.map((session) => {
    const of = (sql: string) =>
      here.rows(sql.replace('$', `'${session.session_id}'`)).map((row) => Object.values(row).join(' | '))
    return {
      ...session,
      entries: of('SELECT sequence, created_at, payload_json FROM transcript_entries WHERE session_id = $ ORDER BY id'),
      permissions: of(
        'SELECT tool_use_id, tool_name, decision, reason_json FROM tool_permission_log WHERE session_id = $ ORDER BY id',
      ),
      events: of('SELECT timestamp, event_type, detail FROM events WHERE session_id = $ ORDER BY id'),
      hooks: of(
        `SELECT hook_event, command, tool_use_id, tool_name, exit_code, stdout_text, stderr_text, started_at, skipped_reason
         FROM hook_invocations WHERE session_id = $ ORDER BY id`,
      ),
    }
  })
}

for (const agent of agents)
  test(`golden import: ${agent}`, async (t) => {
    const here = place(t)
    const ran = await here.run(['audit', 'import', agent, join(fixtures, agent), '--all', '--json'])
    assert.equal(ran.code, 0, ran.stderr)
    const golden = join(fixtures, `${agent}.golden.json`)
    const found = { counts: JSON.parse(ran.stdout), sessions: dump(here) }
    for (const each of found.counts.agents) delete each.bytes
    // UPDATE_GOLDEN=1 rewrites them, to be read before they are committed
    if (process.env['UPDATE_GOLDEN']) writeFileSync(golden, `${JSON.stringify(found, null, 1)}\n`)
    assert.deepEqual(found, JSON.parse(readFileSync(golden, 'utf8')))
    const before = dump(here)
    const again = await here.run(['audit', 'import', agent, join(fixtures, agent), '--all', '--json'])
    assert.equal(again.code, 0)
    assert.deepEqual(dump(here), before, 'importing again adds nothing')
    const dry = await here.run(['audit', 'import', agent, join(fixtures, agent), '--all', '--dry-run', '--json'])
    const [{ sessions, prompts, replies, calls, hooks, errors }] = JSON.parse(dry.stdout).agents
    assert.deepEqual([sessions, prompts, replies, calls, hooks, errors], [0, 0, 0, 0, 0, 0], 'and a dry run says so')
  })

/** Copies the fixtures of an agent to where its home has them. */
function claudeHome(here: Place): string {
  const root = join(here.home, '.claude/projects')
  cpSync(join(fixtures, 'claude/projects'), root, { recursive: true })
  return join(root, '-repo/8faf19ec-18c1-47cc-90c0-affb245db616.jsonl')
}

const count = (here: Place, table: string): number =>
  here.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]!.n

const importing = async (here: Place, ...words: string[]) => {
  const ran = await here.run(['audit', 'import', ...words, '--json'])
  assert.equal(ran.code, 0, ran.stderr)
  return JSON.parse(ran.stdout) as { agents: { agent: string; calls: number; unreadable: number; unknown: object }[] }
}

test('without a path it finds what is on this machine, and says so first', async (t) => {
  const here = place(t)
  claudeHome(here)
  cpSync(join(fixtures, 'codex/sessions'), join(here.home, '.codex/sessions'), { recursive: true })
  const { code, stdout } = await here.run(['audit', 'import', '--dry-run', '--all'])
  assert.equal(code, 0)
  assert.match(stdout, /Claude Code\s+2\s.*\nCodex\s+2\s/)
  assert.match(stdout, /claude: 2 new sessions, 3 prompts, 14 calls \(2 denied\).*\ncodex: 2 new sessions/)
  assert.match(stdout, /nothing was stored/)
  const { agents: found } = await importing(here, '--all')
  assert.deepEqual(
    found.map(({ agent, calls }) => [agent, calls]),
    [
      ['claude', 14],
      ['codex', 15],
    ],
  )
  const again = await here.run(['audit', 'import', '--dry-run', '--all'])
  assert.match(
    again.stdout,
    /claude: 0 new sessions, 0 prompts, 0 calls .*\ncodex: 0 new sessions, 0 prompts, 0 calls /,
  )
})

test('a growing file is read on from where it ended; a half-written line waits', async (t) => {
  const here = place(t)
  const file = claudeHome(here)
  const text = readFileSync(file, 'utf8')
  const cut = text.lastIndexOf('\n', text.length / 2) + 40
  writeFileSync(file, text.slice(0, cut))
  await importing(here, 'claude')
  const half = count(here, 'transcript_entries')
  writeFileSync(file, text)
  await importing(here, 'claude')
  const whole = dump(here)
  assert.ok(count(here, 'transcript_entries') > half)
  const other = place(t)
  claudeHome(other)
  await importing(other, 'claude')
  assert.deepEqual(whole, dump(other), 'in two parts as at once')
})

test('a file that was rewritten adds what is new and nothing twice', async (t) => {
  const here = place(t)
  const file = claudeHome(here)
  await importing(here, 'claude')
  const before = dump(here)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, `{"type":"summary","summary":"compacted"}\n${text}`)
  await importing(here, 'claude')
  assert.deepEqual(dump(here), before)
  const line = JSON.parse(text.split('\n').find((each) => each.includes('One more step'))!)
  appendFileSync(file, `${JSON.stringify({ ...line, uuid: 'new', message: { role: 'user', content: 'Another.' } })}\n`)
  const entries = count(here, 'transcript_entries')
  await importing(here, 'claude')
  assert.equal(count(here, 'transcript_entries'), entries + 1)
})

test('what is not understood is counted and shown, never fatal', async (t) => {
  const here = place(t)
  const file = claudeHome(here)
  const lines = [
    '{"type":"from-the-future","sessionId":"s","timestamp":"2026-11-15T12:00:00Z"}',
    'not json',
    '[1]',
    'null',
  ]
  appendFileSync(file, `${lines.join('\n')}\n`)
  const { agents: found } = await importing(here, 'claude')
  assert.deepEqual([found[0]!.unreadable, found[0]!.unknown], [3, { 'from-the-future': 1 }])
})

test('secrets are redacted and long outputs are stored as head, tail and hash', async (t) => {
  const here = place(t)
  const file = claudeHome(here)
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((each) => each.includes('"content":"step-1"'))!
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const long = `begin ${secret} ${'x'.repeat(3_000_000)} ${secret} end`
  const { uuid } = JSON.parse(line)
  const longer = line.replace('"content":"step-1"', `"content":${JSON.stringify(long)}`).replaceAll(uuid, 'another')
  appendFileSync(file, `${longer}\n`)
  await importing(here, 'claude')
  const [row] = here.rows<{ text: string }>(
    "SELECT payload_json ->> 'content' AS text FROM transcript_entries WHERE payload_json LIKE '%begin %'",
  )
  assert.match(
    row!.text,
    /^begin \[redacted\] x+\n\[… 2,9\d\d,\d{3} characters not stored; sha256 of the whole: [0-9a-f]{64}\]\nx+ \[redacted\] end$/,
  )
  assert.ok(row!.text.length < 20_000)
})

test('imported sessions are not resumed, and the newest conversation is one of ours', async (t) => {
  const here = place(t)
  await here.run(['--init-db'])
  const [{ id }] = here.rows<{ id: string }>('SELECT id FROM conversations') as [{ id: string }]
  const file = claudeHome(here)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('2026-11-15T', '2999-01-01T'))
  await importing(here, 'claude')
  await here.run(['--eval', JSON.stringify({ tool: 'Glob', input: { pattern: '*' } })])
  assert.deepEqual(
    here
      .rows("SELECT DISTINCT conversation_id AS id FROM events WHERE event_type = 'tool_start'")
      .map((row) => Object.values(row)),
    [[id]],
  )
  const [{ imported }] = here.rows<{ imported: string }>('SELECT min(session_id) AS imported FROM ona_imports') as [
    { imported: string },
  ]
  const before = count(here, 'transcript_entries')
  for (const more of [[], ['--fork-session']]) {
    const { code, stderr } = await here.run(['-p', 'go', '--model', 'rehearsal', '--resume', imported, ...more])
    assert.equal(code, 1)
    assert.match(stderr, /was imported from claude, and its record is not continued here; resume \S+ in claude/)
  }
  assert.equal(count(here, 'transcript_entries'), before)
})

test('replay asks about imported calls, by agent and by project', async (t) => {
  const here = place(t)
  claudeHome(here)
  cpSync(join(fixtures, 'codex/sessions'), join(here.home, '.codex/sessions'), { recursive: true })
  await importing(here, '--all')
  const replayed = async (...words: string[]) => {
    const { stdout } = await here.run(['hooks', 'replay', '--mode', 'bypassPermissions', '--json', ...words])
    const { calls, newly_denied, newly_allowed } = JSON.parse(stdout)
    return { calls, newly_denied, newly_allowed }
  }
  assert.deepEqual(await replayed('--rule', 'deny:Bash(cat *)'), { calls: 29, newly_denied: 3, newly_allowed: 0 })
  assert.deepEqual(await replayed('--agent', 'codex', '--rule', 'deny:Bash(cat *)'), {
    calls: 15,
    newly_denied: 3,
    newly_allowed: 0,
  })
  assert.deepEqual(await replayed('--project', '/nowhere'), { calls: 0, newly_denied: 0, newly_allowed: 0 })
  assert.equal((await replayed('--project', '/repo', '--agent', 'claude')).calls, 14)
  const misspelt = await here.run(['hooks', 'replay', '--agent', 'codx'])
  assert.deepEqual([misspelt.code, misspelt.stdout], [2, ''])
  assert.match(misspelt.stderr, /^ona hooks replay: --agent is "codx"; did you mean "codex"\? /)
})

test('killed at any moment, an import goes on where it was; two at once add nothing twice', async (t) => {
  const here = place(t)
  const file = join(here.home, '.claude/projects/-p/0000.jsonl')
  mkdirSync(dirname(file), { recursive: true })
  const lines: string[] = []
  const exchanges = sized(3_000, 12_000)
  for (let n = 0; n < exchanges; n++) lines.push(...exchange(n))
  writeFileSync(file, `${lines.join('\n')}\n`)
  const start = () =>
    spawn(process.execPath, [join(import.meta.dirname, '../../bin/ona.mjs'), 'audit', 'import', 'claude', '--json'], {
      env: { PATH: process.env['PATH'], HOME: here.home },
      stdio: 'ignore',
    })
  const ended = (child: ReturnType<typeof start>) => new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (let round = 0; round < 3; round++) {
    const child = start()
    const done = ended(child)
    await until(() => bytesRead(here) > round * 333 * exchanges, done)
    child.kill('SIGKILL')
    await done
  }
  await Promise.all([ended(start()), ended(start())])
  assert.deepEqual(
    here
      .rows(
        'SELECT count(*) AS n, max(sequence) AS last, count(DISTINCT payload_json) AS different FROM transcript_entries',
      )
      .map((row) => Object.values(row)),
    [[2 * exchanges, 2 * exchanges - 1, 2 * exchanges]],
  )
  assert.equal(count(here, 'tool_permission_log'), exchanges)
  assert.equal(here.rows<{ integrity_check: string }>('PRAGMA integrity_check')[0]!.integrity_check, 'ok')
})

function exchange(n: number): string[] {
  const about = {
    sessionId: '0000',
    cwd: '/p',
    version: '1',
    timestamp: new Date(1_790_000_000_000 + n * 1000).toISOString(),
  }
  const use = { type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command: `echo ${n}` } }
  const result = { type: 'tool_result', tool_use_id: `t${n}`, content: `${n} ${'line of output\n'.repeat(60)}` }
  return [
    JSON.stringify({
      ...about,
      type: 'assistant',
      uuid: `a${n}`,
      message: { id: `m${n}`, role: 'assistant', content: [use] },
    }),
    JSON.stringify({ ...about, type: 'user', uuid: `u${n}`, message: { role: 'user', content: [result] } }),
  ]
}

function bytesRead(here: Place): number {
  try {
    return here.rows<{ bytes: number }>('SELECT bytes FROM ona_import_files')[0]?.bytes ?? 0
  } catch {
    return 0 // there is no database yet
  }
}

/** Looks until it is so, or until `over`. */
async function until(isSo: () => boolean, over: Promise<void>): Promise<void> {
  let ended = false
  void over.then(() => {
    ended = true
  })
  while (!ended && !isSo()) await new Promise((resolve) => setImmediate(resolve))
}

test('--watch follows a session while it is written, and ends by a signal', async (t) => {
  const here = place(t)
  const file = claudeHome(here)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.slice(0, text.indexOf('\n', text.length / 2) + 1))
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../bin/ona.mjs'), 'audit', 'import', 'claude', '--watch'],
    {
      cwd: here.folder,
      env: { PATH: process.env['PATH'], HOME: here.home, ONA_KEYCHAIN: 'off' },
    },
  )
  t.after(() => child.kill('SIGKILL'))
  let told = ''
  const says = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const hear = (piece?: Buffer) => {
        told += piece ?? ''
        if (pattern.test(told)) resolve()
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      hear()
    })
  await says(/following live sessions/)
  writeFileSync(file, text)
  await says(/following live sessions[\s\S]*^claude: .*calls/m)
  const ended = new Promise((resolve) => child.on('close', resolve))
  child.kill('SIGINT')
  assert.equal(await ended, 0)
  const followed = dump(here)
  const other = place(t)
  claudeHome(other)
  await importing(other, 'claude')
  assert.deepEqual(followed, dump(other), 'followed as read at once')
})
