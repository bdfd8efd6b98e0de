import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type EventName, eventNames } from './events.ts'
import type { Decision } from './plane.ts'
import { blocked, endsRound, merge, noOpinion, plainText, reasonOf, type Verdict, verdictOf } from './verdict.ts'
import { readOutput } from './wire/output.ts'

const texts = fc.array(fc.string(), { maxLength: 2 })
const plain = { noNullPrototype: true }
const verdict: fc.Arbitrary<Verdict> = fc.record(
  {
    decision: fc.constantFrom<Decision>('none', 'allow', 'ask', 'deny'),
    reason: fc.string(),
    blocks: fc.array(fc.record({ ordinal: fc.nat(9), text: fc.string() }, plain), { maxLength: 2 }),
    goOn: fc.boolean(),
    context: texts,
    messages: texts,
    stop: fc.option(fc.string()),
    suppressOutput: fc.boolean(),
    input: fc.option(fc.dictionary(fc.string(), fc.jsonValue(), plain), { nil: undefined }),
    permissionUpdates: fc.constant([]),
    interrupt: fc.boolean(),
    retry: fc.boolean(),
    initialUserMessage: fc.option(fc.string()),
    watchPaths: texts,
    worktreePath: fc.option(fc.string()),
    elicitation: fc.option(fc.record({ action: fc.constantFrom('accept', 'decline', 'cancel') }, plain)),
    claudeOutput: fc.option(fc.jsonValue(), { nil: undefined }),
    toolOutput: fc.option(fc.jsonValue(), { nil: undefined }),
  },
  plain,
)

test('saying nothing changes nothing', () => {
  fc.assert(
    fc.property(verdict, (one) => {
      assert.deepEqual(merge(noOpinion, one), one)
      assert.deepEqual(merge(one, noOpinion), one)
      const silent = { ...noOpinion }
      if (one.decision === 'none') return // two that decide nothing keep the first reason, which nobody reads
      assert.deepEqual(merge(silent, one), one)
      assert.deepEqual(merge(one, silent), one)
    }),
  )
})

test('it does not matter in which groups answers are joined', () => {
  fc.assert(
    fc.property(verdict, verdict, verdict, (a, b, c) => {
      assert.deepEqual(merge(merge(a, b), c), merge(a, merge(b, c)))
    }),
  )
})

test('the strictest decision wins wherever it stands', () => {
  const strictness = ['none', 'allow', 'ask', 'deny']
  fc.assert(
    fc.property(fc.array(verdict), (all) => {
      const strictest = Math.max(0, ...all.map(({ decision }) => strictness.indexOf(decision)))
      assert.equal(all.reduce(merge, noOpinion).decision, strictness[strictest])
    }),
  )
})

test('what several blocked with is reported by ordinal', () => {
  const both = merge(blocked('PreToolUse', 7, '  late \n\n'), blocked('PreToolUse', 2, 'early\n'))
  assert.deepEqual([both.decision, reasonOf(both)], ['deny', '[2] early\n[7]   late'])
  assert.equal(reasonOf({ ...noOpinion, decision: 'deny', reason: 'no' }), 'no')
})

test('exit 2 refuses where something can still be refused, and tells where it cannot', () => {
  const effect = (name: EventName) => {
    const { decision, goOn, context } = blocked(name, 0, 'why')
    return decision === 'deny'
      ? 'refuses'
      : goOn
        ? 'goes on'
        : context.length > 0
          ? 'tells the model'
          : 'tells the user'
  }
  assert.deepEqual(Object.fromEntries(eventNames.map((name) => [name, effect(name)])), {
    PreToolUse: 'refuses',
    PostToolUse: 'tells the model',
    PostToolUseFailure: 'tells the model',
    PermissionDenied: 'tells the user',
    Notification: 'tells the user',
    UserPromptSubmit: 'refuses',
    SessionStart: 'tells the user',
    SessionEnd: 'tells the user',
    Stop: 'goes on',
    StopFailure: 'tells the user',
    SubagentStart: 'tells the user',
    SubagentStop: 'goes on',
    PreCompact: 'refuses',
    PostCompact: 'tells the user',
    PermissionRequest: 'refuses',
    Setup: 'tells the user',
    TeammateIdle: 'goes on',
    TaskCreated: 'refuses',
    TaskCompleted: 'refuses',
    Elicitation: 'refuses',
    ElicitationResult: 'refuses',
    ConfigChange: 'refuses',
    InstructionsLoaded: 'tells the user',
    WorktreeCreate: 'refuses',
    WorktreeRemove: 'tells the user',
    CwdChanged: 'tells the user',
    FileChanged: 'tells the user',
  })
})

