/** The contract of hooks that are written for Claude Code, on the plane itself. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { createPlane, type PlaneOptions } from '../dispatch.ts'
import type { Invocation, Raised, Scope } from '../plane.ts'
import { readHooks } from '../settings.ts'
import type { ClaudeHost } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-claude-'))
after(() => rmSync(folder, { recursive: true }))

/** Waits for a file in a shell; not for ever, should the test be killed. */
const untilThere = (path: string): string =>
  `n=0; until [ -e ${path} ] || [ $n -gt 3000 ]; do n=$((n + 1)); sleep 0.01; done`

function stage(
  hooks: unknown,
  more: Partial<Scope> = {},
  profile: 'claude' | 'own' = 'claude',
  options: PlaneOptions = {},
) {
  const { handlers, problems } = readHooks(
    { hooks },
    { source: { kind: 'settings' }, ...(profile === 'claude' && { profile }) },
  )
  const rows: Invocation[] = []
  const delivered: unknown[] = []
  let recorded = () => {}
  const scope: Scope = {
    ...{
      sessionId: 's1',
      conversationId: 'c1',
      dbPath: '/db',
      cwd: folder,
      toolUseId: 't1',
      permissionMode: 'default',
    },
    record(row) {
      rows.push(row)
      recorded()
    },
    ...more,
  }
  const claude: ClaudeHost = {
    sessionOf: () => ({ sessionId: 'main', transcriptPath: '/t/main.jsonl', agentTranscriptPath: '/t/agent.jsonl' }),
    envFile: (_, name) => join(folder, name),
    deliver: (_, said) => delivered.push(said),
  }
  const plane = createPlane(handlers, { ...options, claude })
  const row = () =>
    new Promise<void>((resolve) => {
      recorded = resolve
      if (rows.length > 0) resolve()
    })
  return {
    plane,
    rows,
    row,
    delivered,
    problems,
    raise: (event: Raised) => plane.raise(event.name, event.fields as never, scope),
  }
}

const hook = (command: string, more: object = {}) => ({ type: 'command', command, shell: 'sh', ...more })
const at = (event: string, command: string, more: object = {}) => ({ [event]: [{ hooks: [hook(command, more)] }] })
const prompt: Raised = { name: 'UserPromptSubmit', fields: { prompt: 'hi' } }
const inputOf = ({ rows }: { rows: Invocation[] }) => JSON.parse(rows[0]!.inputJson)

test('the header is Claude Code’s: the main session, its transcript, and no database', async () => {
  const it = stage(at('UserPromptSubmit', 'true'))
  await it.raise(prompt)
  assert.deepEqual(inputOf(it), {
    ...{ session_id: 'main', transcript_path: '/t/main.jsonl', cwd: folder, permission_mode: 'default' },
    ...{ hook_event_name: 'UserPromptSubmit', prompt: 'hi' },
  })
  const own = stage(at('UserPromptSubmit', 'true'), {}, 'own')
  await own.raise(prompt)
  assert.deepEqual(inputOf(own), {
    ...{ hook_event_name: 'UserPromptSubmit', session_id: 's1', conversation_id: 'c1', runtime_db_path: '/db' },
    ...{ cwd: folder, permission_mode: 'default', prompt: 'hi' },
  })
})

test('UserPromptSubmit is for the main session; a sub-agent’s end names its transcript', async () => {
  const agent = { agentId: 'a1', agentType: 'explore' }
  const it = stage({ ...at('UserPromptSubmit', 'true'), ...at('SubagentStop', 'true') }, agent)
  await it.raise(prompt)
  assert.deepEqual(it.rows, [])
  const fields = { stop_hook_active: false, agent_id: 'a1', agent_type: 'explore', agent_transcript_path: '' }
  await it.raise({ name: 'SubagentStop', fields })
  assert.equal(inputOf(it).agent_transcript_path, '/t/agent.jsonl')
  const own = stage(at('UserPromptSubmit', 'true'), agent, 'own')
  await own.raise(prompt)
  assert.equal(own.rows.length, 1)
})

