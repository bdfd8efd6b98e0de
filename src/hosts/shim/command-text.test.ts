import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fromRoot, withoutRoot } from './command-text.ts'

test('every part of a command runs at the root, however its parts are joined', (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-shell-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'deep'))
  for (const command of ['pwd', 'true & pwd', 'true; pwd', 'false || pwd', 'true\npwd', '(true) && pwd']) {
    const written = fromRoot('"$ROOT"', command)
    const env = { ...process.env, ROOT: root }
    assert.equal(execFileSync('sh', ['-c', written], { cwd: join(root, 'deep'), env, encoding: 'utf8' }), `${root}\n`)
    assert.equal(withoutRoot('"$ROOT"', written), command)
  }
})
