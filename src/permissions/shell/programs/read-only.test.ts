/** The built-in rules on commands: what only reads runs without a prompt, and what looks like it prompts. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decide } from '../../decide.ts'
import { builtinRules } from '../../rules/builtin-rules.ts'

const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-read-only-')))
after(() => rmSync(w, { recursive: true, force: true }))
for (const folder of ['src/deep', 'test', 'docs', 'conf', 'bare/objects', 'bare/refs', 'nested/.git', 'dash'])
  mkdirSync(join(w, folder), { recursive: true })
for (const file of [
  'package.json',
  'README.md',
  'a.txt',
  'b.txt',
  'src/a.ts',
  'src/deep/x.ts',
  'test/a.test.ts',
  'docs/x.md',
])
  writeFileSync(join(w, file), 'text\n')
for (const file of ['.env', 'conf/.env.local', 'bare/HEAD', 'dash/-delete']) writeFileSync(join(w, file), 'K=1\n')
symlinkSync('/etc/passwd', join(w, 'link.txt'))
execFileSync('git', ['init', '-q', w])

const rule = async (command: string) => {
  const question = { settings: { allow: builtinRules }, mode: 'default', tool: 'Bash', hook: 'none' } as const
  return (await decide({ ...question, input: { command }, cwd: w, projectDir: w, home: '/home/ada' })).decision
}

/** The lines of a file that are ruled otherwise. */
async function others(file: string, than: 'allow' | 'ask'): Promise<string[]> {
  const lines = readFileSync(join(import.meta.dirname, '../fixtures', file), 'utf8')
    .trim()
    .split('\n')
  assert.ok(lines.length >= 200)
  const wrong: string[] = []
  for (const line of lines) if ((await rule(line)) !== than) wrong.push(line)
  return wrong
}

test('everyday lines that only read need no prompt', async () => {
  assert.deepEqual(await others('read-only.txt', 'allow'), [])
})

test('lines that look like reading and are more, or read what is not theirs, prompt', async () => {
  writeFileSync(join(w, 'conf/server.pem'), 'K')
  assert.deepEqual(await others('not-read-only.txt', 'ask'), [])
})

test('the repository configuration that git reads must not name programs', async () => {
  const config = join(w, '.git', 'config')
  execFileSync('git', ['-C', w, 'config', 'core.fsmonitor', './x'])
  assert.equal(await rule('git status'), 'ask')
  writeFileSync(config, '[core]\n\tbare = false\n')
  assert.equal(await rule('git status'), 'allow')
  writeFileSync(config, '[core]\n\talternateRefsCommand = ./x\n')
  assert.equal(await rule('git log --alternate-refs'), 'ask')
  writeFileSync(config, '[include]\n\tpath = ../x\n')
  assert.equal(await rule('git log'), 'ask')
  writeFileSync(config, '[core]\n\tbare = false\n')
})