test('a plain name matches exactly, in a list too; ona’s own hooks keep document 003', async () => {
  const matched = async (matcher: string, tool: string, profile: 'claude' | 'own' = 'own') => {
    const it = stage({ PreToolUse: [{ matcher, hooks: [hook('true')] }] }, {}, profile)
    await it.raise({ name: 'PreToolUse', fields: { tool_name: tool, tool_input: {}, tool_use_id: 't' } })
    return it.rows.length === 1
  }
  const rows: [string, string, boolean, boolean][] = [
    ['Edit', 'NotebookEdit', false, true],
    ['Edit, Write', 'Write', true, false],
    ['Edit|Write', 'Write', true, true],
    ['Notebook.*', 'NotebookEdit', true, true],
    ['mcp__.*', 'mcp__a__b', true, true],
    ['Task', 'Agent', true, true],
    ['ListMcpResourcesTool', 'ListMcpResources', true, true],
    ['', 'Bash', true, true],
  ]
  for (const [matcher, tool, claude, own] of rows)
    assert.deepEqual([await matched(matcher, tool, 'claude'), await matched(matcher, tool)], [claude, own], matcher)
})

test('async: the round does not wait; the row is written at the end, and what the hook says is delivered', async () => {
  const go = join(folder, 'go')
  const command = `${untilThere(go)}; echo '{"systemMessage":"done now"}'`
  const it = stage(at('PostToolUse', command, { async: true }))
  const fields = { tool_name: 'Bash', tool_input: {}, tool_response: {}, tool_use_id: 't' }
  const answer = await it.raise({ name: 'PostToolUse', fields })
  assert.deepEqual([answer.messages, it.rows], [[], []])
  writeFileSync(go, '')
  await it.row()
  const { exitCode, stdout, stderr, skippedReason } = it.rows[0]!
  assert.deepEqual([exitCode, stdout, stderr, skippedReason], [0, '{"systemMessage":"done now"}\n', '', null])
  assert.deepEqual(it.delivered, [{ context: [], messages: ['done now'] }])
})

test('a detached hook that blocks reaches the next turn as context', async () => {
  const it = stage(at('UserPromptSubmit', 'cat >/dev/null; echo not so >&2; exit 2', { async: true }))
  await it.raise(prompt)
  await it.row()
  assert.deepEqual([it.rows[0]!.exitCode, it.delivered], [2, [{ context: ['[0] not so'], messages: [] }]])
})

test('the exit code of a hook that detached by its first line counts before what it printed', async () => {
  const said = async (end: string) => {
    const command = `cat >/dev/null; echo '{"async": true}'; echo '{"systemMessage":"printed"}'; ${end}`
    const it = stage(at('UserPromptSubmit', command))
    await it.raise(prompt)
    await it.row()
    return [it.rows[0]!.exitCode, it.delivered[0]]
  }
  const failed = /^the hook .* failed: exited with 3: why$/
  const [code, delivered] = (await said('echo why >&2; exit 3')) as [number, { messages: string[] }]
  assert.deepEqual([code, delivered.messages.map((text) => failed.test(text))], [3, [true]])
  assert.deepEqual(await said('echo no >&2; exit 2'), [2, { context: ['[0] no'], messages: [] }])
  assert.deepEqual(await said('echo beside >&2'), [0, { context: [], messages: ['printed'] }])
})

test('{"async": true} as the first line detaches from the turn; what follows it is the answer', async () => {
  const go = join(folder, 'go2')
  const turn = new AbortController()
  const command = `echo '{"async": true}'; ${untilThere(go)}; echo '{"systemMessage":"later"}'`
  const it = stage(at('UserPromptSubmit', command), { signal: turn.signal })
  await it.raise(prompt)
  assert.deepEqual(it.rows, [])
  turn.abort()
  writeFileSync(go, '')
  await it.row()
  assert.deepEqual(it.delivered, [{ context: [], messages: ['later'] }])
})

test('where a failure refuses, a hook cannot detach, and an answer that says so refuses', async () => {
  const ask = async (end: string, more: object, options: PlaneOptions = {}, event: Raised = prompt) => {
    const it = stage(at(event.name, `cat >/dev/null; echo '{"async": true}'; ${end}`, more), {}, 'claude', options)
    const { decision, reason } = await it.raise(event)
    await it.row()
    return [decision, reason, it.delivered.length]
  }
  const waited =
    '[0] the hook failed: answered with what UserPromptSubmit does not take: async is true, but every hook is waited for; answer with the verdict'
  const refuse = { onFailure: 'refuse' }
  assert.deepEqual(await ask('exit 0', refuse), ['deny', waited, 0])
  assert.deepEqual(await ask('echo no >&2; exit 2', refuse), ['deny', '[0] no', 0])
  assert.deepEqual(await ask('exit 0', {}, { hookFailure: 'refuse' }), ['deny', waited, 0])
  const both = { hookFailure: 'refuse' } as const
  assert.deepEqual(await ask('exit 0', { onFailure: 'proceed' }, both), ['none', '', 0])
  assert.deepEqual(await ask('echo no >&2; exit 2', { async: true }, both), ['none', '', 1])
  const told: Raised = { name: 'Notification', fields: { message: '', notification_type: '' } }
  assert.deepEqual(await ask('exit 0', {}, both, told), ['none', '', 0])
})

