import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { place } from '../../test/support/program.ts'

test('the newest conversation becomes a page to attach', async (t) => {
  const here = place(t)
  await here.run(['--eval', '{"tool":"Bash","input":{"command":"echo attached"}}'])
  const ona = join(here.home, 'ona')
  writeFileSync(ona, `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, '../../bin/ona.mjs')}" "$@"\n`)
  chmodSync(ona, 0o755)
  const { status } = spawnSync('bash', [join(import.meta.dirname, 'attach.sh'), 'page.html'], {
    cwd: here.folder,
    env: { PATH: `${here.home}:${dirname(process.execPath)}:${process.env['PATH']}`, HOME: here.home },
  })
  assert.equal(status, 0)
  assert.match(readFileSync(join(here.folder, 'page.html'), 'utf8'), /\$ echo attached/)
})