test('after the tool has run no answer ends the round', () => {
  fc.assert(
    fc.property(verdict, (one) => {
      assert.equal(endsRound('PostToolUse', one), false)
      assert.equal(endsRound('PostToolUseFailure', one), false)
      assert.equal(endsRound('PreToolUse', one), one.decision === 'deny')
    }),
  )
})

test('each word of an answer has its place in the verdict', () => {
  const read = (event: (typeof eventNames)[number], output: object, profile?: 'claude') => {
    const parsed = readOutput(event, output, profile)
    assert.ok(parsed.ok)
    const full = verdictOf(event, parsed.value as never)
    return Object.fromEntries(
      Object.entries(full).filter(
        ([key, value]) => value !== noOpinion[key as keyof Verdict] && !(Array.isArray(value) && value.length === 0),
      ),
    )
  }
  const specific = (hookEventName: string, rest: object) => ({ hookSpecificOutput: { hookEventName, ...rest } })
  const deniesBelow = specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'below' })
  const request = (decision: object) => specific('PermissionRequest', { decision })
  const update = { type: 'setMode', mode: 'plan', destination: 'session' }
  assert.deepEqual(
    [
      read('PreToolUse', { decision: 'approve', reason: 'ok' }),
      read('PreToolUse', { decision: 'block', reason: 'no' }),
      read('PreToolUse', { ...specific('PreToolUse', { permissionDecision: 'ask' }), decision: 'block' }),
      read('Stop', { decision: 'block', reason: 'more' }),
      read('PostToolUse', specific('PostToolUse', { updatedMCPToolOutput: 0, additionalContext: 'x' })),
      read('SessionStart', specific('SessionStart', { initialUserMessage: 'hi', watchPaths: ['/a'] })),
      read('PermissionDenied', specific('PermissionDenied', { retry: true })),
      read('Elicitation', specific('Elicitation', { action: 'accept', content: { a: 1 } })),
      read('Elicitation', specific('Elicitation', { action: 'decline' })),
      read('WorktreeCreate', specific('WorktreeCreate', { worktreePath: '/w' })),
      read('Notification', { continue: false, reason: 'as reason' }),
      read('Notification', { continue: false }),
      read('Notification', { continue: true, suppressOutput: false, decision: 'approve' }),
      read('Notification', { decision: 'block', reason: 'shown to the user' }),
      read('Notification', { decision: 'block' }),
      read('PostToolUse', { decision: 'block', reason: 'shown to the model' }),
      read('PreToolUse', specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'never' })),
      read('PreToolUse', { decision: 'block', reason: 'above', ...deniesBelow }),
      read('PreToolUse', { decision: 'approve', reason: 'above', ...deniesBelow }),
      read('PreToolUse', specific('PreToolUse', { permissionDecision: 'defer' }), 'claude'),
      read('PreToolUse', specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { a: 1 } })),
      read('PermissionRequest', request({ behavior: 'allow', updatedInput: { a: 2 }, updatedPermissions: [update] })),
      read('PermissionRequest', request({ behavior: 'allow' })),
      read('PermissionRequest', request({ behavior: 'deny', message: 'no', interrupt: true })),
      read('PermissionRequest', request({ behavior: 'deny', interrupt: false })),
      read('Notification', { continue: false, stopReason: 'enough', systemMessage: 'hm', suppressOutput: true }),
    ],
    [
      { decision: 'allow', reason: 'ok' },
      { decision: 'deny', reason: 'no' },
      { decision: 'deny' },
      { goOn: true, context: ['more'] },
      { toolOutput: 0, context: ['x'] },
      { initialUserMessage: 'hi', watchPaths: ['/a'] },
      { retry: true },
      { elicitation: { action: 'accept', content: { a: 1 } } },
      { elicitation: { action: 'decline' } },
      { worktreePath: '/w' },
      { stop: 'as reason' },
      { stop: 'a hook ended the turn' },
      {},
      { messages: ['shown to the user'] },
      {},
      { context: ['shown to the model'] },
      { decision: 'deny', reason: 'never' },
      { decision: 'deny', reason: 'above' },
      { decision: 'deny', reason: 'below' },
      { decision: 'ask' },
      { decision: 'allow', input: { a: 1 } },
      { decision: 'allow', input: { a: 2 }, permissionUpdates: [update] },
      { decision: 'allow' },
      { decision: 'deny', reason: 'no', interrupt: true },
      { decision: 'deny' },
      { stop: 'enough', messages: ['hm'], suppressOutput: true },
    ],
  )
})

