/** Each of the 27 events, raised through the program: what a hook reads on stdin, and the row it leaves. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { eventNames, header, rowOf } from '../../src/hooks/events.ts'
import { packageRoot } from '../../src/package-root.ts'
import { live } from '../support/live.ts'
import { call, type Line, testModel } from '../support/model/model.ts'
import { testPassedFlags } from '../support/passed-flags.ts'
import { type Place, place } from '../support/program.ts'

type Seen = Record<string, unknown> & { hook_event_name: string }

interface Heard {
  readonly at: Place
  readonly env: Record<string, string>
  /** What hooks have read so far, oldest first; without the name of an event, all of it. */
  seen(event?: string): Seen[]
}

/** A user whose own settings have a hook at every event: it keeps what it reads. */
async function listening(t: TestContext, lines: readonly Line[] = [], settings: object = {}): Promise<Heard> {
  const at = place(t)
  const log = join(at.home, 'seen.jsonl')
  const hooks = eventNames.map((name) => ({
    hook_event_name: name,
    matcher: '',
    shell: 'sh',
    command: `cat >> ${log}`,
  }))
  const { hooks: more = [], ...rest } = settings as { hooks?: object[] }
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(join(at.home, '.ona/settings.json'), JSON.stringify({ hooks: [...hooks, ...more], ...rest }))
  const { env } = await testModel(t, lines)
  return {
    at,
    env,
    seen(event) {
      const text = existsSync(log) ? readFileSync(log, 'utf8') : ''
      const all = text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Seen)
      return event === undefined ? all : all.filter((one) => one.hook_event_name === event)
    },
  }
}

/** An event's own fields, once the header is seen to be whole. */
function fields({ at }: Heard, seen: Seen | undefined): Record<string, unknown> {
  assert.ok(seen, 'the event was raised')
  const { hook_event_name, session_id, conversation_id, runtime_db_path, cwd, permission_mode, ...own } = seen
  assert.match(String(session_id), /^[0-9a-f-]{36}$/, hook_event_name)
  assert.match(String(conversation_id), /^[0-9a-f-]{36}$/, hook_event_name)
  assert.equal(runtime_db_path, at.db)
  assert.equal(typeof cwd, 'string')
  const known = [...Object.keys(header), ...Object.keys(rowOf(hook_event_name as never).fields)]
  assert.deepEqual(
    Object.keys(seen).filter((key) => !known.includes(key)),
    [],
    `${hook_event_name} has no other field`,
  )
  return own
}

/** Every stdin has its row, and every row was really asked. */
function rowsMatch({ at, seen }: Heard): void {
  const rows = at.rows<{ hook_event: string; input: string }>(
    `SELECT hook_event, input_json AS input FROM hook_invocations
     WHERE exit_code = 0 AND skipped_reason IS NULL AND command LIKE 'cat >>%' ORDER BY id`,
  )
  assert.deepEqual(
    rows.map(({ hook_event }) => hook_event).sort(),
    seen()
      .map(({ hook_event_name }) => hook_event_name)
      .sort(),
  )
}

const covered = new Set<string>()
const covers = (...names: string[]) => {
  for (const name of names) covered.add(name)
  return names
}

