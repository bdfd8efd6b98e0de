/**
 * The escape table as a user without privileges. Where the tests run as root it is run again as another user: a part of it,
 * or all of it with ONA_ESCAPES_EVERY=1. Where they run as a user already, the table itself is this test.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'
import { sized } from '../support/campaign-size.ts'

const nobody = 65534
const table = 'test/sandbox/escapes.test.ts'
const asUser = ['--reuid', String(nobody), '--regid', String(nobody), '--clear-groups', '--inh-caps=-all', '--']

const run = (words: readonly string[], env: NodeJS.ProcessEnv, cwd: string) =>
  new Promise<{ code: number | string | null; stdout: string }>((resolve) => {
    execFile('setpriv', [...asUser, ...words], { env, cwd, timeout: 600_000, maxBuffer: 2 ** 26 }, (error, stdout) =>
      resolve({ code: error?.code ?? (error ? null : 0), stdout }),
    )
  })

test('the same table holds for a user who is not root', async () => {
  if (process.getuid?.() !== 0) return
  const own = mkdtempSync(join(tmpdir(), 'ona-user-'))
  const home = join(own, 'home')
  mkdirSync(home)
  for (const folder of [own, home]) chownSync(folder, nobody, nobody)
  try {
    const env = {
      ...{ PATH: process.env['PATH'], HOME: home, TMPDIR: home, LANG: 'C' },
      ONA_ESCAPES_EVERY: process.env['ONA_ESCAPES_EVERY'] ?? String(sized(12, 6)),
    }
    const { program, root } = await readable(own, env)
    const { code, stdout } = await run([program, '--test-reporter=tap', table], env, root)
    const count = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1])
    const failed = stdout.split('\n').filter((line) => /^not ok/.test(line))
    assert.deepEqual({ code, failed, fail: count('fail') }, { code: 0, failed: [], fail: 0 }, stdout.slice(-4000))
    assert.ok(count('pass') > sized(10, 20), stdout.slice(-2000))
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
})

/** A checkout in a home of root's cannot be read by anybody else: then what the table needs is copied. */
async function readable(own: string, env: NodeJS.ProcessEnv): Promise<{ program: string; root: string }> {
  const { code } = await run([process.execPath, '--check', join(packageRoot, table)], env, '/')
  if (code === 0) return { program: process.execPath, root: packageRoot }
  const root = join(own, 'copy')
  const support = ['campaign-size.ts', 'remove-folder.ts'].map((name) => join('test/support', name))
  for (const name of ['src', 'test/sandbox', ...support, 'package.json', 'schema.sql'])
    cpSync(join(packageRoot, name), join(root, name), { recursive: true })
  const program = join(root, 'node/bin/node')
  mkdirSync(dirname(program), { recursive: true })
  cpSync(process.execPath, program)
  chmodSync(program, 0o755)
  return { program, root }
}
