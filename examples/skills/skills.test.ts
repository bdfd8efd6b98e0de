import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findSkills, partsOf } from '../../src/tools/skills/skills.ts'

test('the skill that the docs show is the one here, and works', (t) => {
  const text = readFileSync(join(import.meta.dirname, 'review/SKILL.md'), 'utf8')
  const docs = readFileSync(join(import.meta.dirname, '../../docs/tools.md'), 'utf8')
  assert.ok(docs.includes(`\`\`\`markdown\n${text}\`\`\``))

  const home = mkdtempSync(join(tmpdir(), 'ona-example-'))
  t.after(() => rmSync(home, { recursive: true }))
  cpSync(join(import.meta.dirname, 'review'), join(home, '.ona/skills/review'), { recursive: true })
  const [skill] = findSkills({ home, projectDir: home }).skills
  assert.deepEqual([skill!.name, skill!.allowedTools], ['review', ['Bash(git diff *)', 'Read']])
  assert.deepEqual(
    partsOf(skill!, { args: 'topic', sessionId: '' }).filter(({ kind }) => kind !== 'text'),
    [
      { kind: 'command', command: "git diff main...'topic'", source: '!`git diff main...$1`' },
      { kind: 'file', path: 'CONTRIBUTING.md', source: '@CONTRIBUTING.md' },
    ],
  )
})
