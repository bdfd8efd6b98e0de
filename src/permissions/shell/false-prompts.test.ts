import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { decide } from '../decide.ts'

test('beside deny rules on commands and files, fewer than 2 % of everyday lines prompt', async (t) => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ona-everyday-')))
  t.after(() => rmSync(cwd, { recursive: true }))
  mkdirSync(join(cwd, 'src'))
  for (const file of ['.env', 'a.txt', 'src/a.ts']) writeFileSync(join(cwd, file), 'x\n')
  const deny = [
    ...['Bash(rm -rf *)', 'Bash(git push --force *)', 'Bash(sudo *)'],
    ...['Read(.env)', 'Read(~/.ssh/**)', 'Edit(/package-lock.json)'],
  ]
  const lines = readFileSync(join(import.meta.dirname, 'fixtures', 'everyday.txt'), 'utf8')
    .trim()
    .split('\n')
  assert.ok(lines.length >= 500)
  const question = { settings: { allow: ['Bash'], deny }, mode: 'default', tool: 'Bash', hook: 'none' } as const
  const prompts: string[] = []
  for (const command of lines) {
    const ruling = await decide({ ...question, input: { command }, cwd, projectDir: cwd, home: '/home/ada' })
    if (ruling.decision !== 'allow') prompts.push(command)
  }
  assert.ok(prompts.length < lines.length * 0.02, prompts.join('\n'))
})