test(`a turn with tools: ${covers('Setup', 'SessionStart', 'InstructionsLoaded', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'CwdChanged', 'Stop', 'SessionEnd').join(', ')}`, async (t) => {
  const here = await listening(t, [
    call('Write', { file_path: 'a.txt', content: 'one' }),
    call('Bash', { command: 'mkdir sub && cd sub' }),
    call('Bash', { command: 'echo no; exit 3' }),
    { text: 'All done.' },
  ])
  const { at, env, seen } = here
  at.write('ONA.md', 'Be kind.\n@more.md\n')
  at.write('more.md', 'And brief.\n')
  const ran = await at.run(['-p', 'go by @more.md', '--init', '--permission-mode', 'bypassPermissions'], { env })
  assert.deepEqual([ran.code, ran.stdout], [0, 'All done.\n'], ran.stderr)
  const folder = realpathSync(at.folder)
  const own = (event: string) => seen(event).map((each) => fields(here, each))

  assert.deepEqual(own('Setup'), [{ trigger: 'init' }])
  assert.deepEqual(own('SessionStart'), [{ source: 'startup', model: 'rehearsal' }])
  assert.deepEqual(own('InstructionsLoaded'), [
    { file_path: join(folder, 'ONA.md'), memory_type: 'Project', load_reason: 'session_start' },
    {
      file_path: join(folder, 'more.md'),
      memory_type: 'Project',
      load_reason: 'include',
      parent_file_path: join(folder, 'ONA.md'),
    },
  ])
  assert.deepEqual(own('UserPromptSubmit'), [{ prompt: 'go by @more.md' }], 'the words as they were typed')
  const [write] = own('PreToolUse')
  const tool_use_id = write?.['tool_use_id']
  const tool_input = { file_path: join(folder, 'a.txt'), content: 'one' }
  assert.deepEqual(write, { tool_name: 'Write', tool_input, tool_use_id })
  const [written] = own('PostToolUse')
  assert.deepEqual(
    { ...written, tool_response: typeof written?.['tool_response'] },
    { tool_name: 'Write', tool_input, tool_use_id, tool_response: 'object' },
  )
  const [broken] = own('PostToolUseFailure')
  assert.deepEqual(
    { ...broken, tool_use_id: typeof broken?.['tool_use_id'] },
    {
      tool_name: 'Bash',
      tool_input: { command: 'echo no; exit 3' },
      tool_use_id: 'string',
      error: broken?.['error'],
      is_interrupt: false,
    },
  )
  assert.match(String(broken?.['error']), /no/)
  assert.deepEqual(own('CwdChanged'), [{ old_cwd: folder, new_cwd: join(folder, 'sub') }])
  assert.deepEqual(own('Stop'), [{ stop_hook_active: false, last_assistant_message: 'All done.' }])
  assert.deepEqual(own('SessionEnd'), [{ reason: 'other' }])
  assert.equal(seen('PreToolUse')[0]?.['permission_mode'], 'bypassPermissions')
  assert.deepEqual(
    seen().map((each) => each.hook_event_name),
    [
      ...['Setup', 'SessionStart', 'UserPromptSubmit', 'InstructionsLoaded', 'InstructionsLoaded'],
      ...['PreToolUse', 'PostToolUse', 'PreToolUse', 'CwdChanged', 'PostToolUse'],
      ...['PreToolUse', 'PostToolUseFailure', 'Stop', 'SessionEnd'],
    ],
  )
  rowsMatch(here)
})

test(`a call that is asked about and refused: ${covers('PermissionRequest', 'PermissionDenied', 'Notification').join(', ')}`, async (t) => {
  const here = await listening(t, [call('Bash', { command: 'touch x' }), call('Bash', { command: 'rm x' })], {
    permissions: { deny: ['Bash(rm *)'] },
  })
  const { at, env, seen } = here
  await at.run(['-p', 'go'], { env })
  const own = (event: string) => seen(event).map((each) => fields(here, each))
  const [request] = own('PermissionRequest')
  assert.deepEqual(request, {
    tool_name: 'Bash',
    tool_input: { command: 'touch x' },
    permission_suggestions: request?.['permission_suggestions'],
  })
  assert.notDeepEqual(request?.['permission_suggestions'], [])
  assert.deepEqual(own('Notification'), [
    { message: 'ona needs your permission to use Bash', notification_type: 'permission_prompt' },
  ])
  const denied = own('PermissionDenied')
  assert.deepEqual(
    denied.map(({ tool_use_id: _id, reason: _why, ...rest }) => rest),
    [
      { tool_name: 'Bash', tool_input: { command: 'touch x' } },
      { tool_name: 'Bash', tool_input: { command: 'rm x' } },
    ],
  )
  assert.match(String(denied[0]?.['reason']), /there is no user to ask/)
  assert.match(String(denied[1]?.['reason']), /the deny rule "Bash\(rm \*\)"/)
  rowsMatch(here)
})