test("Claude Code's updatedToolOutput counts with its profile alone", () => {
  const output = { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: { a: 1 } } } as never
  assert.deepEqual(verdictOf('PostToolUse', output, 'claude'), { ...noOpinion, claudeOutput: { a: 1 } })
  assert.deepEqual(verdictOf('PostToolUse', output), noOpinion)
})

test('two that decide the same keep the first reason; texts and what was blocked add up in order', () => {
  const update = (mode: 'plan' | 'default') => [{ type: 'setMode', mode, destination: 'session' }] as const
  const one: Verdict = {
    ...{ ...noOpinion, decision: 'ask', reason: 'first', blocks: [{ ordinal: 0, text: 'a' }], goOn: true },
    ...{ context: ['c1'], messages: ['m1'], stop: 'stop 1', input: { a: 1 }, permissionUpdates: update('plan') },
    ...{ interrupt: true, initialUserMessage: 'hi', watchPaths: ['/1'], worktreePath: '/w1', toolOutput: 0 },
    ...{ elicitation: { action: 'accept' }, claudeOutput: null },
  }
  const other: Verdict = {
    ...{ ...noOpinion, decision: 'ask', reason: 'second', blocks: [{ ordinal: 1, text: 'b' }], suppressOutput: true },
    ...{ context: ['c2'], messages: ['m2'], stop: 'stop 2', input: { b: 2 }, permissionUpdates: update('default') },
    ...{ retry: true, initialUserMessage: 'there', watchPaths: ['/2'], worktreePath: '/w2', toolOutput: '' },
    ...{ elicitation: { action: 'cancel' }, claudeOutput: false },
  }
  assert.deepEqual(merge(one, other), {
    decision: 'ask',
    reason: 'first',
    blocks: [
      { ordinal: 0, text: 'a' },
      { ordinal: 1, text: 'b' },
    ],
    goOn: true,
    context: ['c1', 'c2'],
    messages: ['m1', 'm2'],
    stop: 'stop 1',
    suppressOutput: true,
    input: { b: 2 },
    permissionUpdates: [...update('plan'), ...update('default')],
    interrupt: true,
    retry: true,
    initialUserMessage: 'there',
    watchPaths: ['/1', '/2'],
    worktreePath: '/w2',
    elicitation: { action: 'cancel' },
    toolOutput: '',
    claudeOutput: false,
  })
})

test('plain text is a path where a worktree is made, and too much of it is cut', () => {
  const texts = (event: EventName, text: string) => {
    const { context, worktreePath } = plainText(event, text)
    return [context, worktreePath]
  }
  assert.deepEqual(texts('WorktreeCreate', 'preparing\n/tmp/w\n'), [[], '/tmp/w'])
  assert.deepEqual(texts('SessionStart', ' hello\n'), [['hello'], null])
  assert.deepEqual(texts('UserPromptSubmit', 'hello'), [['hello'], null])
  assert.deepEqual(texts('PreToolUse', 'hello'), [[], null])
  for (const event of ['SessionStart', 'WorktreeCreate'] as const) assert.deepEqual(texts(event, ' \n'), [[], null])
  assert.deepEqual(texts('SessionStart', 'x'.repeat(10_000)), [['x'.repeat(10_000)], null])
  const cut = `${'x'.repeat(10_000)}\n[10000 characters left out]`
  assert.deepEqual(texts('SessionStart', 'x'.repeat(20_000)), [[cut], null])
})

test('no JSON value makes the reading of an answer throw', () => {
  fc.assert(
    fc.property(fc.constantFrom(...eventNames), fc.jsonValue(), (name, value) => {
      const read = readOutput(name, value)
      if (read.ok) verdictOf(name, read.value as never)
    }),
  )
})
