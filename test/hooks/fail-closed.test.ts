/** What becomes of a call when its guard fails, in every way a guard can fail. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { defineHook } from '../../src/hooks/define.ts'
import { createPlane, type PlaneOptions } from '../../src/hooks/dispatch.ts'
import { type EventFields, type EventName, eventNames, events } from '../../src/hooks/events.ts'
import type { Handler } from '../../src/hooks/handler.ts'
import type { Invocation } from '../../src/hooks/plane.ts'
import { readHooks } from '../../src/hooks/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-fail-closed-'))
after(() => rmSync(folder, { recursive: true }))

const command = (command: string, more: object = {}) => ({ command, shell: 'sh', ...more })
const failures: Record<string, object> = {
  missing: command('/no/such/guard'),
  'not executable': command('/dev/null'),
  killed: command('kill -9 $$'),
  crashed: command('exit 1'),
  'timed out': command('sleep 20', { timeout_ms: 40 }),
  'broken JSON': command('printf "{"'),
  'an answer of the wrong type': command(`printf '{"continue":"no"}'`),
  'an unreachable URL': { type: 'http', url: 'http://127.0.0.1:1/' },
  'no model to ask': { type: 'prompt', prompt: 'may it?' },
}

const sample: Partial<EventFields> = {
  PreToolUse: { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't' },
  UserPromptSubmit: { prompt: 'hi' },
  PermissionRequest: { tool_name: 'Bash', tool_input: {} },
  PreCompact: { trigger: 'auto', custom_instructions: null },
  TaskCreated: { task_id: '1', task_subject: 's' },
  TaskCompleted: { task_id: '1', task_subject: 's' },
  Elicitation: { mcp_server_name: 'm', message: 'q' },
  ElicitationResult: { mcp_server_name: 'm', action: 'accept' },
  ConfigChange: { source: 'skills' },
  WorktreeCreate: { name: 'w' },
}
const canRefuse = eventNames.filter((name) => ['deny', 'refuse'].includes(events[name].onBlock))

async function ask(handlers: readonly Handler[], name: EventName, options: PlaneOptions = {}) {
  const rows: Invocation[] = []
  const scope = {
    sessionId: 's',
    conversationId: 'c',
    dbPath: '/db',
    cwd: folder,
    record: (row: Invocation) => rows.push(row),
  }
  const answer = await createPlane(handlers, options).raise(name, sample[name] as never, scope)
  return { answer, row: rows[0]! }
}

const guard = (event: EventName, hook: object): Handler[] => {
  const { handlers, problems } = readHooks(
    { hooks: [{ hook_event_name: event, ...hook }] },
    { source: { kind: 'settings' } },
  )
  assert.deepEqual(problems, [])
  return handlers
}

test('every event that can refuse is among the samples', () => {
  assert.deepEqual(canRefuse.toSorted(), Object.keys(sample).toSorted())
})

test('a guard with "onFailure": "refuse" refuses however it fails, at every event that can refuse', async () => {
  const passed: string[] = []
  const cases = [
    ...canRefuse.map((name) => [name, 'crashed'] as const),
    ...Object.keys(failures).flatMap((way) =>
      (['PreToolUse', 'ConfigChange'] as const).map((name) => [name, way] as const),
    ),
  ]
  for (const [name, way] of cases) {
    const { answer } = await ask(guard(name, { ...failures[way], onFailure: 'refuse' }), name)
    if (answer.decision !== 'deny' || answer.reason === '' || answer.notes.some((note) => note.failedOpen))
      passed.push(`${name}: ${way}`)
  }
  assert.deepEqual(passed, [])
})

test('a function that throws, hangs, or returns garbage refuses likewise', async () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  const ways = [() => Promise.reject(Object.create(null)), () => new Promise(() => {}), () => 42, () => cyclic]
  for (const way of ways) {
    const hook = defineHook('ConfigChange', way as never, { timeoutMs: 40, onFailure: 'refuse' })
    assert.equal((await ask([hook], 'ConfigChange')).answer.decision, 'deny')
  }
})

test('a failure elsewhere counts as exit code 2 there', async () => {
  const stop = guard('Stop', { ...failures['crashed'], onFailure: 'refuse' })
  const scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: folder, record: () => {} }
  const end = { stopReason: 'end_turn', continuesSoFar: 0, voluntary: true, feedback: [] as [] } as const
  const answer = await createPlane(stop).ask('before_turn_end', { ...end }, scope, {
    name: 'Stop',
    fields: { stop_hook_active: false },
  })
  assert.deepEqual(answer.control, { kind: 'continue' })
})

test('without it the call goes on, and the note, the reason and the row say that it failed open', async () => {
  for (const way of ['missing', 'killed', 'broken JSON', 'an unreachable URL']) {
    const { answer, row } = await ask(guard('PreToolUse', failures[way]!), 'PreToolUse')
    assert.equal(answer.decision, 'none')
    assert.deepEqual(
      answer.notes.map(({ effect, failedOpen, reason }) => [effect, failedOpen, reason.includes('failed open')]),
      [['failed', true, true]],
      way,
    )
    assert.match(row.stderr!, /\[SDLC_HOOK\] .*failed open: PreToolUse went on unchecked/)
  }
})

test('the settings set the rule for all hooks, a hook for itself, and managed settings for good', async () => {
  const failing = (more: object = {}) => guard('PreToolUse', { ...failures['crashed'], ...more })
  const decision = async (handlers: Handler[], options: PlaneOptions) =>
    (await ask(handlers, 'PreToolUse', options)).answer.decision
  assert.deepEqual(
    [
      await decision(failing(), { hookFailure: 'refuse' }),
      await decision(failing({ onFailure: 'proceed' }), { hookFailure: 'refuse' }),
      await decision(failing({ onFailure: 'proceed' }), { hookFailure: 'forced' }),
      await decision(failing({ onError: 'block' }), {}),
    ],
    ['deny', 'none', 'deny', 'deny'],
  )
})

test('a refusal counts although the rest of the answer is bad or cyclic', async () => {
  const cyclic: Record<string, unknown> = {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' },
  }
  cyclic['self'] = cyclic
  const bad = `printf '{"decision":"block","reason":"no","systemMessage":7}'`
  const asks = `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","updatedInput":1}}'`
  const answers = [
    await ask([defineHook('PreToolUse', () => cyclic as never)], 'PreToolUse'),
    await ask(guard('PreToolUse', command(bad)), 'PreToolUse'),
    await ask(guard('PreToolUse', command(asks)), 'PreToolUse'),
  ]
  assert.deepEqual(
    answers.map(({ answer }) => [answer.decision, answer.reason, answer.updatedInput]),
    [
      ['deny', 'no', undefined],
      ['deny', 'no', undefined],
      ['ask', '', undefined],
    ],
  )
})

test('before a tool, text that is no JSON object is garbage where a failure refuses, and is shown where it does not', async () => {
  for (const said of ['echo fine', "echo '[]'", `echo noise; echo '{"decision":"block"}'`, "printf '\\n\\0x'"]) {
    for (const name of ['PreToolUse', 'PermissionRequest'] as const) {
      const { answer } = await ask(guard(name, command(said, { onFailure: 'refuse' })), name)
      assert.deepEqual([answer.decision, /no JSON object/.test(answer.reason)], ['deny', true], `${name} ${said}`)
    }
    const { answer } = await ask(guard('PreToolUse', command(said)), 'PreToolUse')
    assert.equal(answer.decision, 'none', said)
  }
  const prompt = await ask(guard('UserPromptSubmit', command('echo fine', { onFailure: 'refuse' })), 'UserPromptSubmit')
  assert.equal(prompt.answer.decision, 'none')
})