test(`agents: ${covers('SubagentStart', 'SubagentStop', 'TaskCreated', 'TaskCompleted', 'TeammateIdle').join(', ')}`, async (t) => {
  const work = { description: 'look around', prompt: 'What is here?' }
  const here = await listening(t, [
    call('Agent', { ...work, subagent_type: 'explore' }),
    { text: 'Nothing.' },
    { calls: [{ name: 'Agent', input: { ...work, subagent_type: 'plan', run_in_background: true } }] },
    (chat) =>
      chat.messages.some(({ text }) => text === 'What is here?')
        ? { text: 'Beside.' }
        : call('TaskOutput', { task_id: 'agent_1' }),
    (chat) =>
      chat.messages.some(({ text }) => text === 'What is here?')
        ? { text: 'Beside.' }
        : call('TaskOutput', { task_id: 'agent_1' }),
    { text: 'All done.' },
  ])
  const { at, env, seen } = here
  const ran = await at.run(['-p', 'go', '--permission-mode', 'bypassPermissions'], { env })
  assert.equal(ran.code, 0, ran.stderr)
  const [start, beside] = seen('SubagentStart')
  const { agent_id, session_id } = start!
  assert.deepEqual(fields(here, start), { agent_id, agent_type: 'explore' })
  const [stop] = seen('SubagentStop')
  assert.deepEqual(fields(here, stop), {
    stop_hook_active: false,
    agent_id,
    agent_transcript_path: '',
    agent_type: 'explore',
    last_assistant_message: 'Nothing.',
  })
  assert.equal(stop?.['session_id'], session_id)
  assert.notEqual(session_id, seen('SessionStart')[0]?.['session_id'], 'it has a session of its own')
  const task = { task_id: agent_id, task_subject: 'look around', task_description: 'What is here?' }
  assert.deepEqual(fields(here, seen('TaskCreated')[0]), task)
  assert.deepEqual(fields(here, seen('TaskCompleted')[0]), task)
  assert.equal(seen('TaskCompleted').length, 2)
  assert.deepEqual(fields(here, seen('TeammateIdle')[0]), {
    agent_id: beside?.['agent_id'],
    agent_type: 'plan',
    teammate_name: 'plan',
    team_name: 'folder',
  })
  assert.equal(seen('TeammateIdle').length, 1, 'only an agent beside the conversation waits')
  rowsMatch(here)
})

test(`${covers('StopFailure')}: the model fails`, async (t) => {
  const here = await listening(t, [{ fail: { status: 400, message: 'no such thing' } }])
  const { at, env, seen } = here
  const ran = await at.run(['-p', 'go'], { env })
  assert.equal(ran.code, 1)
  const [failure] = seen('StopFailure').map((each) => fields(here, each))
  assert.deepEqual(failure, { error: 'invalid_request', error_details: failure?.['error_details'] })
  assert.match(String(failure?.['error_details']), /no such thing/)
  assert.deepEqual(seen('Stop'), [])
  rowsMatch(here)
})

test(`lines on a pipe: ${covers('PreCompact', 'PostCompact').join(', ')}, and sessions that end and begin`, async (t) => {
  const command = 'echo mind the gap'
  const here = await listening(t, [], {
    hooks: [{ hook_event_name: 'SessionStart', matcher: 'compact', shell: 'sh', command }],
  })
  const { at, env, seen } = here
  at.write('ONA.md', 'Be kind.')
  await at.run([], { env, input: 'hello\n/compact keep names\n/clear\n' })
  const [said] = at.rows("SELECT 1 FROM transcript_entries WHERE payload_json LIKE '%mind the gap%'")
  assert.ok(said, 'what a hook adds after a compaction is put before the model')
  assert.deepEqual(
    seen('InstructionsLoaded').map(({ load_reason }) => load_reason),
    ['session_start', 'compact'],
  )
  const own = (event: string) => seen(event).map((each) => fields(here, each))
  assert.deepEqual(own('PreCompact'), [{ trigger: 'manual', custom_instructions: 'keep names' }])
  assert.deepEqual(own('PostCompact'), [{ trigger: 'manual', compact_summary: 'They said hello.' }])
  assert.deepEqual(
    own('SessionStart').map(({ source }) => source),
    ['startup', 'compact', 'clear'],
  )
  assert.deepEqual(own('SessionEnd'), [{ reason: 'clear' }, { reason: 'prompt_input_exit' }])
  rowsMatch(here)

  const again = await at.run(['--continue', '-p', 'more'], { env })
  assert.equal(again.code, 0, again.stderr)
  assert.deepEqual(own('SessionStart').at(-1), { source: 'resume', model: 'rehearsal' })
})

