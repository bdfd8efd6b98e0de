import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claudeInput } from '../claude/contract.ts'
import { eventNames, rowOf } from '../events.ts'
import { truncationMark } from '../handlers/command.ts'
import { noOpinion, type Verdict } from '../verdict.ts'
import {
  canRefuse,
  countsAsBlock,
  eventInput,
  isControl,
  readEventReply,
  readStepReply,
  stepInput,
  whyOf,
} from './messages.ts'

const scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: '/w', record: () => {} }
const whole = { ...scope, permissionMode: 'plan', agentId: 'a', agentType: 'explore', toolUseId: 't' }

test('a hook of an event gets the header, who asks, and the fields', () => {
  const header = { hook_event_name: 'Stop', session_id: 's', conversation_id: 'c', runtime_db_path: '/db', cwd: '/w' }
  assert.deepEqual(eventInput('Stop', { x: 1 }, scope), { ...header, x: 1 })
  assert.deepEqual(eventInput('Stop', {}, whole), {
    ...header,
    permission_mode: 'plan',
    agent_id: 'a',
    agent_type: 'explore',
  })
})

test('a hook of a step gets the envelope and its header; an empty conversation is left out', () => {
  const step = { tool: 'Bash', granted: true }
  const header = { session_id: 's', cwd: '/w', hook_event: 'after_permission' }
  const fields = { tool: 'Bash', granted: true }
  assert.deepEqual(stepInput('after_permission', step, scope), { ...header, conversation_id: 'c', ...fields })
  assert.deepEqual(stepInput('after_permission', step, { ...scope, conversationId: '' }), { ...header, ...fields })
  assert.deepEqual(stepInput('after_permission', step, whole), {
    ...header,
    conversation_id: 'c',
    tool_use_id: 't',
    permission_mode: 'plan',
    agent_id: 'a',
    agent_type: 'explore',
    ...fields,
  })
})

test('no field of an event or a step is covered by the header or by who asks', () => {
  for (const name of eventNames) {
    const own = Object.fromEntries(Object.keys(rowOf(name).fields).map((field) => [field, `own ${field}`]))
    const shown = eventInput(name, own, whole)
    assert.deepEqual({ ...shown, ...own }, shown, name)
    const claude = claudeInput({ name, fields: own } as never, own, whole)
    const { agent_transcript_path: _, ...same } = own // the host names it
    assert.deepEqual({ ...claude, ...same }, claude, name)
  }
  const entered = { cwd: '/own', source: 'new' as const, additionalContext: [] }
  const turn = { isSubagent: true, agentType: 'own', additionalContext: [] }
  const { cwd } = stepInput('after_session_enter', entered, whole)
  const { agent_type } = stepInput('after_turn_enter', turn, whole)
  assert.deepEqual([cwd, agent_type], ['/own', 'own'])
})

type Said = Parameters<typeof readEventReply>[1]
const audit = { exitCode: 0, stdout: null, stderr: null }
const text = (said: string): Said => ({ ...audit, kind: 'text', text: said })
const answer = (value: unknown, fault?: string): Said => ({ ...audit, kind: 'answer', value, ...(fault && { fault }) })
const failure = (cause: 'failed' | 'timed-out'): Said => ({ ...audit, kind: 'failure', why: 'it broke', cause })

const read = (event: 'PreToolUse' | 'SessionStart' | 'Stop' | 'PermissionRequest', reply: Said, refuses = false) =>
  readEventReply({ event, ordinal: 3, kind: 'command' }, reply, refuses)
const denied = (why: string): Verdict => ({ ...noOpinion, decision: 'deny', blocks: [{ ordinal: 3, text: why }] })

test('what a reply means, where a failure lets the call pass', () => {
  const before = { warning: 'printed text before its JSON, so the JSON was not read; print nothing else on stdout' }
  const cases: [ReturnType<typeof read>, ReturnType<typeof read>][] = [
    [read('PreToolUse', { ...audit, kind: 'nothing' }), { verdict: noOpinion }],
    [read('PreToolUse', text('hello')), { verdict: noOpinion }],
    [read('PreToolUse', text('a {brace} in a line')), { verdict: noOpinion }],
    [read('PreToolUse', text('hello\n{"a":1}')), { verdict: noOpinion, ...before }],
    [read('SessionStart', text('hello')), { verdict: { ...noOpinion, context: ['hello'] } }],
    [read('PreToolUse', { ...audit, kind: 'block', text: 'no\n' }), { verdict: denied('no') }],
    [read('PreToolUse', failure('failed')), { verdict: noOpinion, failure: 'it broke' }],
    [read('PreToolUse', failure('timed-out')), { verdict: denied('it broke'), failure: 'it broke' }],
    [read('Stop', failure('timed-out')), { verdict: noOpinion, failure: 'it broke' }],
    [read('PreToolUse', answer({})), { verdict: noOpinion }],
    [read('PreToolUse', answer({ nothing: 'known' })), { verdict: noOpinion }],
  ]
  for (const [given, expected] of cases) assert.deepEqual(given, expected)
  const bad = read('PreToolUse', answer({ decision: 'block', reason: 'no', continue: 7 }))
  assert.deepEqual([bad.verdict.decision, bad.verdict.reason], ['deny', 'no'])
  assert.match(bad.failure!, /^answered with what PreToolUse does not take: continue /)
  assert.deepEqual(read('PreToolUse', answer(undefined, 'no JSON')), { verdict: noOpinion, failure: 'no JSON' })
})

