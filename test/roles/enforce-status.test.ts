/** `ona enforce status`: for each agent, what speaks against the policy and who said it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'

test('status names what overrides the policy in each agent, and nothing where nothing does', (t) => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'ona-status-')))
  t.after(() => rmSync(top, { recursive: true, force: true }))
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(top, path)), { recursive: true })
    writeFileSync(join(top, path), text)
  }
  put('repo/.git/HEAD', 'ref: refs/heads/main\n')
  put('home/x', '')
  put('policy.json', '{"permissions":{"deny":["Bash(rm -rf *)"]},"managedHooksOnly":true}')
  const ona = (env: Record<string, string>, ...words: string[]) =>
    spawnSync(
      process.execPath,
      [join(packageRoot, 'bin/ona.mjs'), 'enforce', ...words, '--root', join(top, 'root'), '--json'],
      {
        cwd: join(top, 'repo'),
        env: { PATH: process.env['PATH'], HOME: join(top, 'home'), ...env },
        encoding: 'utf8',
      },
    )
  assert.equal(ona({}, 'apply', '--rules', join(top, 'policy.json')).status, 0)
  // none of these gets past the policy, so none is an override
  const harmless = { CLAUDE_CONFIG_DIR: '/x', CODEX_HOME: '/x', COPILOT_HOME: '/x' }
  put('home/.claude/settings.json', '{"disableAllHooks":true}')
  put('home/.codex/config.toml', '[features]\nhooks = false\n')
  put('root/etc/claude-code/managed-settings.d/60-other.json', '{"model":"x"}')
  put('root/etc/gemini-cli/policies/60-other.toml', '[[rule]]\ntoolName = "x"\ndecision = "allow"\npriority = 5\n')
  const calm = ona(harmless, 'status')
  assert.deepEqual([calm.status, JSON.parse(calm.stdout).problems], [0, []], calm.stderr)

  put('root/etc/claude-code/managed-settings.json', '{"policyHelper":{"path":"/x"}}')
  put('root/etc/claude-code/managed-settings.d/60-other.json', '{"disableAllHooks":true,"allowManagedHooksOnly":false}')
  put('root/etc/ona/managed-settings.d/90-x.json', '// theirs\n{"disableAllHooks":true}')
  put('root/etc/codex/managed_config.toml', '[features]\nhooks = false\n')
  put('root/etc/gemini-cli/policies/60-other.toml', '[[rule]]\ntoolName = "x"\ndecision = "allow"\npriority = 950\n')
  put('home/.gemini/settings.json', '{"hooksConfig":{"disabled":["x"]}}')
  put('repo/.gemini/settings.json', '{"hooksConfig":{"enabled":false}}')
  put('home/.config/opencode/opencode.json', '{"agent":{"build":{"permission":{"bash":"allow"}}}}')
  const overridden = ona(
    { GEMINI_CLI_SYSTEM_SETTINGS_PATH: '/x', OPENCODE_PERMISSION: '{}', OPENCODE_CONFIG_CONTENT: '{}' },
    'status',
  )
  const claude = '/etc/claude-code/managed-settings'
  assert.equal(overridden.status, 1)
  assert.deepEqual(JSON.parse(overridden.stdout).problems, [
    `claudecode: ${claude}.json names a policyHelper, whose answer replaces all managed settings`,
    `claudecode: ${claude}.d/60-other.json sets disableAllHooks: no hook runs, the policy's neither`,
    `claudecode: ${claude}.d/60-other.json sets allowManagedHooksOnly back to false: hooks of users run`,
    'opencode: the variable OPENCODE_PERMISSION replaces permissions',
    'opencode: the variable OPENCODE_CONFIG_CONTENT is a config that goes after this one',
    'opencode: ~/.config/opencode/opencode.json gives the agent build permissions of its own',
    'gemini: the variable GEMINI_CLI_SYSTEM_SETTINGS_PATH names other system settings: the hooks there do not run',
    'gemini: ~/.gemini/settings.json disables hooks (hooksConfig)',
    'gemini: .gemini/settings.json disables hooks (hooksConfig)',
    "gemini: /etc/gemini-cli/policies/60-other.toml allows with priority 950, above this policy's 900",
    'codex: /etc/codex/managed_config.toml sets features.hooks = false',
    "ona: /etc/ona/managed-settings.d/90-x.json sets disableAllHooks: no hook runs, the policy's neither",
  ])
})