test(`a server asks: ${covers('Elicitation', 'ElicitationResult').join(', ')}`, async (t) => {
  const everything = join(packageRoot, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
  const answer = { hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { name: 'Ada' } } }
  const here = await listening(t, [], {
    mcpServers: { every: { command: process.execPath, args: [everything] } },
    hooks: [{ hook_event_name: 'Elicitation', matcher: '', shell: 'sh', command: `echo '${JSON.stringify(answer)}'` }],
  })
  const { at, env, seen } = here
  const ran = await at.run(['--eval', JSON.stringify({ tool: 'mcp__every__trigger-elicitation-request', input: {} })], {
    env,
  })
  assert.match(ran.stdout, /Ada/, ran.stderr)
  const [asked] = seen('Elicitation').map((each) => fields(here, each))
  const { message, requested_schema, ...rest } = asked!
  assert.deepEqual(rest, { mcp_server_name: 'every', mode: 'form' })
  assert.equal(typeof message, 'string')
  assert.equal((requested_schema as { type: string }).type, 'object')
  assert.deepEqual(fields(here, seen('ElicitationResult')[0]), {
    mcp_server_name: 'every',
    mode: 'form',
    action: 'accept',
    content: { name: 'Ada' },
  })
  rowsMatch(here)
})

test(`files change while a session runs: ${covers('FileChanged', 'ConfigChange').join(', ')}`, async (t) => {
  const wanted = {
    hookSpecificOutput: { hookEventName: 'SessionStart', watchPaths: ['watched.txt', 'deep/er/new.txt'] },
  }
  const here = await listening(t, [], {
    hooks: [
      { hook_event_name: 'SessionStart', matcher: '', shell: 'sh', command: `echo '${JSON.stringify(wanted)}'` },
      { hook_event_name: 'FileChanged', matcher: '.env|other.json', shell: 'sh', command: 'true' },
    ],
  })
  const { at, env, seen } = here
  const folder = realpathSync(at.folder)
  at.write('watched.txt', 'one')
  at.write('unwatched.txt', 'one')
  const running = live(t, at, [], env)
  await running.until(() => seen('SessionStart').length > 0)
  // what hooks asked for is watched as soon as the answer to a first line shows that the session is there
  running.send('hello')
  await running.until(() => seen('Stop').length > 0)
  at.write('unwatched.txt', 'two')
  at.write('watched.txt', 'one and two')
  await running.until(() => seen('FileChanged').length === 1)
  at.write('.env', 'A=1')
  await running.until(() => seen('FileChanged').length === 2)
  at.write('deep/er/new.txt', 'here')
  await running.until(() => seen('FileChanged').length === 3)
  execFileSync('rm', [join(folder, 'watched.txt')])
  await running.until(() => seen('FileChanged').length === 4)
  assert.deepEqual(
    seen('FileChanged').map((each) => fields(here, each)),
    [
      { file_path: join(folder, 'watched.txt'), event: 'change' },
      { file_path: join(folder, '.env'), event: 'add' },
      { file_path: join(folder, 'deep/er/new.txt'), event: 'add' },
      { file_path: join(folder, 'watched.txt'), event: 'unlink' },
    ],
  )
  at.write('.ona/settings.json', { permissions: {} })
  await running.until(() => seen('ConfigChange').length === 1)
  assert.deepEqual(fields(here, seen('ConfigChange')[0]), {
    source: 'project_settings',
    file_path: join(folder, '.ona/settings.json'),
  })
  // the hook has written, and may not have ended: the end of the session would end it
  const ended = "SELECT 1 FROM hook_invocations WHERE hook_event = 'ConfigChange' AND exit_code = 0"
  await running.until(() => at.rows(ended).length === 1)
  const { code } = await running.end()
  assert.equal(code, 0)
  rowsMatch(here)
})

test('a hook that names paths to watch says all of them: what was named before is let go, the names of matchers stay', async (t) => {
  const paths = (hookEventName: string, ...watchPaths: string[]) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName, watchPaths } })
  const here = await listening(t, [], {
    hooks: [
      {
        hook_event_name: 'SessionStart',
        matcher: '',
        shell: 'sh',
        command: `echo '${paths('SessionStart', 'a', 'b')}'`,
      },
      {
        hook_event_name: 'FileChanged',
        matcher: '^a$',
        shell: 'sh',
        command: `echo '${paths('FileChanged', 'b', 'c')}'`,
      },
      { hook_event_name: 'FileChanged', matcher: 'named', shell: 'sh', command: 'true' },
    ],
  })
  const { at, env, seen } = here
  const running = live(t, at, [], env)
  running.send('hello')
  await running.until(() => seen('Stop').length > 0)
  const changed = () => seen('FileChanged').map((each) => basename(String(each['file_path'])))
  at.write('a', '1')
  const answered = "SELECT 1 FROM hook_invocations WHERE hook_event = 'FileChanged' AND stdout_text LIKE '%watchPaths%'"
  await running.until(() => at.rows(answered).length === 1)
  at.write('a', 'again')
  at.write('c', '1')
  at.write('named', '1')
  await running.until(() => changed().includes('c') && changed().includes('named'))
  assert.deepEqual(changed().sort(), ['a', 'c', 'named'])
  await running.end()
})

