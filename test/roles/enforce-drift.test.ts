/** `ona enforce status`: every kind of drift, files that the user can write to, and settings of Cursor and VS Code. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'

const isRoot = process.getuid?.() === 0

test('status reports every kind of drift, and what a user can write to', (t) => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'ona-drift-')))
  t.after(() => rmSync(top, { recursive: true, force: true }))
  const at = (path: string) => join(top, 'root', path)
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(top, path)), { recursive: true })
    writeFileSync(join(top, path), text)
  }
  put('repo/.git/HEAD', 'ref: refs/heads/main\n')
  put('policy.json', '{"permissions":{"deny":["Bash(rm -rf *)"]}}')
  mkdirSync(join(top, 'root'))
  const ona = (...words: string[]) =>
    spawnSync(
      process.execPath,
      [join(packageRoot, 'bin/ona.mjs'), 'enforce', ...words, '--root', join(top, 'root'), '--json'],
      { cwd: join(top, 'repo'), env: { PATH: process.env['PATH'], HOME: join(top, 'home') }, encoding: 'utf8' },
    )
  assert.equal(ona('apply', '--rules', join(top, 'policy.json')).status, 0)
  const calm = ona('status')
  const hosts: { host: string; files: unknown[] }[] = JSON.parse(calm.stdout).hosts
  assert.deepEqual([calm.status, hosts.find(({ host }) => host === 'vscode')?.files], [0, []], calm.stderr)

  const settings = '/etc/claude-code/managed-settings.d/50-ona.json'
  put('elsewhere.json', readFileSync(at(settings), 'utf8'))
  rmSync(at(settings))
  symlinkSync(join(top, 'elsewhere.json'), at(settings))
  writeFileSync(at('/etc/ona/policy/policy.json'), '{}')
  rmSync(at('/etc/ona/policy/guard.cjs'))
  mkdirSync(at('/etc/ona/policy/guard.cjs'))
  rmSync(at('/etc/ona/policy/hook-codex.cjs'))
  chmodSync(at('/etc/codex/requirements.toml'), 0o666)
  chmodSync(at('/etc/opencode'), 0o777)
  put('root/etc/ona/policy/tree/extra.mjs', '')
  put('root/etc/vscode/policy.json', '{"ChatHooks":false}')
  put(
    'repo/.vscode/settings.json',
    '{"chat.hookFilesLocations":{".github/hooks":false},"chat.tools.global.autoApprove":true}',
  )
  put('home/.config/Code/User/settings.json', '// mine\n{"chat.tools.global.autoApprove":true,}')
  const policies = '/etc/gemini-cli/policies'
  const copilot = '/etc/github-copilot/policy.d/50-ona.json'
  const cursor = '/etc/cursor/hooks.json'
  if (isRoot) for (const path of [copilot, policies, cursor]) chownSync(at(path), 12345, 12345)
  const byUser = 'belongs to the user 12345'
  const expected = [
    'policy: /etc/ona/policy/policy.json is drifted: was edited',
    'policy: /etc/ona/policy/guard.cjs is drifted: is not a file',
    'policy: /etc/ona/policy/hook-codex.cjs is missing',
    'policy: /etc/ona/policy/tree/extra.mjs is drifted: is not part of the policy',
    `claudecode: ${settings} is drifted: is, or lies behind, a symbolic link`,
    `opencode: /etc/opencode/opencode.json is drifted: ${at('/etc/opencode')} can be written to by others`,
    'vscode: /etc/vscode/policy.json turns all hooks off (ChatHooks)',
    'vscode: ~/.config/Code/User/settings.json approves every call (chat.tools.global.autoApprove)',
    'vscode: .vscode/settings.json turns the hooks in .github/hooks off (chat.hookFilesLocations)',
    'vscode: .vscode/settings.json approves every call (chat.tools.global.autoApprove)',
    'codex: /etc/codex/requirements.toml is drifted: it can be written to by others',
    ...(isRoot
      ? [
          `copilot: ${copilot} is drifted: it ${byUser}`,
          `copilot: ${copilot} does not belong to root, so it is ignored`,
          `gemini: ${policies}/50-ona.toml is drifted: ${at(policies)} ${byUser}`,
          `gemini: ${policies} does not belong to root, so it is ignored`,
          `cursor: ${cursor} is drifted: it ${byUser}`,
          `cursor: ${cursor} does not belong to root, so it is ignored`,
        ]
      : []),
  ]
  const { status, stdout } = ona('status')
  assert.deepEqual([status, JSON.parse(stdout).problems.toSorted()], [1, expected.toSorted()])
})
