import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { allow, ask, deny } from './answers.ts'
import { defineHook, defineStepHook } from './define.ts'
import { createPlane, type PlaneOptions } from './dispatch.ts'
import type { EventFields, EventName } from './events.ts'
import type { Handler } from './handler.ts'
import { type Invocation, quiet, type Raised, type Scope } from './plane.ts'
import { readHooks } from './settings.ts'
import type { Steps } from './steps.ts'
import { readJson } from './text/json-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-plane-'))
after(() => rmSync(folder, { recursive: true }))

const settings = (hooks: unknown): Handler[] => {
  const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'settings' } })
  assert.deepEqual(problems, [])
  return handlers
}

function stage(handlers: readonly Handler[], options: PlaneOptions = {}, more: Partial<Scope> = {}) {
  const rows: Invocation[] = []
  const scope: Scope = {
    sessionId: 's1',
    conversationId: 'c1',
    dbPath: join(folder, 'agent.db'),
    cwd: folder,
    toolUseId: 't1',
    record: (row) => rows.push(row),
    ...more,
  }
  const plane = createPlane(handlers, options)
  const raise = <E extends EventName>(name: E, fields: EventFields[E]) => plane.raise(name, fields, scope)
  const call = (args: unknown = { command: 'ls' }) => {
    const step: Steps['before_tool_apply'] = { toolName: 'Bash', safety: 'destructive', args, result: null }
    const fields = { tool_name: 'Bash', tool_input: args, tool_use_id: 't1' }
    return plane
      .ask('before_tool_apply', step, scope, { name: 'PreToolUse', fields })
      .then((answer) => ({ answer, step }))
  }
  return { plane, rows, scope, raise, call }
}

const pre = (command: string, more: object = {}) => ({ hook_event_name: 'PreToolUse', command, shell: 'sh', ...more })
const say = (output: object) => `printf %s '${JSON.stringify(output)}'`
const decide = (permissionDecision: string, more: object = {}) =>
  say({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } })

test('exit 2 denies the call, stderr is the reason, and those after it are recorded as skipped', async () => {
  const { call, rows } = stage(settings([pre('true'), pre('echo "no writes on Friday" >&2; exit 2'), pre('touch ran')]))
  const { answer } = await call()
  assert.deepEqual(
    [answer.decision, answer.reason, answer.control],
    ['deny', '[1] no writes on Friday', { kind: 'proceed' }],
  )
  assert.deepEqual(
    rows.map(({ ordinal, exitCode, skippedReason }) => [ordinal, exitCode, skippedReason]),
    [
      [0, 0, null],
      [1, 2, null],
      [2, null, 'prior_block_or_deny'],
    ],
  )
})

test('a hook reads one line of JSON with the event and where it is', async () => {
  const { call, rows } = stage(settings([pre('cat > seen; printf "%s|%s|%s" "$AGENT_SDLC_DB" "$SDLC_HOOK" "$PWD"')]))
  await call({ command: 'ls' })
  const text = readFileSync(join(folder, 'seen'), 'utf8')
  assert.equal(text.indexOf('\n'), text.length - 1)
  assert.deepEqual(JSON.parse(text), {
    hook_event_name: 'PreToolUse',
    session_id: 's1',
    conversation_id: 'c1',
    runtime_db_path: join(folder, 'agent.db'),
    cwd: folder,
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 't1',
  })
  assert.deepEqual([rows[0]!.stdout, rows[0]!.inputJson], [`${folder}/agent.db|1|${folder}`, text.trimEnd()])
})

test('parallel hooks run at the same time, on the same input, and their answers are merged in order', async () => {
  // each waits for the other; asked one after another neither would end
  const meet = (mine: string, other: string) => `echo > ${mine}; until [ -e ${other} ]; do sleep 0.01; done`
  const { call, rows } = stage(
    settings([
      pre(decide('allow', { updatedInput: { command: 'before' } })),
      pre(`cat > p1; ${meet('m1', 'm2')}; sleep 0.1; echo first >&2; exit 2`, { parallel: true }),
      pre(`cat > p2; ${meet('m2', 'm1')}; echo second >&2; exit 2`, { parallel: true }),
      pre('touch never'),
    ]),
  )
  const { answer } = await call()
  assert.deepEqual([answer.decision, answer.reason], ['deny', '[1] first\n[2] second'])
  assert.deepEqual(
    rows.map(({ ordinal, exitCode, skippedReason }) => [ordinal, exitCode, skippedReason]),
    [
      [0, 0, null],
      [1, 2, null],
      [2, 2, null],
      [3, null, 'prior_block_or_deny'],
    ],
  )
  const seen = ['p1', 'p2'].map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).tool_input)
  assert.deepEqual(seen, [{ command: 'before' }, { command: 'before' }])
  assert.ok(rows[2]!.completedAt! < rows[1]!.completedAt!, 'each has the time of its own end')
})

