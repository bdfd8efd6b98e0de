/** A repository that nobody trusts: the git calls of ona run none of the programs that its configuration names. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { git } from '../../src/hooks/process/quiet-git.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-before-trust-')))
after(() => rmSync(root, { recursive: true, force: true }))
const canary = join(root, 'ran')
const evil = join(root, 'evil')
writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${canary}\ncat\n`, { mode: 0o755 })

/** A repository with one commit, a file with attributes, and a configuration that names the canary. */
function hostile(name: string, config: string, attributes = ''): string {
  const at = join(root, name)
  mkdirSync(at)
  const run = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: at, stdio: 'ignore' })
  run('init', '-q')
  writeFileSync(join(at, 'a.txt'), 'one\n')
  if (attributes) writeFileSync(join(at, '.gitattributes'), attributes)
  run('add', '.')
  run('commit', '-qm', 'x')
  appendFileSync(join(at, '.git', 'config'), config)
  writeFileSync(join(at, 'a.txt'), 'two\n')
  return at
}

const calls: readonly (readonly string[])[] = [
  ['rev-parse', '--show-toplevel'],
  ['rev-parse', '--verify', 'HEAD'],
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  ['status', '--porcelain'],
  ['diff', 'HEAD'],
  ['diff', '--cached'],
]

const attacks: readonly (readonly [name: string, config: string, attributes: string])[] = [
  ['fsmonitor', `[core]\n\tfsmonitor = ${evil}\n`, ''],
  ['filter', `[filter "x"]\n\tclean = ${evil}\n\tsmudge = ${evil}\n\trequired = true\n`, '* filter=x\n'],
  ['filter with =', `[filter "a=b"]\n\tclean = ${evil}\n\tprocess = ${evil}\n`, '* filter=a=b\n'],
  ['textconv', `[diff "x"]\n\ttextconv = ${evil}\n\tcommand = ${evil}\n`, '* diff=x\n'],
  ['external diff', `[diff]\n\texternal = ${evil}\n`, ''],
  ['hooks', `[core]\n\thooksPath = ${root}\n\tpager = ${evil}\n\tsshCommand = ${evil}\n`, ''],
  ['protocol', `[protocol "ext"]\n\tallow = always\n[remote "origin"]\n\turl = ext::${evil}\n\tpromisor = true\n`, ''],
]

for (const [name, config, attributes] of attacks) {
  test(`${name}: nothing runs before trust`, async () => {
    const at = hostile(name.replaceAll(/\W+/g, '-'), config, attributes)
    rmSync(canary, { force: true })
    for (const args of calls) await git(at, args)
    await git(at, ['worktree', 'add', join(root, `wt-${name.replaceAll(/\W+/g, '-')}`), '-b', 'wt'], {
      timeoutMs: 60_000,
    })
    assert.equal(existsSync(canary), false)
  })
}

test('a bare repository in a folder does not lend its configuration', async () => {
  const at = join(root, 'carrier', 'sub')
  mkdirSync(join(root, 'carrier'))
  execFileSync('git', ['init', '-q', '--bare', at])
  appendFileSync(join(at, 'config'), `[core]\n\tfsmonitor = ${evil}\n\tworktree = ${root}\n\tbare = false\n`)
  rmSync(canary, { force: true })
  const answers = await Promise.all(calls.map((args) => git(at, args)))
  assert.equal(existsSync(canary), false)
  assert.ok(answers.every(({ ok }) => !ok))
})

test('the harness sees a program that plain git runs', () => {
  const at = hostile('control', `[core]\n\tfsmonitor = ${evil}\n`)
  rmSync(canary, { force: true })
  spawnSync('git', ['status', '--porcelain'], { cwd: at })
  assert.equal(existsSync(canary), true)
})
