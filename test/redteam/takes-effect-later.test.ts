/**
 * Writes that do nothing now and run something later: definitions, scripts of guards, git hooks, files that a hook's program
 * reads. Each is tried by Write with edits accepted, by a command under an allow rule, and by a sandboxed command that
 * nobody is asked about. The canary is the file.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { questionOf } from '../../src/agent/permission-question.ts'
import { decide } from '../../src/permissions/decide.ts'
import type { ProtectedPath } from '../../src/permissions/protected-paths.ts'
import { makeWorld, type World } from '../sandbox/world.ts'
import { testSession } from '../support/agent-session.ts'

let world: World
let protect: readonly ProtectedPath[]
before(async () => {
  world = await makeWorld()
  const at = testSession()
  const command = (event: string, text: string) => ({ hook_event_name: event, command: text })
  const settings = {
    hooks: [
      command('PreToolUse', './guard.sh'),
      command('PreToolUse', 'python3 "$CLAUDE_PROJECT_DIR"/scripts/check.py --strict'),
      command('PostToolUse', 'npm run -s lint'),
      command('Stop', 'cd tools && make check'),
    ],
    statusLine: { type: 'command', command: 'bash status.sh' },
    apiKeyHelper: 'bash ./key.sh',
    mcpServers: { local: { command: 'node', args: ['server.mjs'] } },
  }
  for (const name of ['guard.sh', 'scripts/check.py', 'status.sh', 'key.sh', 'server.mjs', 'plugin/hooks/hooks.json'])
    put(join(world.project, name))
  const plugins = [{ name: 'p', root: join(world.project, 'plugin'), handlers: [], servers: [], warnings: [] }]
  Object.assign(at.session.runtime, { settings, plugins, home: world.home, startDir: world.project })
  Object.assign(at.session, { projectDir: world.project, cwd: world.project })
  protect = questionOf(at.session).protect ?? []
  at.end()
})
after(() => world?.close())

function put(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'kept\n')
}

/** There already, or still to be created. */
const files = [
  ...[
    '.ona/agents/a.md',
    '.ona/settings.json',
    '.ona/skills/s/SKILL.md',
    '.claude/commands/c.md',
    '.claude/settings.json',
  ],
  ...['.mcp.json', '.codex/config.toml', '.cursor/hooks.json', '.github/hooks/x.json', 'opencode.json'],
  ...['.git/hooks/pre-commit', '.git/config', '.git/info/attributes', '.gitconfig'],
  ...['guard.sh', 'scripts/check.py', 'status.sh', 'key.sh', 'server.mjs', 'plugin/hooks/hooks.json', 'plugin/new.sh'],
  ...['package.json', 'Makefile', 'GNUmakefile'],
]
/** No mode accepts them; a rule of the user's does. */
const byRule = ['.envrc', '.husky/pre-push', '.vscode/tasks.json', '.npmrc']

const ruling = async (tool: string, input: Record<string, string>, allow: readonly string[]) => {
  const place = { cwd: world.project, projectDir: world.project, home: world.home, protect }
  return (await decide({ settings: { allow }, mode: 'acceptEdits', tool, input, hook: 'none', ...place })).decision
}

test('Write and Edit prompt with edits accepted and every edit allowed', async () => {
  const passed: string[] = []
  for (const name of files)
    for (const tool of ['Write', 'Edit', 'NotebookEdit'])
      if (
        (await ruling(tool, { file_path: join(world.project, name), notebook_path: join(world.project, name) }, [
          'Edit',
          'Write',
          'NotebookEdit',
        ])) === 'allow'
      )
        passed.push(`${tool} ${name}`)
  for (const name of byRule)
    if ((await ruling('Write', { file_path: join(world.project, name) }, [])) === 'allow') passed.push(name)
  assert.deepEqual(passed, [])
})

test('commands that name them prompt under allow rules', async () => {
  const passed: string[] = []
  for (const name of files)
    for (const line of [
      `echo canary > ${name}`,
      `cp src/app.js ${name}`,
      `sed -i s/kept/canary/ ${name}`,
      `rm -f ${name}`,
    ])
      if ((await ruling('Bash', { command: line }, ['Bash', 'Edit', 'Write'])) === 'allow') passed.push(line)
  assert.deepEqual(passed, [])
})

test('a sandboxed command cannot write them, whether they are there or not', async () => {
  world.reset()
  for (const name of ['guard.sh', 'scripts/check.py', 'status.sh', 'key.sh', 'server.mjs', 'plugin/hooks/hooks.json'])
    put(join(world.project, name))
  const all = [...files, '.npmrc', '.vscode/tasks.json', '.husky/pre-push', '.envrc']
  const before = new Map(all.map((name) => [name, contentOf(name)]))
  const line = all.map((name) => `mkdir -p ${dirname(name)}; echo canary >> ${name}`).join('\n')
  const { output } = await world.run(`${line}\ntrue`, { protect })
  const changed = all.filter((name) => contentOf(name) !== before.get(name))
  assert.deepEqual(changed, [], output)
})

test('control: outside the sandbox the same line writes every one of them', () => {
  world.reset()
  const all = [...files, ...byRule]
  const line = all.map((name) => `mkdir -p ${dirname(name)}; echo canary >> ${name}`).join('\n')
  spawnSync('/bin/bash', ['-c', line], { cwd: world.project, env: { PATH: process.env['PATH'], HOME: world.home } })
  assert.deepEqual(
    all.filter((name) => !contentOf(name)?.includes('canary')),
    [],
  )
})

const contentOf = (name: string): string | undefined => {
  const path = join(world.project, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
