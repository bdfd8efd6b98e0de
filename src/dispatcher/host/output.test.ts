import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Run } from '../run.ts'
import { summarise } from '../summary.ts'
import type { Json } from '../types.ts'
import type { Dialect } from './host-input.ts'
import { bareOutput, buildOutput } from './output.ts'

const runOf = (name: string, more: Record<string, unknown> = {}): Run =>
  ({
    session: { event: { name, toolInput: { command: 'ls', cwd: '.' } }, ids: { hookRunId: 'r1' } },
    manifest: { autoApprove: false, stampToolInput: false },
    decision: 'allow',
    reason: '',
    approved: false,
    inputMetadata: {},
    updatedInput: undefined,
    block: undefined,
    stop: undefined,
    context: [],
    warnings: [],
    ran: ['session'],
    startMs: 0,
    budgetMs: 250,
    budgetExceeded: false,
    ...more,
  }) as unknown as Run
const output = (name: string, more: Record<string, unknown> = {}, dialect: Dialect = 'vscode'): Json => {
  const { _debug, ...rest } = buildOutput(runOf(name, more), dialect)
  if (_debug !== undefined) assert.ok(((_debug as Json)['elapsedMs'] as number) >= 0)
  return rest
}

const refused = { decision: 'deny', reason: 'no' }
const said = {
  context: [
    { key: 'k', value: 'v' },
    { key: 'l', value: 'w' },
  ],
  warnings: ['one', 'two'],
}

test('a refusal, context and warnings in the words of each host', () => {
  const specific = {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'no',
    additionalContext: '[k] v\n[l] w',
  }
  assert.deepEqual(output('PreToolUse', { ...refused, ...said }), {
    decision: 'deny',
    denyReason: 'no',
    additionalContext: said.context,
    warnings: ['one', 'two'],
    systemMessage: 'one; two',
    hookSpecificOutput: specific,
  })
  assert.deepEqual(output('PreToolUse', { ...refused, ...said }, 'claude'), {
    systemMessage: 'one; two',
    hookSpecificOutput: specific,
  })
  assert.deepEqual(output('PreToolUse', { ...refused, ...said }, 'copilot-cli'), {
    decision: 'deny',
    denyReason: 'no',
    warnings: ['one', 'two'],
    systemMessage: 'one; two',
    additionalContext: '[k] v\n[l] w',
    permissionDecision: 'deny',
    permissionDecisionReason: 'no',
    hookSpecificOutput: specific,
  })
})

test('new input is the whole input; stamps go along where the manifest wants them, and never with a deny', () => {
  const rewritten = { updatedInput: { command: 'ls -a' }, inputMetadata: { workId: 'w001' } }
  const whole = { command: 'ls -a', cwd: '.' }
  assert.deepEqual(output('PreToolUse', rewritten), {
    decision: 'allow',
    updatedInput: { workId: 'w001', command: 'ls -a' },
    hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: whole },
  })
  assert.deepEqual(output('PreToolUse', rewritten, 'copilot-cli')['modifiedArgs'], whole)
  const stamped = output('PreToolUse', { ...rewritten, manifest: { stampToolInput: true } }, 'claude')
  assert.deepEqual((stamped['hookSpecificOutput'] as Json)['updatedInput'], { ...whole, workId: 'w001' })
  const same = { updatedInput: { a: 'new' }, inputMetadata: { a: 'stamp', cwd: 'stamp' } }
  assert.deepEqual(
    output('PreToolUse', { ...same, manifest: { stampToolInput: true } }, 'copilot-cli')['modifiedArgs'],
    { command: 'ls', cwd: 'stamp', a: 'new' },
    'new input above stamps, stamps above what the call has',
  )
  const asked = output('PreToolUse', { ...rewritten, decision: 'ask', reason: 'sure?' }, 'claude')
  assert.deepEqual(asked['hookSpecificOutput'], {
    hookEventName: 'PreToolUse',
    permissionDecision: 'ask',
    permissionDecisionReason: 'sure?',
    updatedInput: whole,
  })
  assert.equal(JSON.stringify(output('PreToolUse', { ...rewritten, ...refused })).includes('ls -a'), false)
})

test('an approval is passed on only where the manifest says so', () => {
  const approves = (autoApprove: boolean, approved: boolean) =>
    (output('PreToolUse', { approved, manifest: { autoApprove } })['hookSpecificOutput'] as Json)['permissionDecision']
  assert.deepEqual(
    [approves(true, true), approves(true, false), approves(false, true)],
    ['allow', undefined, undefined],
  )
})

