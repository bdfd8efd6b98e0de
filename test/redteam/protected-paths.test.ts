/** A tool that reaches for what governs it: the record, settings, trust, credentials, guards. Each line is real, on copies. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decide } from '../../src/permissions/decide.ts'
import { sessionProtectedPaths } from '../../src/permissions/protected-paths.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'ona-governed-')))
after(() => rmSync(home, { recursive: true, force: true }))
const work = join(home, 'work')
for (const folder of ['.ona', 'work/.ona/agents', 'work/.git/hooks', 'work/src'])
  mkdirSync(join(home, folder), { recursive: true })
const settings = join(home, '.ona', 'settings.json')
writeFileSync(settings, 'canary\n')
for (const file of ['.ona/credentials.json', 'work/run.db', 'work/guard.sh', 'work/src/a.ts'])
  writeFileSync(join(home, file), 'x\n')
const protect = sessionProtectedPaths({ database: join(work, 'run.db'), hookFiles: [join(work, 'guard.sh')] })

const rule = async (tool: string, input: Record<string, string>, mode: 'default' | 'bypassPermissions' = 'default') => {
  const rules = { allow: ['Bash', 'Read', 'Edit', 'Write'] }
  const place = { cwd: work, projectDir: work, home, protect }
  return (await decide({ settings: rules, mode, tool, input, hook: 'none', ...place })).decision
}

const lines = [
  ...['echo x > ~/.ona/settings.json', 'tee ~/.ona/settings.json < src/a.ts', 'cp src/a.ts ~/.ona/settings.json'],
  ...['sed -i s/canary/x/ ~/.ona/settings.json', 'rm ~/.ona/settings.json', 'rm -rf ~/.ona', 'mv ~/.ona ~/x'],
  ...['f=~/.ona/settings.json; echo x > $f', 'cd ~/.ona && echo x > settings.json', 'truncate -s0 ~/.ona/*.json'],
  ...["python3 -c \"open('.ona/agents/a.md','w')\"", 'sqlite3 run.db "delete from hook_invocations"', 'mytool run.db'],
  ...['echo x > .git/hooks/pre-commit', 'echo x > guard.sh', 'cat ~/.ona/credentials.json', 'cat /proc/$PPID/environ'],
  ...['cat /proc/self/environ', 'tar cf - ~/.ona', 'ln -sf src/a.ts ~/.ona/settings.json', 'dd of=run.db < src/a.ts'],
]

test('no command line that names a protected path passes, with every tool allowed and in bypassPermissions', async () => {
  const passed: string[] = []
  for (const command of lines)
    for (const mode of ['default', 'bypassPermissions'] as const)
      if ((await rule('Bash', { command }, mode)) === 'allow') passed.push(`${mode}: ${command}`)
  assert.deepEqual(passed, [])
})

test('file tools get the same answers', async () => {
  const answers = await Promise.all([
    rule('Read', { file_path: join(home, '.ona/credentials.json') }),
    rule('Write', { file_path: settings, content: '' }, 'bypassPermissions'),
    rule('Edit', { file_path: join(work, 'run.db') }),
    rule('Write', { file_path: join(work, '.ona/agents/a.md'), content: '' }),
    rule('Edit', { file_path: join(work, 'guard.sh') }),
    rule('Edit', { file_path: join(work, 'src/a.ts') }),
  ])
  assert.deepEqual(answers, ['deny', 'deny', 'deny', 'ask', 'ask', 'allow'])
})

test('ordinary work passes, and the harness sees a real change', async () => {
  const ordinary = ['echo x > src/b.ts', 'cat .git/config', 'ls ~/.ona', 'git commit -m x', 'npm test']
  assert.deepEqual(
    await Promise.all(ordinary.map((command) => rule('Bash', { command }))),
    ordinary.map(() => 'allow'),
  )
  spawnSync('/bin/bash', ['-c', lines[0]!], { cwd: work, env: { PATH: '/usr/bin:/bin', HOME: home } })
  assert.equal(readFileSync(settings, 'utf8'), 'x\n')
})