test('where a failure refuses, text, garbage and unknown words refuse too', () => {
  const refused = (event: Parameters<typeof read>[0], reply: Said) => read(event, reply, true)
  const why = (failure: string) => ({ verdict: denied(`the hook failed: ${failure}`), failure })
  assert.deepEqual(refused('PreToolUse', failure('failed')), why('it broke'))
  assert.deepEqual(refused('PreToolUse', text(`x${truncationMark}`)), why('printed more than is read'))
  assert.deepEqual(
    refused('PreToolUse', text(` ${'y'.repeat(90)}`)),
    why(`answered with text that is no JSON object: ${'y'.repeat(80)}`),
  )
  assert.deepEqual(refused('PermissionRequest', text('y')), why('answered with text that is no JSON object: y'))
  assert.deepEqual(
    refused('PreToolUse', answer({ nothing: 1, known: 2 })),
    why('answered with nothing, known, which PreToolUse does not take'),
  )
  assert.deepEqual(
    refused('PreToolUse', answer({ permissionDecision: 'deny', reason: 'x' })),
    why('answered with permissionDecision outside of hookSpecificOutput, which PreToolUse does not take'),
  )
  // a refusal in a bad answer stands as it was said
  const said = refused(
    'PreToolUse',
    answer({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'mine',
        updatedInput: 7,
      },
    }),
  )
  assert.deepEqual([said.verdict.decision, said.verdict.reason, said.verdict.blocks], ['deny', 'mine', []])
  // elsewhere a command may print what it likes, but not what looks like an answer
  for (const plain of ['fine', 'a { b', '0'])
    assert.equal(refused('SessionStart', text(plain)).failure, undefined, plain)
  for (const odd of ['{"a":', 'x\n[1', '"text"', ' null ', 'a\u0000b', 'a\ufffdb'])
    assert.equal(
      refused('SessionStart', text(odd)).failure,
      'printed what looks like an answer and is no JSON object',
      odd,
    )
  const server = readEventReply({ event: 'SessionStart', ordinal: 3, kind: 'http' }, text('fine'), true)
  assert.equal(server.failure, 'answered with text that is no JSON object: fine')
})

test('replies at a step: JSON as it is, exit 2 as a veto with its reason', () => {
  assert.deepEqual(readStepReply(answer({ control: 'break' })), { control: 'break' })
  assert.deepEqual(readStepReply({ ...audit, kind: 'block', text: 'no' }), {
    control: 'veto',
    additional_context: ['no'],
  })
  assert.deepEqual(readStepReply({ ...audit, kind: 'block', text: '' }), { control: 'veto' })
  assert.equal(readStepReply(text('x')), undefined)
  assert.deepEqual(
    ['proceed', 'break', 'continue', 'skip', 'veto', undefined].map((kind) => isControl({ kind })),
    [true, true, true, true, false, false],
  )
  assert.deepEqual([isControl('break'), isControl(null)], [false, false])
  assert.equal(whyOf({ additional_context: ['a', 7, 'b\n'] }), 'a\nb')
  assert.deepEqual([whyOf({ additional_context: 'a' }), whyOf('x')], ['', ''])
})

test('a timeout counts as exit 2 before a tool and a prompt only; refusing is possible where nothing happened yet', () => {
  const late = failure('timed-out')
  assert.deepEqual(
    (['PreToolUse', 'UserPromptSubmit', 'Stop', 'before_tool_apply'] as const).map((name) => countsAsBlock(name, late)),
    [true, true, false, false],
  )
  assert.equal(countsAsBlock('PreToolUse', failure('failed')), false)
  assert.deepEqual(
    (['PreToolUse', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'Notification'] as const).map(canRefuse),
    [true, true, false, false, false],
  )
})
