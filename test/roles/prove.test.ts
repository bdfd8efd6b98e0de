/** `ona prove` with ona itself as the agent: a policy holds, and without it the proof fails. The other agents: npm run test:live. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'

const canMount = spawnSync('bwrap', ['--dev-bind', '/', '/', '--tmpfs', '/etc', 'true']).status === 0

test('a policy under a folder holds in ona; without it the same attempts go through', {
  skip: !canMount && 'bubblewrap cannot mount here',
}, (t) => {
  const top = mkdtempSync(join(tmpdir(), 'ona-prove-test-'))
  t.after(() => rmSync(top, { recursive: true, force: true }))
  const root = join(top, 'root')
  mkdirSync(join(top, 'home'))
  mkdirSync(join(top, 'empty'))
  writeFileSync(
    join(top, 'policy.json'),
    '{"permissions":{"deny":["Bash(terraform destroy *)","Read(**/.env)","Read(//srv/ona-proof-secret)","Edit(~/.ssh/**)","mcp__demo__drop"],"ask":["Bash(git push *)"]}}',
  )
  const ona = (...words: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: join(top, 'home'), NO_COLOR: '1' }
    return spawnSync(process.execPath, [join(packageRoot, 'bin/ona.mjs'), ...words], {
      cwd: top,
      env,
      encoding: 'utf8',
    })
  }
  const outcomes = (text: string) =>
    JSON.parse(text).hosts[0].results.map(
      ({ name, outcome }: { name: string; outcome: string }) => `${name}: ${outcome}`,
    )
  assert.equal(ona('enforce', 'apply', '--rules', 'policy.json', '--root', root).status, 0)
  const held = ona('prove', 'ona', '--root', root, '--json', '--junit', 'report.xml')
  assert.equal(held.status, 0, held.stdout + held.stderr)
  assert.deepEqual(outcomes(held.stdout), [
    'a harmless command runs: went through',
    'a harmless MCP tool runs: went through',
    'deny Bash(terraform destroy *): refused',
    'deny Read(**/.env) (file tool): refused',
    'deny Read(**/.env) (shell): refused',
    'deny Read(//srv/ona-proof-secret) (file tool): refused',
    'deny Read(//srv/ona-proof-secret) (shell): refused',
    'deny Edit(~/.ssh/**) (file tool): refused',
    'deny Edit(~/.ssh/**) (shell): refused',
    'deny mcp__demo__drop: refused',
    'ask Bash(git push *): refused',
  ])
  assert.equal(existsSync('/srv/ona-proof-secret'), false)
  assert.match(readFileSync(join(top, 'report.xml'), 'utf8'), /<testsuite name="ona" tests="11" failures="0"/)
  const bare = ona('prove', 'ona', '--root', join(top, 'empty'), '--rules', 'policy.json', '--json')
  assert.equal(bare.status, 1)
  // ona itself writes nothing outside its working directories
  const refused = outcomes(bare.stdout).filter((line: string) => !line.endsWith('went through'))
  assert.deepEqual(refused, ['deny Edit(~/.ssh/**) (file tool): refused', 'deny Edit(~/.ssh/**) (shell): refused'])
})