test('a hook that has not detached ends with the turn', async () => {
  const begun = join(folder, 'begun-in-turn')
  const turn = new AbortController()
  const it = stage(at('UserPromptSubmit', `echo '{}'; : > ${begun}; sleep 600`), { signal: turn.signal })
  const raised = it.raise(prompt)
  await until(() => existsSync(begun))
  turn.abort()
  await raised
  assert.deepEqual(
    it.rows.map(({ exitCode, stdout, stderr }) => [exitCode, stdout, stderr]),
    [[null, '{}\n', '[SDLC_HOOK] was interrupted']],
  )
})

test('a detached hook ends with the session, its processes too, and its row says so', async () => {
  const begun = join(folder, 'begun')
  const it = stage(
    at('UserPromptSubmit', `echo $$ > ${begun}.tmp; mv ${begun}.tmp ${begun}; sleep 600`, { async: true }),
  )
  await it.raise(prompt)
  await until(() => existsSync(begun))
  await it.plane.close()
  assert.match(it.rows[0]!.stderr ?? '', /was interrupted/)
  assert.throws(() => process.kill(Number(readFileSync(begun, 'utf8')), 0), { code: 'ESRCH' })
})

test('async has no effect on ona’s own hooks, asyncRewake on none; a warning says so', () => {
  const said = (more: object, profile: 'claude' | 'own' = 'own') =>
    stage(at('PostToolUse', 'true', more), {}, profile).problems.map(
      ({ path, why, level }) => `${level}: ${path} ${why}`,
    )
  const waits = (key: string) => [
    `warning: hooks.PostToolUse[0].hooks[0].${key} has no effect; the hook is waited for like any other`,
  ]
  assert.deepEqual(
    [said({ async: true }, 'claude'), said({ async: true }), said({ asyncRewake: true }, 'claude')],
    [[], waits('async'), waits('asyncRewake')],
  )
})

test('a kind of hook that ona does not run is an error', () => {
  for (const type of ['agent', 'mcp_tool']) {
    const { problems } = stage({ PreToolUse: [{ hooks: [{ type, prompt: 'x', server: 's', tool: 't' }] }] })
    assert.deepEqual(problems, [
      {
        path: 'hooks.PreToolUse[0].hooks[0].type',
        why: `is "${type}", a kind of hook that ona does not run; use "command", "prompt" or "http"`,
        level: 'error',
      },
    ])
  }
})

test('updatedToolOutput counts for Claude Code’s hooks alone; defer asks', async () => {
  const answer = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'x' } })
  const fields = { tool_name: 'Bash', tool_input: {}, tool_response: {}, tool_use_id: 't' }
  const replaced = async (profile: 'claude' | 'own' = 'own') =>
    (await stage(at('PostToolUse', `echo '${answer}'`), {}, profile).raise({ name: 'PostToolUse', fields }))
      .updatedClaudeOutput
  assert.deepEqual([await replaced('claude'), await replaced()], ['x', undefined])
  const defer = JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' } })
  const call = { tool_name: 'Bash', tool_input: {}, tool_use_id: 't' }
  const { decision } = await stage(at('PreToolUse', `echo '${defer}'`)).raise({ name: 'PreToolUse', fields: call })
  assert.equal(decision, 'ask')
})

test('CLAUDE_ENV_FILE is set where a hook can set variables, and nowhere else', async () => {
  const out = join(folder, 'env-out')
  const it = stage({
    ...at('SessionStart', `echo "$CLAUDE_ENV_FILE" > ${out}`),
    ...at('UserPromptSubmit', `echo "[$CLAUDE_ENV_FILE]" >> ${out}`),
  })
  process.env['CLAUDE_ENV_FILE'] = '/of/the/host' // ona that runs inside such a hook
  await it.raise({ name: 'SessionStart', fields: { source: 'startup' } })
  delete process.env['CLAUDE_ENV_FILE']
  await it.raise(prompt)
  assert.equal(readFileSync(out, 'utf8'), `${join(folder, 'sessionstart-hook-0.sh')}\n[]\n`)
})
