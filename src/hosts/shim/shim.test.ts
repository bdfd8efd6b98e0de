import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { sampled } from '../../../test/support/campaign-size.ts'
import { claudecode } from '../claudecode/index.ts'
import { hostOf } from '../index.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-shim-')))
after(() => rmSync(root, { recursive: true, force: true }))
mkdirSync(join(root, '.github/hooks'), { recursive: true })
mkdirSync(join(root, '.claude/hooks'), { recursive: true })
mkdirSync(join(root, 'deep/down'), { recursive: true })
const github = join(root, '.github/hooks/rhachet-hook.cjs')
const claude = join(root, '.claude/hooks/rhachet-hook.cjs')
writeFileSync(github, hostOf('vscode')!.helpers![0]!.text!)
writeFileSync(claude, claudecode.shared!.forAll.helpers![0]!.text!)

/** As VS Code and Copilot start it: everything in the environment. */
function run(what: string, command: string, event: unknown, timeoutMs = 10_000) {
  const env = {
    ...process.env,
    ONA_HOOK_FILTER: what,
    ONA_HOOK_COMMAND: command,
    ONA_HOOK_TIMEOUT_MS: String(timeoutMs),
  }
  const input = typeof event === 'string' ? event : JSON.stringify(event)
  const { status, stdout, stderr } = spawnSync(process.execPath, [github], {
    env,
    input,
    cwd: join(root, 'deep/down'),
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
const vscode = (tool_name: string, tool_input: object = {}) => ({
  hook_event_name: 'PreToolUse',
  timestamp: 'now',
  tool_name,
  tool_input,
})

test('a filter holds in VS Code, which has other names for the same tools', () => {
  const cases: [string, string, boolean][] = [
    ['Write|Edit', 'create_file', true],
    ['Write|Edit', 'replace_string_in_file', true],
    ['Write', 'apply_patch', true],
    ['Bash', 'run_in_terminal', true],
    ['Bash', 'runTerminalCommand', true],
    ['Bash', 'read_file', false],
    ['Write|Edit', 'run_in_terminal', false],
    ['run_in_terminal', 'run_in_terminal', true],
    ['^(Ba|We)', 'run_in_terminal', true],
    ['^(Ba|We)', 'create_file', false],
    ['*', 'whatever', true],
    ['Bash', 'Bash', true],
  ]
  for (const [what, tool, fires] of sampled(cases, 2))
    assert.deepEqual(run(what, 'echo fired', vscode(tool)).stdout, fires ? 'fired\n' : '', `${what} on ${tool}`)
})

test('the hook gets the event in the names that a role is written in, from the root of the repository', () => {
  const { stdout } = run(
    'Edit',
    'cat; pwd',
    vscode('replace_string_in_file', { filePath: '/a', oldString: 'b', other: 1 }),
  )
  assert.equal(
    stdout,
    `${JSON.stringify({
      hook_event_name: 'PreToolUse',
      timestamp: 'now',
      tool_name: 'Edit',
      tool_input: { file_path: '/a', old_string: 'b', other: 1 },
      native_tool_name: 'replace_string_in_file',
    })}\n${root}\n`,
  )
})

test('tools and arguments may have any name', () => {
  const input = { constructor: 1, toString: 2, filePath: 3 }
  const { tool_name, tool_input } = JSON.parse(run('*', 'cat', vscode('valueOf', input)).stdout)
  assert.deepEqual([tool_name, tool_input], ['valueOf', { constructor: 1, toString: 2, file_path: 3 }])
})

test('an event of megabytes and its answer go through whole, over a socket that does not wait', async (t) => {
  const server = createServer().listen(join(root, 'agent'))
  t.after(() => server.close())
  await once(server, 'listening')
  const both = connect(server.address() as string)
  const [[agent]] = (await Promise.all([once(server, 'connection'), once(both, 'connect')])) as [[Socket], unknown]
  // to look at process.stdin makes it one that does not wait, and so it stays for the program that takes over
  const takeOver = 'process.stdin; process.execve(process.execPath, process.argv, process.env)'
  const words = ['-e', takeOver, claude, '*', 'cat', '60000']
  const child = spawn(process.execPath, words, { stdio: [both, both, 2] })
  both.destroy()
  const text = JSON.stringify(vscode('Bash', { command: 'x'.repeat(3e6) }))
  agent.write(text.slice(0, 1e6), () => agent.end(text.slice(1e6)))
  let heard = ''
  agent.on('data', (chunk) => {
    heard += chunk
  })
  await Promise.all([once(agent, 'end'), once(child, 'exit')])
  assert.deepEqual([child.exitCode, JSON.parse(heard).tool_input.command.length], [0, 3e6])
})

test('exit 2 is a no that every agent understands', () => {
  const { status, stdout, stderr } = run('*', 'echo never >&2; exit 2', vscode('Bash'))
  const no = { permissionDecision: 'deny', permissionDecisionReason: 'never' }
  assert.deepEqual(
    [status, stderr, JSON.parse(stdout)],
    [
      0,
      'never\n',
      { decision: 'block', reason: 'never', ...no, hookSpecificOutput: { hookEventName: 'PreToolUse', ...no } },
    ],
  )
  const stop = run('*', 'echo more >&2; exit 2', { hook_event_name: 'Stop' })
  assert.deepEqual(JSON.parse(stop.stdout), {
    decision: 'block',
    reason: 'more',
    hookSpecificOutput: { hookEventName: 'Stop', decision: 'block', reason: 'more' },
  })
  const late = run('*', 'echo bad >&2; exit 2', { ...vscode('Bash'), hook_event_name: 'PostToolUse' })
  assert.deepEqual(JSON.parse(late.stdout), {
    decision: 'block',
    reason: 'bad',
    additionalContext: 'bad',
    hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'bad' },
  })
})

test('a hook that fails or takes too long lets the agent go on, and the user is told', () => {
  for (const [command, why, timeoutMs] of [
    ['exit 1', 'exit 1', 60_000],
    ['exit 127', 'exit 127', 60_000],
    ['sleep 60', 'ETIMEDOUT', 300],
  ] as const) {
    const { status, stdout } = run('*', command, vscode('Bash'), timeoutMs)
    assert.equal(status, 0)
    assert.match(JSON.parse(stdout).systemMessage, new RegExp(`hook failed \\(.*${why}.*\\): ${command}`))
  }
})

test('a guard whose failure refuses the call refuses when it crashes, is missing, hangs or answers garbage', () => {
  const guarded = (command: string, timeoutMs = 60_000) =>
    spawnSync(process.execPath, [claude, '*', command, String(timeoutMs), 'refuse'], {
      input: JSON.stringify(vscode('Bash')),
      encoding: 'utf8',
    })
  const failing: [string, RegExp, number?][] = [
    ['exit 1', /exit 1/],
    ['exit 3', /exit 3/],
    ['./not-there', /exit 127/],
    ['kill -9 $$', /ended by SIGKILL/],
    ['sleep 60', /no answer within 300 ms/, 300],
    ['trap "" TERM INT; sleep 60', /no answer within 300 ms/, 300],
    ['kill -STOP $$', /no answer within 300 ms/, 300],
    ['echo \'{"hookSpecificOutput":"deny"}\'', /hookSpecificOutput is not an object/],
    ['echo \'{"decision":"denny","hookSpecificOutput":{"permissionDecision":"allow"}}\'', /unknown decision "denny"/],
    ['echo fine', /not a JSON object/],
    ['echo \'{"decision"\'', /not a JSON object/],
    ["echo '[]'", /not a JSON object/],
    ['echo \'{"decision":"denny"}\'', /unknown decision "denny"/],
    ['echo \'{"deny":true}\'', /its answer says nothing that is known: deny/],
    ['echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","denied":1}}\'', /nothing that is known: denied/],
  ]
  for (const [command, why, timeoutMs] of sampled(failing, 2)) {
    const { status, stderr, stdout } = guarded(command, timeoutMs)
    assert.equal(status, 0, command)
    assert.match(stderr, why)
    assert.deepEqual([JSON.parse(stdout).decision, JSON.parse(stdout).permissionDecision], ['block', 'deny'])
  }
  for (const command of ['true', "echo '{}'", 'echo \'{"hookSpecificOutput":{"permissionDecision":"allow"}}\''])
    assert.doesNotMatch(guarded(command).stdout, /block/, command)
})

test('a refusal in Claude Code’s JSON refuses in every agent', () => {
  const answer = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } }
  const yes = { hookSpecificOutput: { permissionDecision: 'allow', permissionDecisionReason: '' } }
  for (const said of [
    answer,
    { decision: 'block', reason: 'no' },
    { decision: 'block', reason: 'no', ...yes },
    { permissionDecision: 'deny', permissionDecisionReason: { why: 'no' }, reason: 'no', ...yes },
  ]) {
    const { status, stdout, stderr } = run('*', `echo '${JSON.stringify(said)}'`, vscode('Bash'))
    assert.deepEqual([status, stderr, JSON.parse(stdout).permissionDecisionReason], [0, 'no\n', 'no'])
  }
})

