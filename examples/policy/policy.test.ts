import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'

test('the example policy is planned, applied under a folder, and removed without a trace', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ona-policy-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const ona = (...words: string[]) => {
    const program = join(packageRoot, 'bin/ona.mjs')
    const { status, stdout } = spawnSync(process.execPath, [program, ...words], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    })
    return { status, stdout }
  }
  const plan = ona('enforce', 'plan', '--rules', 'policy.yaml', '--root', root, '--json')
  assert.equal(plan.status, 0)
  assert.deepEqual(JSON.parse(plan.stdout).rules[0].hosts.codex, {
    how: 'native',
    why: 'a prefix of words; the hook parses the command',
  })
  assert.equal(ona('enforce', 'apply', '--rules', 'policy.yaml', '--root', root).status, 0)
  assert.equal(ona('enforce', 'status', '--root', root).status, 0)
  assert.equal(ona('prove', '--watch-config', '--root', root).status, 0)
  assert.equal(ona('enforce', 'plan', '--rules', 'policy.yaml', '--strict', '--root', root).status, 1)
  assert.equal(ona('enforce', 'remove', '--root', root).status, 0)
  assert.deepEqual(globSync('**/*.*', { cwd: root }), [])
})