test('at the end of a turn a block holds it; a stop ends everything; a long message is cut', () => {
  const blocked = output('Stop', { block: 'tests fail', stop: 'enough', warnings: ['x'.repeat(1200)] })
  assert.deepEqual(
    [blocked['decision'], blocked['reason'], blocked['continue'], blocked['stopReason'], blocked['hookSpecificOutput']],
    ['block', 'tests fail', false, 'enough', { hookEventName: 'Stop', decision: 'block', reason: 'tests fail' }],
  )
  assert.equal(blocked['systemMessage'], `${'x'.repeat(999)}…`)
  assert.deepEqual(output('SubagentStop', { block: 'b' }, 'claude'), { decision: 'block', reason: 'b' })
  assert.deepEqual(output('PostToolUse', { block: 'b' }), {
    ...{ decision: 'block', reason: 'b', hookSpecificOutput: { hookEventName: 'PostToolUse' } },
  })
  for (const name of ['Stop', 'SubagentStop', 'PostToolUse', 'UserPromptSubmit', 'SessionStart']) {
    const silent = { hookSpecificOutput: { hookEventName: name } }
    assert.deepEqual(
      (['vscode', 'copilot-cli', 'claude'] as const).map((dialect) => output(name, {}, dialect)),
      [silent, silent, {}],
    )
  }
  assert.deepEqual(output('PreCompact', said, 'claude'), { systemMessage: 'one; two' })
  assert.equal(output('PreCompact')['hookSpecificOutput'], undefined)
  assert.deepEqual(output('PostToolUse', {}, 'claude'), {})
  assert.deepEqual(output('PostToolUse', { context: said.context }, 'claude'), {
    hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: '[k] v\n[l] w' },
  })
})

test('where there is no run, that is said, and a deny is a deny in every dialect', () => {
  const systemMessage = 'dispatcher: broken'
  const specific = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: systemMessage }
  assert.deepEqual(bareOutput('Stop', 'allow', 'broken'), { systemMessage, warnings: [systemMessage] })
  assert.deepEqual(bareOutput('Stop', 'allow', 'broken', 'claude'), { systemMessage })
  assert.deepEqual(bareOutput('PreToolUse', 'deny', 'broken', 'claude'), {
    systemMessage,
    hookSpecificOutput: specific,
  })
  assert.deepEqual(bareOutput('PreToolUse', 'deny', 'broken'), {
    decision: 'deny',
    denyReason: systemMessage,
    warnings: [systemMessage],
    systemMessage,
    hookSpecificOutput: specific,
  })
  assert.deepEqual(bareOutput('PreToolUse', 'deny', 'broken', 'copilot-cli'), {
    ...bareOutput('PreToolUse', 'deny', 'broken'),
    permissionDecision: 'deny',
    permissionDecisionReason: systemMessage,
  })
  assert.deepEqual(bareOutput('PreToolUse', 'allow', 'broken', 'copilot-cli'), {
    decision: 'allow',
    warnings: [systemMessage],
    systemMessage,
    hookSpecificOutput: { hookEventName: 'PreToolUse' },
  })
})

test('a summary of input is shallow and short, and holds no secret', () => {
  assert.equal(summarise(undefined, undefined), undefined)
  assert.deepEqual(summarise({ 'API-Key': 's', token: 1, n: null, text: 'x'.repeat(200) }, ['apiKey']), {
    'API-Key': '[redacted]',
    token: 1,
    n: null,
    text: 'x'.repeat(200),
  })
  assert.deepEqual(summarise({ password: 's', long: 'x'.repeat(201) }, undefined), {
    password: '[redacted]',
    long: `${'x'.repeat(100)}… (201 characters)`,
  })
  assert.deepEqual(summarise({ a: { b: { c: { d: { e: 1 }, list: [1, 2] } } } }, []), {
    a: { b: { c: { d: '{…}', list: '[2 items]' } } },
  })
  assert.deepEqual(summarise({ list: Array.from({ length: 22 }, (_, at) => at) }, []), {
    list: [...Array.from({ length: 20 }, (_, at) => at), '… 2 more'],
  })
  const wide = summarise(Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, at])), []) as Json
  assert.deepEqual([Object.keys(wide).length, wide['…']], [21, '1 more'])
  const big = summarise({ list: Array.from({ length: 20 }, () => ({ a: 'x'.repeat(200), b: 'y'.repeat(200) })) }, [])
  assert.match(big as string, /^\{"list":.*… \(\d{4} characters\)$/s)
  assert.ok((big as string).length < 4096)
})

test('stamps alone make a new input where the manifest wants them; nothing to say leaves the input alone', () => {
  const manifest = { autoApprove: false, stampToolInput: true }
  assert.deepEqual(output('PreToolUse', { manifest, inputMetadata: { _hookA: 1 } })['hookSpecificOutput'], {
    hookEventName: 'PreToolUse',
    updatedInput: { command: 'ls', cwd: '.', _hookA: 1 },
  })
  for (const more of [
    { manifest },
    { inputMetadata: { _hookA: 1 } },
    { manifest, inputMetadata: { _hookA: 1 }, ...refused },
  ])
    assert.equal('updatedInput' in (output('PreToolUse', more)['hookSpecificOutput'] as Json), false)
})

test('what is said of the run itself', () => {
  const { _debug } = buildOutput(runOf('Stop', { ran: ['session', 'x'], budgetExceeded: true }), 'vscode')
  const { elapsedMs, ...rest } = _debug as Json
  assert.equal(typeof elapsedMs, 'number')
  assert.deepEqual(rest, { hookRunId: 'r1', modulesRan: ['session', 'x'], budgetMs: 250, budgetExceeded: true })
})
