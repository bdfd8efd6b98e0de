/**
 * The contract of every step and event, word for word: what is shown of a step, what each word of a verdict changes, what
 * an answer may hold at an event, and what is said of a value that does not fit.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventNames } from '../events.ts'
import { type JsonObject, parse, say } from '../shape.ts'
import { applyVerdict, controlIn, isGate, readEnvelope, sayVerdictError, toEnvelope, toolOf } from '../step/apply.ts'
import { copy, draftOf, takeDraft } from '../step/draft.ts'
import { envelopeShape, verdictShape } from '../step/table.ts'
import { type StepName, type Steps, stepNames } from '../steps.ts'
import { readOutput, refusalIn, unknownOnly } from './output.ts'

const fixture = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8'))
const text = (words: string) => ({ type: 'text', text: words }) as const
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const

const states: Steps = {
  after_session_enter: { cwd: '/w', source: 'new', additionalContext: [] },
  after_turn_enter: { isSubagent: true, agentType: 'Explore', additionalContext: [] },
  before_ingest: { source: 'user', input: [text('a'), image, text('b')] },
  after_ingest: { committedLen: 2, additionalContext: [text('before')] },
  before_compact: { tokenEstimate: 9, threshold: 8 },
  after_compact: { tokensBefore: 9, tokensAfter: 3, additionalContext: [] },
  before_generate: { model: 'm', messageCount: 1, attempt: 2, assistantText: null },
  after_generate: {
    model: 'm',
    usage: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: null, cache_creation_input_tokens: 4 },
    stop: 'end_turn',
    error: null,
  },
  before_permission: { tool: 'Bash', decision: 'ask', resolved: null },
  after_permission: { tool: 'Bash', granted: true },
  before_tool_apply: { toolName: 'Bash', safety: 'mutating', args: { a: 1 }, result: null },
  after_tool_apply: {
    ...{ toolName: 'Bash', isError: false, additionalContext: [] },
    output: { kind: 'content', blocks: [text('out'), image] },
  },
  after_tool_batch: { results: [{ tool: 'Bash', isError: true }], additionalContext: [] },
  before_turn_end: { stopReason: 'end_turn', continuesSoFar: 1, voluntary: true, feedback: [] },
}

const bodies = [
  { kind: 'text', text: 'x' },
  { kind: 'text', text: 7 },
  { kind: 'json', value: [1] },
  { kind: 'json' },
  { kind: 'content', blocks: [{ kind: 'text', text: 'x' }] },
  { kind: 'content', blocks: [{ kind: 'image', mime: 'image/png', data: { kind: 'base64', encoded: 'A' } }] },
  { kind: 'content', blocks: [{ kind: 'image', mime: 'image/png', data: { kind: 'url', url: 'https://x' } }] },
  { kind: 'content', blocks: [{ kind: 'image', mime: 7, data: { kind: 'url', url: 'https://x' } }] },
  { kind: 'content', blocks: [{ kind: 'image', mime: 'image/png', data: { kind: 'url' } }] },
  { kind: 'content', blocks: [{ kind: 'image', mime: 'image/png', data: { kind: 'base64' } }] },
  { kind: 'content', blocks: [7] },
  { kind: 'content', blocks: 7 },
  { kind: 'other' },
  7,
]
const verdicts: readonly unknown[] = [
  ...[undefined, 7, {}, { control: null }, { control: 'proceed' }, { control: 'break' }, { control: 'continue' }],
  ...[{ control: 'skip' }, { control: 'veto' }, { control: 'stop' }, { control: 7 }],
  ...['max_tokens', 'max_turn_requests', 'refusal', 'cancelled', 'else'].map((stop_reason) => ({
    ...{ control: 'break', stop_reason },
  })),
  ...[['x', 'y'], null, 'x', ['x', 7]].map((additional_context) => ({ additional_context })),
  ...['x', ['x', 'y'], null, 7, [7]].flatMap((input) => [{ input }, { prepend_input: input }]),
  ...['n', null, 7].flatMap((value) => [{ model: value }, { assistant: value }]),
  ...[true, false, null, 'yes'].map((resolved) => ({ resolved })),
  ...[{ b: 2 }, null, 7].map((args) => ({ args })),
  ...[...bodies, null].map((result) => ({ result })),
  ...[true, 'yes'].map((is_error) => ({ result: { kind: 'text', text: 'x' }, is_error })),
  { control: 'continue', model: 7 },
]

/** What a verdict did to a step, in a line: the control, the warning or the error, and what changed. */
function effect<S extends StepName>(name: S, verdict: unknown): string {
  const step = structuredClone(states[name])
  const applied = applyVerdict(name, step, verdict)
  const changed = JSON.stringify(step) === JSON.stringify(states[name]) ? '' : ` → ${JSON.stringify(step)}`
  if (!applied.ok)
    return `${sayVerdictError(applied.error)} (control ${JSON.stringify(controlIn(name, verdict))})${changed}`
  const { kind, ...more } = applied.control
  return `${kind}${'reason' in more ? ` ${more.reason}` : ''}${applied.warning ? ` (${applied.warning})` : ''}${changed}`
}

