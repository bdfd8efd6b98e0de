import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { applyOnAsk, type RoleRegistry } from '../../src/brains/index.ts'
import { packageRoot } from '../../src/package-root.ts'
import acme from './acme/ona.roles.ts'

function copyOf(t: TestContext, example: string) {
  const root = mkdtempSync(join(tmpdir(), 'ona-example-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  cpSync(join(import.meta.dirname, example), join(root, 'repo'), { recursive: true })
  mkdirSync(join(root, 'home'))
  const repo = join(root, 'repo')
  const env = { ...process.env, HOME: join(root, 'home') }
  const run = (program: string, words: string[], input = '') => {
    const { status, stdout, stderr } = spawnSync(program, words, { cwd: repo, env, input, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  return {
    ona: (...words: string[]) => run(process.execPath, [join(packageRoot, 'bin/ona.mjs'), ...words]),
    /** Runs the command that stands in Claude Code's settings, as Claude Code would. */
    hook(event: string, payload: object) {
      const { hooks } = JSON.parse(readFileSync(join(repo, '.claude/settings.json'), 'utf8'))
      return run('/bin/sh', ['-c', hooks[event][0].hooks[0].command], JSON.stringify(payload))
    },
  }
}

test('the smallest role refuses a write to .env, and nothing else', (t) => {
  const { ona, hook } = copyOf(t, 'smallest')
  assert.equal(ona('init', '--roles', 'guardian', '--hooks', 'claudecode').status, 0)
  const write = (file_path: string) =>
    hook('PreToolUse', { tool_name: 'Write', tool_input: { file_path, content: 'x' } })
  assert.deepEqual(write('/repo/.env'), { status: 2, stdout: '', stderr: 'agents do not write .env files\n' })
  assert.deepEqual(write('/repo/readme.md'), { status: 0, stdout: '', stderr: '' })
})

test('the roles of a platform team go into all eight agents', (t) => {
  const { ona, hook } = copyOf(t, 'acme')
  const eight = ['claudecode', 'opencode', 'vscode', 'copilot', 'gemini', 'codex', 'cursor', 'ona']
  const { status, stderr } = ona('init', '--roles', 'guardian', '--trust', '--hooks', ...eight)
  assert.equal(status, 0, stderr)
  assert.match(hook('SessionStart', { hook_event_name: 'SessionStart' }).stdout, /People edit them; agents do not/)
  const write = hook('PreToolUse', {
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: '/repo/.env' },
  })
  assert.match(write.stdout, /"permissionDecision":"deny"/)
})

test('the transform of a prompt takes a key out of it', async () => {
  const { roles }: RoleRegistry = acme
  assert.deepEqual(await applyOnAsk(roles, { ask: 'use AKIAABCDEFGHIJKLMNOP' }), { ask: 'use [an access key]' })
})
