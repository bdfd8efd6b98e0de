/** What another policy would have said: through the program and SQL alone. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { generateRecord } from '../bench/lib/generate-record.ts'
import { sampled, sized } from './support/campaign-size.ts'
import { type Place, place } from './support/program.ts'

/** Four calls of an operator: two that settings allow, two that they approved by typing them. */
async function recorded(t: { after(work: () => void): void }): Promise<Place> {
  const here = place(t)
  here.write('a.txt', 'a\n')
  for (const call of [
    { tool: 'Read', input: { file_path: join(here.folder, 'a.txt') } },
    { tool: 'Bash', input: { command: 'rm -f b.txt' } },
    { tool: 'Bash', input: { command: 'git init -q made' } },
    { tool: 'Grep', input: { pattern: 'a', path: here.folder } },
  ])
    await here.run(['--eval', JSON.stringify(call)])
  return here
}

/** One record for all tests that only ask: asking writes nothing. */
let shared: Promise<Place> | undefined
const atTheEnd: (() => void)[] = []
after(() => {
  for (const work of atTheEnd) work()
})
const askedOnly = (): Promise<Place> => {
  shared ??= recorded({ after: (work) => void atTheEnd.push(work) })
  return shared
}

async function asked(here: Place, ...words: string[]) {
  const { code, stdout, stderr } = await here.run(['hooks', 'replay', '--json', ...words])
  assert.ok(stdout.startsWith('{') && stdout.trim().split('\n').length === 1, `one line of JSON: ${stdout}${stderr}`)
  const { changes, calls, same, newly_denied, newly_asked, newly_allowed, ...rest } = JSON.parse(stdout)
  const told = changes.map(
    (change: { tool: string; was: string; would_be: string; because: { name: string } }) =>
      `${change.tool} ${change.was}→${change.would_be} ${change.because.name}`,
  )
  return { code, told, counts: [calls, same, newly_denied, newly_asked, newly_allowed], rest }
}

test('the settings in force say what they said; one more rule changes what it names', async () => {
  const here = await askedOnly()
  assert.deepEqual(await asked(here), {
    code: 0,
    told: [],
    counts: [4, 4, 0, 0, 0],
    rest: { not_replayed: 0, not_judged: 0, not_asked: [], failed: [], by_agent: { ona: { calls: 4, changed: 0 } } },
  })
  const { code, told, counts } = await asked(here, '--rule', 'deny:Bash(rm *)', '--rule', 'allow:Bash(git *)')
  assert.deepEqual(
    [code, told, counts],
    [0, ['Bash ask→deny deny:Bash(rm *)', 'Bash ask→allow allow:Bash(git *)'], [4, 2, 1, 0, 1]],
  )
})

test('a change can fail a build, and the same question has the same answer', async () => {
  const here = await askedOnly()
  const words = ['hooks', 'replay', '--rule', 'ask:Read', '--fail-on-change']
  const [one, two] = [await here.run(words), await here.run(words)]
  assert.deepEqual(one, two)
  assert.equal(one.code, 1)
  assert.match(one.stdout, /^4 calls\n3 the same\n0 newly denied\n1 newly asked\n0 newly allowed\n/)
  assert.match(one.stdout, /Read\s+\S*a\.txt\s+allow → ask\s+ask:Read/)
  assert.equal((await here.run(['hooks', 'replay', '--fail-on-change'])).code, 0)
})

