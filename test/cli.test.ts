/** What holds of every command alike: its help, its refusals, and that a slip is no prompt. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { flags } from '../src/cli/flags.ts'
import { commands, flagCommands } from '../src/cli/table.ts'
import { isFull } from './support/campaign-size.ts'
import { testPassedFlags } from './support/passed-flags.ts'
import { place, type Ran, runCommands } from './support/program.ts'

const table = { ...commands, ...flagCommands }

test('ona --help lists exactly the commands there are, and every flag of a run', async (t) => {
  const { code, stdout } = await place(t).run(['--help'])
  const [, listed = '', listedFlags = ''] = stdout.split(/^(?:Commands|Flags of a run):$/m)
  const names = Array.from(listed.matchAll(/^ {2}ona (\S+)/gm), ([, name]) => name)
  assert.deepEqual([code, names], [0, Object.keys(table)])
  assert.deepEqual(
    Array.from(listedFlags.matchAll(/^ {2}(?:-\w, | {4})--(\S+)/gm), ([, name]) => name),
    Object.keys(flags),
  )
})

test('ona starts from a folder of any name', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'Ünder 100% of #1 '))
  t.after(() => rmSync(folder, { recursive: true }))
  const root = join(import.meta.dirname, '..')
  for (const part of ['bin', 'dist', 'package.json', 'schema.sql'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  const ona = join(folder, 'bin/ona.mjs')
  const env = { PATH: process.env['PATH'], HOME: folder, ONA_KEYCHAIN: 'off' }
  const started = spawnSync(process.execPath, [ona, '--init-db'], { cwd: folder, env, encoding: 'utf8' })
  assert.deepEqual([started.stderr, started.stdout], ['', `${join(folder, '.ona/agent.db')}\n`])
})

test('the commands stand in order, so that each is found at once', () => {
  for (const rows of [commands, flagCommands]) assert.deepEqual(Object.keys(rows), Object.keys(rows).toSorted())
})

test('help is the same by every way to ask for it', async (t) => {
  const here = place(t)
  const { stdout } = await here.run(['--help'])
  for (const words of [['-h'], ['help'], ['-p', '--help']]) {
    assert.deepEqual(await here.run(words), { code: 0, stdout, stderr: '' }, words.join(' '))
  }
})

const asked = ['--help', '-h', '--no-such-flag']
const lines = Object.entries(table).flatMap(([name, { verbs = [] }]) => [
  ...[[name], ...verbs.map((verb) => [name, verb])].flatMap((words) => asked.map((word) => [...words, word])),
  ...(verbs.length > 0 ? [[name], [name, 'zzzzzzzz']] : []),
])
const answers = new Map(runCommands(lines).map((ran, index) => [lines[index]!.join(' '), ran]))
const answer = (words: readonly string[]): Ran => answers.get(words.join(' '))!

for (const [index, [name, { verbs = [] }]] of Object.entries(table).entries()) {
  test(`ona ${name}: help with an example, and a refusal that shows how`, async (t) => {
    if (isFull || index % 4 === 0)
      assert.deepEqual(answer([name, '--help']), await place(t).run([name, '--help']), 'the program says the same')
    for (const words of [[name], ...verbs.map((verb) => [name, verb])]) {
      const said = words.join(' ')
      const [long, short, wrong] = asked.map((word) => answer([...words, word])) as [Ran, Ran, Ran]
      assert.deepEqual([long.code, long.stderr, short], [0, '', long], said)
      assert.match(long.stdout, new RegExp(`^.*ona ${name} ?.*$`, 'm'), said)
      assert.equal(wrong.code, 2, said)
      assert.match(wrong.stderr, /^(ona .*): unknown .*--no-such-flag.* \1 --help shows how\n$/, said)
    }
    if (verbs.length > 0) {
      const [none, strange] = [answer([name]), answer([name, 'zzzzzzzz'])]
      assert.deepEqual([none.code, none.stderr.includes(verbs.join(', '))], [2, true])
      assert.deepEqual([strange.code, strange.stderr.includes(verbs.join(', '))], [2, true])
    }
  })
}

test('a mistyped command is reported, and nothing is started', async (t) => {
  const here = place(t)
  assert.deepEqual(await here.run(['hook', 'list']), {
    code: 2,
    stdout: '',
    stderr: 'ona: unknown command "hook"; did you mean "ona hooks"? ona --help shows how\n',
  })
  assert.match((await here.run(['verfy'])).stderr, /did you mean "ona verify"\?/)
  assert.match((await here.run(['hooks', 'lst'])).stderr, /^ona hooks: unknown subcommand "lst"; did you mean "list"\?/)
  assert.match((await here.run(['--modle', 'x'])).stderr, /^ona: unknown flag --modle; did you mean --model\?/)
})

test('wrong usage exits 2, names the fault and suggests what was meant', async (t) => {
  const here = place(t)
  const json = '{"command":"ls"}'
  const lines: [readonly string[], RegExp][] = [
    [['-p', 'hi', '--tools', 'Bsh'], /--tools is "Bsh"; did you mean "Bash"\?/],
    [['-p', 'hi', '--tools', 'Read,Frobnicate'], /--tools is "Frobnicate"; it must be one of Read, /],
    [['-p', 'hi', '--allowed-tools', 'Bash('], /--allowed-tools "Bash\(": There is a "\(" without its "\)"/],
    [['-p', 'hi', '--disallowed-tools', 'Wirte'], /--disallowed-tools "Wirte": .*did you mean "Write"\?/],
    [['-p', 'hi', '--mcp-config', 'nope.json'], /--mcp-config: \S+nope\.json cannot be read/],
    [['-p', 'hi', '--mcp-config', '{"mcpServers":'], /--mcp-config: .* is not JSON/],
    [['-p', 'hi', '--max-budget-usd', '-1'], /--max-budget-usd must be a number above 0, not "-1"/],
    [['-p', 'hi', '--max-turns', '-3'], /--max-turns must be a number above 0, not "-3"/],
    [['doctor', '--cwd', '/nonexistent'], /--cwd: \/nonexistent is not a folder/],
    [['hooks', 'list', '--cwd', '/nonexistent'], /--cwd: \/nonexistent is not a folder/],
    [['permissions', 'test', '--tool', 'Bash', '--input', json, '--cwd', '/nonexistent'], /is not a folder/],
    [['replay', '--help'], /unknown command "replay"; did you mean "ona hooks replay"\?/],
    [['approve', '-h'], /unknown command "approve"; did you mean .*"ona plan approve"\?/],
    [['frobnicate', '--help'], /unknown command "frobnicate"/],
    [['permissions', 'test', '--tool', 'Bash'], /--input: Bash: .*command is missing/],
    [['permissions', 'test', '--tool', 'Bsh', '--input', json], /--tool is "Bsh"; did you mean "Bash"\?/],
    [['mcp', 'add', '--transport', 'ftp', 'x', 'ftp://x'], /--transport is "ftp"/],
    [['doctor', 'here'], /unexpected argument "here"/],
  ]
  for (const [words, why] of lines) {
    const { code, stdout, stderr } = await here.run(words)
    assert.deepEqual([code, stdout], [2, ''], words.join(' '))
    assert.match(stderr, why, words.join(' '))
    assert.match(stderr, /--help shows how\n$/, words.join(' '))
  }
})

test('another product’s name of a tool is accepted', async (t) => {
  const here = place(t)
  for (const words of [
    ['--tools', 'Task,KillShell'],
    ['--disallowed-tools', 'BashOutput'],
  ])
    assert.equal((await here.run(['-p', 'hi', ...words, '--model', 'rehearsal'])).code, 0, words.join(' '))
})

test('ona status names the command that signs in', async (t) => {
  const { code, stdout } = await place(t).run(['status'])
  assert.deepEqual([code, /run ona login/.test(stdout), /\/login/.test(stdout)], [1, true, false])
})

test('the same word after -- is a prompt', async (t) => {
  const { code, stdout } = await place(t).run(['-p', '--', 'verfy'])
  assert.equal(code, 0)
  assert.match(stdout, /not a language model/)
})

test('JSON on the command line that is broken, or too deep to be kept, is wrong usage', async (t) => {
  const here = place(t)
  for (const json of ['{', `{"tool":"Read","input":${'['.repeat(600)}${']'.repeat(600)}}`]) {
    const lines = [
      ['--eval', json],
      ['hooks', 'fire', 'Stop', '--input', json],
      ['permissions', 'test', '--tool', 'Read', '--input', json],
      ['mcp', 'add-json', 'x', json],
      ['-p', 'hi', '--json-schema', json],
    ]
    for (const words of lines) {
      const { code, stderr } = await here.run(words)
      assert.deepEqual([code, /--help shows how\n$/.test(stderr)], [2, true], `${words.join(' ')}: ${stderr}`)
    }
  }
})

test('an output that cannot be written is an error in one line', { skip: !existsSync('/dev/full') }, (t) => {
  const { home } = place(t)
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const program = [join(import.meta.dirname, '../bin/ona.mjs'), 'hooks', 'list']
  const env = { PATH: process.env['PATH'], HOME: home }
  const run = spawnSync(process.execPath, program, { env, stdio: ['ignore', full, 'pipe'], encoding: 'utf8' })
  const why = 'ona: the output cannot be written: ENOSPC: no space left on device, write\n'
  assert.deepEqual([run.status, run.stderr], [1, why])
})

test('ona --version prints the version of the package', async (t) => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  for (const word of ['--version', '-v'])
    assert.deepEqual(await place(t).run([word]), { code: 0, stdout: `${version}\n`, stderr: '' })
})

testPassedFlags(import.meta.filename)