test('a parallel hook that changes the input refuses the call: the others have judged what it was', async () => {
  const change = pre(decide('allow', { updatedInput: { command: 'rm x' } }), { parallel: true })
  const { call, rows } = stage(settings([change, pre('true', { parallel: true })]))
  const { answer, step } = await call()
  const why = 'changes the input, which a hook with "parallel" may not; remove "parallel" from it'
  assert.deepEqual([answer.decision, answer.reason, step.args], ['deny', `[0] ${why}`, { command: 'ls' }])
  assert.deepEqual(
    answer.notes.map(({ effect, reason }) => [effect, reason]),
    [
      ['failed', why],
      ['denied', `[0] ${why}`],
    ],
  )
  assert.ok(rows[0]!.stderr!.endsWith(`[SDLC_HOOK] ${why}`))
  assert.equal(rows[1]!.exitCode, 0)
})

test('what refuses beside a change of the input still counts, and says why', async () => {
  const stopped = say({
    ...{ continue: false, stopReason: 'enough' },
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      ...{ permissionDecision: 'deny', permissionDecisionReason: 'no rm', updatedInput: {} },
    },
  })
  const { answer } = await stage(settings([pre(stopped, { parallel: true })])).call()
  const why = 'changes the input, which a hook with "parallel" may not; remove "parallel" from it'
  assert.deepEqual([answer.decision, answer.reason, answer.stop], ['deny', `[0] ${why}\nno rm`, 'enough'])
})

test('the reason has the words of every parallel hook that denied', async () => {
  const no = (reason: string) => pre(decide('deny', { permissionDecisionReason: reason }), { parallel: true })
  const { answer } = await stage(
    settings([no('no rm'), pre('echo no secrets >&2; exit 2', { parallel: true }), no('no prod')]),
  ).call()
  assert.equal(answer.reason, '[1] no secrets\nno rm\nno prod')
})

test('a parallel hook that fails beside one that denies has not failed open', async () => {
  const beside = (first: string, second: string) =>
    stage(settings([pre(first, { parallel: true }), pre(second, { parallel: true })])).call()
  const { answer } = await beside('exit 2', 'exit 1')
  assert.deepEqual(
    answer.notes.map(({ effect, failedOpen, reason }) => [effect, failedOpen, reason]),
    [
      ['denied', undefined, '[0] '],
      ['failed', undefined, 'exited with 1'],
    ],
  )
})

test('functions can be parallel; a handler of a step is not, whatever it says', async () => {
  const order: string[] = []
  const slow = (name: string) =>
    defineHook(
      'PreToolUse',
      async () => {
        order.push(`${name} begins`)
        await new Promise(setImmediate)
        order.push(`${name} ends`)
        return undefined
      },
      { name, parallel: true },
    )
  const atStep = (name: string) => {
    const run = async () => {
      order.push(`${name} begins`)
      await new Promise(setImmediate)
      order.push(`${name} ends`)
      return undefined
    }
    return { ...defineStepHook('before_tool_apply', run), parallel: true as const }
  }
  await stage([slow('a'), slow('b'), atStep('c'), atStep('d')]).call()
  assert.deepEqual(order, [
    ...['a begins', 'b begins', 'a ends', 'b ends'],
    ...['c begins', 'c ends', 'd begins', 'd ends'],
  ])
})

test('the strictest decision stands, with the reason of the hook that gave it', async () => {
  const { call } = stage(
    settings([
      pre(decide('ask', { permissionDecisionReason: 'sure?' })),
      pre(decide('allow', { permissionDecisionReason: 'fine' })),
    ]),
  )
  const { answer } = await call()
  assert.deepEqual([answer.decision, answer.reason], ['ask', 'sure?'])
})

test('a changed input flows to the hooks that follow, commands and functions, events and steps', async () => {
  const seen: unknown[] = []
  const { call } = stage([
    defineStepHook('before_tool_apply', ({ step }) => {
      step.args = { command: 'one' }
      return undefined
    }),
    defineHook('PreToolUse', ({ tool_input }) => {
      seen.push(tool_input)
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'two' } } }
    }),
    ...settings([
      pre(`cat > second; ${decide('allow', { updatedInput: { command: 'three' } })}`),
      { hook_event_name: 'before_tool_apply', command: 'cat > third', shell: 'sh' },
    ]),
  ])
  const { answer, step } = await call()
  seen.push(JSON.parse(readFileSync(join(folder, 'second'), 'utf8')).tool_input)
  seen.push(JSON.parse(readFileSync(join(folder, 'third'), 'utf8')).args)
  assert.deepEqual(seen, [{ command: 'one' }, { command: 'two' }, { command: 'three' }])
  assert.deepEqual([step.args, answer.decision], [{ command: 'three' }, 'allow'])
})

