/** A record with something of everything, over three weeks, as the agents would have left it. */
import { DatabaseSync } from 'node:sqlite'
import { requestApproval } from '../../src/store/approvals.ts'
import { addEvent, recordHooks } from '../../src/store/audit.ts'
import { createConversation, createSession } from '../../src/store/conversations.ts'
import { type Db, openDb } from '../../src/store/open.ts'
import { commitRound, commitToolCall } from '../../src/store/session/commit.ts'

export const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>\u202etxt`

const tasks = [
  ['Round prices half to even', '/home/ada/shop', 'claude-code'],
  ['Why does the login test fail on Fridays?', '/home/ada/shop', ''],
  ['Add an index to the orders table', '/home/ada/api', ''],
  ['Update the deployment notes', '/home/ada/api', 'codex'],
  [`Explain ${hostile}`, '/home/ada/notes', ''],
  ['Bump the version and tag it', '/home/ada/shop', ''],
] as const

interface Call {
  readonly tool: string
  readonly input: Record<string, string>
  readonly output: string
  readonly deniedBy?: 'rule' | 'hook' | 'person'
  readonly approved?: boolean
}

const calls: readonly Call[] = [
  { tool: 'Read', input: { file_path: 'src/price.ts' }, output: 'export const price = (cents: number) => cents / 100' },
  { tool: 'Bash', input: { command: 'npm test' }, output: '128 tests, 127 passed, 1 failed: rounding', approved: true },
  {
    tool: 'Edit',
    input: { file_path: 'src/price.ts', old_string: 'cents / 100', new_string: 'halfEven(cents) / 100' },
    output: 'edited',
  },
  { tool: 'Bash', input: { command: 'git push --force origin main' }, output: 'denied', deniedBy: 'rule' },
  { tool: 'Bash', input: { command: 'npm publish' }, output: 'releases go through CI', deniedBy: 'hook' },
  {
    tool: 'Write',
    input: { file_path: '/etc/hosts', content: '127.0.0.1 shop' },
    output: 'rejected',
    deniedBy: 'person',
  },
]

/** `daysAgo` 0 is today. Rows get their times by hand: the store would say now. */
export function fillRecord(path: string, now = new Date()): void {
  const db = openDb(path)
  for (let day = 20; day >= 0; day--)
    for (const [at, [title, project, agent]] of tasks.entries())
      if ((day * 7 + at * 3) % 5 < 2 || day === 0)
        conversation(db, { title, project, agent, id: `c${day}-${at}`, some: 1 + ((day + at) % 6) })
  db.close()
  const raw = new DatabaseSync(path)
  for (const { id } of raw.prepare('SELECT id FROM conversations').all() as { id: string }[]) {
    const [, day, at] = /^c(\d+)-(\d+)$/.exec(id)!
    const time = new Date(now.getTime() - Number(day) * 86_400_000 - (7 - Number(at)) * 600_000)
    setTimes(raw, id, time)
  }
  raw.close()
}

function setTimes(raw: DatabaseSync, id: string, time: Date): void {
  const sql = time.toISOString().slice(0, 19).replace('T', ' ')
  raw.prepare('UPDATE conversations SET created_at = ?2, last_active = ?2 WHERE id = ?1').run(id, sql)
  raw.prepare('UPDATE sessions SET started_at = ?2 WHERE conversation_id = ?1').run(id, sql)
  raw.prepare('UPDATE events SET timestamp = ?2 WHERE conversation_id = ?1').run(id, sql)
  raw
    .prepare(
      'UPDATE transcript_entries SET created_at = ?2 WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?1)',
    )
    .run(id, sql)
  raw
    .prepare(
      'UPDATE tool_permission_log SET created_at = ?2 WHERE session_id IN (SELECT session_id FROM sessions WHERE conversation_id = ?1)',
    )
    .run(id, sql)
  for (const { hook, ms } of raw
    .prepare(
      'SELECT id AS hook, (id * 37) % 90 + iif(id % 19 = 0, 700, 4) AS ms FROM hook_invocations WHERE conversation_id = ?',
    )
    .all(id) as { hook: number; ms: number }[])
    raw
      .prepare('UPDATE hook_invocations SET started_at = ?2, completed_at = ?3 WHERE id = ?1')
      .run(hook, time.toISOString(), new Date(time.getTime() + ms).toISOString())
}

interface Told {
  readonly id: string
  readonly title: string
  readonly project: string
  readonly agent: string
  readonly some: number
}

export function conversation(db: Db, { id, title, project, agent, some }: Told): void {
  createConversation(db, { projectDir: project, id })
  const { sessionId } = createSession(db, id)
  const owner = { sessionId, conversationId: id }
  if (agent !== '')
    db.run("INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES (?, ?, ?, '')", sessionId, agent, id)
  const text = (words: string) => [{ type: 'text' as const, text: words }]
  commitRound(db, { ...owner, entries: [{ _t: 'user', uuid: '', content: text(title), source: 'prompt' }] })
  for (const [at, call] of calls.slice(0, some).entries()) {
    const use = { type: 'tool_use' as const, id: `u${at}`, name: call.tool, input: call.input }
    commitRound(db, {
      ...owner,
      entries: [{ _t: 'assistant', uuid: '', content: [...text(`Step ${at + 1}: ${call.tool}.`), use] }],
    })
    const detail = { inputTokens: 900 + 40 * at, outputTokens: 120, costUsd: 0.004 + 0.003 * ((at + some) % 4) }
    addEvent(db, { ...owner, type: 'model_reply', detail })
    hook(db, owner, use.id, call)
    commitToolCall(db, {
      ...{ ...owner, invocations: [] },
      ...(call.deniedBy && {
        permission: {
          ...{ toolName: call.tool, decision: 'deny' as const },
          reason: {
            by: call.deniedBy,
            reason: call.output,
            ...(call.deniedBy === 'rule' && { rule: 'Bash(git push --force *)' }),
          },
        },
      }),
      ...(call.approved && {
        permission: {
          toolName: call.tool,
          decision: 'allow' as const,
          reason: { by: 'person', reason: 'no rule allows npm' },
        },
      }),
      result: { tool_use_id: use.id, content: call.output, is_error: call.deniedBy !== undefined },
    })
  }
  commitRound(db, {
    ...owner,
    entries: [{ _t: 'assistant', uuid: '', content: text('Done. `halfEven` rounds to even now.') }],
  })
}

function hook(
  db: Db,
  { sessionId, conversationId }: { sessionId: string; conversationId: string },
  toolUseId: string,
  { tool, deniedBy }: Call,
): void {
  if (tool !== 'Bash' && tool !== 'Write') return
  const now = new Date().toISOString()
  const command = tool === 'Bash' ? './hooks/no-publish.sh' : 'protect-system-files'
  recordHooks(db, sessionId, conversationId, [
    {
      ...{ event: 'PreToolUse', ordinal: 0, matcher: tool, command, toolUseId, toolName: tool, inputJson: '{}' },
      ...{
        exitCode: deniedBy === 'hook' ? 2 : 0,
        stdout: null,
        stderr: deniedBy === 'hook' ? 'releases go through CI' : null,
      },
      ...{ startedAt: now, completedAt: now, skippedReason: null },
    },
  ])
}

/** A call of the newest conversation that waits for a decision; its id. */
export function waiting(db: Db, command: string, owner: string | null = null): string {
  const { session, conversation: id } = db.get<{ session: string; conversation: string }>(
    "SELECT session_id AS session, conversation_id AS conversation FROM sessions WHERE conversation_id = 'c0-1'",
  )!
  return requestApproval(db, {
    ...{ conversationId: id, sessionId: session, toolUseId: `w-${command.length}`, tool: 'Bash' },
    ...{
      input: JSON.stringify({ command }),
      summary: command,
      reason: 'no rule allows it and nobody was there',
      owner,
    },
    expiresInSeconds: 3600,
  })
}
