import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const ona = (...words: string[]) =>
  spawnSync(process.execPath, [join(root, 'bin', 'ona.mjs'), 'completion', ...words], { encoding: 'utf8' })

test('bash completes commands, flags and the values of flags', () => {
  const completion = ona('bash').stdout
  const complete = (...line: string[]) => {
    const words = line.map((word) => `'${word}'`).join(' ')
    const script = `${completion}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _ona; printf '%s\\n' "\${COMPREPLY[@]}"`
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

const folder = mkdtempSync(join(tmpdir(), 'ona-completion-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('zsh completes commands, their verbs and the values of flags', {
  skip: installed('zsh') ? false : 'zsh is not installed',
}, () => {
  writeFileSync(join(folder, '_ona'), ona('zsh').stdout)
  // a zsh with a terminal of its own, which is typed at: what the line says after Tab is what is read back
  const complete = (typed: string) => {
    const script = `zmodload zsh/zpty; zpty z 'exec zsh -f -i'
zpty -w z 'PS1=""; fpath=("$FOLDER" $fpath); autoload -U compinit; compinit -u -D; bindkey -e; show() { print -r -- "<$BUFFER>"; }; zle -N show; bindkey "^X" show; print READY'
zpty -r z out '*READY'$'\r\n''*'
zpty -w -n z "$TYPED"$'\t\x18'; zpty -r z out '*<ona *>*'; print -r -- "$out"`
    const run = spawnSync('zsh', ['-f', '-c', script], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'], TERM: 'dumb', HOME: folder, FOLDER: folder, TYPED: typed },
    })
    return /<(ona .*)>/.exec(run.stdout)?.[1]
  }
  assert.deepEqual(['ona ins', 'ona hooks re', 'ona --permission-mode pl', 'ona --permission-mo'].map(complete), [
    'ona inspect ',
    'ona hooks replay ',
    'ona --permission-mode plan ',
    'ona --permission-mode ',
  ])
})

test('fish completes commands, their verbs once, and the values of flags', {
  skip: installed('fish') ? false : 'fish is not installed',
}, () => {
  const file = join(folder, 'ona.fish')
  writeFileSync(file, ona('fish').stdout)
  const complete = (typed: string) => {
    const run = spawnSync('fish', ['-N', '-c', `source ${file}; complete -C '${typed}'`], {
      encoding: 'utf8',
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder },
    })
    assert.equal(run.stderr, '')
    return run.stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0])
  }
  assert.deepEqual(complete('ona ins'), ['inspect'])
  assert.deepEqual(complete('ona hooks l'), ['list', 'log'])
  assert.deepEqual(complete('ona hooks list l'), [''])
  assert.deepEqual(complete('ona --permission-mode p'), ['plan'])
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
