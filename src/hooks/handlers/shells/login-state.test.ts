/** What a login left, as text: when two are the same, and what takes a bare shell there. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { isSameState, type LoginState, printState, readState, restoreOf } from './login-state.ts'

const isLinux = { skip: process.platform === 'linux' ? false : 'there are no snapshots here' }

const bare: LoginState = {
  variables: 'declare -x HOME="/h"\ndeclare -- IFS=" "\ndeclare -ir PPID="7"',
  functions: '',
  aliases: '',
  shopts: 'shopt -u extglob\nshopt -u nullglob\nshopt -u expand_aliases\nshopt -s sourcepath',
  options: 'set +o errexit\nset +o posix',
  flags: 'hBc',
  mask: 'umask 0022',
  softLimits: 'open files                          (-n) 1024\npipe size            (512 bytes, -p) 8',
  hardLimits: 'open files                          (-n) 4096',
  hashed: 'hash: hash table empty',
  completions: '',
  builtins: 'enable alias',
  folder: '/h',
  traps: '',
  lastJob: '',
  history: '',
  listed: 'extquote braceexpand',
  status: '0',
  words: '0\n/bin/bash\n',
  input: 'probe\n',
  descriptors: '',
  process: '0',
}
const after = (more: Partial<LoginState>): LoginState => ({ ...bare, ...more })

test('two states are the same when every part is, but for what differs in every shell', () => {
  for (const part of Object.keys(bare) as (keyof LoginState)[])
    if (part !== 'variables') assert.equal(isSameState(bare, after({ [part]: 'other' })), false, part)
  const variables: [string, boolean][] = [
    [bare.variables, true],
    [bare.variables.replace('"7"', '"8"'), true],
    ['declare -- IFS=" "\ndeclare -ir PPID="7"\ndeclare -x HOME="/h"', true],
    [bare.variables.replace('-ir PPID', '-r PPID'), true], // an integer once it was looked at
    [bare.variables.replace('-ir PPID', '-irx PPID'), false],
    [bare.variables.replace('\ndeclare -ir PPID="7"', ''), false],
    [`${bare.variables}\ndeclare -- _="x"\ndeclare -a PIPESTATUS=([0]="4")`, true],
    [bare.variables.replace('/h', '/i'), false],
    [bare.variables.replace('-x HOME', '-- HOME'), false],
    [`${bare.variables}\ndeclare -x MORE="1"`, false],
    ['declare -x HOME="/h"\ndeclare -ir PPID="7"', false],
    ['declare -x HOME="/h"\ndeclare -ir PPID="7"\ndeclare -- OTHER=" "', false],
    [`${bare.variables}\nof a value with lines: declare -x NOT="1"`, true],
  ]
  for (const [text, same] of variables) {
    assert.equal(isSameState(bare, after({ variables: text })), same, text)
    assert.equal(isSameState(after({ variables: text }), bare), same, text)
  }
})

test('what a profile did is done again, in an order that works', () => {
  assert.deepEqual(restoreOf(bare, bare), { text: '\n', args: [] })
  const login = after({
    variables: 'declare -x HOME="/i"\ndeclare -ar LIST=([0]="a")\ndeclare -ir PPID="9"',
    functions: 'f ()\n{\n    :\n}\n',
    aliases: 'alias ll="ls -l"',
    shopts: 'shopt -s extglob\nshopt -u nullglob\nshopt -u expand_aliases\nshopt -u sourcepath',
    options: 'set -o errexit\nset +o posix',
    mask: 'umask 0027',
    softLimits: 'open files                          (-n) 200\npipe size            (512 bytes, -p) 8',
    hardLimits: 'open files                          (-n) unlimited\nno limit in this line',
    hashed: 'builtin hash -p /bin/cat cat\nhash: something else',
    completions: 'complete -F _git git',
    status: '1',
  })
  assert.deepEqual(restoreOf(bare, login), {
    text: [
      'f ()\n{\n    :\n}\n',
      'unset -v IFS',
      'unset -v HOME',
      'declare -x HOME="/i"',
      'declare -ar LIST=([0]="a")',
      'alias ll="ls -l"',
      'builtin hash -p /bin/cat cat',
      'complete -F _git git',
      'umask 0027',
      'ulimit -S -n 200',
      'ulimit -H -n unlimited',
      'set -o errexit',
      '',
    ].join('\n'),
    args: ['-O', 'extglob', '+O', 'sourcepath'],
  })
})

test('what cannot be done again gives no way there', () => {
  const more = (line: string) => ({ variables: `${bare.variables}\n${line}` })
  const rows: [Partial<LoginState>, boolean][] = [
    [{ builtins: 'enable -n alias' }, false],
    [{ folder: '/i' }, false],
    [{ traps: "trap -- ':' EXIT" }, false],
    [{ lastJob: 'set' }, false],
    [{ history: '    1  x' }, false],
    [{ words: '1\na\n' }, false],
    [{ input: '' }, false],
    [{ descriptors: '5,/dev/null' }, false],
    [{ process: '7' }, false],
    [{ functions: 'f ()\n{\n    echo $LINENO\n}\n' }, false],
    [{ functions: 'f ()\n{\n    cd "$(dirname "${BASH_SOURCE[0]}")"\n}\n' }, false],
    [{ functions: 'f ()\n{\n    caller\n}\n' }, false],
    [{ functions: 'f ()\n{\n    call\n}\n' }, true],
    [{ variables: bare.variables.replace('-ir PPID', '-irx PPID') }, false],
    [{ variables: bare.variables.replace('\ndeclare -ir PPID="7"', '') }, false],
    [{ status: '' }, false],
    [{ status: '1x' }, false],
    [{ status: 'x1' }, false],
    [{ status: '127' }, true],
    [{ shopts: 'shopt -s expand_aliases' }, false],
    [{ shopts: 'shopt -s extglob' }, true],
    [{ options: 'set +o errexit\nset -o posix' }, false],
    [{ options: 'set -o errexit\nset +o posix' }, true],
    [more('declare -n ref="HOME"'), false],
    [more('declare -xn ref="HOME"'), false],
    [more('declare -x name="declare -n"'), true],
  ]
  for (const [change, can] of rows)
    assert.equal(restoreOf(bare, after(change)) !== undefined, can, JSON.stringify(change))
  // what was so before the login stays so
  const aliases = { shopts: 'shopt -s expand_aliases' }
  assert.equal(restoreOf(after(aliases), after(aliases)) !== undefined, true)
})

test('bash prints each part, and there is no state before the last one', isLinux, () => {
  const { output } = spawnSync(
    '/bin/bash',
    ['--noprofile', '--norc', '-c', `${profile}; set -- 3 word; ${printState.replace(/;[^;]*$/, '')}`],
    {
      ...{ stdio: ['pipe', 'pipe', 'pipe', 'pipe'], input: 'probe\n', encoding: 'latin1', cwd: '/' },
      env: { HOME: '/h', LC_ALL: 'C' },
    },
  )
  const printed = output[3]!
  const state = readState(printed)!
  const found = {
    ...{ variables: /^declare -x HOME="\/h"$/m, functions: /^f \(\) ?\n\{ ?\n {4}:\n\}\n$/, aliases: /^alias a='b'$/m },
    ...{ shopts: /^shopt -s extglob$/m, options: /^set -o pipefail$/m, flags: /^hBc$/, mask: /^umask 0027$/m },
    ...{ softLimits: /-n\) 100$/m, hardLimits: /-n\) 200$/m, hashed: /^builtin hash -p \/x\/y y$/m },
    ...{
      completions: /^complete -W 'a' f$/m,
      builtins: /^enable -n wait$/m,
      folder: /^\/\n\/proc\/self\/cwd\n\/tmp\n$/,
    },
    ...{
      traps: /^trap -- ':' SIGUSR1$/m,
      lastJob: /^set$/,
      history: /^ +1 {2}x$/m,
      listed: /extglob.* .*pipefail/,
      status: /^3$/,
      words: /^1\n\/bin\/bash\nword\n$/,
      input: /^probe\n$/,
    },
  }
  assert.deepEqual(Object.keys(state), Object.keys(found))
  for (const [part, text] of Object.entries(found)) assert.match(state[part as keyof typeof state], text, part)
  assert.equal(readState(printed.slice(0, -1)), undefined)
  assert.equal(readState(''), undefined)
})

const profile =
  ': & wait; history -s x; f() { :; }; shopt -s extglob; alias a=b; set -o pipefail; umask 027; ulimit -n 200; ulimit -Sn 100; hash -p /x/y y; complete -W a f; trap : USR1; enable -n wait; cd /proc/self/cwd; pushd -n /tmp > /dev/null'
