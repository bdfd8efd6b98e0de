/** A shell that is restored from a login gives what `bash -lc` gives; where it would not, there is no snapshot. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { runCommand } from '../command.ts'
import { dropSnapshot, isStillTrue, takeSnapshot } from './login-snapshot.ts'
import { expectCommand, warmShells } from './warm-shell.ts'

const root = mkdtempSync(join(tmpdir(), 'ona-login-'))
const alive = setInterval(() => {}, 60_000) // nothing that waits ahead keeps a process alive
after(() => {
  clearInterval(alive)
  rmSync(root, { recursive: true, force: true })
})
const isLinux = { skip: process.platform === 'linux' ? false : 'there are no snapshots here' }

/** Takes long enough for a snapshot, and counts logins. */
const slow = 'echo x >> "$HOME/logins"; sleep 0.1; '

function homeWith(profile: string) {
  const home = mkdtempSync(join(root, 'home-'))
  writeFileSync(join(home, '.profile'), profile)
  const env = { HOME: home, PATH: process.env['PATH'], LANG: 'C.UTF-8', GIVEN: 'as given' }
  return { home, place: { shell: '/bin/bash', cwd: root, env } }
}

const rich = `${slow}
export A='x y' B=$'l\\n\\t\\x01' EMPTY=; c=(1 '2 3' [7]=z); declare -A m=([k]=v); declare -r RO=1; declare -i N=3
f() { cat <<X
$1
X
}; export -f f; shopt -s extglob nullglob
g() { ls !(x) > /dev/null; echo "\${1^^}"; }
set -u -o pipefail; umask 027; ulimit -n 200; unset GIVEN; hash cat; IFS=:; false`

const commands = [
  'declare -p A B EMPTY c m RO N IFS',
  'f it; bash -c "f again"',
  'declare -f; g low',
  'echo !(x) | wc -c; echo no*such',
  'echo "$? $- $# ${GIVEN-unset} $0"',
  'umask; ulimit -n; hash -l; shopt -p; set +o',
  'ls /proc/self/fd | wc -l; echo "$SHLVL $BASH_SUBSHELL $BASHOPTS"',
  'env | grep -v ^_= | sort',
  'set | grep -v "^_=\\|^BASH_\\|^PPID=\\|^PIPESTATUS=\\|SECONDS="',
  'RO=2; echo not here',
  'cat; echo "$undefined"',
  'echo "$BASH_EXECUTION_STRING"; exec /bin/echo last',
]

test('restored and cold agree', isLinux, async () => {
  const { home, place } = homeWith(rich)
  const { cwd, env } = place
  const run = (command: string, mayWarm: boolean) =>
    runCommand({ command, shell: 'bash', cwd, input: '{"a":1}', env, timeoutMs: 60_000, mayWarm })
  const logins = () => readFileSync(join(home, 'logins'), 'utf8').length / 2
  for (const command of commands) {
    expectCommand(command, place)
    while (warmShells(place, command) === 0) await wait(5)
  }
  assert.equal(logins(), 2) // whatever the number of shells
  const warm = []
  for (const command of commands) warm.push(await run(command, true))
  assert.equal(logins(), 2)
  for (const [at, command] of commands.entries()) assert.deepEqual(warm[at], await run(command, false), command)
})

test('there is no snapshot of a login that can be told from a restored one', isLinux, async () => {
  const profiles = {
    prints: 'echo hi',
    'prints to stderr': 'echo hi >&2',
    'is never the same': 'export T=$(date +%N)$RANDOM',
    'leaves a process': 'sleep 5 &',
    'leaves a descriptor': 'exec 5>/dev/null',
    'moves stderr': 'exec 2>/dev/null',
    'joins stdout and stderr': 'exec 2>&1',
    'reads the input': 'read -r line',
    moves: 'cd /',
    'sets a trap': 'trap : EXIT',
    'sets aliases that count': 'shopt -s expand_aliases; alias x=y',
    'sets words': 'set -- a b',
    refers: 'declare -n ref=HOME',
    ends: 'exit 0',
    'becomes another': 'exec sleep 0',
  }
  const taken: string[] = []
  for (const [name, profile] of Object.entries(profiles))
    if (await takeSnapshot(homeWith(slow + profile).place)) taken.push(name)
  assert.deepEqual(taken, [])
})

test('a snapshot is no longer true when a login leaves another state', isLinux, async () => {
  const { home, place } = homeWith(`${slow} . "$HOME/more"`)
  writeFileSync(join(home, 'more'), 'export MORE=1')
  const snapshot = await takeSnapshot(place)
  assert.ok(snapshot)
  assert.equal(await isStillTrue(place, snapshot), true)
  writeFileSync(join(home, 'more'), 'export MORE=2')
  assert.equal(await isStillTrue(place, snapshot), false)
  dropSnapshot(snapshot)
})