const copies = Object.fromEntries(
  ['gemini', 'cursor', 'codex'].map((slug) => {
    const path = join(root, `.${slug}/hooks/rhachet-hook.cjs`)
    mkdirSync(join(root, `.${slug}/hooks`), { recursive: true })
    writeFileSync(path, hostOf(slug)!.helpers![0]!.text!)
    return [slug, path]
  }),
)
const calls = {
  gemini: { hook_event_name: 'BeforeTool', tool_name: 'run_shell_command', tool_input: { command: 'ls' } },
  cursor: { hook_event_name: 'preToolUse', cursor_version: '2', tool_name: 'Shell', tool_input: { command: 'ls' } },
  codex: { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } },
}
/** As the agent starts its own copy; the JSON that it hears, and the exit code. */
function started(slug: keyof typeof calls, command: string, input = JSON.stringify(calls[slug])) {
  const words = [copies[slug]!, 'Bash', command, '5000']
  const { status, stdout } = spawnSync(process.execPath, words, { input, encoding: 'utf8' })
  return { status, ...(JSON.parse(stdout || '{}') as Record<string, unknown>) } as Record<string, unknown>
}

test('a refusal counts in whatever form, beside whatever else, and at whatever exit code', () => {
  for (const answer of [
    '{"continue":false,"stopReason":"no"}',
    '{"permission":"deny","reason":"no"}',
    '{"decision":"denny","permissionDecision":"deny","permissionDecisionReason":"no","block":null}',
  ])
    for (const end of ['', '; exit 1']) {
      const command = `echo '${answer}'${end}`
      assert.equal(JSON.parse(run('*', command, vscode('Bash')).stdout).permissionDecision, 'deny', command)
      assert.equal(started('gemini', command)['decision'], 'block', command)
      assert.equal(started('cursor', command)['permission'], 'deny', command)
      assert.equal(started('codex', command)['status'], 2, command)
    }
  const { stdout } = run('*', `echo '{"continue":false,"stopReason":"no"}'`, vscode('Bash'))
  assert.deepEqual([JSON.parse(stdout).continue, JSON.parse(stdout).stopReason], [false, 'no'])
})

