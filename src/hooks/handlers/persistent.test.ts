import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createPlane } from '../dispatch.ts'
import type { Wrap } from '../handler.ts'
import type { Invocation, Scope } from '../plane.ts'
import { readHooks } from '../settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-persistent-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const examples = join(import.meta.dirname, '../../../examples/hooks')

const serving = (body: string) => {
  const file = join(folder, `${Math.random()}.mjs`)
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
appendFileSync(import.meta.filename + '.starts', 'x')
const say = (value) => console.log(JSON.stringify(value))
createInterface({ input: process.stdin }).on('line', (line) => {
  const { protocol, id, input } = JSON.parse(line)
  if (protocol) return say({ protocol: 1 })
  const command = input.tool_input.command
  ${body}
})`,
  )
  return { file, starts: () => readFileSync(`${file}.starts`, 'utf8').length }
}

function stage(hook: object, event = 'PreToolUse', more: Partial<Scope> = {}) {
  const rows: Invocation[] = []
  const { handlers, problems } = readHooks(
    { hooks: [{ hook_event_name: event, persistent: true, ...hook }] },
    { source: { kind: 'settings' } },
  )
  assert.deepEqual(problems, [])
  const plane = createPlane(handlers, { env: { PATH: process.env['PATH'], HOME: folder } })
  const scope = {
    sessionId: 's',
    conversationId: 'c',
    dbPath: '/db',
    cwd: folder,
    record: (row: Invocation) => rows.push(row),
    ...more,
  }
  const ask = (command: string, cwd = folder) =>
    plane.raise('PreToolUse', { tool_name: 'Bash', tool_input: { command }, tool_use_id: 't' }, { ...scope, cwd })
  return { rows, ask }
}

test('one program answers every call, with the same rows as any other hook', async () => {
  const { file, starts } = serving(`
    if (command === 'deny') return say({ id, verdict: { decision: 'block', reason: 'no' } })
    if (command === 'exit2') return say({ id, block: 'not today' })
    if (command === 'bad') return say({ id, verdict: { continue: 'no' } })
    if (command === 'error') { console.error('trouble'); return setTimeout(() => say({ id, error: 'broke' }), 500) }
    say({ id, verdict: null })`)
  const { ask, rows } = stage({ command: process.execPath, args: [file] })
  const answers = []
  for (const command of ['ls', 'deny', 'exit2', 'bad', 'error']) answers.push(await ask(command))
  assert.deepEqual(
    answers.map(({ decision, reason, notes }) => [decision, reason, notes[0]?.failedOpen]),
    [
      ['none', '', undefined],
      ['deny', 'no', undefined],
      ['deny', '[0] not today', undefined],
      ['none', '', true],
      ['none', '', true],
    ],
  )
  assert.deepEqual(
    rows.map(({ exitCode, stdout }) => [exitCode, stdout]),
    [
      [0, ''],
      [0, '{"decision":"block","reason":"no"}'],
      [2, ''],
      [0, '{"continue":"no"}'],
      [null, null],
    ],
  )
  assert.match(rows[4]!.stderr!, /^trouble\n\[SDLC_HOOK\] broke\n\[SDLC_HOOK\] failed open/)
  assert.equal(starts(), 1)
})

test('a program that stays works in the folder of its calls', async () => {
  const answer = `while read -r line; do case $line in
    *protocol*) echo '{"protocol":1}' ;;
    *) id=\${line#*:}; echo "{\\"id\\":\${id%%,*},\\"block\\":\\"$PWD\\"}" ;;
  esac; done`
  const { ask } = stage({ command: answer, shell: 'sh' })
  const other = join(folder, 'other')
  mkdirSync(other)
  const reasons = []
  for (const cwd of [folder, other, folder]) reasons.push((await ask('ls', cwd)).reason)
  assert.deepEqual(
    reasons,
    [folder, other, folder].map((cwd) => `[0] ${cwd}`),
  )
})

test('a program that stays in a sandbox has the words and the environment of the sandbox', async () => {
  const { file } = serving(
    `say({ id, verdict: { decision: 'block', reason: [process.env.INSIDE, process.argv[2]].join(' ') } })`,
  )
  const wrap: Wrap = async (words, { env }) => ({ words: [...words, 'more'], env: { ...env, INSIDE: 'yes' } })
  const { ask } = stage({ command: process.execPath, args: [file] }, 'PreToolUse', { wrap })
  assert.equal((await ask('x')).reason, 'yes more')
})

test('a crash fails the call in flight by its failure rule, and the next call restarts the program', async () => {
  const { file, starts } = serving(`
    if (command === 'crash') process.exit(3)
    say({ id, verdict: null })`)
  for (const [onFailure, decision] of [
    ['refuse', 'deny'],
    ['proceed', 'none'],
  ] as const) {
    const { ask } = stage({ command: process.execPath, args: [file], onFailure })
    assert.equal((await ask('ls')).decision, 'none')
    const crashed = await ask('crash')
    assert.deepEqual([crashed.decision, crashed.notes[0]!.reason.split(';')[0]], [decision, 'ended with 3'])
    assert.equal((await ask('ls')).decision, 'none')
  }
  assert.equal(starts(), 3)
})

test('a call that takes too long ends the program, and no handshake or a wrong one is a failure', async () => {
  const { file } = serving(`if (command !== 'hang') say({ id, verdict: null })`)
  const slow = stage({ command: process.execPath, args: [file], timeout_ms: 3000 })
  assert.equal((await slow.ask('ls')).decision, 'none')
  const { decision, reason } = await slow.ask('hang')
  assert.deepEqual([decision, reason], ['deny', '[0] timed out after 3000 ms'])
  assert.equal((await slow.ask('ls')).decision, 'none')
  const wrong = await stage({ command: 'echo hello; cat', shell: 'sh', onFailure: 'refuse' }).ask('ls')
  assert.deepEqual([wrong.decision, /answered the handshake with hello/.test(wrong.reason)], ['deny', true])
  const missing = await stage({ command: '/no/such/hook', args: [], onFailure: 'refuse' }).ask('ls')
  assert.deepEqual([missing.decision, /not started|ended with/.test(missing.reason)], ['deny', true])
})

test('a program that was stopped between two calls goes on', async () => {
  const { file, starts } = serving(`say({ id, verdict: { systemMessage: String(process.pid) } })`)
  const { ask } = stage({ command: process.execPath, args: [file], timeout_ms: 60_000 })
  const [pid] = (await ask('ls')).messages
  process.kill(Number(pid), 'SIGSTOP')
  assert.deepEqual([(await ask('ls')).messages, starts()], [[pid], 1])
})

test('many calls at once are told apart', async () => {
  const { file, starts } = serving(
    `setTimeout(() => say({ id, verdict: command === 'no' ? { decision: 'block', reason: 'no' } : null }), command === 'no' ? 60 : 5)`,
  )
  const { ask } = stage({ command: process.execPath, args: [file] })
  const commands = Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? 'no' : 'ls'))
  const answers = await Promise.all(commands.map((command) => ask(command)))
  assert.deepEqual(
    answers.map(({ decision }) => decision),
    commands.map((command) => (command === 'no' ? 'deny' : 'none')),
  )
  assert.equal(starts(), 1)
})

test('of two answers the first counts; one to a call that nobody made, or that comes too late, counts for none', async () => {
  const { file, starts } = serving(`
    const no = { decision: 'block', reason: 'no' }
    if (command === 'twice') { say({ id, verdict: no }); return say({ id, verdict: null }) }
    if (command === 'guess') { say({ id: id + 1, verdict: null }); say({ id: 'x', block: 'x' }); return say({ id, verdict: null }) }
    if (command === 'late') return setTimeout(() => say({ id, verdict: null }), 60_000)
    say({ id, verdict: command === 'no' ? no : null })`)
  const { ask } = stage({ command: process.execPath, args: [file], timeout_ms: 5000 })
  const decisions: string[] = []
  for (const command of ['twice', 'ls', 'guess', 'no']) decisions.push((await ask(command)).decision)
  assert.deepEqual(decisions, ['deny', 'none', 'none', 'deny'])
  assert.equal(starts(), 1)
})

test('what a program says as it ends counts, and what is no answer fails the call', async () => {
  // a program each: a call that meets one as it ends fails by its rule
  const ask = (command: string) => {
    const { file } = serving(`
      if (command === 'garbage') return console.log('{"id":')
      if (command === 'list') return console.log('[1]')
      if (command === 'empty') return say({ id })
      if (command === 'both') return say({ id, block: 1, verdict: null })
      if (command === 'huge') return console.log('x'.repeat(5 << 20))
      process.stdout.write(JSON.stringify({ id, block: 'bye' }) + '\\n')
      process.exit(0)`)
    return stage({ command: process.execPath, args: [file], onFailure: 'refuse' }).ask(command)
  }
  for (let round = 0; round < 5; round++) assert.equal((await ask('bye')).reason, '[0] bye')
  for (const command of ['garbage', 'list', 'empty', 'both', 'huge']) {
    const { decision, reason } = await ask(command)
    assert.equal(decision, 'deny', command)
    assert.match(
      reason,
      /not a JSON object|"block" is not a string|neither a verdict nor a block|a line of more than/,
      command,
    )
  }
})

test('a slow handshake is waited for within the time limit', async () => {
  const slow = (seconds: number) =>
    `read -r line; sleep ${seconds}; echo '{"protocol":1}'; read -r line; echo '{"id":1,"verdict":null}'; cat`
  const wait = await stage({ command: slow(0.3), shell: 'sh', onFailure: 'refuse' }).ask('ls')
  assert.equal(wait.decision, 'none')
  const { decision, reason } = await stage({ command: slow(60), shell: 'sh', timeout_ms: 300 }).ask('ls')
  const why = '[0] timed out after 300 ms, without the answer {"protocol":1} to the handshake'
  assert.deepEqual([decision, reason], ['deny', why])
})

test('serveHook answers with what the function returns, and with what it throws', async () => {
  const file = join(folder, 'serve.ts')
  writeFileSync(
    file,
    `import { serveHook } from ${JSON.stringify(new URL('./serve.ts', import.meta.url).href)}
serveHook(async ({ tool_input }) => {
  if (tool_input.command === 'throw') throw new Error('oops')
  return tool_input.command === 'no' ? { decision: 'block', reason: 'no' } : undefined
})`,
  )
  const { ask } = stage({ command: process.execPath, args: [file] })
  const { decision, notes } = await ask('ls')
  assert.deepEqual([decision, notes, (await ask('no')).reason], ['none', [], 'no'])
  assert.match((await ask('throw')).notes[0]!.reason, /^oops; failed open/)
})

test('serveHook ends with its stdin, when the last call is answered, whatever the hook holds open', () => {
  const file = join(folder, 'holding.ts')
  writeFileSync(
    file,
    `import { serveHook } from ${JSON.stringify(new URL('./serve.ts', import.meta.url).href)}
setInterval(() => {}, 1000)
serveHook(({ n }) => new Promise((resolve) => setTimeout(resolve, 50, { n })))`,
  )
  const input = '{"protocol":1}\n\n{"id":1,"input":{"n":1}}\n{"id":2,"input":{"n":2}}\n'
  const { status, stdout } = spawnSync(process.execPath, [file], { input, encoding: 'utf8', timeout: 60_000 })
  const answers = '{"protocol":1}\n{"id":1,"verdict":{"n":1}}\n{"id":2,"verdict":{"n":2}}\n'
  assert.deepEqual([status, stdout], [0, answers])
})

test('the examples in Python and bash work', async () => {
  for (const file of ['persistent.py', 'persistent.sh']) {
    const { ask } = stage({ command: join(examples, file), args: [] })
    assert.deepEqual([(await ask('ls')).decision, (await ask('git push')).decision], ['none', 'deny'], file)
    assert.equal((await ask('ls')).decision, 'none')
  }
})