/** A function writes each value into each field of a draft: which of them count. */
function written<S extends StepName>(name: S): Record<string, string> {
  const values: readonly unknown[] = ['x', 7, null, true, [text('x')], [{ type: 'text' }], [image], [{ type: 'image' }]]
  const results = [
    { body: bodies[0], isError: true },
    { body: bodies[2], isError: 1 },
    { body: { kind: 'json', value: 1n }, isError: false },
  ]
  const more = [
    { body: { kind: 'content', blocks: [image] }, isError: false },
    { body: { kind: 'other' }, isError: false },
  ]
  const found: Record<string, string> = {}
  for (const field of Object.keys(states[name])) {
    const taken = [...values, ...results, ...more].map((value) => {
      const step = structuredClone(states[name])
      const draft = draftOf(name, step) as unknown as JsonObject
      draft[field] = value
      const { bad, warning } = takeDraft(name, step, draft as unknown as Steps[S])
      const counts = (step as unknown as JsonObject)[field] === value
      return bad ? 'bad' : warning ? 'warned' : counts ? 'taken' : 'ignored'
    })
    found[field] = taken.join(' ')
  }
  return found
}

const contractOf = (name: StepName) => {
  const shown = toEnvelope(name, states[name] as never)
  const read = readEnvelope(name, shown)
  return {
    envelope: shown,
    read: read.ok ? read.value : say(read.problem),
    missing: Object.keys(shown).map((key) => {
      const { [key]: _, ...rest } = shown
      const problem = readEnvelope(name, rest)
      return problem.ok ? `${key} may be missing` : say(problem.problem)
    }),
    wrong: Object.keys(shown).map((key) => {
      const problem = parse(envelopeShape(name), { ...shown, [key]: Symbol.iterator })
      return problem.ok ? `${key} may be anything` : say(problem.problem)
    }),
    tool: toolOf(name, states[name] as never) ?? null,
    gate: isGate(name),
    verdict: Object.keys((verdictShape(name).schema()['properties'] as object) ?? {}),
    effects: Object.fromEntries(
      verdicts
        .map((verdict) => [JSON.stringify(verdict) ?? 'undefined', effect(name, verdict)])
        .filter(([, line]) => line !== 'proceed'),
    ),
    written: written(name),
  }
}

test('the 14 steps', () => {
  const found = Object.fromEntries(stepNames.map((name) => [name, contractOf(name)]))
  assert.deepEqual(JSON.parse(JSON.stringify(found)), fixture('steps.json'))
})

const specific: JsonObject = {
  ...{
    permissionDecision: 7,
    permissionDecisionReason: 7,
    updatedInput: 7,
    additionalContext: 7,
    initialUserMessage: 7,
  },
  ...{ watchPaths: [7], updatedMCPToolOutput: 7, updatedToolOutput: 7, retry: 7, decision: { behavior: 'x' } },
  ...{ action: 'x', content: 7, worktreePath: 7 },
}
const shared: JsonObject = { continue: 7, suppressOutput: 7, stopReason: 7, decision: 'x', systemMessage: 7, reason: 7 }

test('the answers that an event takes', () => {
  const problem = (name: (typeof eventNames)[number], value: unknown, profile?: 'claude') => {
    const read = readOutput(name, value, profile)
    return read.ok ? 'ok' : say(read.problem)
  }
  const probe = (name: (typeof eventNames)[number], profile?: 'claude') => {
    const worktree = name === 'WorktreeCreate' ? { worktreePath: '/x' } : {}
    const decision = name === 'PermissionRequest' ? { decision: { behavior: 'allow' } } : {}
    const own = { hookEventName: name, ...worktree, ...decision }
    const fields = Object.entries(specific).map(([key, value]) =>
      problem(name, { hookSpecificOutput: { ...own, [key]: value } }, profile),
    )
    return [
      problem(name, { hookSpecificOutput: own }, profile),
      problem(name, { hookSpecificOutput: { hookEventName: 'Other' } }, profile),
      ...fields.filter((line) => line !== 'ok' && !line.startsWith('hookSpecificOutput has nothing')),
    ]
  }
  const found = Object.fromEntries(eventNames.map((name) => [name, probe(name)]))
  const ofClaude = Object.fromEntries(
    eventNames
      .map((name) => [name, probe(name, 'claude')])
      .filter(([name, lines]) => String(lines) !== String(found[name as string])),
  )
  const common = Object.entries(shared).map(([key, value]) => problem('Stop', { [key]: value }))
  const others = [null, 7, 'x', [], { async: true }].map((value) => problem('Stop', value))
  assert.deepEqual({ found, ofClaude, common, others }, fixture('answers.json'))
})

