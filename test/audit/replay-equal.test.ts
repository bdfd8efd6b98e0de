/** One scenario for each thing that decides beside rules: replayed with the settings in force, every call comes out as it did. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testModel } from '../support/model/model.ts'
import { type Place, place } from '../support/program.ts'

interface Call {
  readonly name: string
  readonly input: Record<string, unknown>
}
const bash = (command: string, more: object = {}): Call => ({ name: 'Bash', input: { command, ...more } })
const write = (file_path: string): Call => ({ name: 'Write', input: { file_path, content: 'x' } })
const read = (file_path: string): Call => ({ name: 'Read', input: { file_path } })

interface Scenario {
  readonly settings: object
  readonly mode?: string
  readonly calls: readonly Call[]
  readonly flags?: readonly string[]
}

/** Runs the calls, then replays them: what changed, and what the replay says it does not know. */
async function replayed(t: TestContext, here: Place, { settings, mode = 'default', calls, flags = [] }: Scenario) {
  here.write('.ona/settings.json', settings)
  const { env } = await testModel(
    t,
    calls.map((call) => ({ calls: [call] })),
  )
  const run = await here.run(['-p', 'go', '--trust', '--permission-mode', mode], { env, timeoutMs: 120_000 })
  assert.equal(run.code, 0, run.stderr)
  const ran = await here.run(['hooks', 'replay', '--json', '--mode', mode, ...flags], { env })
  assert.equal(ran.code, 0, ran.stderr)
  const { changes, not_replayed, not_judged, same, calls: counted, not_asked } = JSON.parse(ran.stdout)
  assert.equal(counted + not_judged, calls.length)
  const decisions = Object.fromEntries(
    here
      .rows<{ decision: string; n: number }>('SELECT decision, count(*) AS n FROM tool_permission_log GROUP BY 1')
      .map(({ decision, n }) => [decision, n]),
  )
  return {
    changes: changes.map((each: Record<string, unknown>) => [each['input'], each['was'], each['would_be']]),
    ...{ same, not_replayed, not_asked, decisions },
  }
}

/** A command hook for each way to answer. */
const answers = `#!/bin/sh
input=$(cat)
case "$input" in
  *say-deny*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}' ;;
  *say-ask*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"hm"}}' ;;
  *say-allow*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"yes"}}' ;;
  *change-it*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"touch changed"}}}' ;;
  *exit-two*) echo blocked >&2; exit 2 ;;
  *exit-one*) exit 1 ;;
  *too-slow*) sleep 30 ;;
  *no-json*) echo '{"hookSpecificOutput":' ;;
esac
`
const asked = ['say-deny', 'say-ask', 'say-allow', 'change-it', 'exit-two', 'exit-one', 'too-slow', 'no-json', 'silent']

function withHook(here: Place): object {
  here.write('answers.sh', answers)
  chmodSync(join(here.folder, 'answers.sh'), 0o755)
  return { hook_event_name: 'PreToolUse', matcher: 'Bash', command: './answers.sh', timeout: 2 }
}

for (const onFailure of ['proceed', 'refuse'])
  test(`command hooks in every form, ${onFailure} on failure`, async (t) => {
    const here = place(t)
    const settings = {
      hooks: [{ ...withHook(here), ...(onFailure === 'refuse' && { onFailure }) }],
      permissions: { deny: ['Bash(touch changed)'], ask: ['Bash(touch say-allow)'] },
    }
    const calls = asked.map((word) => bash(`touch ${word}`))
    const found = await replayed(t, here, { settings, calls, flags: ['--run-commands'] })
    assert.deepEqual(found.changes, [])
    assert.deepEqual([found.same, found.not_replayed], [asked.length, 0])
  })

test('a hook that is not asked leaves its calls open: not replayed, unless a rule denies them', async (t) => {
  const here = place(t)
  const settings = { hooks: [withHook(here)], permissions: { deny: ['Bash(touch silent)'] } }
  const calls = [
    ...asked.filter((word) => word !== 'too-slow').map((word) => bash(`touch ${word}`)),
    read('answers.sh'),
  ]
  const { changes, same, not_replayed, not_asked } = await replayed(t, here, { settings, calls })
  assert.deepEqual([changes, same, not_replayed], [[], 2, 7], 'the rule and the other tool are known')
  assert.deepEqual(not_asked, [{ hook: './answers.sh', calls: 8 }])
  const words = await here.run(['hooks', 'replay'])
  assert.match(words.stdout, /^7 not replayed$/m)
  const proposed = JSON.parse(
    (await here.run(['hooks', 'replay', '--rule', 'deny:Bash(touch no-json)', '--json'])).stdout,
  )
  assert.deepEqual(
    [proposed.newly_denied, proposed.not_replayed],
    [1, 0],
    'between two policies the hook is no difference',
  )
})

