/** What the shipped modules answer at their limits: long lists, calls without a path, what they were told before. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type TestInput, testContext } from '../setup/testing.ts'
import type { HookAction, HookModule, Json } from '../types.ts'
import { hook as activation } from './memory-activation.ts'
import { hook as journal } from './memory-journal.ts'
import { hook as planExec } from './plan-graph-exec.ts'
import { hook as rlm } from './rlm-work.ts'
import { hook as session } from './session.ts'

const sessionRoot = '.ai/tmp/a3f0c812'

function repository(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'module-limits-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const put = (file: string, content: unknown) => {
    mkdirSync(join(root, file, '..'), { recursive: true })
    writeFileSync(join(root, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const ask = async (hook: HookModule, given: Partial<TestInput> = {}) => {
    const input = { event: 'PreToolUse' as const, ...given, module: hook.name }
    return ((await hook.handle(input.event, testContext(root, input))) ?? {}) as HookAction
  }
  return { root, put, ask }
}
const call = (tool_name: string, tool_input: Json = {}) => ({ input: { tool_name, tool_input } })
const many = (count: number) => Array.from({ length: count }, (_, at) => `src/${at + 10}.ts`)
const after = (tool_input: Json, more: Json = {}) => ({
  event: 'PostToolUse' as const,
  input: { tool_name: 'create_file', tool_input, ...more },
})

test('the log keeps fifty paths of a call, the journal twenty; an error in the middle of a result is none', async (t) => {
  const { ask } = repository(t)
  const outcome = async (hook: HookModule, input: Partial<TestInput>) =>
    (await ask(hook, input)).emitEvents![0]!.data as Json
  const files = { files: many(60) }
  assert.deepEqual((await outcome(session, after(files)))['touchedPaths'], many(50))
  assert.deepEqual((await outcome(journal, after(files)))['paths'], many(20))
  const success = async (tool_response: string) => (await outcome(session, after({}, { tool_response })))['success']
  assert.deepEqual(
    [await success('Error: no'), await success('ERROR'), await success('no Error: here'), await success('an ERROR')],
    [false, false, true, true],
  )
})

test('a prompt without words begins no new work', async (t) => {
  const { ask } = repository(t)
  const state = { core: { sessionId: 'a3f0c812', workId: 'w001', lastTurnId: 1, phase: 'EXECUTING' } }
  const { statePatch } = await ask(session, {
    event: 'UserPromptSubmit',
    state,
    config: { newWorkPattern: 'undefined' },
  })
  assert.equal((statePatch?.['core'] as Json | undefined)?.['workId'], undefined)
})

test('a policy for subagents: all paths must be exempt, and a call without a path is not; known again, it is not told again', async (t) => {
  const { ask, put } = repository(t)
  put('.ai/hooks/rlm-policy.json', {
    requireSubagent: [{ toolName: 'create_file', mode: 'deny', exemptPatterns: ['src/**'] }],
  })
  const decision = async (tool_input: Json, state: Json = {}) =>
    (await ask(rlm, { ...call('create_file', tool_input), state })).decision
  assert.deepEqual(
    [await decision({ files: ['src/a', 'src/b'] }), await decision({ files: ['src/a', 'docs/b'] }), await decision({})],
    ['allow', 'deny', 'deny'],
  )
  const { statePatch } = await ask(rlm, call('read_file'))
  assert.deepEqual(Object.keys(statePatch!['rlm'] as Json).sort(), ['lastPolicyHash', 'policyLoaded', 'policyStamp'])
  const again = await ask(rlm, { ...call('read_file'), state: statePatch! })
  assert.deepEqual(again, { decision: 'allow', warnings: [], emitEvents: [] })
})

test('a subagent has a folder of the name of its type up to 32 letters; what it left is hashed up to a mebibyte', async (t) => {
  const { ask, put } = repository(t)
  const folderOf = async (agent_type: string) => {
    const { emitEvents } = await ask(rlm, { event: 'SubagentStart', input: { agent_id: 'x', agent_type } })
    return String((emitEvents![0]!.data as Json)['artifactRoot'])
  }
  const [fits, long] = ['a'.repeat(32), 'a'.repeat(33)]
  const folder = await folderOf(fits)
  assert.ok(folder.includes(`/${fits}/`), folder)
  assert.equal((await folderOf(long)).includes(long), false)
  for (const [name, size] of [
    ['b', 1024 * 1024],
    ['a', 1024 * 1024 + 1],
  ] as const)
    put(join(folder, name), 'x'.repeat(size))
  const { registerArtifacts } = await ask(rlm, { event: 'SubagentStop', input: { agent_id: 'x', agent_type: fits } })
  assert.deepEqual(
    registerArtifacts!.map(({ ref, hash }) => [ref.slice(-2), hash !== undefined]),
    [
      ['/a', false],
      ['/b', true],
    ],
  )
})

test('follow-ups: what is excluded is a path, words are compared with words, only firings are counted', async (t) => {
  const { ask, put } = repository(t)
  const rule = (trigger: Json, more: Json = {}) => ({
    id: 'r',
    trigger: { event: 'PostToolUse', toolName: 'create_file', ...trigger },
    followup: { action: 'warn', message: 'look' },
    ...more,
  })
  const warned = async (each: Json, input: Json = {}, state: Json = {}) => {
    put('.ai/hooks/followup-rules.json', { rules: [each] })
    return (await ask(activation, { ...after(input), state })).warnings ?? []
  }
  const when = (field: string, op: string, value: unknown) => rule({ conditions: [{ field, op, value }] })
  const excluded = rule({ excludePathPatterns: ['src/**'] })
  assert.deepEqual(
    [
      await warned(excluded, { filePath: 'src/a' }),
      await warned(excluded, { filePath: 'docs/a' }),
      await warned(excluded),
      await warned(when('toolInput.n', 'contains', '1'), { n: '1' }),
      await warned(when('toolInput.n', 'contains', 1), { n: '1' }),
      await warned(when('toolInput.n', 'contains', '1'), { n: 1 }),
      await warned(when('toolInput.n', 'matches', '1'), { n: '1' }),
      await warned(when('toolInput.n', 'matches', 1), { n: '1' }),
      await warned(when('toolInput.n', 'matches', '1'), { n: 1 }),
    ],
    [[], ['look'], ['look'], ['look'], [], [], ['look'], [], []],
  )
  const once = rule({}, { cooldown: { perSession: 1 } })
  const log = (record: Json) =>
    put(`${sessionRoot}/events.jsonl`, `${JSON.stringify({ ts: 1, workId: 'w001', ...record })}\n`)
  const firing = 'MEMORY_FOLLOWUP_TRIGGER'
  const seen: unknown[] = []
  for (const record of [
    { kind: firing, data: { ruleId: 'r' } },
    { kind: 'OTHER', data: { ruleId: 'r', after: firing } },
    { kind: firing, data: { ruleId: 'other' } },
    { kind: firing },
  ]) {
    log(record)
    seen.push(await warned(once))
  }
  assert.deepEqual(seen, [[], ['look'], ['look'], ['look']])
  t.mock.timers.enable({ apis: ['Date'], now: 9000 })
  const everySecond = rule({}, { cooldown: { intervalMs: 1000 } })
  const firedAt = (lastFiredTs: number) => ({ memory: { pendingFollowups: { r: { lastFiredTs } } } })
  assert.deepEqual(
    [await warned(everySecond, {}, firedAt(8001)), await warned(everySecond, {}, firedAt(8000))],
    [[], ['look']],
  )
  put('.ai/hooks/followup-rules.json', {
    rules: [rule({}, { followup: { action: 'enqueue_tool', message: 'still' } })],
  })
  const pending = { memory: { pendingFollowups: { r: { rule: 'r', status: 'pending', triggeredAt: 2 } } } }
  const { additionalContext } = await ask(activation, { ...call('read_file'), state: pending })
  assert.deepEqual(additionalContext, [{ key: 'followup-r', value: 'still' }])
})

test('a plan is reported once; twenty of its nodes are named', async (t) => {
  const { ask, put } = repository(t)
  const planPath = `${sessionRoot}/planGraph-exec/output/planGraph.json`
  const nodes = Array.from({ length: 21 }, (_, at) => ({ id: `n${at}`, description: 'x', tool: 'create_file' }))
  put(planPath, { nodes })
  const edit = call('create_file', { filePath: 'src/a' })
  const first = await ask(planExec, edit)
  assert.deepEqual(first.emitEvents![0]!.data, { matched: 21, nodeIds: nodes.slice(0, 20).map(({ id }) => id) })
  assert.deepEqual(
    [first.emitEvents![1]!.kind, Object.keys(first.statePatch!).sort()],
    ['PHASE_TRANSITION', ['core', 'plan']],
  )
  const again = await ask(planExec, { ...edit, state: { plan: first.statePatch!['plan'] } })
  assert.deepEqual(again, { decision: 'allow', emitEvents: [first.emitEvents![0]] })
  put(planPath, { nodes: [] })
  const bad = await ask(planExec, edit)
  assert.equal(bad.warnings!.length, 1)
  const told = await ask(planExec, { ...edit, state: { plan: bad.statePatch!['plan'] } })
  assert.deepEqual(told, { decision: 'allow' })
  put(planPath, { nodes: [{ id: 'a', description: 'x', tool: 'file_search', scope: 'src' }] })
  const { updatedInput } = await ask(planExec, call('file_search', { query: '*/a.ts' }))
  assert.deepEqual(updatedInput, { query: 'src/**/*/a.ts' })
})