test('what refuses in an answer that cannot be used, and words that an event does not know', () => {
  const said = { decision: 'block', reason: 'r', continue: false, stopReason: 's', systemMessage: 7 }
  const specific = { permissionDecision: 'deny', permissionDecisionReason: 'p', action: 'decline', x: 1 }
  const refusal = {
    hookEventName: 'Stop',
    permissionDecision: 'deny',
    permissionDecisionReason: 'p',
    action: 'decline',
  }
  assert.deepEqual(refusalIn('Stop', { ...said, hookSpecificOutput: specific }), {
    ...{ decision: 'block', reason: 'r', continue: false, stopReason: 's', hookSpecificOutput: refusal },
  })
  const of = (hookSpecificOutput: object) => refusalIn('Stop', { hookSpecificOutput }).hookSpecificOutput
  assert.deepEqual(
    [
      { permissionDecision: 'ask' },
      { permissionDecision: 'defer', permissionDecisionReason: 7 },
      { permissionDecision: 'allow', permissionDecisionReason: 'p' },
      { decision: { behavior: 'deny', message: 'm' } },
      { decision: { behavior: 'allow', message: 'm' } },
      { action: 'cancel' },
      { action: 'accept' },
    ].map(of),
    [
      { hookEventName: 'Stop', permissionDecision: 'ask' },
      { hookEventName: 'Stop', permissionDecision: 'defer' },
      { hookEventName: 'Stop' },
      { hookEventName: 'Stop', decision: { behavior: 'deny', message: 'm' } },
      { hookEventName: 'Stop' },
      { hookEventName: 'Stop', action: 'cancel' },
      { hookEventName: 'Stop' },
    ],
  )
  const throwing = Object.defineProperty({}, 'decision', { enumerable: true, get: () => assert.fail('read') })
  for (const value of [throwing, null, 7, [], Object.create({ decision: 'block' })])
    assert.deepEqual(refusalIn('Stop', value), { hookSpecificOutput: { hookEventName: 'Stop' } })
  assert.deepEqual(
    [
      ...[7, {}, { a: 1, b: 2 }, { a: 1, reason: 'x' }, { permissionDecision: 'deny', reason: 'x' }],
      ...[{ hookSpecificOutput: { hookEventName: 'Stop' } }, { hookSpecificOutput: { hookEventName: 'Stop', x: 1 } }],
    ].map((value) => unknownOnly('Stop', value)),
    [undefined, undefined, 'a, b', undefined, 'permissionDecision outside of hookSpecificOutput', undefined, 'x'],
  )
  const own = (name: (typeof eventNames)[number], fields: object, profile?: 'claude') =>
    unknownOnly(name, { hookSpecificOutput: { hookEventName: name, ...fields } }, profile)
  assert.deepEqual(
    [
      own('PostToolUse', { updatedToolOutput: 1 }, 'claude'),
      own('PostToolUse', { additionalContext: 'x' }, 'claude'),
      own('PostToolUse', { updatedToolOutput: 1 }),
      own('PostToolUse', { additionalContext: 'x', y: 1 }),
      own('Stop', { additionalContext: 'x' }, 'claude'),
      own('Stop', { additionalContext: 'x' }),
    ],
    [undefined, undefined, 'updatedToolOutput', undefined, undefined, 'additionalContext'],
  )
})

test('a draft is a copy: an own __proto__ stays a plain key, and nothing is shared but text', () => {
  const args = JSON.parse('{"__proto__": {"a": [1]}, "b": [{"c": 2}]}') as { b: { c: number }[] }
  const draft = copy(args)
  assert.equal(JSON.stringify(draft), JSON.stringify(args))
  assert.equal(Object.getPrototypeOf(draft), Object.prototype)
  draft.b[0]!.c = 3
  assert.equal(args.b[0]!.c, 2)
})
