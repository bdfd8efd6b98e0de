/** The exam of the test phase: what its writer may see, and what the program under test may do to it. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  approved,
  type Call,
  cases,
  conversation,
  implemented,
  manifest,
  modelServer,
  move,
  nodeCases,
  nodeSound,
  sound,
  sql,
} from '../support/workflow.ts'

const verify = async (at: { run: (words: string[]) => Promise<{ stdout: string }> }) =>
  JSON.parse((await at.run(['verify', '--conversation', 'c', '--json'])).stdout)

const write = (criterion: string, name: string, script: string): Call => ({
  name: 'WriteTestCase',
  input: { name, criterion, script },
})

test('code that Bash wrote, copied or printed does not reach the writer; what was public before does', async (t) => {
  const model = await modelServer(t, [cases])
  const at = await conversation(t, 'planning', model.env)
  at.write('docs/before.md', 'CONTROL_PUBLIC_5a11 is documented\n')
  await approved(at)
  at.write('package.json', manifest)
  const source = `#!/bin/sh
CANARY_SOURCE_9e2d=\${1-world}
if [ "$CANARY_SOURCE_9e2d" = --help ]; then cat "$0"; else echo "Hello, $CANARY_SOURCE_9e2d!"; fi
`
  const bash = (command: string) =>
    at.run(['--eval', JSON.stringify({ tool: 'Bash', input: { command } }), '--conversation', 'c'])
  at.write('draft.txt', source)
  const { code } = await bash(
    `cd ${at.folder} && mkdir -p bin docs && cp -p draft.txt bin/greet.sh && cp -p draft.txt docs/notes.md && touch -d 2020-01-01 docs/notes.md bin/greet.sh`,
  )
  assert.equal(code, 0)
  await move(at, 'test')
  assert.ok(model.requests.length > 0)
  assert.ok(model.requests[0]!.includes('CONTROL_PUBLIC_5a11'), 'the harness sees what does get through')
  for (const request of model.requests) assert.equal(request.includes('CANARY_SOURCE_9e2d'), false)
})

test('what hooks add does not reach the writer either', async (t) => {
  const model = await modelServer(t, [cases])
  const at = await conversation(t, 'planning', model.env)
  const says = (event: string, canary: string) => ({
    hook_event_name: event,
    matcher: '',
    command: `echo '{"hookSpecificOutput":{"hookEventName":"${event}","additionalContext":"${canary}"}}'`,
  })
  const events = ['UserPromptSubmit', 'SubagentStart', 'PreToolUse', 'PostToolUse', 'SessionStart']
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  const hooks = events.map((event) => says(event, `CANARY_HOOK_${event}`))
  writeFileSync(join(at.home, '.ona/settings.json'), JSON.stringify({ hooks }))
  await approved(at)
  at.write('package.json', manifest)
  at.write('bin/greet.sh', sound)
  await move(at, 'test')
  assert.ok(model.requests.length > 1)
  assert.deepEqual(
    model.requests.filter((request) => request.includes('CANARY_HOOK')),
    [],
  )
  const control = await at.run(['-p', 'hello'], { env: model.env })
  assert.equal(control.code, 0, control.stderr)
  assert.ok(model.requests.at(-1)!.includes('CANARY_HOOK_UserPromptSubmit'), 'an ordinary session does hear them')
})

test('a program cannot find its exam, and cannot change the project or the programs that judge it', async (t) => {
  const cheat = `import { execSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
const texts = []
for (const place of [process.env.CASE_DIR, process.cwd(), join(process.env.CASE_DIR, '..'), join(process.env.AGENT_SDLC_DB, '..')])
  for (const name of readdirSync(place, { recursive: true }))
    try { texts.push(readFileSync(join(place, name), 'latin1')) } catch {}
try { texts.push(execSync('tr "\\\\0" "\\\\n" < /proc/' + process.ppid + '/cmdline').toString()) } catch {}
try { texts.push(readFileSync('/dev/stdin', 'utf8')) } catch {}
const found = /Hello, (?:Ada|world)!/.exec(texts.join(''))
try { writeFileSync(join(import.meta.dirname, '../touched'), 'x') } catch {}
console.log(found ? found[0] : 'nothing')
`
  const { at } = await implemented(t, [nodeCases], cheat)
  await move(at, 'test')
  const report = await verify(at)
  const outputs = report.coverage.flatMap((row: { cases: { state: string; stdout: string }[] }) =>
    row.cases.map(({ state, stdout }) => [state, stdout]),
  )
  assert.deepEqual(outputs, [
    ['failed', 'nothing\n'],
    ['failed', 'nothing\n'],
  ])
  assert.equal(existsSync(join(at.folder, 'touched')), false, 'it ran in a copy')
  const control = await implemented(t, [cases], sound)
  await move(control.at, 'test')
  assert.equal((await verify(control.at)).ready, true)
})

test('a case that passes without the change is refused, and mutants give each criterion a kill score', async (t) => {
  const hollow = write('C1', 'hollow', 'set -eu\nnode "$PROJECT_DIR/bin/greet.mjs" Ada > out.txt\ntest -f out.txt\n')
  const weak = write('C2', 'weak', 'set -eu\nnode "$PROJECT_DIR/bin/greet.mjs" | grep -q Hello\n')
  const { at, model } = await implemented(t, [[hollow, weak], [nodeCases[0]!]], nodeSound)
  await move(at, 'test')
  assert.match(model.requests[1]!, /The case hollow is refused:.*it passes without the change as well/)
  const { coverage, ready } = await verify(at)
  const scores = coverage.map(
    ({ criterion, kill_score }: { criterion: string; kill_score: { killed: number; mutants: number } }) => [
      criterion,
      kill_score.mutants > 0,
      kill_score.killed > 0,
      kill_score.killed < kill_score.mutants,
    ],
  )
  assert.deepEqual(
    [ready, scores],
    [
      true,
      [
        ['C1', true, true, true],
        ['C2', true, true, true],
      ],
    ],
  )
  assert.match(
    (await at.run(['verify', '--conversation', 'c'])).stdout,
    /kill score: its cases fail on \d+ of \d+ mutants/,
  )
})

test('a case that no longer proves anything holds the gate', async (t) => {
  const { at } = await implemented(t, [cases], sound)
  await move(at, 'test')
  const script = 'set -eu\nsh "$PROJECT_DIR/bin/greet.sh" > out.txt\ntest -f out.txt\n'
  sql(at, "UPDATE ona_test_cases SET content = ?, hash = 'forged' WHERE name = 'the-world'", script)
  await at.run(['verify', '--conversation', 'c', '--run'])
  const { stderr, code } = await move(at, 'verify')
  assert.equal(code, 1)
  assert.match(stderr, /C2: case the-world passes without the change as well, so it proves nothing/)
})

test('a case runs under the rules and hooks of the session', async (t) => {
  const { at } = await implemented(t, [cases], sound)
  await move(at, 'test')
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(join(at.home, '.ona/settings.json'), JSON.stringify({ permissions: { deny: ['Bash(sh *)'] } }))
  await at.run(['verify', '--conversation', 'c', '--run'])
  const { coverage } = await verify(at)
  assert.match(coverage[0].cases[0].stderr, /^not run: .*Bash\(sh \*\)/)
})