test('a ConfigChange hook that says no is heard, and the session keeps the settings that it has either way', async (t) => {
  const hook = { hook_event_name: 'ConfigChange', matcher: '', shell: 'sh', command: 'echo no >&2; exit 2' }
  const lines = [{ text: 'Hello.' }, call('Bash', { command: 'touch made' })]
  const { at, env, seen } = await listening(t, lines, { hooks: [hook] })
  const running = live(t, at, ['--permission-mode', 'bypassPermissions'], env)
  running.send('hello')
  await running.until(() => seen('Stop').length > 0)
  at.write('.ona/settings.json', { permissions: { deny: ['Bash'] } })
  const refused = "SELECT 1 FROM hook_invocations WHERE hook_event = 'ConfigChange' AND exit_code = 2"
  await running.until(() => at.rows(refused).length === 1)
  running.send('make it')
  await running.until(() => existsSync(join(at.folder, 'made')))
  await running.end()
})

test(`a worktree of its own: ${covers('WorktreeCreate', 'WorktreeRemove').join(', ')}`, async (t) => {
  const here = await listening(t, [call('Bash', { command: 'pwd; git status --short' })])
  const { at, env, seen } = here
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { cwd: at.folder, encoding: 'utf8' })
  git('init', '-q')
  at.write('a.txt', 'one')
  git('add', '-A')
  git('commit', '-qm', 'one')
  const path = join(realpathSync(at.folder), '.ona/worktrees/side')
  const flags = ['--worktree', 'side', '--permission-mode', 'bypassPermissions', '--output-format', 'stream-json']
  const ran = await at.run(['-p', 'go', ...flags], { env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.deepEqual(fields(here, seen('WorktreeCreate')[0]), { name: 'side' })
  assert.equal(seen('SessionStart')[0]?.['cwd'], path)
  assert.ok(ran.stdout.includes(`${path}\\n`), 'the tools work there')
  assert.deepEqual(fields(here, seen('WorktreeRemove')[0]), { worktree_path: path })
  assert.equal(existsSync(path), false, 'nothing was changed in it, so it is gone')
  assert.equal(git('status', '--porcelain'), '')
  assert.equal(git('branch', '--list', 'worktree-*'), '')
  rowsMatch(here)

  const model = await testModel(t, [call('Write', { file_path: 'new.txt', content: 'x' })])
  const changed = await at.run(['-p', 'go', ...flags], { env: model.env })
  assert.match(changed.stdout, /has changes and stays/)
  assert.equal(readFileSync(join(path, 'new.txt'), 'utf8'), 'x')
  assert.equal(git('status', '--porcelain'), '')
})

test('a hook may make the worktree, refuse it, and is reported its end', async (t) => {
  const elsewhere = (at: Place) => join(at.home, 'elsewhere')
  const here = await listening(t, [])
  const { at, env, seen } = here
  mkdirSync(elsewhere(at))
  const hook = (command: string) =>
    JSON.stringify({ hooks: [{ hook_event_name: 'WorktreeCreate', matcher: '', shell: 'sh', command }] })
  const made = await at.run(['-p', 'go', '-w', 'x', '--settings', hook(`echo ${elsewhere(at)}`)], { env })
  assert.equal(made.code, 0, made.stderr)
  assert.equal(seen('SessionStart')[0]?.['cwd'], elsewhere(at))
  assert.deepEqual(fields(here, seen('WorktreeRemove')[0]), { worktree_path: elsewhere(at) })
  const refused = await at.run(['-p', 'go', '-w', 'x', '--settings', hook('echo not here >&2; exit 2')], { env })
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /a hook refused the worktree x: \[\d+\] not here/)
  const none = await at.run(['-p', 'go', '-w', 'x'], { env })
  assert.match(none.stderr, /is no git repository/)
})

