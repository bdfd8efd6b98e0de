import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const home = mkdtempSync(join(tmpdir(), 'ona-example-'))
after(() => rmSync(home, { recursive: true }))

function played(program: string): string[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(import.meta.dirname, program)], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, ONA_KEYCHAIN: 'off' },
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout.trimEnd().split('\n')
}

test('the prospect finder asks again for an answer that does not fit, and keeps the best', () => {
  assert.deepEqual(played('prospect-finder.ts'), [
    'prospect-finder in EU: Whom should we call?',
    'search_companies {"region":"EU"}: 88 characters',
    'does not fit at prospects.0.score: prospects.0.score: Invalid input: expected number, received string',
    '2 found, 1 kept',
    '{',
    "  prospects: [ { name: 'Acme', score: 81 } ],",
    "  best: 'Acme',",
    "  summary: 'Acme fits best of a…'",
    '}',
    'tokens agree: true',
  ])
})

test('the support desk hands over', () => {
  assert.deepEqual(played('support-desk.ts'), [
    '[desk takes over]',
    '[desk → billing: charged twice]',
    '[billing takes over]',
    'The second charge is refunded.',
    'desk, billing; customer 7 on gold',
  ])
})

test('the writer is governed by rules, a command and a function, and leaves a record', () => {
  assert.deepEqual(
    played('guarded-writer.ts'),
    [
      'Write: done',
      'The shell said: [1] no shell today',
      'The build is green.',
      '-- written by an agent',
      '',
      'PreToolUse Bash 2',
      'before_tool_apply Write ',
    ].map((line, at, all) => (at === all.length - 1 ? line.trimEnd() : line)),
  )
})
