import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchable } from './searchable.ts'

test('what a rule keeps from being read is not shown by a search either', () => {
  const settings = {
    deny: ['Read(.env)', 'Read(//etc/secret/**)', 'Bash(cat *)'],
    ask: ['Read(private/**)'],
    allow: ['Read(**)'],
  }
  const may = searchable({ settings, cwd: '/p/sub', projectDir: '/p', home: '/home/x' })
  const cases: [string, boolean][] = [
    ['/p/a.ts', true],
    ['/p/.env', false],
    ['/p/sub/.env', false],
    ['/etc/secret/key', false],
    ['/p/private/notes', false],
    ['/p/public/notes', true],
  ]
  for (const [path, allowed] of cases) assert.equal(may(path), allowed, path)
})
