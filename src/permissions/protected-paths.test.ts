import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protectionOf, sessionProtectedPaths } from './protected-paths.ts'

const home = '/home/ada'
const session = sessionProtectedPaths({ database: '/w/run.db', hookFiles: ['/w/scripts/guard.sh'] })
const edit = (path: string) => protectionOf(path, home, session)?.edit

test('each path has the protection of the strictest row that covers it', () => {
  const expected: Record<string, string | undefined> = {
    '/home/ada/.ona/settings.json': 'deny',
    '/home/ada/.ona/trust.json': 'deny',
    '/home/ada/.ona/agent.db-wal': 'deny',
    '/home/ada/.ONA/Trust.json': 'deny',
    '/home/ada/.ona': 'deny',
    '/home/ada/.ona/skills/x/SKILL.md': 'ask',
    '/home/ada/.ona/worktrees/x/src/a.ts': undefined,
    '/w/run.db': 'deny',
    '/w/run.db-shm': 'deny',
    '/w/run.db.txt': undefined,
    '/w/scripts/guard.sh': 'ask',
    '/w/.ona/settings.json': 'ask',
    '/w/.ona/agents/a.md': 'ask',
    '/w/.ona/worktrees/a/src/x.ts': undefined,
    '/w/.ona/worktrees/a/.ona/settings.json': 'ask',
    '/w/.claude/settings.local.json': 'ask',
    '/w/deep/.git/hooks/pre-commit': 'ask',
    '/w/.git/config': 'ask',
    '/w/.git/index': 'mode',
    '/w/.gitignore': undefined,
    '/w/.vscode/tasks.json': 'mode',
    '/home/ada/.bashrc': 'ask',
    '/w/.bashrc': 'mode',
    '/w/src/a.ts': undefined,
    '/home/ada/.onax/settings.json': undefined,
    '/etc/onax/etc/ona/.git/config': 'ask',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((path) => [path, edit(path)])), expected)
})

test('stored credentials may not be read either', () => {
  const read = (path: string) => protectionOf(path, home)?.read
  assert.deepEqual(
    ['/home/ada/.ona/credentials.json', '/home/ada/.ona/mcp-credentials.json', '/home/ada/.ona/settings.json'].map(
      read,
    ),
    ['deny', 'deny', undefined],
  )
  // also where another row forbids as much and says nothing of reading
  const rows = [{ at: 'exact', path: '/home/ada/.ona', edit: 'deny', what: 'a folder' }] as const
  assert.equal(protectionOf('/home/ada/.ona/credentials.json', home, rows)?.read, 'deny')
})

test('each name of the list is protected where it stands, and the message says what it is', () => {
  const words = (text: string) => text.split(' ')
  const rows: readonly (readonly [where: string, names: string, edit: string, what: string])[] = [
    ['/home/ada/.ona/', 'agents skills commands output-styles ONA.md', 'ask', 'a definition that later sessions load'],
    ['/etc/', 'ona claude-code', 'deny', 'managed settings'],
    ['/w/', '.ona', 'ask', 'part of the settings, hooks and definitions of ona'],
    ['/w/', '.claude', 'ask', 'part of the settings, hooks and definitions of ona and Claude Code'],
    [
      '/w/',
      '.claude.json .mcp.json .codex .gemini .cursor .opencode opencode.json opencode.jsonc .config/opencode .copilot .config/github-copilot .github/hooks .github/copilot',
      'ask',
      'the configuration of a coding agent',
    ],
    [
      '/w/',
      '.git/hooks .git/config .git/config.worktree .git/info/attributes .git/modules .gitconfig .config/git',
      'ask',
      'git configuration that can run programs',
    ],
    [
      '/home/ada/',
      '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc .zshrc .zprofile .zshenv .zlogin .zlogout .config/fish .xprofile .xsessionrc .config/autostart .config/systemd Library/LaunchAgents .pam_environment .tmux.conf .vimrc .ssh .gnupg',
      'ask',
      'a file that starts programs at login',
    ],
    [
      '/w/',
      '.git .gitmodules .vscode .idea .husky .cargo .devcontainer .yarn .mvn .npmrc .envrc .ripgreprc .bashrc .bash_profile .zshrc .zprofile .zshenv .profile',
      'mode',
      'a file that can run programs',
    ],
  ]
  const expected = rows.flatMap(([where, names, edit, what]) =>
    words(names).flatMap((name) => [`${where}${name}`, `${where}${name}/x`].map((path) => ({ path, edit, what }))),
  )
  expected.push(
    ...['/Library/Application Support/ona/x', '/Library/Application Support/ClaudeCode'].map((path) => ({
      ...{ path, edit: 'deny', what: 'managed settings' },
    })),
    ...['', '-wal', '-shm', '-journal'].map((end) => ({
      ...{ path: `/w/run.db${end}`, edit: 'deny', what: "ona's database" },
    })),
    { path: '/w/scripts/guard.sh', edit: 'ask', what: 'a file that a hook runs' },
  )
  assert.deepEqual(
    expected.map(({ path }) => {
      const row = protectionOf(path, home, session)
      return { path, edit: row?.edit, what: row?.what }
    }),
    expected,
  )
  const [plugin] = sessionProtectedPaths({ plugins: ['/p'] })
  assert.deepEqual(plugin, { at: 'exact', path: '/p', edit: 'ask', what: 'part of a plugin' })
  assert.deepEqual(sessionProtectedPaths({}), [])
})
