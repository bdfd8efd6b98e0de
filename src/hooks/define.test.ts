import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineHook, defineStepHook } from './define.ts'
import { createPlane } from './dispatch.ts'
import type { Invocation, Scope } from './plane.ts'
import { stepNames } from './steps.ts'

const rows: Invocation[] = []
const scope: Scope = {
  sessionId: 's',
  conversationId: 'c',
  dbPath: '/db',
  cwd: '/work',
  agentId: 'a1',
  agentType: 'explore',
  record: (row) => rows.push(row),
}

test('a hook gets one object: the event, its fields, and where it is asked', async () => {
  let got: unknown
  const plane = createPlane([
    defineHook('FileChanged', ({ event, file_path, context, agent, timestamp }) => {
      const { signal: _, ...rest } = context
      got = { kind: event.event, file_path, agent, isDate: timestamp instanceof Date, ...rest }
      return undefined
    }),
  ])
  await plane.raise('FileChanged', { file_path: '/a', event: 'add' }, scope)
  assert.deepEqual(got, {
    kind: 'add',
    file_path: '/a',
    agent: { id: 'a1', type: 'explore' },
    isDate: true,
    sessionId: 's',
    conversationId: 'c',
    dbPath: '/db',
    cwd: '/work',
    projectDir: undefined,
    permissionMode: undefined,
    toolUseId: undefined,
  })
})

test('a hook at a step cannot be parallel', () => {
  const define = () => defineStepHook('before_tool_apply', () => undefined, { parallel: true } as never)
  const why =
    'defineStepHook("before_tool_apply", …): parallel belongs to events; at a step each hook sees what the one before it changed'
  assert.throws(define, new TypeError(why))
})

test('what every hook gets is covered by no field of an event, however it is called', async () => {
  let got: unknown
  const plane = createPlane([
    defineHook('Notification', ({ event, message, context, agent, timestamp }) => {
      got = { event, message, session: context.sessionId, agent, timestamp }
      return undefined
    }),
  ])
  const fields = { message: 'm', notification_type: 'n', event: 'e', context: 'c', agent: 'a', timestamp: 't' }
  const at = new Date(0)
  await plane.raise('Notification', fields, { ...scope, at })
  const header = { hook_event_name: 'Notification', session_id: 's', conversation_id: 'c', runtime_db_path: '/db' }
  assert.deepEqual(got, {
    event: { ...header, cwd: '/work', agent_id: 'a1', agent_type: 'explore', ...fields },
    message: 'm',
    session: 's',
    agent: { id: 'a1', type: 'explore' },
    timestamp: at,
  })
})

test('a function may take its time, and is given up at its limit with its signal aborted', async () => {
  let aborted = false
  const plane = createPlane([
    defineHook(
      'PreToolUse',
      ({ context }) =>
        new Promise(() => {
          context.signal.addEventListener('abort', () => {
            aborted = true
          })
        }),
      { timeoutMs: 20, name: 'sleeper' },
    ),
  ])
  const { decision, reason } = await plane.raise(
    'PreToolUse',
    { tool_name: 'X', tool_input: {}, tool_use_id: '1' },
    scope,
  )
  assert.deepEqual([decision, reason, aborted], ['deny', '[0] timed out after 20 ms', true])
  assert.equal(rows.at(-1)!.command, 'function:sleeper')
})

test('a function has the powers of a command, and no more: its answer is read the same way', async () => {
  const plane = createPlane([
    defineHook('PreToolUse', () => ({ hookSpecificOutput: { hookEventName: 'Stop' } }) as never),
    defineHook('PreToolUse', ({ tool_input }) => {
      ;(tool_input as { a: number }).a = 2
      return undefined
    }),
    defineHook('PreToolUse', async () => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' },
    })),
  ])
  const tool_input = { a: 1 }
  const answer = await plane.raise('PreToolUse', { tool_name: 'X', tool_input, tool_use_id: '1' }, scope)
  assert.deepEqual([answer.decision, answer.reason, tool_input], ['deny', 'no', { a: 1 }])
  assert.equal(answer.notes[0]?.effect, 'failed')
})

test('the old form with several parameters is refused, and the new one is shown', () => {
  const old = (_context: unknown, _agent: unknown) => undefined
  assert.throws(() => defineHook('Stop', old as never), {
    name: 'TypeError',
    message:
      'defineHook("Stop", …): the function takes 2 parameters, but a hook gets one object. ' +
      'Write defineHook("Stop", ({ context, agent, timestamp }) => { … }); ' +
      'in it are event, context, agent, timestamp and the fields of the event.',
  })
  assert.throws(() => defineStepHook('before_ingest', old as never), /Write defineStepHook\("before_ingest"/)
  assert.throws(() => defineHook('Stopp' as never, () => undefined), /did you mean "Stop"\?/)
  assert.throws(() => defineStepHook('before_tool' as never, () => undefined), /the step is "before_tool"/)
})

test('the types know each event and step', () => {
  defineHook('PreToolUse', ({ tool_name, tool_use_id }) => {
    const name: string = tool_name + tool_use_id
    return name === '' ? undefined : { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } }
  })
  // @ts-expect-error Stop has no tool
  defineHook('Stop', ({ tool_name }) => void tool_name)
  // @ts-expect-error there is no such decision
  defineHook('PreToolUse', () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'maybe' } }))
  defineStepHook('before_generate', ({ step }) => {
    step.model = 'other'
    // @ts-expect-error a fact of the step
    step.attempt = 2
    return { assistant: 'hi' }
  })
  // @ts-expect-error a verdict of another step
  defineStepHook('before_compact', () => ({ assistant: 'hi' }))
})

test('a hook in code is declared whole', () => {
  const run = () => undefined
  const options = { name: 'n', matcher: 'Bash', if: 'Bash(git *)', timeoutMs: 5, once: true } as const
  assert.deepEqual(defineHook('PreToolUse', run, { ...options, onError: 'block' }), {
    ...{ event: 'PreToolUse', name: 'n', matcher: 'Bash', ifCondition: 'Bash(git *)', timeoutMs: 5, once: true },
    ...{ onFailure: 'refuse', source: { kind: 'code' }, kind: 'function', of: 'event', run },
  })
  const match = { tool: 'Bash' }
  assert.deepEqual(defineStepHook('before_tool_apply', run, { match, onFailure: 'proceed', onError: 'block' }), {
    ...{ event: 'before_tool_apply', name: 'run', matcher: '{"tool":"Bash"}', match, ifCondition: '' },
    ...{ onFailure: 'proceed', source: { kind: 'code' }, kind: 'function', of: 'step', run },
  })
  const message = (work: () => unknown) => {
    try {
      return work()
    } catch (cause) {
      return `${(cause as Error).name}: ${(cause as Error).message}`
    }
  }
  assert.deepEqual(
    [
      message(() => defineHook('PreToolUs' as never, run)),
      message(() => defineStepHook('before_tool' as never, run)),
      message(() => defineHook('Stop', 7 as never)),
      message(() => defineStepHook('before_turn_end', ((_a: unknown, _b: unknown) => undefined) as never)),
    ],
    [
      'TypeError: defineHook: the event is "PreToolUs"; did you mean "PreToolUse"?',
      `TypeError: defineStepHook: the step is "before_tool"; it must be one of ${stepNames.join(', ')}`,
      'TypeError: defineHook("Stop", …) needs a function, not number',
      'TypeError: defineStepHook("before_turn_end", …): the function takes 2 parameters, but a hook gets one object. Write defineStepHook("before_turn_end", ({ context, agent, timestamp }) => { … }); in it are event, step, context, agent and timestamp.',
    ],
  )
})