test('a hook before a tool is heard in Cursor as it is written for Claude Code, also one that needs no guarding', () => {
  const no = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } }
  const guard = `grep -q '"tool_name":"Bash"' && echo '${JSON.stringify(no)}'`
  const hook = { author: 'repo=a/role=b', event: 'onTool', command: guard, timeout: 'PT10S' } as const
  const cursor = hostOf('cursor')!
  const { command } = JSON.parse(cursor.write(null, [hook], cursor.config)!).hooks.preToolUse[0]
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`
  const input = JSON.stringify(calls.cursor)
  const { stdout } = spawnSync(command, { shell: true, cwd: root, env: { PATH }, input, encoding: 'utf8' })
  assert.deepEqual([JSON.parse(stdout).permission, JSON.parse(stdout).user_message], ['deny', 'no'])
})

test('a question is put where each agent looks for it, or refused where it cannot be put', () => {
  for (const answer of [
    '{"permissionDecision":"ask","permissionDecisionReason":"sure?"}',
    '{"decision":"ask","reason":"sure?"}',
    '{"hookSpecificOutput":{"permissionDecision":"defer","permissionDecisionReason":"sure?"}}',
  ]) {
    const said = JSON.parse(run('*', `echo '${answer}'`, vscode('Bash')).stdout)
    const asked = { permissionDecision: 'ask', permissionDecisionReason: 'sure?' }
    assert.deepEqual([said.permissionDecision, said.decision], ['ask', undefined], answer)
    assert.deepEqual(said.hookSpecificOutput, { hookEventName: 'PreToolUse', ...asked }, answer)
    assert.equal(started('gemini', `echo '${answer}'`)['decision'], 'ask', answer)
    assert.equal(started('cursor', `echo '${answer}'`)['permission'], 'deny', answer)
    assert.equal(started('codex', `echo '${answer}'`)['status'], 2, answer)
  }
})

test('a byte order mark before the event, or no event at all, hides no refusal', () => {
  const no = `echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}'`
  for (const slug of ['gemini', 'cursor', 'codex'] as const) {
    const { status, permissionDecision } = started(slug, no, `\ufeff${JSON.stringify(calls[slug])}\r\n`)
    assert.deepEqual([status, permissionDecision], [slug === 'codex' ? 2 : 0, 'deny'])
    assert.equal(started(slug, no, '{"hook_event_name":').status, 2, slug)
  }
  const { hook_event_name: hookEventName, ...older } = vscode('Bash')
  assert.equal(JSON.parse(run('Bash', no, { ...older, hookEventName }).stdout).decision, 'block')
})

