import { hookProgram } from './program.ts'
import { type Starter, write } from './starter.ts'

const script = String.raw`
// Keeps the turn going until the tests pass. TEST_COMMAND names them; otherwise the first of these files does.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const commands = {
  'run-tests.sh': 'sh ./run-tests.sh',
  'package.json': 'npm test',
  'Cargo.toml': 'cargo test',
  'go.mod': 'go test ./...',
  'pyproject.toml': 'python3 -m pytest',
  Makefile: 'make test',
}

export default function check() {
  const changed = spawnSync('git', ['status', '--porcelain'], { encoding: 'utf8' })
  if (changed.status === 0 && changed.stdout.trim() === '') return
  const file = Object.keys(commands).find((name) => existsSync(name))
  const command = process.env.TEST_COMMAND || commands[file]
  if (!command) return 'the tests of this project are not known: set TEST_COMMAND, or name them in this hook'
  const { status, stdout, stderr } = spawnSync(command, { shell: true, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status === 0) return
  const end = (String(stdout) + String(stderr)).trim().split('\n').slice(-20).join('\n')
  return 'the tests fail: run "' + command + '" and fix what it reports before you finish\n' + end
}
`

export const testBeforeStop: Starter = {
  id: 'test-before-stop',
  about: 'a turn that leaves changes ends only when the tests pass',
  limits:
    'It runs at every end of a turn with uncommitted changes; an agent ends the turn all the same after some attempts (its own limit).',
  words: ['test', 'tests', 'stop', 'before', 'finish'],
  hook: { event: 'Stop', matcher: '*', script: hookProgram(script) },
  files: { 'run-tests.sh': 'test -f done.txt\n' },
  refuses: [],
  allows: [write('half.txt')],
  ending: [
    { say: 'finished' },
    { sees: { contains: 'the tests fail' } },
    write('done.txt'),
    { expect: { error: false } },
    { say: 'finished now' },
  ],
}
