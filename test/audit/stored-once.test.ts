import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testModel } from '../support/model/model.ts'
import { place } from '../support/program.ts'

const long = (word: string) => `${word} "quoted" \u00e9\n`.repeat(400)
/** Keeps what it was given. */
const keeps = (event: string, at: number) => ({
  ...{ hook_event_name: event, matcher: '', command: `cat > "$HOME/given-$(date +%s%N)-${at}.json"` },
})

test('long inputs and outputs are stored once, however many hooks were given them, and the log shows them whole', async (t) => {
  const here = place(t)
  const context = { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'and more' } }
  const hooks = [
    ...[1, 2].map((at) => keeps('PreToolUse', at)),
    { hook_event_name: 'PostToolUse', matcher: '', command: `echo '${JSON.stringify(context)}'` },
    ...[3, 4].map((at) => keeps('PostToolUse', at)),
    { ...keeps('before_tool_apply', 5) },
    { ...keeps('after_tool_apply', 6) },
  ]
  const content = long('written')
  const write = { tool: 'Write', input: { file_path: join(here.folder, 'a.txt'), content } }
  mkdirSync(join(here.home, '.ona'))
  writeFileSync(join(here.home, '.ona/settings.json'), JSON.stringify({ hooks }))
  for (const call of [write, { tool: 'Bash', input: { command: 'cat a.txt' } }]) {
    const { code, stderr } = await here.run(['--permission-mode', 'bypassPermissions', '--eval', JSON.stringify(call)])
    assert.equal(code, 0, stderr)
  }

  const rows = here.rows<{ event: string; n: number }>(
    'SELECT hook_event AS event, length(input_json) AS n FROM hook_invocations ORDER BY id',
  )
  assert.equal(rows.length, 14)
  assert.deepEqual(
    rows.filter(({ n }) => n > 1000),
    [],
  )
  const copies = here.rows<{ n: number }>(
    `SELECT sum((length(payload_json) - length(replace(payload_json, 'written', ''))) / 7) AS n FROM transcript_entries`,
  )
  assert.equal(copies[0]!.n, 800) // in the call that wrote it, and in the result that shows it

  const given = readdirSync(here.home)
    .filter((name) => name.startsWith('given-'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(here.home, name), 'utf8')))
  const { stdout } = await here.run(['hooks', 'log', '--json'])
  const logged = (JSON.parse(stdout) as { command: string; inputJson: string }[])
    .filter(({ command }) => command.startsWith('cat'))
    .map(({ inputJson }) => JSON.parse(inputJson))
  assert.deepEqual(logged, given)
  assert.ok(given.some(({ tool_response }) => tool_response?.content === `${content}`))
  const verified = await here.run(['audit', 'verify'])
  assert.equal(verified.code, 0, verified.stderr)
})

test('the calls of one reply of a model are told apart', async (t) => {
  const here = place(t)
  const contents = [long('first'), long('second')]
  const calls = contents.map((content, at) => ({
    ...{ name: 'Write', input: { file_path: join(here.folder, `${at}.txt`), content } },
  }))
  const { env } = await testModel(t, [{ calls }, { text: 'done' }])
  const hooks = ['PreToolUse', 'PostToolUse'].map((event, at) => keeps(event, at))
  const { code, stderr } = await here.run(
    ['-p', 'go', '--permission-mode', 'bypassPermissions', '--settings', JSON.stringify({ hooks })],
    { env },
  )
  assert.equal(code, 0, stderr)
  const lengths = here.rows<{ n: number }>('SELECT length(input_json) AS n FROM hook_invocations')
  assert.deepEqual(
    lengths.map(({ n }) => n < 1000),
    [true, true, true, true],
  )
  const { stdout } = await here.run(['hooks', 'log', '--json'])
  assert.deepEqual(
    (JSON.parse(stdout) as { inputJson: string }[]).map(({ inputJson }) => JSON.parse(inputJson).tool_input.content),
    [contents[0], contents[0], contents[1], contents[1]],
  )
})