test('a decision that is none is reported where it lets the call pass', () => {
  for (const answer of ['{"permissionDecision":["deny"]}', '{"hookSpecificOutput":"deny"}']) {
    const { stdout } = run('*', `echo '${answer}'`, vscode('Bash'))
    assert.match(JSON.parse(stdout).systemMessage, /^hook failed \((unknown decision|hookSpecificOutput is not)/)
  }
})

test('when its time is up, what the hook started ends with it', () => {
  const mark = join(root, 'survivor')
  run('*', `(sleep 2; echo alive > '${mark}') & sleep 60`, vscode('Bash'), 300)
  spawnSync('sleep', ['2.5'])
  assert.equal(existsSync(mark), false)
})

test('Gemini CLI’s events arrive under the names that a role is written in', () => {
  const gemini = join(root, '.gemini/hooks/rhachet-hook.cjs')
  mkdirSync(join(root, '.gemini/hooks'), { recursive: true })
  writeFileSync(gemini, hostOf('gemini')!.helpers![0]!.text!)
  const start = (event: object, command: string, what = '*') =>
    spawnSync(process.execPath, [gemini, what, command, '5000'], { input: JSON.stringify(event), encoding: 'utf8' })
  const before = { hook_event_name: 'BeforeTool', tool_name: 'run_shell_command', tool_input: { command: 'ls' } }
  const { hook_event_name, native_event_name, tool_name } = JSON.parse(start(before, 'cat', 'Bash').stdout)
  assert.deepEqual([hook_event_name, native_event_name, tool_name], ['PreToolUse', 'BeforeTool', 'Bash'])
  const talk = start({ hook_event_name: 'BeforeAgent', prompt: 'hi' }, 'echo hello')
  assert.equal(JSON.parse(talk.stdout).hookSpecificOutput.additionalContext, 'hello\n')
  assert.equal(start({ hook_event_name: 'SessionStart', source: 'resume' }, 'echo x', 'startup|clear').stdout, '')
  assert.notEqual(start({ hook_event_name: 'SessionStart', source: 'clear' }, 'echo x', 'startup|clear').stdout, '')
})

test('an answer in JSON is put where each agent looks for it, and what boot prints is for the model', () => {
  const answer = {
    hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'sure?', updatedInput: { a: 1 } },
  }
  const { stdout } = run('*', `echo '${JSON.stringify(answer)}'`, vscode('Bash'))
  assert.deepEqual(JSON.parse(stdout), {
    permissionDecision: 'ask',
    permissionDecisionReason: 'sure?',
    modifiedArgs: { a: 1 },
    hookSpecificOutput: { hookEventName: 'PreToolUse', ...answer.hookSpecificOutput },
  })
  const boot = run('*', 'printf hello', { hook_event_name: 'SessionStart' })
  assert.deepEqual(JSON.parse(boot.stdout), {
    additionalContext: 'hello',
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'hello' },
  })
})

