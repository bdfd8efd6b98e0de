import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { applyPlan, planOf, undoLast } from './apply.ts'
import { rulesFile } from './codex-rules.ts'
import { surveyAll } from './survey-all.ts'

function place(t: TestContext, files: Record<string, unknown>) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-migrate-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const places = { cwd: join(folder, 'work'), home: join(folder, 'home'), env: {} }
  for (const each of [places.cwd, places.home]) mkdirSync(each)
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  const at = (path: string) => join(folder, path)
  const fatesOf = (host: 'claude' | 'codex' | 'gemini' | 'opencode') =>
    surveyAll(places, [host]).flatMap(({ items }) =>
      items.map(({ fate, what, name, security }) => [fate, what, name, security]),
    )
  const json = (path: string) => JSON.parse(readFileSync(at(path), 'utf8'))
  return { places, at, fatesOf, json }
}

test('Claude Code: what is read in place, what has no effect, what is not honoured', (t) => {
  const { fatesOf } = place(t, {
    'home/.claude/settings.json': {
      permissions: { deny: ['Bash(rm *)', 'nonsense('], allow: ['Read'] },
      hooks: {
        PreToolUse: [{ hooks: [{ type: 'command', command: 'x' }] }],
        PostToolBatch: [{ hooks: [{ type: 'command', command: 'y' }] }],
      },
      env: { A: '1' },
      cleanupPeriodDays: 3,
      skipDangerousModePermissionPrompt: true,
      outputStyle: 'brief',
    },
    'home/.claude.json': { mcpServers: { docs: { command: 'x' } } },
    'home/.claude/agents/helper.md': 'x',
    'work/CLAUDE.md': 'x',
  })
  assert.deepEqual(fatesOf('claude'), [
    ['used', 'permissions', '1 deny rule', true],
    ['not-honoured', 'permissions', 'deny "nonsense("', true],
    ['used', 'permissions', '1 allow rule', true],
    ['used', 'hooks', '1 of PreToolUse', true],
    ['not-honoured', 'hooks', '1 of PostToolBatch', true],
    ['used', 'env', 'A', false],
    ['no-effect', 'settings', 'cleanupPeriodDays', false],
    ['no-effect', 'settings', 'skipDangerousModePermissionPrompt', true],
    ['used', 'settings', 'outputStyle', false],
    ['used', 'MCP server', 'docs', false],
    ['used', 'agent', 'helper', false],
    ['used', 'instructions', 'CLAUDE.md', false],
  ])
})

const codex = {
  'home/.codex/config.toml': `model = "gpt-5"
sandbox_mode = "workspace-write"
approval_policy = "never"
[mcp_servers.docs]
command = "docs-server"
args = ["--stdio"]
env = { TOKEN = "x" }
disabled_tools = ["delete"]
[mcp_servers.web]
url = "https://example.com/mcp"
bearer_token_env_var = "WEB_TOKEN"
[[hooks.PreToolUse]]
matcher = "Bash"
hooks = [{ type = "command", command = "guard", timeout = 5 }]
`,
  'home/.codex/rules/default.rules': `# my rules
prefix_rule(pattern=["git", ["push", "reset"]], decision="prompt")
prefix_rule(
  pattern=["rm", "-rf"],
  decision="forbidden",
)
prefix_rule(pattern=["a b"], decision="allow")
host_executable(name="x", paths=["/x"])
`,
  'home/.codex/prompts/ship.md': 'Ship it: $ARGUMENTS',
  'home/.codex/AGENTS.md': 'Be kind.',
}

test('Codex: servers, hooks, rules, prompts and instructions are converted, what would loosen is not', (t) => {
  const { fatesOf } = place(t, codex)
  assert.deepEqual(fatesOf('codex'), [
    ['no-effect', 'settings', 'model', false],
    ['converted', 'sandbox', 'sandbox_mode = "workspace-write"', true],
    ['not-honoured', 'permissions', 'approval_policy = "never"', true],
    ['converted', 'MCP server', 'docs', false],
    ['not-honoured', 'permissions', 'docs: disabled_tools', true],
    ['converted', 'MCP server', 'web', false],
    ['converted', 'hooks', '1 of PreToolUse', true],
    ['converted', 'permissions', '1 deny rule', true],
    ['converted', 'permissions', '2 ask rules', true],
    ['not-honoured', 'permissions', 'prefix_rule(pattern=["a b"], decision="allow")', true],
    ['not-honoured', 'permissions', 'host_executable(name="x", paths=["/x"])', true],
    ['converted', 'command', 'ship', false],
    ['converted', 'instructions', 'AGENTS.md', false],
  ])
})

test('what is converted is written beside what is there, and taken back', async (t) => {
  const { places, at, json } = place(t, {
    ...codex,
    'home/.ona/settings.json': { mcpServers: { docs: { command: 'mine' } }, permissions: { deny: ['WebFetch'] } },
  })
  const plan = await planOf(surveyAll(places, ['codex']), places)
  assert.deepEqual(plan.kept, [`mcpServers.docs of ${at('home/.ona/settings.json')} is there already`])
  assert.equal(existsSync(at('home/.ona/commands/ship.md')), false)
  applyPlan(plan, places.home, new Date(0))
  assert.deepEqual(json('home/.ona/settings.json'), {
    mcpServers: {
      docs: { command: 'mine' },
      web: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${WEB_TOKEN}' } },
    },
    permissions: { deny: ['WebFetch', 'Bash(rm -rf *)'], ask: ['Bash(git push *)', 'Bash(git reset *)'] },
    sandbox: { enabled: true },
    hooks: {
      PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'guard', timeout: 5, profile: 'claude' }] }],
    },
  })
  assert.equal(readFileSync(at('home/.ona/ONA.md'), 'utf8'), 'Be kind.')
  const again = await planOf(surveyAll(places, ['codex']), places)
  assert.deepEqual(again.writes, [])
  undoLast(places.home)
  assert.deepEqual(json('home/.ona/settings.json'), {
    mcpServers: { docs: { command: 'mine' } },
    permissions: { deny: ['WebFetch'] },
  })
  assert.deepEqual([existsSync(at('home/.ona/ONA.md')), existsSync(at('home/.ona/commands/ship.md'))], [false, false])
})

