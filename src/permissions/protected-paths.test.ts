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
})
