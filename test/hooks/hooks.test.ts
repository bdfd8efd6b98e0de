import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runProgram } from '../support/run-program.ts'

const root = join(import.meta.dirname, '../..')
const place = mkdtempSync(join(tmpdir(), 'ona-hooks-'))
after(() => rmSync(place, { recursive: true }))
const project = join(place, 'project')
mkdirSync(join(project, '.ona'), { recursive: true })
mkdirSync(join(place, '.ona'))
const env = { PATH: process.env['PATH'], HOME: place, AGENT_SDLC_DB: join(place, 'agent.db'), NO_COLOR: '1' }

const ona = (...words: string[]) => runProgram(words, { cwd: project, env })
const settle = (folder: string, hooks: unknown) =>
  writeFileSync(join(folder, '.ona/settings.json'), JSON.stringify({ hooks }))

test('ona hooks list shows every hook in its order, where it came from, and which do not run', async () => {
  const guard = { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'true', if: 'Bash(git *)' }
  settle(place, [{ ...guard, persistent: true, once: true, timeout: 2.5, onFailure: 'refuse' }])
  settle(project, { Stop: [{ hooks: [{ type: 'command', command: 'echo hi', parallel: true }] }] })
  const rows = (await ona('hooks', 'list')).stdout.trimEnd().split('\n')
  assert.deepEqual(
    rows.map((line) => line.trim().split(/ {2,}/)),
    [
      ['event', 'matcher', 'from', 'hook'],
      ['0', 'PreToolUse', 'Bash if Bash(git *)', 'user', 'true (persistent, once, timeout 2.5 s, onFailure refuse)'],
      [
        ...['1', 'Stop', '*', 'project'],
        'echo hi (parallel) (does not run: untrusted_workspace; trust this folder with ona --trust)',
      ],
    ],
  )
  const listed = JSON.parse((await ona('hooks', 'list', '--trust', '--json')).stdout)
  assert.deepEqual(
    listed.hooks.map(({ ordinal, event, source, parallel, persistent, once, withheld }: Record<string, unknown>) => [
      ...[ordinal, event, source, parallel, persistent, once, withheld],
    ]),
    [
      [0, 'PreToolUse', 'user', false, true, true, null],
      [1, 'Stop', 'project', true, false, false, null],
    ],
  )
})

test('a hook in TypeScript that settings name is loaded and asked, once the folder is trusted', async () => {
  settle(place, [])
  settle(project, [{ hook_event_name: 'PreToolUse', type: 'function', file: '.ona/guard.ts' }])
  writeFileSync(
    join(project, '.ona/guard.ts'),
    `import { writeFileSync } from 'node:fs'
     import { defineHook } from 'ona/hooks'
     writeFileSync('loaded', '')
     export const noPush = defineHook('PreToolUse', ({ tool_input }): { decision: 'block'; reason: string } => ({
       decision: 'block', reason: \`not \${(tool_input as { command: string }).command}\`,
     }), { matcher: '^Bash$' })\n`,
  )
  assert.match(
    (await ona('hooks', 'list')).stdout,
    /function:\.ona\/guard\.ts \(does not run: untrusted_workspace; trust this folder with ona --trust\)/,
  )
  const input = (tool_name: string) => JSON.stringify({ tool_name, tool_input: { command: 'git push' } })
  assert.deepEqual(readdirSync(project), ['.ona'], 'what nobody trusts is not loaded')

  const fired = async (tool: string) =>
    JSON.parse((await ona('hooks', 'fire', 'PreToolUse', '--trust', '--json', '--input', input(tool))).stdout)
  const { answer } = await fired('Bash')
  assert.deepEqual([answer.decision, answer.reason], ['deny', 'not git push'])
  assert.equal((await fired('Read')).answer.decision, 'none', 'its own matcher counts')
  assert.match(
    (await ona('hooks', 'list', '--trust')).stdout,
    /PreToolUse +\^Bash\$ +project +function:noPush in \.ona\/guard\.ts/,
  )
  rmSync(join(project, 'loaded'))
})

test('a file of the user’s own is found from their home, and is not loaded where hooks are switched off', async () => {
  settle(project, [])
  settle(place, [{ hook_event_name: 'Stop', type: 'function', file: '~/own.ts' }])
  writeFileSync(
    join(place, 'own.ts'),
    `import { writeFileSync } from 'node:fs'
     import { defineHook } from 'ona/hooks'
     writeFileSync('loaded', '')
     export const end = defineHook('Stop', () => undefined)\n`,
  )
  const off = await runProgram(['hooks', 'list'], { cwd: project, env: { ...env, SDLC_DISABLE_ALL_HOOKS: '1' } })
  assert.match(off.stdout, /function:~\/own\.ts/)
  assert.ok(!existsSync(join(project, 'loaded')), 'it was loaded')
  assert.match((await ona('hooks', 'list')).stdout, /Stop +\* +user +function:end in ~\/own\.ts/)
  rmSync(join(project, 'loaded'))
})

