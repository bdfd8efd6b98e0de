import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const ona = (...words: string[]) =>
  spawnSync(process.execPath, [join(root, 'bin', 'ona.mjs'), 'completion', ...words], { encoding: 'utf8' })

test('bash completes commands, flags and the values of flags', () => {
  const complete = (...line: string[]) => {
    const words = line.map((word) => `'${word}'`).join(' ')
    const script = `${ona('bash').stdout}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _ona; printf '%s\\n' "\${COMPREPLY[@]}"`
    const run = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    assert.equal(run.stderr, '')
    return run.stdout.trim().split('\n')
  }
  assert.deepEqual(complete('ona', 'log'), ['login', 'logout'])
  assert.deepEqual(complete('ona', '--perm'), ['--permission-mode', '--permission-prompt-tool'])
  assert.deepEqual(complete('ona', '--permission-mode', 'p'), ['plan'])
})

/** The shell itself, where it is installed. */
const installed = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

test('zsh takes the script, and completes the verbs of a command', {
  skip: installed('zsh') ? false : 'zsh is not installed',
}, () => {
  const offered = (line: string, word: string) => {
    const script = `compdef() { :; }; compadd() { print -l -- "$@"; }; _files() { print files; }
${ona('zsh').stdout}
line=(${line}); _ona_verbs ${word}`
    const run = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' })
    assert.deepEqual([run.status, run.stderr], [0, ''])
    return run.stdout.trim().split('\n')
  }
  assert.ok(offered('hooks', 'l').includes('list'))
  assert.deepEqual(offered('demo', ''), ['files'])
})

test('fish takes the script, and completes commands, values and verbs', {
  skip: installed('fish') ? false : 'fish is not installed',
}, () => {
  const run = spawnSync('fish', ['-c', 'source; complete -C "ona hooks l"; complete -C "ona --permission-mode p"'], {
    input: ona('fish').stdout,
    encoding: 'utf8',
  })
  assert.equal(run.stderr, '')
  assert.match(run.stdout, /^list$/m)
  assert.match(run.stdout, /^plan\b/m)
})

test('the scripts for all three shells name the commands and the flags', () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, status } = ona(shell)
    assert.equal(status, 0)
    for (const name of ['init', 'hooks', 'permission-mode', 'eval'])
      assert.match(stdout, new RegExp(`\\b${name}\\b`), shell)
  }
})

test('no shell, or one we do not know, is wrong usage; --help shows an example', () => {
  assert.equal(ona().status, 2)
  assert.equal(ona('tcsh').status, 2)
  assert.match(ona('--help').stdout, /Example: /)
})