test('an agent that waits for the user says so to hooks', async (t) => {
  const here = await listening(t)
  const { at, env, seen } = here
  const running = live(t, at, [], { ...env, ONA_IDLE_NOTICE_MS: '50' })
  running.send('hello')
  await running.until(() => seen('Notification').length > 0)
  assert.deepEqual(fields(here, seen('Notification')[0]), {
    message: 'ona is waiting for your input',
    notification_type: 'idle_prompt',
  })
  // the hook has written, and may not have ended: the end of the session would end it
  const ended = "SELECT 1 FROM hook_invocations WHERE hook_event = 'Notification' AND exit_code = 0"
  await running.until(() => at.rows(ended).length > 0)
  await running.end()
  rowsMatch(here)
})

test('hooks may send an agent that waits back to work, and refuse the end of a task', async (t) => {
  const here = await listening(
    t,
    [
      call('Agent', { description: 'count', prompt: 'Count.', run_in_background: true }),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map(
        (): Line => (chat) => {
          const texts = chat.messages.map(({ text }) => text)
          if (texts.includes('count again')) return { text: 'Twice.' }
          if (texts.includes('Count.')) return { text: 'Once.' }
          const over = texts.some((text) => text.includes('<status>'))
          return over ? { text: 'All done.' } : call('TaskOutput', { task_id: 'agent_1' })
        },
      ),
    ],
    {
      hooks: [
        {
          hook_event_name: 'TeammateIdle',
          matcher: '',
          shell: 'sh',
          command: 'test -e $HOME/asked || { touch $HOME/asked; printf "count again" >&2; exit 2; }',
        },
        { hook_event_name: 'TaskCompleted', matcher: '', shell: 'sh', command: 'echo not yet >&2; exit 2' },
      ],
    },
  )
  const { at, env, seen } = here
  const ran = await at.run(['-p', 'go', '--permission-mode', 'bypassPermissions'], { env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.equal(seen('TeammateIdle').length, 2)
  const [result] = at.rows<{ text: string }>(
    `SELECT json_extract(payload_json, '$.content') AS text FROM transcript_entries
     WHERE entry_type = 'tool_result' AND payload_json LIKE '%<status>%'`,
  )
  assert.match(String(result?.text), /<status>failed<[\s\S]*a hook did not accept the result: \[\d+\] not yet\nTwice\./)
})

test('a session that may not bypass permissions ends at once, and says why', async (t) => {
  const here = await listening(t, [], { permissions: { disableBypassPermissionsMode: 'disable' } })
  const { at, env, seen } = here
  const ran = await at.run(['-p', 'go', '--dangerously-skip-permissions'], { env })
  assert.deepEqual([ran.code, ran.stdout], [1, ''])
  assert.match(ran.stderr, /the settings forbid the mode bypassPermissions/)
  assert.deepEqual(fields(here, seen('SessionEnd')[0]), { reason: 'bypass_permissions_disabled' })
  assert.deepEqual(seen('SessionStart'), [])
  rowsMatch(here)
})

test('a hook of SessionEnd has a second and a half', async (t) => {
  const here = await listening(t, [], {
    hooks: [{ hook_event_name: 'SessionEnd', matcher: '', shell: 'sh', command: 'sleep 30' }],
  })
  const { at, env } = here
  const started = Date.now()
  const ran = await at.run(['-p', 'go'], { env })
  assert.equal(ran.code, 0)
  assert.ok(Date.now() - started < 15_000)
  const [row] = at.rows<{ stderr_text: string }>("SELECT stderr_text FROM hook_invocations WHERE command = 'sleep 30'")
  assert.match(String(row?.stderr_text), /1500 ms/)
})

test('all 27 events are raised here', () => {
  assert.deepEqual([...covered].sort(), [...eventNames].sort())
})

test('the page about events says where each is raised', () => {
  const page = readFileSync(join(packageRoot, 'docs/events.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| .+ \| (?:`(\w+)`|–) \|$/gm)].map(([, name, step]) => [name, step])
  assert.deepEqual(
    rows,
    eventNames.map((name) => [name, rowOf(name).step]),
  )
})

testPassedFlags(import.meta.filename)