test('after the tool has run every hook is asked, and what they block with is reported to the model in order', async () => {
  const { plane, scope, rows } = stage(
    settings([
      { hook_event_name: 'PostToolUse', command: 'echo first >&2; exit 2', shell: 'sh' },
      { hook_event_name: 'PostToolUse', command: say({ decision: 'block', reason: 'second' }), shell: 'sh' },
      { hook_event_name: 'after_tool_apply', command: 'exit 2', shell: 'sh' },
      { hook_event_name: 'PostToolUse', command: 'echo third >&2; exit 2', shell: 'sh' },
    ]),
  )
  const step: Steps['after_tool_apply'] = {
    toolName: 'Bash',
    isError: false,
    output: { kind: 'text', text: 'ok' },
    additionalContext: [],
  }
  const fields = { tool_name: 'Bash', tool_input: {}, tool_response: 'ok', tool_use_id: 't1' }
  const answer = await plane.ask('after_tool_apply', step, scope, { name: 'PostToolUse', fields })
  assert.deepEqual(
    step.additionalContext,
    ['first', 'second', 'third'].map((text) => ({ type: 'text', text })),
  )
  assert.deepEqual([answer.decision, answer.context, answer.control.kind], ['none', [], 'break'])
  assert.deepEqual(
    rows.map(({ skippedReason }) => skippedReason),
    [null, null, null, null],
  )
})

test('{"async":true} is no answer: it is recorded as wrong and decides nothing; exit 2 still blocks', async () => {
  const { call, rows } = stage(settings([pre(say({ async: true })), pre(`${say({ async: true })}; exit 2`)]))
  const { answer } = await call()
  assert.equal(answer.decision, 'deny')
  assert.match(rows[0]!.stderr!, /async is true, but every hook is waited for/)
  assert.deepEqual(
    answer.notes.map(({ effect }) => effect),
    ['failed', 'denied'],
  )
})

const whyBroken = (text: string): string => {
  const read = readJson(text)
  return read.ok ? '' : read.why
}
const open = 'failed open: PreToolUse went on unchecked ("onFailure": "refuse" refuses instead)'

test('a bad field makes the changes of an answer void, and never turns a no into a yes', async () => {
  const { call, rows } = stage(
    settings([
      pre('printf "{"'),
      pre(say({ hookSpecificOutput: { hookEventName: 'Stop' } })),
      pre(decide('deny', { updatedInput: 'not an object' })),
    ]),
  )
  const { answer, step } = await call()
  assert.deepEqual([answer.decision, step.args], ['deny', { command: 'ls' }])
  assert.deepEqual(
    rows.map(({ stderr }) => stderr),
    [
      `[SDLC_HOOK] answered with broken JSON: ${whyBroken('{')}; ${open}`,
      `[SDLC_HOOK] answered with what PreToolUse does not take: hookSpecificOutput.hookEventName must be "PreToolUse"; ${open}`,
      '[SDLC_HOOK] answered with what PreToolUse does not take: hookSpecificOutput.updatedInput must be an object, not a string',
    ],
  )
  assert.match(answer.notes[0]!.reason, /broken JSON/)
})

test('the row says why an answer could not be read, where the exit code and stderr do not', async () => {
  const { plane, raise, rows, scope } = stage(
    settings([
      pre(`printf '{'; echo loading >&2`),
      pre(`printf '{'`, { onFailure: 'refuse' }),
      pre(`printf '{'`, { hook_event_name: 'after_turn_enter' }),
      pre('echo oh >&2; exit 1', { hook_event_name: 'Stop' }),
    ]),
  )
  await raise('PreToolUse', { tool_name: 'Bash', tool_input: {}, tool_use_id: 't' })
  await plane.ask('after_turn_enter', { isSubagent: false, agentType: null, additionalContext: [] }, scope)
  await raise('Stop', { stop_hook_active: false, last_assistant_message: '' })
  const why = `answered with broken JSON: ${whyBroken('{')}`
  assert.deepEqual(
    rows.map(({ stderr }) => stderr),
    [`loading\n[SDLC_HOOK] ${why}; ${open}`, `[SDLC_HOOK] ${why}`, `[SDLC_HOOK] ${why}`, 'oh\n'],
  )
})

test('a hook that runs too long is exit 2 at PreToolUse and UserPromptSubmit, and is passed over elsewhere', async () => {
  const slow = (hook_event_name: string) => ({ hook_event_name, command: 'sleep 20', shell: 'sh', timeout_ms: 50 })
  const { call, raise, rows } = stage(settings([slow('PreToolUse'), slow('UserPromptSubmit'), slow('Notification')]))
  const { answer } = await call()
  assert.deepEqual([answer.decision, answer.reason], ['deny', '[0] timed out after 50 ms'])
  assert.equal((await raise('UserPromptSubmit', { prompt: 'hi' })).decision, 'deny')
  assert.equal((await raise('Notification', { message: '', notification_type: '' })).decision, 'none')
  assert.deepEqual(
    rows.map(({ exitCode, stderr }) => [exitCode, stderr]),
    [
      [2, '[SDLC_HOOK] timed out after 50 ms'],
      [2, '[SDLC_HOOK] timed out after 50 ms'],
      [null, '[SDLC_HOOK] timed out after 50 ms'],
    ],
  )
})

test('the default limits come from the environment', async () => {
  const env = { ...process.env, SDLC_HOOK_TIMEOUT_MS: '40', SDLC_SESSIONEND_HOOK_TIMEOUT_MS: '30' }
  const slow = (hook_event_name: string) => ({ hook_event_name, command: 'sleep 20', shell: 'sh' })
  const { call, raise, rows } = stage(settings([slow('PreToolUse'), slow('SessionEnd')]), { env })
  await call()
  await raise('SessionEnd', { reason: 'other' })
  assert.deepEqual(
    rows.map(({ stderr }) => stderr),
    ['[SDLC_HOOK] timed out after 40 ms', '[SDLC_HOOK] timed out after 30 ms'],
  )
})

