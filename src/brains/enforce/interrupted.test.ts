/** An apply or a remove that is killed between two files, and two at once: nothing of what was there before is lost. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { compileCache } from '../../../test/support/compile-cache.ts'
import { hosts } from '../../hosts/index.ts'
import { applyPolicy, readApplied, removePolicy, statusOf } from './apply.ts'
import { compilePolicy } from './compile.ts'
import { makePolicy } from './policy.ts'

const theirs: Readonly<Record<string, string>> = {
  'etc/gemini-cli/settings.json': '// theirs\n{ "ui": {} }\n',
  'etc/opencode/opencode.json': '{"permission":{"bash":"ask"},"plugin":["./mine.ts"]}',
  'etc/cursor/hooks.json': '{"version":1,"hooks":{"preToolUse":[{"command":"./mine"}]}}',
  'etc/codex/requirements.toml': 'allowed_sandbox_modes = ["read-only"]\n',
}

function machine(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-interrupted-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(theirs)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { root, before: everything(root) }
}

const everything = (root: string): [string, string][] =>
  readdirSync(root, { recursive: true })
    .map(String)
    .sort()
    .map((name) => [name, lstatSync(join(root, name)).isFile() ? readFileSync(join(root, name), 'utf8') : ''])

const compiled = (root: string, deny: string) =>
  compilePolicy(makePolicy([{ permissions: { deny: [deny] } }], []), {
    hosts,
    repo: root,
    node: process.execPath,
    platform: 'linux',
  })

/** A program that applies or removes; after `renames` files it is killed. */
const program = (root: string, act: 'apply' | 'remove', deny: string, renames: number) => `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
let left = ${renames}
for (const name of ['renameSync', 'unlinkSync']) {
  const real = fs[name]
  fs[name] = (...words) => {
    // locks are files too
    if (!/\\.lock/.test(words.join(' ')) && left-- <= 0) process.kill(process.pid, 'SIGKILL')
    return real(...words)
  }
}
syncBuiltinESMExports()
const { applyPolicy, removePolicy } = await import(${JSON.stringify(join(import.meta.dirname, 'apply.ts'))})
const { compilePolicy } = await import(${JSON.stringify(join(import.meta.dirname, 'compile.ts'))})
const { makePolicy } = await import(${JSON.stringify(join(import.meta.dirname, 'policy.ts'))})
const { hosts } = await import(${JSON.stringify(join(import.meta.dirname, '../../hosts/index.ts'))})
const root = ${JSON.stringify(root)}
const policy = makePolicy([{ permissions: { deny: [${JSON.stringify(deny)}] } }], [])
if (${JSON.stringify(act)} === 'apply') await applyPolicy(compilePolicy(policy, { hosts, repo: root, node: process.execPath, platform: 'linux' }), { root, force: false })
else await removePolicy({ root, force: false })
`
function killed(root: string, act: 'apply' | 'remove', deny: string, renames: number): void {
  const words = [compileCache, '--input-type=module', '-e', program(root, act, deny, renames)]
  const { signal, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  assert.equal(signal, 'SIGKILL', stderr)
}

for (const renames of [0, 1, 2, 14, 18])
  test(`apply, killed after ${renames} files: the next apply and the next remove recover`, async (t) => {
    const { root, before } = machine(t)
    killed(root, 'apply', 'Bash(rm -rf *)', renames)
    const other = `${root}-other`
    t.after(() => rmSync(other, { recursive: true, force: true }))
    cpSync(root, other, { recursive: true })
    await applyPolicy(compiled(root, 'Bash(rm -rf *)'), { root, force: false })
    const wrong = [...statusOf(root, readApplied(root)!).values()].flat().filter(({ state }) => state !== 'applied')
    assert.deepEqual(wrong, [])
    assert.equal(readFileSync(join(root, 'etc/cursor/hooks.json'), 'utf8').match(/--policy/g)?.length, 1)
    await removePolicy({ root, force: false })
    // before anything is written nothing is known of a folder that is made for the state
    assert.deepEqual(
      everything(root).filter(([name]) => renames > 0 || name !== 'etc/ona'),
      before,
    )
    if (renames > 0) {
      await removePolicy({ root: other, force: false })
      assert.deepEqual(everything(other), before)
    }
  })

test('a change of policy and a remove, killed half-way, are finished by the next', async (t) => {
  const { root, before } = machine(t)
  await applyPolicy(compiled(root, 'Bash(rm -rf *)'), { root, force: false })
  killed(root, 'apply', 'Bash(curl *)', 4)
  await applyPolicy(compiled(root, 'Bash(curl *)'), { root, force: false })
  assert.match(readFileSync(join(root, 'etc/codex/requirements.toml'), 'utf8'), /"curl"/)
  killed(root, 'remove', 'Bash(curl *)', 5)
  await removePolicy({ root, force: false })
  assert.deepEqual(everything(root), before)
})

test('two applies at once leave one policy whole', async (t) => {
  const { root, before } = machine(t)
  const both = ['Bash(rm -rf *)', 'Bash(curl *)'].map((deny) =>
    spawn(process.execPath, [compileCache, '--input-type=module', '-e', program(root, 'apply', deny, 1e9)], {
      stdio: 'inherit',
    }),
  )
  const codes = await Promise.all(both.map(async (child) => (await once(child, 'close'))[0]))
  assert.deepEqual(codes, [0, 0])
  const wrong = [...statusOf(root, readApplied(root)!).values()].flat().filter(({ state }) => state !== 'applied')
  assert.deepEqual(wrong, [])
  await removePolicy({ root, force: false })
  assert.deepEqual(everything(root), before)
})