const badFiles: Record<string, [where: string, file: string, text: string | undefined, says: RegExp]> = {
  'is not there': [project, 'gone.ts', undefined, /project settings: hooks\[0\]\.file there is no file .*gone\.ts/],
  'cannot be read': [project, 'bad.ts', 'export {}\nexport const =', /bad\.ts cannot be loaded: line 2: \S/],
  'imports one that cannot be read': [
    project,
    'bad.ts',
    'import "./worse.ts"',
    /bad\.ts cannot be loaded: \/\S+worse\.ts:1: \S/,
  ],
  throws: [project, 'throws.ts', 'throw new Error("oh no")', /throws\.ts cannot be loaded: oh no/],
  'exports nothing of use': [project, 'empty.ts', 'export const a = 1', /empty\.ts exports no hook/],
  'waits while it is loaded': [project, 'waits.ts', 'await null; export {}', /waits\.ts cannot be loaded: /],
  'is told from any folder': [
    place,
    'guard.ts',
    undefined,
    /user settings: hooks\[0\]\.file must begin with \/ or ~\//,
  ],
}
for (const [fault, [where, file, text, says]] of Object.entries(badFiles)) {
  test(`no session begins beside a hook file that ${fault}`, async () => {
    settle(place, [])
    settle(project, [])
    if (text !== undefined) writeFileSync(join(project, file), text)
    writeFileSync(join(project, 'worse.ts'), 'export const = 1')
    settle(where, [{ hook_event_name: 'PreToolUse', type: 'function', file }])
    const { code, stderr } = await ona('-p', 'hello', '--trust')
    settle(where, [])
    assert.equal(code, 1)
    assert.match(stderr, says)
  })
}

test('ona hooks fire asks the real plane and prints each answer, the verdict and why', async () => {
  settle(place, [
    { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'true', shell: 'sh' },
    { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'echo no >&2; exit 2', shell: 'sh' },
    { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'touch ran', shell: 'sh' },
  ])
  writeFileSync(join(project, 'call.json'), JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'ls' } }))
  const { stdout, code } = await ona('hooks', 'fire', 'PreToolUse', '--input', 'call.json')
  assert.equal(code, 0)
  assert.equal(
    stdout.replaceAll(/in \d+ ms/g, 'in N ms'),
    `[0] true  exit 0 in N ms
[1] echo no >&2; exit 2  exit 2 in N ms
    stderr no
[2] touch ran  not asked: prior_block_or_deny
denied by echo no >&2; exit 2: [1] no
verdict
  decision  deny
  reason    [1] no
  control   {"kind":"proceed"}
`,
  )
})

test('ona hooks fire asks about a step too', async () => {
  settle(place, [
    { hook_event_name: 'before_turn_end', command: 'echo test it >&2; exit 2', shell: 'sh' },
    { hook_event_name: 'before_tool_apply', type: 'builtin', name: 'redact-secrets' },
  ])
  const end = '{"stop_reason":"end_turn","continues_so_far":0,"voluntary":true}'
  assert.match(
    (await ona('hooks', 'fire', 'before_turn_end', '--input', end)).stdout,
    /control {3}\{"kind":"continue"\}/,
  )
  const call = '{"tool":"x","safety":"network","args":{"api_key":"k"}}'
  const { step } = JSON.parse((await ona('hooks', 'fire', 'before_tool_apply', '--input', call, '--json')).stdout)
  assert.deepEqual(step.args, { api_key: '***' })
})

test('wrong use is reported with the way out, and ends with 2', async () => {
  settle(place, [])
  const cases: [string[], RegExp][] = [
    [['fire', 'PreToolUs'], /did you mean "PreToolUse"\?/],
    [['fire'], /name the event or step/],
    [['fire', 'Stop', '--input', '{'], /--input is not JSON/],
    [['fire', 'Stop', '--input', 'nowhere.json'], /cannot read nowhere\.json/],
    [['fire', 'PreToolUse', '--input', '{"tool_name":"Bash"}'], /tool_input is missing/],
    [['list', '--event', 'Stopp'], /did you mean "Stop"\?/],
    [['list', '--what'], /--what/],
    [['log', '--limit', 'many'], /--limit must be a number/],
    [['lits'], /unknown subcommand "lits"/],
  ]
  for (const [words, why] of cases) {
    const { code, stderr } = await ona('hooks', ...words)
    assert.equal(code, 2, words.join(' '))
    assert.match(stderr, why)
  }
})