test('a failing guard of a gate step refuses, unless it says onError: proceed', async () => {
  const failing = { hook_event_name: 'before_tool_apply', command: 'echo broken >&2; exit 1', shell: 'sh' }
  const strict = await stage(settings([failing])).call()
  assert.equal(strict.answer.decision, 'deny')
  assert.match(strict.answer.reason, /exited with 1: broken; before_tool_apply fails closed/)
  const lax = await stage(settings([{ ...failing, onError: 'proceed' }])).call()
  assert.deepEqual([lax.answer.decision, lax.answer.notes[0]?.effect], ['none', 'failed'])
})

test('a failing hook of an event is passed over, unless it says onError: block', async () => {
  const lax = await stage(settings([pre('exit 1')])).call()
  assert.deepEqual([lax.answer.decision, lax.answer.notes[0]?.effect], ['none', 'failed'])
  assert.equal((await stage(settings([pre('exit 1', { onError: 'block' })])).call()).answer.decision, 'deny')
})

test('a guard on Task runs for the Agent tool, and deny, ask and allow are answers', async () => {
  const asked = async (handler: Handler) => {
    const { raise } = stage([handler])
    const { decision, reason } = await raise('PreToolUse', { tool_name: 'Agent', tool_input: {}, tool_use_id: 't' })
    return [decision, reason]
  }
  for (const matcher of ['Task', 'Agent', 'Task|Bash', '^Task$'])
    assert.deepEqual(await asked(defineHook('PreToolUse', () => deny('no'), { matcher })), ['deny', 'no'], matcher)
  assert.deepEqual(await asked(defineHook('PreToolUse', () => deny('no'), { matcher: 'Bash' })), ['none', ''])
  assert.deepEqual(await asked(defineHook('PreToolUse', () => ask('sure?'))), ['ask', 'sure?'])
  assert.deepEqual(await asked(defineHook('PreToolUse', () => allow())), ['allow', ''])
})

test('calls are expected by a timer that keeps no process alive, and by none where no command hook would run', (t) => {
  const { mock } = t.mock.method(globalThis, 'setTimeout')
  const expecting = (handlers: Handler[], options: PlaneOptions = {}) => {
    const { plane, scope } = stage(handlers, options)
    mock.resetCalls()
    plane.expectCalls(scope)
    return mock.calls.map(({ result }) => {
      clearTimeout(result)
      return result!.hasRef()
    })
  }
  const command = settings([pre('true')])
  assert.deepEqual(
    [
      expecting(command),
      expecting([defineHook('PreToolUse', () => undefined)]),
      expecting(settings([{ hook_event_name: 'Stop', command: 'true' }])),
      expecting(command, { env: { SDLC_DISABLE_ALL_HOOKS: '1' } }),
      expecting(command, { env: { SDLC_DISABLE_ALL_HOOKS: '0' } }),
      expecting(command, { disabled: 'why' }),
    ],
    [[false], [], [], [], [false], []],
  )
})

test('a rule is held against the input of the call, or an empty one where that is no object', async () => {
  const held: unknown[] = []
  const { raise } = stage(settings([pre('exit 2', { if: 'Bash(x)' })]), {
    matchesRule: (rule, tool, input) => {
      held.push([rule, tool, input])
      return false
    },
  })
  for (const tool_input of [{ command: 'ls' }, 'text', null, [1]])
    await raise('PreToolUse', { tool_name: 'Bash', tool_input, tool_use_id: 't' })
  assert.deepEqual(
    held,
    [{ command: 'ls' }, {}, {}, {}].map((input) => ['Bash(x)', 'Bash', input]),
  )
})

test('at a step a rule is held against the arguments that it shows, or the input of the event that it raises', async () => {
  const held: unknown[] = []
  const raised = {
    before_permission: 'PermissionRequest',
    after_permission: 'PermissionDenied',
    before_tool_apply: 'PreToolUse',
    after_tool_apply: 'PostToolUse',
  } as const
  const names = Object.keys(raised) as (keyof typeof raised)[]
  const { plane, scope } = stage(
    names.map((name) => defineStepHook(name, () => assert.fail(), { if: 'Bash(x)' })),
    {
      matchesRule: (_, tool, input) => {
        held.push([tool, input])
        return false
      },
    },
  )
  const tool = 'Bash'
  const output = { kind: 'text', text: '' } as const
  const states: Pick<Steps, keyof typeof raised> = {
    before_permission: { tool, decision: 'ask', resolved: null },
    after_permission: { tool, granted: true },
    before_tool_apply: { toolName: tool, safety: 'mutating', args: { command: 'of the step' }, result: null },
    after_tool_apply: { toolName: tool, isError: false, output, additionalContext: [] },
  }
  const fields = { tool_name: 'Read', tool_input: { command: 'of the event' }, tool_use_id: 't' }
  for (const name of names) {
    await plane.ask(name, states[name], scope)
    await plane.ask(name, states[name], scope, { name: raised[name], fields } as Raised)
  }
  assert.deepEqual(held, [
    ['Bash', {}],
    ['Read', fields.tool_input],
    ['Bash', {}],
    ['Read', fields.tool_input],
    ['Bash', { command: 'of the step' }],
    ['Read', { command: 'of the step' }],
    ['Bash', {}],
    ['Read', fields.tool_input],
  ])
})