test('--fail-on names the changes that fail a build', async () => {
  const here = await askedOnly()
  const codes = []
  for (const named of [
    'allowed->denied',
    'asked->denied',
    'any->denied',
    'any->allowed,asked -> denied',
    'denied->any',
  ])
    codes.push((await here.run(['hooks', 'replay', '--rule', 'deny:Bash(rm *)', '--fail-on', named])).code)
  assert.deepEqual(codes, [0, 1, 1, 1, 0])
  const wrong = await here.run(['hooks', 'replay', '--fail-on', 'allowed->forbidden'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /write WAS->WOULD with allowed, asked, denied or any/)
})

test('a report for CI and one for people', async () => {
  const here = await askedOnly()
  const rules = ['--rule', 'deny:Bash(rm *)', '--rule', 'allow:Bash(git *)', '--fail-on', 'any->denied']
  const { code } = await here.run(['hooks', 'replay', ...rules, '--junit', 'r.xml', '--html', 'r.html'])
  assert.equal(code, 1)
  const junit = readFileSync(join(here.folder, 'r.xml'), 'utf8').replaceAll(/\d{4}-\d\d-\d\d \S+/g, 'WHEN')
  assert.equal(
    junit,
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1">
<testsuite name="ona hooks replay" tests="3" failures="1" errors="0">
<testcase classname="ona.replay" name="2 of 4 calls come out the same"/>
<testcase classname="ona.Bash" name="WHEN rm -f b.txt"><failure message="ask -&#62; deny">ask → deny because of deny:Bash(rm *): ${reason(junit, 'deny:Bash(rm *)')}</failure></testcase>
<testcase classname="ona.Bash" name="WHEN git init -q made"><system-out>ask → allow because of allow:Bash(git *): ${reason(junit, 'allow:Bash(git *)')}</system-out></testcase>
</testsuite>
</testsuites>
`,
  )
  const page = readFileSync(join(here.folder, 'r.html'), 'utf8')
  assert.match(page, /2 of 4 calls would have come out differently/)
  assert.match(page, /ask → deny/)
})

/** The permissions' own words, which this test does not repeat. */
const reason = (text: string, rule: string): string => text.split(`because of ${rule}: `)[1]!.split('</')[0]!

test('of a rule or a hook only what it changes is shown, unless the record is asked for', async (t) => {
  const here = await recorded(t)
  here.write('.ona/settings.json', { permissions: { deny: ['Grep'] } })
  const next = here.write('next.json', { permissions: { deny: ['Read'] } })
  const hook = here.write(
    'guard.ts',
    "import { defineHook, deny } from 'ona/hooks'\nexport const no = defineHook('PreToolUse', () => deny('no'), { matcher: 'Read' })",
  )
  const rule = ['--rule', 'deny:Bash(rm *)']
  const told = async (...words: string[]) => (await asked(here, ...words)).told
  assert.deepEqual(await told(...rule), ['Bash ask→deny deny:Bash(rm *)'])
  assert.deepEqual(await told('--hook', hook), ['Read allow→deny function:no'])
  assert.deepEqual(await told(...rule, '--settings', next), ['Bash ask→deny deny:Bash(rm *)'])
  assert.deepEqual(await told(...rule, '--settings', next, '--against-settings'), [
    'Read allow→deny deny:Read',
    'Bash ask→deny deny:Bash(rm *)',
    'Grep deny→allow allow:Read(builtin:working-directories)',
  ])
  assert.deepEqual(await told(...rule, '--against-record'), [
    'Bash ask→deny deny:Bash(rm *)',
    'Grep allow→deny deny:Grep',
  ])
  assert.equal((await here.run(['hooks', 'replay', '--against-record', '--against-settings'])).code, 2)
  await here.run(['hooks', 'replay', ...rule, '--html', 'rule.html'])
  await here.run(['hooks', 'replay', '--html', 'record.html'])
  const compared = ['rule.html', 'record.html'].map(
    (file) => /Compared with ([^.]*)\./.exec(readFileSync(join(here.folder, file), 'utf8'))?.[1],
  )
  assert.deepEqual(compared, ['the settings in force', 'what was decided at the time'])
})

test('hooks of a TypeScript file are asked from any folder', async () => {
  const here = await askedOnly()
  const file = here.write(
    'policy/guard.ts',
    `import { defineHook, type HookArgs } from 'ona/hooks'
    export const noRemoving = defineHook('PreToolUse', function noRemoving({ tool_input }: HookArgs<'PreToolUse'>) {
      const { command } = tool_input as { command: string }
      return command.startsWith('rm ') ? { decision: 'block', reason: 'keep it' } : undefined
    }, { matcher: 'Bash' })
    export const other = 1`,
  )
  const { told } = await asked(here, '--hook', file, '--tool', 'Bash')
  assert.deepEqual(told, ['Bash ask→deny function:noRemoving'])
  const none = here.write('policy/none.ts', 'export const x = 1')
  const broken = here.write('policy/broken.ts', "throw new Error('not today')")
  for (const [given, why] of [
    [none, /exports no hook/],
    [broken, /cannot be loaded: not today/],
    [join(here.folder, 'lost.ts'), /there is no file/],
  ] as const) {
    const { code, stderr } = await here.run(['hooks', 'replay', '--hook', given])
    assert.equal(code, 1)
    assert.match(stderr, why)
  }
})

test('command hooks of the file are programs: not run unless that is said, and then in the folder of the call', async () => {
  const here = await askedOnly()
  const file = here.write('next.json', {
    permissions: { defaultMode: 'bypassPermissions' },
    hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Grep', command: 'touch ran; echo no >&2; exit 2' }],
  })
  const ran = join(here.folder, 'ran')
  const { stdout } = await here.run(['hooks', 'replay', '--settings', file])
  assert.match(stdout, /not asked about 1 call: touch ran.* \(it is a program; --run-commands runs it\)/)
  assert.equal(existsSync(ran), false)
  const { told } = await asked(here, '--settings', file, '--run-commands', '--tool', 'Grep')
  assert.deepEqual(told, ['Grep allow→deny touch ran; echo no >&2; exit 2'])
  assert.equal(existsSync(ran), true)
})

test('calls are chosen by time, conversation and tool', async (t) => {
  const here = await recorded(t)
  const [{ id }] = here.rows<{ id: string }>('SELECT id FROM conversations') as [{ id: string }]
  const db = new DatabaseSync(here.db)
  db.exec("UPDATE transcript_entries SET created_at = '2020-01-01 00:00:00' WHERE sequence < 2")
  db.close()
  const count = async (...words: string[]) => (await asked(here, ...words)).counts[0]
  assert.deepEqual(
    [await count('--since', '1d'), await count('--since', '2019-12-31'), await count('--since', '2999-01-01')],
    [3, 4, 0],
  )
  assert.deepEqual([await count('--conversation', id), await count('--tool', 'Grep')], [4, 1])
  assert.equal((await here.run(['hooks', 'replay', '--conversation', 'none'])).code, 1)
})

test('asking writes nothing: not a row, not the settings that differ from their last import', async (t) => {
  const here = await recorded(t)
  const dump = () =>
    here
      .rows<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .map(({ name }) => [name, here.rows(`SELECT * FROM ${name}`)])
  const before = dump()
  here.write('.ona/settings.json', { permissions: { deny: ['Read'] } })
  const { told } = await asked(here)
  assert.ok(told.includes('Read allow→deny deny:Read'), 'a rule of the folder that forbids is in force')
  assert.deepEqual(dump(), before)
})

test('calls that other agents made and ona audit import brought in are asked about too', async (t) => {
  const here = place(t)
  const logs = join(here.folder, '.ai/tmp/0123abcd')
  mkdirSync(logs, { recursive: true })
  const line = { ts: 1_790_000_000_000, event: 'PreToolUse', kind: 'TOOL_DECISION', decision: 'allow' }
  const lines = [
    { ...line, toolName: 'run_in_terminal', data: { toolInput: { command: 'rm -rf build' } } },
    { ...line, toolName: 'Bash', data: { toolInput: { command: 'ls' } } },
  ]
  writeFileSync(join(logs, 'events.jsonl'), lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
  assert.equal((await here.run(['audit', 'import', '.ai/tmp'])).code, 0)
  const { told, counts } = await asked(here, '--mode', 'bypassPermissions', '--rule', 'deny:Bash(rm *)')
  assert.deepEqual([told, counts[0]], [['Bash allow→deny deny:Bash(rm *)'], 2])
})

test('what is wrong is reported: no database, no such rule, time, mode or settings', async (t) => {
  const here = place(t)
  const bad = here.write('bad.json', '{"hooks": 3')
  for (const [words, code, why] of [
    [[], 1, /there is no database at/],
    [['--rule', 'Bash(rm *)'], 2, /write allow:, ask: or deny: before the rule/],
    [['--rule', 'deny:bash(rm *)'], 2, /uppercase/],
    [['--since', 'yesterday'], 2, /--since takes 30d/],
    [['--limit', '0'], 2, /--limit must be/],
    [['--mode', 'yolo'], 2, /--mode/],
    [['--settings', bad], 1, /bad\.json/],
    [['--settings', 'lost.json'], 1, /lost\.json/],
  ] as const) {
    const ran = await here.run(['hooks', 'replay', ...words])
    assert.equal(ran.code, code, ran.stderr)
    assert.match(ran.stderr, why)
  }
  assert.equal(existsSync(here.db), false)
})

test('several threads find what one does, in the same order', async (t) => {
  const here = place(t)
  const path = join(here.folder, 'long.db')
  generateRecord(path, { rows: sized(9_000, 25_000), shape: 'mixed' })
  const hook = { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'exit 0' }
  const settings = here.write('next.json', JSON.stringify({ permissions: { deny: ['Bash(rm *)'] }, hooks: [hook] }))
  const outputs: string[] = []
  for (const jobs of sampled(['1', '2', '3'], 2)) {
    const words = ['hooks', 'replay', '--settings', settings, '--against-record', '--json', '--jobs', jobs]
    const { code, stdout, stderr } = await here.run(words, { env: { AGENT_SDLC_DB: path } })
    assert.deepEqual([code, stderr], [0, ''])
    outputs.push(stdout)
  }
  const { calls, changes, newly_denied, not_asked } = JSON.parse(outputs[0]!)
  assert.ok(calls > sized(1000, 3000) && changes.length > sized(300, 1000) && newly_denied > 0)
  assert.ok(not_asked[0].calls > sized(150, 500))
  assert.ok(outputs.every((each) => each === outputs[0]))
})

test('a hook in TypeScript stays in one thread, and a wrong number of threads is reported', async () => {
  const here = await askedOnly()
  here.write(
    'hook.ts',
    "import { defineHook } from 'ona/hooks'\nexport default defineHook('PreToolUse', () => undefined)\n",
  )
  const hook = await here.run(['hooks', 'replay', '--hook', 'hook.ts', '--jobs', '2'])
  assert.deepEqual([hook.code, hook.stdout], [2, ''])
  assert.match(hook.stderr, /--jobs: hooks in TypeScript run in one thread/)
  const many = await here.run(['hooks', 'replay', '--jobs', '0'])
  assert.deepEqual([many.code, many.stdout], [2, ''])
  assert.match(many.stderr, /--jobs must be a number of threads from 1 to 64, not 0/)
})