/** A persistent hook for each way to answer; after a crash it is started again. */
const stays = `#!/bin/bash
while IFS= read -r line; do
  case $line in '{"protocol"'*) echo '{"protocol":1}'; continue ;; esac
  id=\${line#'{"id":'}
  id=\${id%%,*}
  say() { echo "{\\"id\\":$id,\\"verdict\\":{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"PreToolUse\\",\\"permissionDecision\\":\\"$1\\"}}}"; }
  case $line in
    *say-deny*) say deny ;;
    *say-ask*) say ask ;;
    *say-allow*) say allow ;;
    *block-it*) echo "{\\"id\\":$id,\\"block\\":\\"no\\"}" ;;
    *crash*) exit 1 ;;
    *) echo "{\\"id\\":$id,\\"verdict\\":null}" ;;
  esac
done
`
for (const onFailure of ['proceed', 'refuse'])
  test(`persistent hooks, ${onFailure} on failure`, async (t) => {
    const here = place(t)
    here.write('stays.sh', stays)
    const hook = { hook_event_name: 'PreToolUse', matcher: 'Bash', command: './stays.sh', persistent: true }
    const settings = {
      hooks: [{ ...hook, ...(onFailure === 'refuse' && { onFailure }) }],
      permissions: { ask: ['Bash(touch say-allow)'] },
    }
    const words = ['say-deny', 'say-ask', 'crash', 'say-allow', 'block-it', 'silent']
    const calls = words.map((word) => bash(`touch ${word}`))
    const found = await replayed(t, here, { settings, calls, flags: ['--run-commands'] })
    assert.deepEqual([found.changes, found.same, found.not_replayed], [[], words.length, 0])
    const known = here.rows<{ n: number }>("SELECT count(*) AS n FROM hook_invocations WHERE stdout_text LIKE '%deny%'")
    assert.equal(known[0]!.n > 0, true, 'the hook was heard')
  })

test('a prompt hook is never asked in a replay: its calls are not replayed, unless a rule denies them', async (t) => {
  const here = place(t)
  const hook = { hook_event_name: 'PreToolUse', matcher: 'Bash', type: 'prompt', prompt: 'may it? $ARGUMENTS' }
  const settings = { hooks: [{ ...hook, onFailure: 'refuse' }], permissions: { deny: ['Bash(touch b)'] } }
  const calls = [bash('touch a'), bash('touch b'), read('none.txt')]
  const found = await replayed(t, here, { settings, calls, flags: ['--run-commands'] })
  assert.deepEqual([found.changes, found.same, found.not_replayed], [[], 2, 1])
  assert.equal(found.not_asked.length, 1)
})

test('HTTP hooks', async (t) => {
  const here = place(t)
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => {
      text += piece
    })
    request.on('end', () => {
      const permissionDecision = /say-(\w+)/.exec(text)?.[1]
      response.setHeader('content-type', 'application/json')
      response.end(
        permissionDecision
          ? JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision } })
          : '{}',
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const settings = { hooks: [{ hook_event_name: 'PreToolUse', type: 'http', url }] }
  const calls = ['say-deny', 'say-ask', 'say-allow', 'silent'].map((word) => bash(`touch ${word}`))
  const found = await replayed(t, here, { settings, calls, flags: ['--run-commands'] })
  assert.deepEqual([found.changes, found.same, found.not_replayed], [[], 4, 0])
})

for (const mode of ['default', 'acceptEdits', 'dontAsk'])
  test(`protected paths, additional directories, ask rules and links, ${mode}`, async (t) => {
    const here = place(t)
    const other = join(here.home, 'other')
    mkdirSync(other)
    here.write(
      'hook.ts',
      "import { defineHook } from 'ona/hooks'\nexport default defineHook('PreToolUse', () => undefined)\n",
    )
    here.write('src/a.ts', 'x')
    symlinkSync(join(here.home), join(here.folder, 'out'))
    const settings = {
      hooks: [{ hook_event_name: 'PreToolUse', type: 'function', file: './hook.ts' }],
      permissions: {
        additionalDirectories: [other],
        ask: ['Edit(src/**)', 'Bash(git status*)'],
        allow: ['Bash(touch *)'],
      },
    }
    const at = (path: string) => join(here.folder, path)
    const calls = [
      ...[at('hook.ts'), at('.ona/settings.json'), at('.git/hooks/x'), at('src/a.ts'), at('new.txt')].map(write),
      ...[join(other, 'x'), join(here.home, 'x'), at('out/y'), join(here.home, '.bashrc')].map(write),
      ...[join(other, 'x'), '/etc/hostname', at('.env'), at('out/.ssh/id_rsa')].map(read),
      ...[
        'touch hook.ts',
        'echo x > hook.ts',
        'git status',
        'touch src/b',
        `touch ${other}/z`,
        'cp a .ona/hooks/x',
      ].map((command) => bash(command)),
    ]
    const found = await replayed(t, here, { settings, mode, calls })
    assert.deepEqual([found.changes, found.not_replayed], [[], 0])
  })

test('commands of a sandbox are not replayed where it answers, and are where it does not', async (t) => {
  const here = place(t)
  const sandbox = { enabled: true }
  const settings = {
    sandbox,
    permissions: { deny: ['Bash(rm *)'], ask: ['Bash(git status*)'], allow: ['Bash(touch a)'] },
  }
  const commands = ['touch a', 'touch b', 'rm x', 'git status', 'ls', 'touch c']
  const calls = [...commands.map((command) => bash(command)), bash('touch a', { dangerouslyDisableSandbox: true })]
  const found = await replayed(t, here, { settings, calls })
  assert.deepEqual(
    [found.changes, found.not_replayed],
    [[], 3],
    'touch b, touch c, and the one that asks to run outside',
  )
  const asking = { ...settings, sandbox: { ...sandbox, autoAllowBashIfSandboxed: false } }
  const there = place(t)
  const { changes, not_replayed } = await replayed(t, there, { settings: asking, calls: calls.slice(0, -1) })
  assert.deepEqual([changes, not_replayed], [[], 0])
})