test('the answers of a PreToolUse hook in one word, whole', () => {
  const answer = (permissionDecision: string, reason: object) => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...reason },
  })
  assert.deepEqual(
    [deny('no'), ask(''), allow('fine'), allow()],
    [
      answer('deny', { permissionDecisionReason: 'no' }),
      answer('ask', { permissionDecisionReason: '' }),
      answer('allow', { permissionDecisionReason: 'fine' }),
      answer('allow', {}),
    ],
  )
})

test('a step hook that exits 2 vetoes: the turn ends, and what it said is the reason', async () => {
  const { answer } = await stage(
    settings([{ hook_event_name: 'before_tool_apply', command: 'echo enough >&2; exit 2', shell: 'sh' }]),
  ).call()
  assert.deepEqual([answer.control, answer.reason], [{ kind: 'break', reason: 'end_turn' }, 'enough'])
})

test('at a step without a tool only hooks that take every tool run', async () => {
  const step = (matcher: string, name: string) => ({
    ...{ hook_event_name: 'before_compact', matcher, command: `echo ${name} >> order`, shell: 'sh' },
  })
  const hooks = [step('Bash', 'tool'), step('', 'every'), step('*', 'any')]
  const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'settings' } })
  assert.deepEqual(problems, [
    { level: 'warning', path: 'hooks[0].matcher', why: 'has nothing to match at before_compact: the hook never runs' },
  ])
  const { plane, scope, rows } = stage(handlers)
  await plane.ask('before_compact', { tokenEstimate: 2, threshold: 1 }, scope)
  assert.deepEqual([rows.length, readFileSync(join(folder, 'order'), 'utf8')], [2, 'every\nany\n'])
})

test('at an event with nothing to match only hooks that take all of it run; where a matcher is ignored, all do', async () => {
  const asked: string[] = []
  const hooks = (event: EventName) =>
    ['', '*', 'Bash'].map((matcher) =>
      defineHook(
        event,
        () => {
          asked.push(`${event} ${matcher}`)
        },
        { matcher },
      ),
    )
  const { raise } = stage([...hooks('TaskCreated'), ...hooks('Stop')])
  await raise('TaskCreated', { task_id: '1', task_subject: 'x' })
  await raise('Stop', { stop_hook_active: false })
  assert.deepEqual(asked, ['TaskCreated ', 'TaskCreated *', 'Stop ', 'Stop *', 'Stop Bash'])
})

test('a matcher that cannot be read matches nothing, at an event and at a step', async () => {
  const asked: string[] = []
  const { call } = stage(
    ['[', '^(\\w+)+$', 'Bash'].flatMap((matcher) => [
      defineHook(
        'PreToolUse',
        () => {
          asked.push(`event ${matcher}`)
        },
        { matcher },
      ),
      defineStepHook(
        'before_tool_apply',
        () => {
          asked.push(`step ${matcher}`)
        },
        { matcher },
      ),
    ]),
  )
  await call()
  assert.deepEqual(asked, ['event Bash', 'step Bash'])
})

test('Stop hooks keep the turn going, and what they say is its feedback', async () => {
  const { plane, scope } = stage(
    settings([
      { hook_event_name: 'Stop', command: 'echo run the tests >&2; exit 2', shell: 'sh' },
      { hook_event_name: 'Stop', command: say({ decision: 'block', reason: 'and the linter' }), shell: 'sh' },
    ]),
  )
  const step: Steps['before_turn_end'] = { stopReason: 'end_turn', continuesSoFar: 0, voluntary: true, feedback: [] }
  const answer = await plane.ask('before_turn_end', step, scope, { name: 'Stop', fields: { stop_hook_active: false } })
  assert.deepEqual(answer.control, { kind: 'continue' })
  assert.deepEqual(
    step.feedback.map((block) => block.type === 'text' && block.text),
    ['run the tests', 'and the linter'],
  )
})

test('a permission hook answers for the user', async () => {
  const answerWith = async (decision: object) => {
    const { plane, scope } = stage(
      settings([
        {
          hook_event_name: 'PermissionRequest',
          command: say({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }),
          shell: 'sh',
        },
      ]),
    )
    const step: Steps['before_permission'] = { tool: 'Bash', decision: 'ask', resolved: null }
    const fields = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    const answer = await plane.ask('before_permission', step, scope, { name: 'PermissionRequest', fields })
    return [step.resolved, answer.reason, answer.updatedInput, answer.permissionUpdates, answer.interrupt]
  }
  const update = { type: 'setMode', mode: 'acceptEdits', destination: 'session' }
  assert.deepEqual(
    await answerWith({ behavior: 'allow', updatedInput: { command: 'ls -a' }, updatedPermissions: [update] }),
    [true, '', { command: 'ls -a' }, [update], false],
  )
  assert.deepEqual(await answerWith({ behavior: 'deny', message: 'no', interrupt: true }), [
    false,
    'no',
    undefined,
    [],
    true,
  ])
})

