import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { place } from '../../test/support/program.ts'

test('the hook would have stopped the forced push and nothing else; the gate fails where settings change an outcome', async (t) => {
  const here = place(t)
  for (const command of ['echo git push --force', 'echo git push', 'echo hello'])
    await here.run(['--eval', JSON.stringify({ tool: 'Bash', input: { command } })])
  const { stdout } = await here.run(['hooks', 'replay', '--hook', join(import.meta.dirname, 'no-force.ts'), '--json'])
  const { changes, calls } = JSON.parse(stdout)
  assert.deepEqual(
    [calls, changes.map((change: { input: { command: string } }) => change.input.command)],
    [3, ['echo git push --force']],
  )

  const ona = join(here.home, 'ona')
  writeFileSync(ona, `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, '../../bin/ona.mjs')}" "$@"\n`)
  chmodSync(ona, 0o755)
  const { spawnSync } = await import('node:child_process')
  const gate = (settings: object) =>
    spawnSync('bash', [join(import.meta.dirname, 'gate.sh'), here.write('next.json', settings)], {
      cwd: here.folder,
      env: { PATH: `${here.home}:${process.env['PATH']}`, HOME: here.home },
    }).status
  assert.deepEqual([gate({ permissions: { allow: ['Bash'] } }), gate({ permissions: { deny: ['Bash'] } })], [0, 1])
})