test('a misspelt event in the settings is an error that says which was meant', async () => {
  settle(place, [{ hook_event_name: 'PreToolUs', command: 'true' }])
  const { code, stderr } = await ona('hooks', 'list')
  settle(place, [])
  assert.equal(code, 1)
  assert.match(stderr, /did you mean "PreToolUse"\?/)
})

test('ona hooks log shows what ran', async () => {
  settle(place, [
    { hook_event_name: 'PreToolUse', matcher: 'Read', command: 'echo "not here" >&2; exit 2', shell: 'sh' },
  ])
  const call = JSON.stringify({ tool: 'Read', input: { file_path: join(project, 'call.json') } })
  assert.equal((await ona('--eval', call)).code, 1)
  const { stdout } = await ona('hooks', 'log', '--event', 'PreToolUse')
  assert.match(stdout, /PreToolUse +Read +deny +\d+ ms +echo "not here" >&2; exit 2 +not here\n$/)
  const [row] = JSON.parse((await ona('hooks', 'log', '--json', '--tool', 'Read')).stdout)
  assert.deepEqual([row.event, row.exitCode, row.stderr], ['PreToolUse', 2, 'not here\n'])
  assert.equal((await ona('hooks', 'log', '--tool', 'Write')).stdout, 'no hook run matches\n')
})

test('ona hooks log says which guards failed open, and the line of their output that says why', async () => {
  const program = (name: string, text: string) => {
    writeFileSync(join(project, name), text)
    return { command: process.execPath, args: [name], hook_event_name: 'PreToolUse' }
  }
  const guards: [object, RegExp][] = [
    [
      program('crash.cjs', 'throw new RangeError("too far")'),
      /failed open +\d+ ms +\S+ crash\.cjs +exit 1 RangeError: too far\n$/,
    ],
    [
      { ...program('gone.cjs', 'console.error("no policy"); process.exit(3)'), persistent: true },
      /failed open +\d+ ms +\S+ gone\.cjs +no policy\n$/,
    ],
    [{ ...program('other.cjs', 'throw 1'), onFailure: 'refuse' }, /failed +\d+ ms +\S+ other\.cjs +exit 1 /],
    [
      { ...program('slow.cjs', 'setTimeout(() => {}, 60_000)'), timeout_ms: 200 },
      /deny +\d+ ms +\S+ slow\.cjs +timed out after 200 ms\n$/,
    ],
  ]
  settle(project, [])
  for (const [guard, says] of guards) {
    settle(place, [guard])
    await ona('--eval', JSON.stringify({ tool: 'Glob', input: { pattern: 'x' } }))
    assert.match((await ona('hooks', 'log', '--tool', 'Glob', '--limit', '1')).stdout, says)
  }
  settle(place, [])
})

test('a hook that keeps a session from starting is an error of ona hooks fire too', async () => {
  settle(place, [{ hook_event_name: 'PreToolUse', type: 'function', file: '~/gone.ts' }])
  const fired = await ona('hooks', 'fire', 'PreToolUse', '--input', '{"tool_name":"Read","tool_input":{}}')
  settle(place, [])
  assert.deepEqual([fired.code, fired.stdout], [1, 'no hook in force applies\n'])
  assert.match(fired.stderr, /^error: user settings: hooks\[0\]\.file there is no file \S+gone\.ts\n$/)
})

test('an if that is not a rule is a warning, and its hook runs for every call', async () => {
  settle(place, [{ hook_event_name: 'PreToolUse', command: 'exit 2', shell: 'sh', if: 'Bash(git' }])
  const warning =
    'warning: hook 0: if "Bash(git" is not a rule, so the hook runs for every call: There is a "(" without its ")".\n'
  const listed = await ona('hooks', 'list')
  const fired = await ona('hooks', 'fire', 'PreToolUse', '--json', '--input', '{"tool_name":"Read","tool_input":{}}')
  settle(place, [])
  assert.deepEqual([listed.code, listed.stderr, fired.stderr], [0, warning, warning])
  assert.equal(JSON.parse(fired.stdout).answer.decision, 'deny')
})

test('the events stand in the order of the specification', () => {
  const run = spawnSync(process.execPath, [join(root, 'scripts/verify-sdlc-hook-order.mjs')], { encoding: 'utf8' })
  assert.deepEqual([run.status, run.stderr], [0, ''])
})
