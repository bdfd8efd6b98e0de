import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { sampled } from '../../../test/support/campaign-size.ts'
import { claudecode } from '../claudecode/index.ts'
import { codex } from '../codex/index.ts'
import type { Host } from '../host.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-guard-')))
after(() => rmSync(root, { recursive: true, force: true }))
for (const { path, text } of [claudecode, codex].flatMap(({ helpers = [] }) => helpers)) {
  mkdirSync(join(root, dirname(path)), { recursive: true })
  writeFileSync(join(root, path), text!)
}
function program(path: string, text: string) {
  mkdirSync(join(root, dirname(path)), { recursive: true })
  writeFileSync(join(root, path), text)
  chmodSync(join(root, path), 0o755)
}
program('no-interpreter', '#!/no/such/interpreter\n')
program('bin/git', `#!/bin/sh\necho '${root}'\n`)
symlinkSync(process.execPath, join(root, 'bin/node'))
// a machine without timeout(1), such as macOS
mkdirSync(join(root, 'few'))
for (const name of ['sh', 'cat', 'sleep', 'yes'])
  symlinkSync(
    spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim(),
    join(root, 'few', name),
  )
const paths = { 'with timeout(1)': process.env['PATH']!, 'without it': join(root, 'few') }

/** As the agent runs what is in its config. */
function run(host: Host, path: string, command: string, timeout = 'PT60S') {
  const hook = { author: 'repo=a/role=b', event: 'onTool', command, timeout, onFailure: 'refuse' } as const
  const written = JSON.parse(host.write(null, [hook], host.config)!).hooks.PreToolUse[0].hooks[0].command
  assert.equal(host.read(host.write(null, [hook], host.config)!, host.config)[0]!.command, command)
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', written], {
    cwd: tmpdir(),
    env: { PATH: `${join(root, 'bin')}:${path}`, CLAUDE_PROJECT_DIR: root, HOME: root },
    input: JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }),
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}
const deny = {
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'not now' },
}
const saying = (answer: object) => `echo '${JSON.stringify(answer)}'`

for (const [turn, host] of [claudecode, codex].entries())
  for (const [which, path] of Object.entries(paths)) {
    test(`${host.slug}, ${which}: a guard that fails in any way refuses, and says why`, () => {
      const failing: [string, RegExp, string?][] = [
        ['exit 1', /exit 1\b/],
        ['exit 127', /exit 127/],
        ['./not-there', /exit 127/],
        ['./no-interpreter', /exit 12[67]/],
        ['kill -9 $$', /exit 137|SIGKILL/],
        ['kill -SEGV $$', /exit 139|SIGSEGV/],
        ['sleep 60 & sleep 60', /no answer within 1000 ms/, 'PT1S'],
        ['echo fine', /not a JSON object/],
        ['echo; echo fine', /not a JSON object/],
        ['printf \'{"decision"\'', /not a JSON object/],
        [`echo 'ona-exit=0'; exit 9`, /exit 9/],
        ["echo '[]'", /not a JSON object/],
        [saying({ decision: 'denny' }), /unknown decision "denny"/],
        [`${saying({})}; exit 3`, /exit 3/],
        ['yes', /longer than 4 MiB/, 'PT20S'],
        ['if', /./],
      ]
      for (const [command, why, timeout] of sampled(failing, 2, turn)) {
        const { status, stdout, stderr } = run(host, path, command, timeout)
        const denied = status === 2 || (status === 0 && /"permissionDecision":"deny"/.test(stdout))
        assert.deepEqual([command, denied], [command, true], `${status} ${stdout} ${stderr}`)
        assert.match(stderr, why, command)
      }
    })

    test(`${host.slug}, ${which}: a guard that answers is heard`, () => {
      for (const command of ['true', 'cat >/dev/null', saying({}), 'echo; echo'])
        assert.deepEqual([command, run(host, path, command).status], [command, 0])
      const no = run(host, path, 'echo "not in here" >&2; exit 2')
      assert.deepEqual([no.status === 2 || /deny/.test(no.stdout), /not in here/.test(no.stderr)], [true, true])
      // exit 2 without a word passes in Codex
      assert.match(run(host, path, 'exit 2').stderr, /exit 2/)
      const said = run(host, path, saying(deny))
      assert.deepEqual([said.status === 2 || /deny/.test(said.stdout), /not now/.test(said.stderr)], [true, true])
      assert.equal(run(host, path, `cat > '${join(root, 'seen')}'; pwd > '${join(root, 'where')}'`).status, 0)
      assert.equal(existsSync(join(root, 'seen')), true)
    })
  }

test('what a guard started ends with it', () => {
  const mark = join(root, 'survivor')
  run(codex, paths['with timeout(1)'], `(sleep 2; echo alive > '${mark}') & sleep 60`, 'PT1S')
  spawnSync('sleep', ['1.5'])
  assert.equal(existsSync(mark), false)
})