test('plain text is for the model where a session or prompt begins, and nowhere else', async () => {
  const { raise } = stage(
    settings(
      ['SessionStart', 'UserPromptSubmit', 'Notification'].map((hook_event_name) => ({
        hook_event_name,
        command: 'echo be brief',
        shell: 'sh',
      })),
    ),
  )
  assert.deepEqual((await raise('SessionStart', { source: 'startup' })).context, ['be brief'])
  assert.deepEqual((await raise('UserPromptSubmit', { prompt: 'hi' })).context, ['be brief'])
  assert.deepEqual((await raise('Notification', { message: '', notification_type: '' })).context, [])
})

test('a permission rule decides whether a hook is asked, and it sees the input as changed so far', async () => {
  const { call, rows } = stage(
    settings([
      pre(decide('allow', { updatedInput: { command: 'git push' } })),
      pre('true', { if: 'Bash(git *)' }),
      pre('false', { if_condition: 'Bash(npm *)' }),
    ]),
    {
      matchesRule: (rule, tool, { command }) =>
        tool === 'Bash' && String(command).startsWith(rule.slice('Bash('.length, -2).trim()),
    },
  )
  await call()
  assert.deepEqual(
    rows.map(({ ordinal }) => ordinal),
    [0, 1],
  )
})

test('a hook with a permission rule is asked where nobody can say whether the call matches', async () => {
  const handlers = settings([pre('exit 2', { if: 'Bash(x)' })])
  const nameless = { tool_input: {}, tool_use_id: 't' } as EventFields['PreToolUse']
  const named = { ...nameless, tool_name: 'Bash' }
  const matchesRule = () => false
  const decisions = [
    await stage(handlers, { matchesRule }).raise('PreToolUse', nameless),
    await stage(handlers).raise('PreToolUse', named),
    await stage(handlers, { matchesRule }).raise('PreToolUse', named),
  ].map(({ decision }) => decision)
  assert.deepEqual(decisions, ['deny', 'deny', 'none'])
})

test('a hook with a permission rule is not asked at an event without a tool call', async () => {
  const { handlers } = readHooks(
    { hooks: [{ hook_event_name: 'SessionStart', command: 'true', if: 'Bash' }] },
    { source: { kind: 'settings' } },
  )
  const { raise, rows } = stage(handlers, { matchesRule: () => true })
  await raise('SessionStart', { source: 'startup' })
  assert.deepEqual(rows, [])
})

test('with hooks switched off, or a folder not trusted, each hook is recorded as skipped', async () => {
  const handlers = settings([pre('exit 2')])
  const off = stage(handlers, { env: { SDLC_DISABLE_ALL_HOOKS: '1' } })
  assert.equal((await off.call()).answer.decision, 'none')
  const withheld = handlers.map((handler) => ({ ...handler, withheld: 'untrusted_folder' }))
  const untrusted = stage(withheld)
  assert.equal((await untrusted.call()).answer.decision, 'none')
  const both = stage(withheld, { disabled: 'bare_mode', env: { SDLC_DISABLE_ALL_HOOKS: '1' } })
  assert.equal((await both.call()).answer.decision, 'none')
  assert.deepEqual(
    [...off.rows, ...untrusted.rows, ...both.rows].map(({ skippedReason, exitCode }) => [skippedReason, exitCode]),
    [
      ['hooks_disabled', null],
      ['untrusted_folder', null],
      ['bare_mode', null],
    ],
  )
})

test('a hook that has several reasons not to run is recorded with one, and only an interrupted guard refuses', async () => {
  const either = [false, true]
  for (const isOff of either)
    for (const isWithheld of either)
      for (const aborts of either)
        for (const denies of either) {
          const turn = new AbortController()
          const first = defineHook('PreToolUse', () => {
            if (aborts) turn.abort()
            return denies ? deny('no') : undefined
          })
          const second = {
            ...defineHook('PreToolUse', () => undefined),
            ...(isWithheld && { withheld: 'untrusted_folder' }),
          }
          const options = isOff ? { disabled: 'bare_mode' } : {}
          const { call, rows } = stage([first, second], options, { signal: turn.signal })
          const { decision } = (await call()).answer
          const reasons = [
            ...[isOff && 'bare_mode', isWithheld && 'untrusted_folder'],
            ...[aborts && 'interrupted', denies && 'prior_block_or_deny'],
          ]
          const reason = reasons.find((each) => each !== false) ?? null
          const refuses = !isOff && (denies || reason === 'interrupted')
          assert.deepEqual([rows[1]?.skippedReason, decision], [reason, refuses ? 'deny' : 'none'])
        }
})

