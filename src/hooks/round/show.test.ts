/** What the handlers of a round are shown: the same text is made once, and what one changes the next one sees. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineHook, defineStepHook } from '../define.ts'
import { createPlane } from '../dispatch.ts'
import type { Handler } from '../handler.ts'
import type { Invocation, Scope } from '../plane.ts'
import { readHooks } from '../settings.ts'
import type { Steps } from '../steps.ts'

const settings = (...hooks: object[]): Handler[] => readHooks({ hooks }, { source: { kind: 'settings' } }).handlers
const silent = (more: object = {}) => ({ hook_event_name: 'PreToolUse', command: 'true', shell: 'sh', ...more })

/** Asks at a tool call; how often an input was looked through for secrets of ours, and what each row says of the input. */
async function inputs(handlers: readonly Handler[]): Promise<{ readonly made: number; readonly shown: unknown[] }> {
  const rows: Invocation[] = []
  let made = 0
  const withhold = (text: string) => {
    made++
    return text
  }
  const scope: Scope = {
    ...{ sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/', toolUseId: 't' },
    record: (row) => rows.push(row),
  }
  const tool_input = { command: 'ls' }
  const step: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'mutating', args: tool_input, result: null }
  const fields = { tool_name: 'Bash', tool_input, tool_use_id: 't' }
  await createPlane(handlers, { withhold }).ask('before_tool_apply', step, scope, { name: 'PreToolUse', fields })
  return { made, shown: rows.map(({ inputJson }) => (JSON.parse(inputJson) as { tool_input?: unknown }).tool_input) }
}

const nothing = defineHook('PreToolUse', () => undefined)

test('hooks that are shown the same share one text', async () => {
  const ls = { command: 'ls' }
  assert.deepEqual(await inputs(settings(silent(), silent({ command: ':' }), silent({ command: 'echo' }))), {
    made: 1,
    shown: [ls, ls, ls],
  })
})

test('what a hook changes is shown to those after it', async () => {
  const change = defineHook('PreToolUse', () => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'pwd' } },
  }))
  const [ls, pwd] = [{ command: 'ls' }, { command: 'pwd' }]
  assert.deepEqual(await inputs([nothing, change, ...settings(silent(), silent({ command: ':' }))]), {
    made: 2,
    shown: [ls, ls, pwd, pwd],
  })
})

test('what a step hook writes is shown to the event hooks after it', async () => {
  const write = defineStepHook('before_tool_apply', ({ step }) => {
    step.args = { command: 'id' }
    return undefined
  })
  const { shown } = await inputs([nothing, write, ...settings(silent())])
  assert.deepEqual(shown, [{ command: 'ls' }, undefined, { command: 'id' }])
})

test('a function cannot change what those after it are shown but by its answer', async () => {
  const meddling = defineHook('PreToolUse', (args) => {
    ;(args as unknown as { tool_input: { command: string } }).tool_input.command = 'rm'
    return undefined
  })
  const { shown } = await inputs([meddling, ...settings(silent())])
  assert.deepEqual(shown, [{ command: 'ls' }, { command: 'ls' }])
})

test('a hook that is written for Claude Code is shown its own text', async () => {
  const claude = readHooks(
    { hooks: { PreToolUse: [{ matcher: '', hooks: [{ type: 'command', command: 'true', shell: 'sh' }] }] } },
    { source: { kind: 'settings' }, profile: 'claude' } as Parameters<typeof readHooks>[1],
  ).handlers
  assert.equal((await inputs([...settings(silent()), ...claude, ...settings(silent({ command: ':' }))])).made, 3)
})

test('a transcript that is not up to date is reported for each hook that reads it', async () => {
  const hook = defineHook('Stop', () => undefined, { name: 'mine' })
  const claude = {
    sessionOf: () => ({ sessionId: 'main', transcriptPath: '/t.jsonl', problem: 'the disk is full' }),
    envFile: () => '',
    deliver() {},
  }
  const scope: Scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/', record() {} }
  const handlers: Handler[] = [{ ...hook, profile: 'claude' }, hook]
  const { notes } = await createPlane(handlers, { claude }).raise('Stop', { stop_hook_active: false }, scope)
  assert.deepEqual(notes, [{ hook: 'function:mine', event: 'Stop', effect: 'warned', reason: 'the disk is full' }])
})
