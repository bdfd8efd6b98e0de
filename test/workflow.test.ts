/** The workflow as an operator meets it: the program and SQL, and a model server that keeps every request. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { openDb } from '../src/store/open.ts'
import { transition } from '../src/workflow/phases.ts'
import { isFull, sampled, sized } from './support/campaign-size.ts'
import { type Place, place } from './support/program.ts'
import {
  approved,
  type Call,
  cases,
  conversation,
  greets,
  implemented,
  modelServer,
  move,
  nodeManifest,
  phaseOf,
  planText,
  sound,
  sql,
} from './support/workflow.ts'

const phases = ['idle', 'planning', 'implement', 'test', 'verify', 'done'] as const
test('of all 36 pairs of phases, only those of the table can be moved between, and a refusal changes nothing', async (t) => {
  // what each pair needs is missing here, so only the ways without a condition are open
  const open = new Set(['implement>test', ...phases.map((from) => `${from}>planning`)])
  const at = await conversation(t, 'idle')
  const shut = /^(there is no way from|there is no approved plan|the operator has not)/
  const pairs = phases.flatMap((from) => phases.map((to) => [from, to] as const))
  const begin = (from: string) => sql(at, 'UPDATE conversations SET phase = ? WHERE id = ?', from, 'c')
  const db = openDb(at.db)
  for (const [from, to] of pairs) {
    begin(from)
    const moved = transition(db, { conversationId: 'c', to, by: 'operator' })
    const pair = `${from}>${to}`
    assert.deepEqual([pair, moved.ok, phaseOf(at)], [pair, open.has(pair), open.has(pair) ? to : from])
    if (!moved.ok) assert.match(moved.why, shut, pair)
  }
  db.close()
  // the program says the same
  for (const [from, to] of sampled(pairs, 11)) {
    begin(from)
    const { code, stderr } = await move(at, to)
    const pair = `${from}>${to}`
    assert.deepEqual([pair, code, phaseOf(at)], [pair, open.has(pair) ? 0 : 1, open.has(pair) ? to : from])
    if (!open.has(pair)) assert.match(stderr.replace('ona: ', ''), shut)
  }
})

test('a phase that does not exist is wrong usage; a conversation that does not exist is a refusal', async (t) => {
  const at = await conversation(t, 'idle')
  assert.deepEqual(
    [(await move(at, 'nowhere')).code, (await move(at, 'planning', '--conversation', 'nope')).code],
    [2, 1],
  )
  assert.equal((await at.run(['--transition', 'planning'])).code, 2)
})

test('the tools that change things are shut while planning, and open with an approved plan', async (t) => {
  const at = await conversation(t, 'planning')
  const file = join(at.folder, 'made.txt')
  const calls: [string, object][] = [
    ['Write', { file_path: file, content: 'x' }],
    ['Edit', { file_path: file, old_string: 'x', new_string: 'y' }],
    ['Bash', { command: `touch ${file}` }],
    ['NotebookEdit', { notebook_path: join(at.folder, 'n.ipynb'), new_source: 'x' }],
  ]
  const evaluate = (tool: string, input: object) =>
    at.run(['--eval', JSON.stringify({ tool, input }), '--conversation', 'c'])
  for (const [tool, input] of calls) {
    const { code, stdout } = await evaluate(tool, input)
    assert.equal(code, 1)
    assert.match(JSON.parse(stdout).content, new RegExp(`^${tool} is shut while the plan is being made`))
  }
  assert.equal(existsSync(file), false)
  assert.equal((await evaluate('Glob', { pattern: '*' })).code, 0)
  assert.deepEqual(
    at.rows('SELECT DISTINCT decision FROM tool_permission_log').map((row) => row['decision']),
    ['deny'],
  )
  await approved(at)
  assert.equal(phaseOf(at), 'implement')
  assert.equal((await evaluate('Write', { file_path: file, content: 'x' })).code, 0)
})

test('a plan without success criteria cannot be approved, and the message shows how they look', async (t) => {
  const at = await conversation(t, 'planning')
  sql(at, `INSERT INTO plans(conversation_id, content, hash) VALUES ('c', '# Just do it', 'x')`)
  const { code, stderr } = await at.run(['plan', 'approve', '--conversation', 'c'])
  assert.equal(code, 1)
  assert.match(stderr, /no success criteria.*\n[\s\S]*## Success criteria/)
  assert.deepEqual([phaseOf(at), at.rows('SELECT status FROM plans')[0]!['status']], ['planning', 'draft'])
})

test('approving writes status, phase and who in one step; a newer plan supersedes the older', async (t) => {
  const at = await conversation(t, 'planning')
  await approved(at)
  assert.equal((await move(at, 'planning')).code, 0)
  await approved(at, planText.replace('Greet', 'Greet better'))
  assert.deepEqual(
    at.rows('SELECT status FROM plans ORDER BY id').map((row) => row['status']),
    ['superseded', 'approved'],
  )
  const events = at.rows<{ detail: string }>(`SELECT detail FROM events WHERE event_type = 'plan_approved'`)
  assert.deepEqual(
    events.map(({ detail }) => JSON.parse(detail).by),
    ['Ada', 'Ada'],
  )
  const { stdout } = await at.run(['plan', 'list', '--conversation', 'c', '--json'])
  assert.deepEqual(
    (JSON.parse(stdout) as { status: string; criteria: object[] }[]).map(({ status, criteria }) => [
      status,
      criteria.length,
    ]),
    [
      ['superseded', 2],
      ['approved', 2],
    ],
  )
})

test('a failing case holds the gate, a fix and a second run open it, and only the operator signs off', async (t) => {
  const { at } = await implemented(t, [cases])
  assert.equal((await move(at, 'test')).code, 0)
  const held = await move(at, 'verify')
  assert.deepEqual(
    [held.code, held.stderr],
    [1, 'ona: not everything is covered:\n- C2: case the-world failed in its last run\n'],
  )
  assert.equal(phaseOf(at), 'test')

  at.write('bin/greet.sh', sound)
  assert.equal((await at.run(['verify', '--conversation', 'c', '--run'])).code, 0)
  assert.equal((await move(at, 'verify')).code, 0)
  assert.equal((await move(at, 'done')).code, 1)
  assert.equal((await move(at, 'done', '--approve')).code, 2)
  assert.deepEqual([(await move(at, 'done', '--approve', '--as', 'Ada')).code, phaseOf(at)], [0, 'done'])
  const [signed] = at.rows<{ detail: string }>(`SELECT detail FROM events WHERE event_type = 'sign_off'`)
  assert.equal(JSON.parse(signed!.detail).by, 'Ada')
  assert.equal(at.rows('SELECT status FROM plans')[0]!['status'], 'completed')
  assert.equal((await at.run(['verify', '--conversation', 'c'])).code, 0)
})

test('the report holds the matrix, what each case printed, what is not covered, and the rate', async (t) => {
  const { at } = await implemented(t, [cases])
  await move(at, 'test')
  const json = await at.run(['verify', '--conversation', 'c', '--json'])
  assert.equal(json.code, 1)
  const report = JSON.parse(json.stdout)
  assert.deepEqual(
    report.coverage.map(
      (row: { criterion: string; cases: { name: string; state: string; stdout: string; stderr: string }[] }) => [
        row.criterion,
        ...row.cases.map(({ name, state, stdout, stderr }) => [name, state, stdout, stderr]),
      ],
    ),
    [
      ['C1', ['by-name', 'passed', 'Hello, Ada!\n', '']],
      ['C2', ['the-world', 'failed', 'Hello, undefined!\n', 'got Hello, undefined!\n']],
    ],
  )
  assert.deepEqual(
    [report.total, report.passed, report.failed, report.uncovered, report.ready],
    [2, 1, 1, [{ criterion: 'C2', text: 'no name prints Hello, world!' }], false],
  )
  assert.equal(report.rating, null)
  sql(at, "INSERT INTO task_ratings(conversation_id, rating, objective) VALUES ('c', 2, 'greeting')")
  const text = (await at.run(['verify', '--conversation', 'c'])).stdout
  assert.match(text, /^Rated 2 of 5 on [\d-]+ [\d:]+: greeting$/m)
  for (const part of [
    'by-name (passed',
    'the-world (failed',
    'got Hello, undefined!',
    '2 traced cases, 1 passed, 1 failed (50 %)',
  ]) {
    assert.ok(text.includes(part), part)
  }
  const lost = await at.run(['verify', '--conversation', 'c', '--html', 'no/report.html'])
  assert.deepEqual(
    [lost.code, lost.stderr],
    [1, `ona: no/report.html cannot be written: there is no folder ${join(realpathSync(at.folder), 'no')}\n`],
  )
  const page = join(at.folder, 'report.html')
  await at.run(['verify', '--conversation', 'c', '--html', page])
  assert.match(readFileSync(page, 'utf8'), /^<!doctype html>[\s\S]*got Hello, undefined![\s\S]*<\/html>\n$/)
})

test('a criterion without a case blocks, and so does a case that ran before the plan changed', async (t) => {
  const { at } = await implemented(t, [[cases[0]!]], sound)
  await move(at, 'test')
  assert.match((await move(at, 'verify')).stderr, /C2 has no test case: no name prints Hello, world!/)
  sql(at, `UPDATE plans SET content = '## Success criteria\n- x', hash = 'changed'`)
  assert.match((await move(at, 'verify')).stderr, /C1: case by-name ran before the plan or the case changed/)
})

const standing = (at: Place) =>
  at
    .rows<{ text: string }>(`SELECT criterion || ' ' || name AS text FROM ona_test_cases WHERE superseded = 0`)
    .map(({ text }) => text)

test('a criterion that got no case gets one at the next run, and the others keep theirs', async (t) => {
  const { at, model } = await implemented(t, [[cases[0]!], [], [], [], [cases[1]!]], sound)
  const entered = await move(at, 'test')
  assert.deepEqual([entered.code, entered.stdout], [0, 'c: test\n1 case written, 1 of 1 passed\n'])
  assert.match(entered.stderr, /no case yet for C2: done\nTry again with \/test or ona verify --run/)
  const asked = model.requests.length
  assert.equal((await at.run(['verify', '--conversation', 'c', '--run'])).code, 0)
  const told = JSON.parse(model.requests[asked]!).messages.at(-1).content
  assert.match(told, /- C2: no name prints Hello, world!/)
  assert.doesNotMatch(told, /- C1:/)
  assert.deepEqual(standing(at), ['C1 by-name', 'C2 the-world'])
  assert.equal((await move(at, 'verify')).code, 0)
})

test('a case that is wrong is rewritten when the operator asks, and only in the test phase', async (t) => {
  const wrong = greets('C2', 'the-world', '', 'Hello, moon!')
  const { at, model } = await implemented(t, [[cases[0]!, wrong], [], [cases[1]!]], sound)
  await move(at, 'test')
  const rewrite = (id: string) => at.run(['verify', '--conversation', 'c', '--rewrite', id])
  const unknown = await rewrite('C7')
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'ona: there is no criterion C7; the plan has C1, C2\n'])
  const asked = model.requests.length
  assert.equal((await rewrite('C2')).code, 0)
  assert.doesNotMatch(model.requests.slice(asked).join(), /moon/, 'the generator does not see what it replaces')
  await move(at, 'verify')
  assert.match((await rewrite('C2')).stderr, /cases are written in the test phase; this is verify/)
})

test('/test, in the test phase, writes what is missing, and /test C2 has the case of that criterion rewritten', async (t) => {
  const wrong = greets('C2', 'the-world', '', 'Hello, moon!')
  const { at } = await implemented(t, [[cases[0]!, wrong], [], [cases[1]!]], sound)
  await at.run(['--continue'], { input: '/exit\n' })
  await move(at, 'test')
  const typed = async (line: string) => (await at.run(['--continue'], { input: `${line}\n/exit\n` })).stdout
  assert.match(await typed('/test'), /^1 of 2 passed/m)
  assert.match(await typed('/test C2'), /^1 case written, 2 of 2 passed/m)
  assert.match(await typed('/test C9'), /Still in test: there is no criterion C9; the plan has C1, C2/)
})

test('two criteria cannot share a case by its name', async (t) => {
  const { at, model } = await implemented(t, [[cases[0]!, greets('C2', 'by-name', '', 'Hello, world!')]], sound)
  await move(at, 'test')
  assert.match(model.requests.join(), /The name by-name is taken by a case of C1; give this one another/)
  assert.deepEqual(standing(at), ['C1 by-name'])
})

test('a case that proves nothing, imports, mocks or looks inside is refused, and the generator is told why', async (t) => {
  const bad = (name: string, script: string): Call => ({
    name: 'WriteTestCase',
    input: { name, criterion: 'C1', script },
  })
  const refused = [
    bad('smoke', 'set -e\nsh "$PROJECT_DIR/bin/greet.sh" Ada\ntest $? -eq 0\n'),
    bad('imports', 'set -e\nnode -e "import(\'../lib/x.mjs\')" | grep Hello\n'),
    bad('mocks', 'set -e\nPATH="$CASE_DIR/fake:$PATH" greet Ada | grep Hello\n'),
    bad('inside', 'set -e\ngrep -q Hello "$PROJECT_DIR/lib/secret-name.mjs"\n'),
    bad('idle', 'echo fine\n'),
  ]
  const { at, model } = await implemented(t, [refused, cases], sound)
  const write = {
    tool: 'Write',
    input: { file_path: join(at.folder, 'lib/secret-name.mjs'), content: 'export const x = 2\n' },
  }
  assert.equal((await at.run(['--eval', JSON.stringify(write), '--conversation', 'c'])).code, 0)
  await move(at, 'test')
  const told = JSON.parse(model.requests[1]!).messages.filter((message: { role: string }) => message.role === 'tool')
  assert.deepEqual(
    told.map(({ content }: { content: string }) => /- (it \w+ \w+|nothing in it can fail)/.exec(content)?.[1]),
    ['it only checks', 'it loads a', 'it changes PATH', 'it looks at', 'nothing in it can fail'],
  )
  assert.deepEqual(
    at.rows('SELECT name FROM ona_test_cases WHERE superseded = 0 ORDER BY id').map((row) => row['name']),
    ['by-name', 'the-world'],
  )
})

test('a case that cannot fail is refused, however it hides that: it passes on the project without the change', async (t) => {
  const runs = 'sh "$PROJECT_DIR/bin/greet.sh" Ada > out || :\n'
  const all = [
    `set -e\n${runs}if grep -q Hello out; then exit 0; else exit 0; fi\n`,
    `set -e\n${runs}grep -q Hello out || { echo no; }\n`,
    `set -e\n${runs}{ exit 0; }\ngrep -q Hello out\n`,
    `set -e\n${runs}check() { return 0; grep -q Hello out || exit 1; }\ncheck\n`,
    `set -e\n${runs}true # grep -q Hello out\n[ -f out ] || exit 1\n`,
    `set -e\n${runs}grep -q Hello out & wait\n`,
    `set -e\n${runs}grep -q "" out || [ -e out ] || exit 1\n`,
    `set -e\n${runs}x="$(cat out)"; [ "$x" = "$(cat out)" ] || exit 1\n`,
    `set -e\n${runs}! grep -q Goodbye out || exit 1\n`,
    `set -e\n${runs}case "$(cat out)" in *) exit 0 ;; esac\ngrep -q Hello out\n`,
    `set -e\n${runs}trap 'exit 0' EXIT\ngrep -q Hello out\n`,
    `set -e\n${runs}exec true\ngrep -q Hello out\n`,
    `set -e\n${runs}test 1\n`,
    `set -e\n${runs}echo 'echo "Hello, Ada!"' > "$PROJECT_DIR/bin/greet.sh"; sh "$PROJECT_DIR/bin/greet.sh" | grep -q Hello\n`,
  ]
  const hollow = sampled(all, 6)
  const calls = hollow.map((script, at) => ({
    name: 'WriteTestCase',
    input: { name: `hollow-${at}`, criterion: 'C1', script: `#!/usr/bin/env bash\n${script}` },
  }))
  const { at, model } = await implemented(t, [calls, cases], sound)
  await move(at, 'test')
  const told = JSON.parse(model.requests[1]!).messages.filter((message: { role: string }) => message.role === 'tool')
  assert.deepEqual(
    told.map(({ content }: { content: string }) => /is refused/.test(content)),
    hollow.map(() => true),
  )
  assert.deepEqual(
    at.rows('SELECT name FROM ona_test_cases WHERE superseded = 0 ORDER BY id').map((row) => row['name']),
    ['by-name', 'the-world'],
  )
})

test('cases run in a copy: what the program writes there, among its packages too, does not reach the project', async (t) => {
  const { at } = await implemented(
    t,
    [cases],
    // in the sandbox the copy is read-only
    `#!/bin/sh
cd "$(dirname "$0")"
for path in ../made ../node_modules/dep/index.js ../node_modules/made; do (echo changed > "$path") 2>/dev/null; done
echo "Hello, \${1-world}!"
`,
  )
  at.write('node_modules/dep/index.js', 'original')
  const { stdout } = await move(at, 'test')
  assert.match(stdout, /2 of 2 passed/)
  assert.deepEqual(
    [readFileSync(join(at.folder, 'node_modules/dep/index.js'), 'utf8'), existsSync(join(at.folder, 'made'))],
    ['original', false],
  )
  assert.deepEqual(readdirSync(join(at.folder, 'node_modules')), ['dep'])
})

test('a case that a deny rule forbids is refused before it runs at all, and one that stands is not run', async (t) => {
  const { at, model } = await implemented(t, [], sound)
  const ran = join(at.folder, '../ran')
  const script = `set -eu\ntouch ${ran}\nactual=$(sh "$PROJECT_DIR/bin/greet.sh" Ada)\n[ "$actual" = 'Hello, Ada!' ] || exit 1\n`
  model.when(() => true, [{ name: 'WriteTestCase', input: { name: 'touches', criterion: 'C1', script } }])
  model.when(() => true, [...cases])
  at.write('../home/.ona/settings.json', { permissions: { deny: ['Bash(touch *)'] } })
  await move(at, 'test')
  assert.match(model.requests[1]!, /The case touches is refused:.*it may not run here/)
  assert.equal(existsSync(ran), false)

  at.write('../home/.ona/settings.json', { permissions: { deny: ['Bash(sh *)'] } })
  const again = await at.run(['verify', '--run', '--conversation', 'c'])
  assert.match(`${again.stdout}${again.stderr}`, /not run: /)
})

test('after a turn in the implement phase the terminal says that /test comes next, once', async (t) => {
  const { at } = await implemented(t, [], sound)
  const { stdout, stderr } = await at.run(['--continue'], { input: 'go on\nand on\n' })
  assert.equal(`${stdout}${stderr}`.split('/test comes next').length, 2, `${stdout}${stderr}`)
})

test('nothing of the implementation reaches the generator: not the text, the names, the diff or the debug output', async (t) => {
  const { at, model } = await implemented(t, [cases], sound)
  const canaries = {
    text: 'CANARY_TEXT_71c2',
    name: 'canary-name-9d04',
    diff: 'CANARY_DIFF_44ab',
    debug: 'CANARY_DEBUG_e1f7',
  }
  const evaluate = (tool: string, input: object) =>
    at.run(['--eval', JSON.stringify({ tool, input }), '--conversation', 'c'])
  const secret = join(at.folder, `lib/${canaries.name}.mjs`)
  await evaluate('Write', { file_path: secret, content: `export const secret = '${canaries.text}'\n` })
  await evaluate('Read', { file_path: secret })
  await evaluate('Edit', { file_path: secret, old_string: 'secret', new_string: canaries.diff })
  await evaluate('Bash', { command: `echo ${canaries.debug}` })
  // a document that the implement phase wrote, and instructions beside it, are kept out too
  await evaluate('Write', { file_path: join(at.folder, 'README.md'), content: `see ${canaries.text}\n` })
  at.write('CLAUDE.md', `the code is in ${canaries.name}\n`)
  // and a plan that quotes the code
  sql(
    at,
    `UPDATE plans SET content = content || ?`,
    `\n\n## Notes\nexport const ${canaries.diff} = '${canaries.text}'\n`,
  )
  await move(at, 'test')
  assert.equal(model.requests.length, 2)
  for (const [what, canary] of Object.entries(canaries)) {
    for (const request of model.requests) assert.equal(request.includes(canary), false, what)
  }
  const offered = JSON.parse(model.requests[0]!).tools.map((tool: { function: { name: string } }) => tool.function.name)
  assert.deepEqual(offered, ['WriteTestCase', 'PublicContract'])
  const [recorded] = at.rows<{ detail: string }>(
    `SELECT detail FROM events WHERE event_type = 'test_generation_context'`,
  )
  const { inputs } = JSON.parse(recorded!.detail) as { inputs: { name: string; hash: string }[] }
  assert.deepEqual(
    inputs.map(({ name }) => name),
    ['plan 1', 'criterion C1', 'criterion C2', 'package.json (name, bin, exports)', 'greet --help'],
  )
})

test('the copy of a case may be changed and the case itself does not: it runs as it was written', async (t) => {
  const { at } = await implemented(t, [cases])
  await move(at, 'test')
  const copy = join(at.folder, '.ona/tests/1/the-world.sh')
  at.write('.ona/tests/1/the-world.sh', '#!/bin/sh\nexit 0\n')
  assert.equal((await at.run(['verify', '--conversation', 'c', '--run'])).code, 1)
  assert.match(readFileSync(copy, 'utf8'), /Hello, world!/)
})

test('of two processes that move the same conversation, one does, and nothing is half done', async (t) => {
  const at = await conversation(t, 'implement')
  for (let round = 0; round < sized(2, 5); round++) {
    sql(at, `UPDATE conversations SET phase = 'implement' WHERE id = 'c'`)
    sql(at, `DELETE FROM events`)
    const codes = (await Promise.all([move(at, 'test'), move(at, 'test')])).map(({ code }) => code).sort()
    assert.deepEqual(codes, [0, 1])
    assert.deepEqual(
      at.rows(`SELECT event_type, count(*) AS n FROM events GROUP BY 1 ORDER BY 1`).map((row) => ({ ...row })),
      [
        { event_type: 'implementation_complete', n: 1 },
        { event_type: 'phase', n: 1 },
      ],
    )
  }
})

test('killed at any moment of a transition, phase and rows agree', async (t) => {
  const at = await conversation(t, 'implement')
  const ona = join(import.meta.dirname, '../bin/ona.mjs')
  // moments from the start of the program to its end
  for (const moment of sampled([...Array(15).keys()], 5)) {
    sql(at, `UPDATE conversations SET phase = 'implement' WHERE id = 'c'`)
    sql(at, `DELETE FROM events`)
    const child = spawn(process.execPath, [ona, '--transition', 'test', '--conversation', 'c'], {
      cwd: at.folder,
      env: { PATH: process.env['PATH'], HOME: at.home },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.on('exit', resolve))
    const kill = setTimeout(() => child.kill('SIGKILL'), 40 + moment * 6)
    await ended
    clearTimeout(kill)
    const events = at
      .rows<{ event_type: string }>('SELECT event_type FROM events ORDER BY id')
      .map((row) => row.event_type)
    assert.deepEqual(events, phaseOf(at) === 'test' ? ['implementation_complete', 'phase'] : [])
    assert.equal(at.rows<{ integrity_check: string }>('PRAGMA integrity_check')[0]!.integrity_check, 'ok')
  }
})

const demoShows = ['✖ Write', 'is refused', '✖ C2', 'Hello, undefined!', '✔ C2', 'phase: verify → done']

test('ona demo goes from plan to sign-off by itself, shows what failed, and leaves nothing behind', async (t) => {
  const at = place(t)
  const { code, stdout } = await at.run(['demo', '--yes'], { timeoutMs: 300_000 })
  assert.equal(code, 0)
  for (const part of demoShows) assert.ok(stdout.includes(part), part)
  assert.equal(existsSync(at.db), false)
})

test("the demo runs on the system's own Node as well, through the launcher", { skip: !isFull }, async (t) => {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const system = folders.map((folder) => join(folder, 'node')).find((path) => existsSync(path))
  if (system === undefined) return t.skip('there is no Node outside node_modules')
  const at = place(t)
  const program = join(import.meta.dirname, '../bin/ona.mjs')
  const env = { PATH: folders.join(delimiter), HOME: at.home, ONA_KEYCHAIN: 'off' }
  const { code, stdout } = await new Promise<{ code: number | null; stdout: string }>((resolve) => {
    const child = spawn(system, [program, 'demo', '--yes'], {
      cwd: at.folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let stdout = ''
    child.stdout.on('data', (piece) => {
      stdout += piece
    })
    child.on('close', (code) => resolve({ code, stdout }))
  })
  assert.equal(code, 0)
  for (const part of demoShows) assert.ok(stdout.includes(part), part)
})

test('the templates that the generator writes by may stand, and hold for a program that does what they say', async (t) => {
  const { templates } = await import('../src/workflow/cases/templates.ts')
  const written = templates.map(({ surface, script }, index) => ({
    name: 'WriteTestCase',
    input: { name: surface.replaceAll(' ', '-'), criterion: `C${index + 1}`, script },
  }))
  const program = `import { writeFileSync } from 'node:fs'
const [name, , out] = process.argv.slice(2)
const text = \`Hello, \${name}!\`
if (out) writeFileSync(out, \`\${text}\\n\`)
else console.log(text)
`
  const model = await modelServer(t, [written])
  const at = await conversation(t, 'planning', model.env)
  // what is there before the approval is not the change, so the cases that ask ona itself may stand
  at.write('package.json', nodeManifest)
  at.write('bin/greet.mjs', program)
  await approved(at, `## Success criteria\n${templates.map(({ surface }) => `- ${surface}\n`).join('')}`)
  await move(at, 'test')
  const { stdout } = await at.run(['verify', '--conversation', 'c', '--json'])
  const { coverage } = JSON.parse(stdout) as {
    coverage: { cases: { name: string; state: string; stderr: string }[] }[]
  }
  assert.deepEqual(
    coverage.flatMap(({ cases }) =>
      cases.map(({ name, state, stderr }) => [name, state, state === 'passed' ? '' : stderr]),
    ),
    templates.map(({ surface }) => [surface.replaceAll(' ', '-'), 'passed', '']),
  )
})