test('a secret that a hook has in its command or prints is in no column of its row', async () => {
  const key = 'sk-ant-0123456789abcdef0123'
  const { call, rows } = stage(settings([pre(`: ${key}; echo ${key}; echo ${key} >&2; exit 2`)]))
  const { answer } = await call({ command: `use ${key}` })
  assert.equal(answer.reason, `[0] ${key}`, 'the model reads what the hook said')
  const { command, stdout, stderr, inputJson } = rows[0]!
  assert.deepEqual(
    [command, stdout, stderr, JSON.parse(inputJson).tool_input],
    [
      ': [redacted]; echo [redacted]; echo [redacted] >&2; exit 2',
      ...['[redacted]\n', '[redacted]\n', { command: 'use [redacted]' }],
    ],
  )
})

test('a secret whose quote is never closed takes nothing else out of the row', async () => {
  const { call, rows } = stage([defineHook('PreToolUse', () => undefined)])
  for (const quote of ['"', "'"]) {
    await call({ command: `login --password=${quote}never closed`, note: 'kept' })
    assert.deepEqual(JSON.parse(rows.pop()!.inputJson).tool_input, {
      ...{ command: `login --password=${quote}[redacted]`, note: 'kept' },
    })
  }
})

test('the first word on control stands, whatever hooks after it say', async () => {
  const { plane, scope } = stage([
    defineStepHook('before_turn_end', () => ({ control: 'break', stop_reason: 'refusal' })),
    defineHook('Stop', () => ({ decision: 'block', reason: 'go on' })),
  ])
  const step: Steps['before_turn_end'] = { stopReason: 'end_turn', continuesSoFar: 0, voluntary: true, feedback: [] }
  const event = { name: 'Stop', fields: { stop_hook_active: false } } as const
  const { control } = await plane.ask('before_turn_end', step, scope, event)
  assert.deepEqual(control, { kind: 'break', reason: 'refusal' })
})

test('the reason of the event comes first, then that of the step, then that of a guard that was not asked', async () => {
  const turn = new AbortController()
  const { call } = stage(
    [
      defineHook('PreToolUse', () => ask('sure?')),
      defineStepHook('before_tool_apply', () => {
        turn.abort()
        return { control: 'break', additional_context: ['enough'] } as never
      }),
      defineStepHook('before_tool_apply', () => undefined),
    ],
    {},
    { signal: turn.signal },
  )
  assert.equal((await call()).answer.reason, 'sure?\nenough\ninterrupted')
})

test('secrets are kept out of the record, not from the hook', async () => {
  const { call, rows } = stage(settings([pre('cat; echo password=hunter22 >&2')]))
  await call({
    command: 'curl -H "Authorization: Bearer abcdefghijklmnopqrst"',
    api_key: 'sk-ant-0123456789abcdef0123',
  })
  const [row] = rows
  assert.deepEqual(
    [row!.inputJson, row!.stdout, row!.stderr].map((text) => /abcdefghij|0123456789|hunter22/.test(text!)),
    [false, false, false],
  )
  assert.deepEqual(JSON.parse(row!.inputJson).tool_input.api_key, '[redacted]')
})

test('what is recorded is redacted as the host says, in every column', async () => {
  const { call, rows } = stage(settings([pre('echo plum; echo plum >&2')]), {
    redact: (text, as) => text.replaceAll('plum', as === 'json' ? 'JSON' : 'TEXT'),
  })
  await call({ command: 'plum' })
  const [{ command, inputJson, stdout, stderr }] = rows as [Invocation]
  assert.deepEqual(
    [command, JSON.parse(inputJson).tool_input, stdout, stderr],
    ['echo TEXT; echo TEXT >&2', { command: 'JSON' }, 'TEXT\n', 'TEXT\n'],
  )
})

test('an interrupt ends the hook that runs, refuses, and the rest are not asked', async () => {
  const controller = new AbortController()
  const { call, rows } = stage(
    settings([pre('touch started; sleep 20'), pre('true')]),
    {},
    { signal: controller.signal },
  )
  const asked = call()
  setTimeout(() => controller.abort(), 50)
  const { answer } = await asked
  assert.equal(answer.decision, 'deny')
  assert.deepEqual(
    rows.map(({ skippedReason }) => skippedReason),
    [null, 'interrupted'],
  )
})

test('an interrupt refuses nothing where the hook that it ends could not', async () => {
  const turn = new AbortController()
  const stuck = defineHook('PostToolUse', function stuck() {
    turn.abort()
    return new Promise<never>(() => {})
  })
  const { raise } = stage([stuck], {}, { signal: turn.signal })
  const fields = { tool_name: 'Bash', tool_input: {}, tool_use_id: 't', tool_response: 'done' }
  assert.deepEqual(await raise('PostToolUse', fields), {
    ...quiet,
    notes: [{ hook: 'function:stuck', event: 'PostToolUse', effect: 'failed', reason: 'was interrupted' }],
  })
})

test('a command of a step is waited for, whatever its profile and its first line are', async () => {
  const command = `echo '{"async": true}'; exit 2`
  const { plane, rows, scope } = stage(
    settings([{ hook_event_name: 'before_compact', command, shell: 'sh', profile: 'claude' }]),
  )
  const { control } = await plane.ask('before_compact', { tokenEstimate: 1, threshold: 1 }, scope)
  assert.deepEqual([control, rows.map(({ exitCode }) => exitCode)], [{ kind: 'skip' }, [2]])
})