test('an event that cannot be read goes to the hook as it is, and its no stays a no', () => {
  for (const event of ['', 'not json', '[1', '"x"', 'null', '[]', '{}', '{"hook_event_name":7}']) {
    const { status, stderr } = run('Bash', 'cat >/dev/null; echo no >&2; exit 2', event)
    assert.deepEqual([status, stderr], [2, 'no\n'], event)
  }
})

test('a call that does not name its tool passes no filter unjudged', () => {
  const call = { hook_event_name: 'PreToolUse' }
  for (const event of [
    call,
    { ...call, source: 'x' },
    ...['', 5, null, {}].map((tool_name) => ({ ...call, tool_name })),
  ]) {
    const { stdout } = run('Bash', 'cat >/dev/null; echo no >&2; exit 2', event)
    assert.equal(JSON.parse(stdout).permissionDecision, 'deny', JSON.stringify(event))
  }
})

test('arguments that come as text are read, as Copilot gives them under its own names', () => {
  const { stdout } = run('Bash', 'cat', { toolName: 'bash', toolArgs: '{"command":"ls"}' })
  const { tool_name, tool_input } = JSON.parse(stdout)
  assert.deepEqual([tool_name, tool_input], ['Bash', { command: 'ls' }])
  assert.equal(JSON.parse(run('*', 'cat', { toolName: 'bash', toolArgs: 'ls' }).stdout).tool_input, undefined)
})

test('a call that gives an argument under both of its names is refused, unless both say the same', () => {
  const write = (tool_input: object) => JSON.parse(run('*', 'echo "{}"', vscode('create_file', tool_input)).stdout)
  const [evil, safe] = [{ filePath: '/etc/passwd' }, { file_path: '/tmp/a' }]
  for (const both of [
    { ...evil, ...safe },
    { ...safe, ...evil },
  ])
    assert.match(write(both).reason, /gives both filePath and file_path, and they differ/)
  assert.equal(write({ ...safe, filePath: '/tmp/a' }).decision, undefined)
  const late = { ...vscode('create_file', { ...evil, ...safe }), hook_event_name: 'PostToolUse' }
  assert.equal(run('*', 'echo after', late).stdout, 'after\n')
})

test('a mark of the byte order does not hide an answer', () => {
  const bom = '\\357\\273\\277'
  const { stdout } = run('*', `printf '${bom}{"decision":"block","reason":"no"}'`, vscode('Bash'))
  assert.equal(JSON.parse(stdout).permissionDecision, 'deny')
})

test('beside Claude Code it keeps still in Cursor, which has the hooks in its own file', () => {
  const start = (event: object) =>
    spawnSync(process.execPath, [claude, '*', 'echo fired', '5000'], { input: JSON.stringify(event), encoding: 'utf8' })
      .stdout
  assert.deepEqual([start({ ...vscode('Shell'), cursor_version: '2' }), start(vscode('Bash'))], ['', 'fired\n'])
})

test('its arguments win over an environment that another hook left behind', () => {
  const env = { ...process.env, ONA_HOOK_FILTER: '*', ONA_HOOK_COMMAND: 'echo wrong' }
  const { stdout } = spawnSync(process.execPath, [claude, '*', 'echo right', '5000'], {
    env,
    input: JSON.stringify(vscode('Bash')),
    encoding: 'utf8',
  })
  assert.equal(stdout, 'right\n')
})
