/** Files that are reached by odd names and odd tools: by a server's tools, by links and `/proc`, by keys typed into a terminal. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decide } from '../../src/permissions/decide.ts'
import { place } from '../support/program.ts'

const world = realpathSync(mkdtempSync(join(tmpdir(), 'ona-odd-')))
after(() => rmSync(world, { recursive: true, force: true }))
const [home, work] = [join(world, 'home'), join(world, 'work')]
for (const folder of [join(home, '.ona'), join(work, '.ona'), join(work, 'sub'), join(work, '.git/hooks')])
  mkdirSync(folder, { recursive: true })
for (const file of ['home/.ona/credentials.json', 'home/.ona/settings.json', 'work/.env', 'work/a'])
  writeFileSync(join(world, file), '{}')
symlinkSync(join(home, '.ona'), join(work, 'link'))

async function ruling(tool: string, input: Record<string, unknown>, mode: 'default' | 'acceptEdits' = 'acceptEdits') {
  const settings = { allow: ['mcp__fs', 'Bash'], deny: ['Read(.env)', 'Edit(/locked/**)'] }
  return (await decide({ settings, mode, tool, hook: 'none', input, cwd: work, projectDir: work, home })).decision
}

test("a server's tools do not reach what no tool may reach", async () => {
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ['write_file', { path: join(work, '.ona/settings.json'), content: '' }],
    ['write_file', { path: '.ona/settings.json' }],
    ['write_file', { path: '~/.ona/trust.json' }],
    ['write_file', { path: `file://${home}/.ona/agent.db` }],
    ['write_file', { path: `file://${home}/%2eona/agent.db` }],
    ['write_file', { path: 'link/settings.json' }],
    ['write_file', { path: 'sub/../.git/hooks/pre-commit' }],
    ['edit_file', { args: { deep: [{ file: join(home, '.ona/settings.json') }] } }],
    ['move_file', { source: 'a', destination: join(work, '.ona/settings.json') }],
    ['write_file', { path: join(work, 'locked/x') }],
    ['read_file', { path: join(work, '.env') }],
    ['read_file', { uri: `file://${work}/.env` }],
    ['read_multiple_files', { paths: ['a', 'sub/../.env'] }],
    ['read_text_file', { path: join(home, '.ona/credentials.json') }],
    ['anything', { q: join(work, 'link/credentials.json') }],
    // schemes as URL parsers read them
    ['read_file', { uri: `FILE://${work}/.env` }],
    ['read_file', { uri: `file:${work}/.env` }],
    ['read_file', { uri: ` fi\tle://${work}/.env` }],
    ['read_file', { uri: `file://localhost${work}/sub/..%2f.env` }],
    // beyond what is looked at
    ['read_file', { pad: Array.from({ length: 50_000 }, () => 'x'), path: '.env' }],
    ['read_file', { paths: [...Array.from({ length: 600 }, (_, at) => `a${at}`), '.env'] }],
    ['read_file', { path: `${'./'.repeat(2500)}.env` }],
    ['read_file', { path: `sub/x\n/../../.env` }],
    [
      'read_file',
      Array.from({ length: 30 }).reduce<Record<string, unknown>>((inner) => ({ of: inner }), { path: '.env' }),
    ],
    // a key that says nothing
    ['read_file', { name: '.env' }],
    ['read_file', { f: 'sub/../.env' }],
    ['read_file', { args: ['.env'] }],
    ['write_file', { name: '.git/hooks/pre-commit' }],
  ]
  const passed: string[] = []
  for (const [tool, input] of calls)
    if ((await ruling(`mcp__fs__${tool}`, input)) === 'allow') passed.push(`${tool} ${JSON.stringify(input)}`)
  assert.deepEqual(passed, [])
  const fine: readonly (readonly [string, Record<string, unknown>])[] = [
    ['write_file', { path: join(work, 'a'), content: 'about /etc and .env' }],
    ['read_file', { path: join(work, '.ona/settings.json') }],
    ['read_file', { path: join(work, 'locked/x') }],
    ['search', { query: '.env' }],
    ['fetch', { url: 'https://example.org/.env' }],
    ['write_file', { path: 'a', content: `/** .env\n${'x'.repeat(9000)}` }],
    ['insert', { rows: Array.from({ length: 2000 }, (_, id) => ({ id: `row ${id}`, name: 'ada' })) }],
    ['comment', { body: '.env', title: '.env' }],
  ]
  for (const [tool, input] of fine) assert.equal(await ruling(`mcp__fs__${tool}`, input), 'allow', tool) // control
})

test('keys typed into a terminal prompt', async () => {
  const lines = [
    "tmux send-keys -t 0 'ona plan approve' Enter",
    "tmux send -t 0 'ona plan approve' C-m",
    'tmux -S /tmp/tmux-0/default send-keys x Enter',
    'tmux -L default send-keys x Enter',
    "tmux run-shell 'ona plan approve'",
    "tmux set-hook -g after-new-window 'run x'",
    'tmux pipe-pane -I x',
    "env -u TMUX tmux send-keys 'x' Enter",
    "screen -S main -X stuff 'ona plan approve\\n'",
    "kitty @ send-text 'ona plan approve'",
    'xdotool type x',
  ]
  const passed: string[] = []
  for (const command of lines) if ((await ruling('Bash', { command })) === 'allow') passed.push(command)
  assert.deepEqual(passed, [])
  for (const command of ['tmux -L mine send-keys x Enter', 'tmux ls', 'tmux capture-pane -p', 'screen -ls'])
    assert.equal(await ruling('Bash', { command }), 'allow', command) // control
})

test('no spelling of a protected path is written by a tool', async (t) => {
  const at = place(t)
  at.write('.ona/settings.json', '{"kept":1}')
  at.write('notes.txt', 'x')
  symlinkSync(join(at.folder, '.ona'), join(at.folder, 'link'))
  const target = join(at.folder, '.ona/settings.json')
  const paths = [
    target,
    '.ona/settings.json',
    join(at.folder, 'link/settings.json'),
    `${at.folder}//.ona/./settings.json`,
    `${at.folder}/link/../.ona/settings.json`,
    `/proc/self/cwd/.ona/settings.json`,
    `/proc/self/root${target}`,
    `${at.folder}/${'a/../'.repeat(700)}.ona/settings.json`,
  ]
  const write = (file_path: string) =>
    at.run(['--eval', JSON.stringify({ tool: 'Write', input: { file_path, content: 'canary' } })])
  for (const path of paths) await write(path)
  assert.equal(readFileSync(target, 'utf8'), '{"kept":1}')
  const notebook = { tool: 'NotebookEdit', input: { notebook_path: target, new_source: 'canary' } }
  await at.run(['--eval', JSON.stringify(notebook)])
  assert.equal(readFileSync(target, 'utf8'), '{"kept":1}')
  await write(join(at.folder, 'new.txt'))
  assert.equal(existsSync(join(at.folder, 'new.txt')), true) // control
})