test('a file that was changed since is not taken back', async (t) => {
  const { places, at } = place(t, codex)
  applyPlan(await planOf(surveyAll(places, ['codex']), places), places.home, new Date(0))
  writeFileSync(at('home/.ona/ONA.md'), 'Mine now.')
  assert.throws(() => undoLast(places.home), /ONA\.md changed since the migration/)
  assert.equal(existsSync(at('home/.ona/settings.json')), true)
})

test('Gemini CLI: servers, tools, policies and commands are converted; hooks and extensions are named', async (t) => {
  const { fatesOf, places } = place(t, {
    'home/.gemini/settings.json': {
      mcpServers: { a: { command: 'x', excludeTools: ['drop'], trust: true }, b: { httpUrl: 'https://example.com' } },
      tools: { exclude: ['run_shell_command(rm)', 'unknown_tool'], allowed: ['read_file'], sandbox: 'docker' },
      hooks: { BeforeTool: [] },
      ui: {},
    },
    'home/.gemini/policies/p.toml': `[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "git push"\ndecision = "ask_user"\n[[rule]]\ntoolName = "read_file"\nargsPattern = "x"\ndecision = "deny"\n`,
    'home/.gemini/commands/ship.toml': 'description = "ships"\nprompt = "Ship {{args}} after !{git status}"\n',
    'home/.gemini/extensions/ext/gemini-extension.json': {},
  })
  assert.deepEqual(fatesOf('gemini'), [
    ['converted', 'MCP server', 'a', false],
    ['converted', 'permissions', 'a: excludeTools', true],
    ['not-honoured', 'permissions', 'a: trust', true],
    ['converted', 'MCP server', 'b', false],
    ['converted', 'permissions', 'deny Bash(rm *)', true],
    ['not-honoured', 'permissions', 'tools.exclude "unknown_tool"', true],
    ['converted', 'permissions', 'allow Read', true],
    ['converted', 'sandbox', 'tools.sandbox', true],
    ['not-honoured', 'hooks', 'BeforeTool', true],
    ['no-effect', 'settings', 'ui', false],
    ['converted', 'permissions', 'ask Bash(git push *)', true],
    ['not-honoured', 'permissions', 'deny read_file', true],
    ['converted', 'command', 'ship', false],
    ['not-honoured', 'plugin', 'ext', true],
  ])
  const { writes } = await planOf(surveyAll(places, ['gemini']), places)
  const command = writes.find(({ file }) => file.endsWith('ship.md'))
  assert.equal(command?.after, '---\ndescription: "ships"\n---\n\nShip $ARGUMENTS after !`git status`\n')
})

test('opencode: servers, permissions, agents and commands are converted; plugins are named', async (t) => {
  const { fatesOf, places } = place(t, {
    'work/opencode.json': {
      $schema: 'x',
      mcp: {
        a: { type: 'local', command: ['x', '-y'], environment: { A: '1' } },
        b: { type: 'remote', url: 'https://example.com', enabled: false },
      },
      permission: { bash: { 'git push *': 'ask', '*': 'allow' }, edit: 'ask', webfetch: 'deny' },
      agent: { critic: { description: 'criticises', prompt: 'Criticise.', tools: { bash: false } } },
      command: { ship: { template: 'Ship $ARGUMENTS', description: 'ships' } },
      plugin: ['guard-plugin'],
      model: 'x/y',
    },
  })
  assert.deepEqual(fatesOf('opencode'), [
    ['converted', 'MCP server', 'a', false],
    ['no-effect', 'MCP server', 'b', false],
    ['converted', 'permissions', 'ask Bash(git push *)', true],
    ['not-honoured', 'permissions', 'bash: allow', true],
    ['converted', 'permissions', 'ask Edit', true],
    ['converted', 'permissions', 'deny WebFetch', true],
    ['converted', 'agent', 'critic', false],
    ['converted', 'command', 'ship', false],
    ['not-honoured', 'hooks', 'guard-plugin', true],
    ['no-effect', 'settings', 'model', false],
  ])
  const { writes } = await planOf(surveyAll(places, ['opencode']), places)
  const agent = writes.find(({ file }) => file.endsWith('critic.md'))
  assert.equal(
    agent?.after,
    '---\nname: "critic"\ndescription: "criticises"\ndisallowedTools: "Bash"\n---\n\nCriticise.\n',
  )
})

test('rules of Codex that are no plain words are left, never guessed', () => {
  const unread = [
    'prefix_rule(pattern=["rm", x], decision="forbidden")',
    'prefix_rule(pattern=["$(evil)"], decision="allow")',
    'prefix_rule(pattern=[], decision="allow")',
    'prefix_rule(pattern=["a"], decision="maybe")',
  ]
  assert.deepEqual(rulesFile(unread.join('\n')), { rules: [], unread })
})
