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
  const both = merge(blocked('PreToolUse', 7, 'late\n'), blocked('PreToolUse', 2, 'early\n'))
  assert.deepEqual([both.decision, reasonOf(both)], ['deny', '[2] early\n[7] late'])
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
  const read = (event: (typeof eventNames)[number], output: object) => {
    const parsed = readOutput(event, output)
    assert.ok(parsed.ok)
    const full = verdictOf(event, parsed.value as never)
    return Object.fromEntries(
      Object.entries(full).filter(
        ([key, value]) => value !== noOpinion[key as keyof Verdict] && !(Array.isArray(value) && value.length === 0),
      ),
    )
  }
  const specific = (hookEventName: string, rest: object) => ({ hookSpecificOutput: { hookEventName, ...rest } })
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
      read('WorktreeCreate', specific('WorktreeCreate', { worktreePath: '/w' })),
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
      { worktreePath: '/w' },
      { stop: 'enough', messages: ['hm'], suppressOutput: true },
    ],
  )
})

test('plain text is a path where a worktree is made, and too much of it is cut', () => {
  assert.equal(plainText('WorktreeCreate', 'preparing\n/tmp/w\n').worktreePath, '/tmp/w')
  assert.match(plainText('SessionStart', 'x'.repeat(20_000)).context[0]!, /^x{10000}\n\[10000 characters left out\]$/)
})

test('no JSON value makes the reading of an answer throw', () => {
  fc.assert(
    fc.property(fc.constantFrom(...eventNames), fc.jsonValue(), (name, value) => {
      const read = readOutput(name, value)
      if (read.ok) verdictOf(name, read.value as never)
    }),
  )
})