test('where the interrupt came first no hook is asked, and nothing passes those that guard', async () => {
  const { call, raise, rows } = stage(
    settings([pre('true'), { hook_event_name: 'Notification', command: 'true' }]),
    {},
    { signal: AbortSignal.abort() },
  )
  assert.equal((await call()).answer.decision, 'deny')
  assert.equal((await raise('Notification', { message: '', notification_type: '' })).decision, 'none')
  assert.deepEqual(
    rows.map(({ skippedReason }) => skippedReason),
    ['interrupted', 'interrupted'],
  )
})

test('a hook asked once is asked once a session, by the plane with more hooks too', async () => {
  const asked: string[] = []
  const once = (name: string) =>
    defineHook(
      'Stop',
      ({ context }) => {
        asked.push(`${name} in ${context.sessionId}`)
      },
      { once: true },
    )
  const { plane, scope } = stage([once('first')])
  const more = plane.with([once('second')])
  const other = { ...scope, sessionId: 's2' }
  for (const each of [plane, plane, more, more]) await each.raise('Stop', { stop_hook_active: false }, scope)
  for (const each of [more, plane]) await each.raise('Stop', { stop_hook_active: false }, other)
  assert.deepEqual(asked, ['first in s1', 'second in s1', 'first in s2', 'second in s2'])
})

test('at a step the hooks of the event that is raised there run, whichever it was before', async () => {
  const asked: string[] = []
  const called = { tool_name: 'Bash', tool_input: {}, tool_use_id: 't1' }
  const output = { kind: 'text', text: '' } as const
  const { plane, scope } = stage([
    defineHook('PostToolUse', () => {
      asked.push('PostToolUse')
    }),
    defineStepHook('after_tool_apply', () => {
      asked.push('after_tool_apply')
    }),
    defineHook('PostToolUseFailure', () => {
      asked.push('PostToolUseFailure')
    }),
  ])
  const step = () => ({ toolName: 'Bash', isError: false, output, additionalContext: [] })
  const done = { name: 'PostToolUse', fields: { ...called, tool_response: '' } } as const
  const failed = { name: 'PostToolUseFailure', fields: { ...called, error: 'x' } } as const
  for (const event of [done, failed, undefined, done]) await plane.ask('after_tool_apply', step(), scope, event)
  const [post, at, failure] = ['PostToolUse', 'after_tool_apply', 'PostToolUseFailure']
  assert.deepEqual(asked, [post, at, at, failure, at, post, at])
})

test('a function that throws leaves the step as it was', async () => {
  const { call } = stage([
    defineStepHook('before_tool_apply', function breaks({ step }) {
      ;(step.args as { command: string }).command = 'half done'
      throw new Error('oops')
    }),
  ])
  const { answer, step } = await call()
  assert.deepEqual([step.args, answer.decision], [{ command: 'ls' }, 'deny'])
  assert.match(answer.reason, /function:breaks threw Error: oops/)
})

test('what a function writes is checked like a verdict: nonsense leaves the step as it was', async () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const nonsense = [circle, undefined, () => 1, { n: 1n }]
  for (const args of nonsense) {
    const { answer, step } = await stage([
      defineStepHook('before_tool_apply', ({ step }) => {
        step.args = args
      }),
      defineHook('PreToolUse', () => undefined),
    ]).call()
    assert.deepEqual([step.args, answer.decision], [{ command: 'ls' }, 'deny'])
    assert.match(answer.reason, /wrote what cannot stand in step\.args/)
  }
  for (const body of [{ kind: 'text' }, { kind: 'content' }, { kind: 'json', value: circle }, null]) {
    const { step } = await stage([
      defineStepHook('before_tool_apply', ({ step }) => {
        step.result = { body, isError: false } as never
      }),
    ]).call()
    assert.equal(step.result, null)
  }
})

test('a control out of place is a warning, and the round goes on', async () => {
  const { call, rows } = stage([
    defineStepHook('before_tool_apply', () => ({ kind: 'continue' })),
    defineStepHook('before_tool_apply', () => ({ args: { command: 'later' } })),
  ])
  const { answer, step } = await call()
  assert.deepEqual([answer.control.kind, step.args], ['proceed', { command: 'later' }])
  assert.match(rows[0]!.stderr!, /"continue" means nothing at before_tool_apply, only at before_turn_end/)
})

test('JSON that follows other text is not read, and that is said', async () => {
  const { call, rows } = stage(settings([pre(`echo welcome; ${decide('deny')}`)]))
  const { answer } = await call()
  assert.deepEqual([answer.decision, answer.notes[0]?.effect], ['none', 'warned'])
  assert.match(rows[0]!.stderr!, /printed text before its JSON/)
})

test('nobody listens, nothing is done', async () => {
  const { plane, call, raise, rows } = stage(settings([{ hook_event_name: 'Stop', command: 'true' }]))
  assert.deepEqual(
    [plane.listens('PreToolUse', 'before_tool_apply'), plane.listens('PreToolUse', 'Stop')],
    [false, true],
  )
  assert.deepEqual([(await call()).answer, await raise('CwdChanged', { old_cwd: '/', new_cwd: '/' })], [quiet, quiet])
  assert.deepEqual(rows, [])
})
