import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgePart } from './part-result.ts'
import type { RecordedCall } from './recorded-calls.ts'
import { type Change, nothingYet, type Replay } from './replay.ts'

const call: RecordedCall = {
  ...{ at: '2026-11-15 08:23:00', conversationId: 'c1', sessionId: 's1', toolUseId: 'toolu_1', tool: 'Bash' },
  ...{ input: { command: 'ls', description: 'lists' }, projectDir: '/p', agent: null, source: 'ona' },
  was: { decision: 'allow', by: '' },
}
const because = { by: 'rule', name: 'ask:Bash(ls *)', reason: 'it says so' } as const

/** A replay that finds these changes. */
const finding =
  (changes: readonly Change[]): Replay =>
  async (_, onChange) => {
    for (const change of changes) onChange(change)
    return { ...nothingYet, calls: changes.length }
  }

/** As one JSON.stringify would write it. */
const whole = ({ call: { at, source, conversationId, sessionId, toolUseId, tool, input }, ...rest }: Change) => {
  const about = { at, agent: source, conversation: conversationId, session: sessionId, tool_use_id: toolUseId, tool }
  return JSON.stringify({ ...about, input, was: rest.was, would_be: rest.would, because: rest.because })
}

test('changes are written as JSON.stringify writes them, whatever stands in their texts', async () => {
  const odd = [
    '',
    '"',
    '\\',
    '\n',
    '\u0000',
    '\u001f',
    '\u007f',
    'ü',
    '\u2028',
    '\ud83d\ude00',
    '\ud800',
    'a\udc00b',
    '</x>',
  ]
  const texts = (['at', 'conversationId', 'sessionId', 'toolUseId', 'tool', 'source'] as const).flatMap((key) =>
    odd.map((text): Change => ({ call: { ...call, [key]: text }, was: 'allow', would: 'ask', because })),
  )
  const reasons = odd.flatMap((text): Change[] => [
    { call: { ...call, input: { [text]: text } }, was: 'ask', would: 'deny', because: { ...because, name: text } },
    { call, was: 'deny', would: 'allow', because: { ...because, reason: text } },
  ])
  const changes = [...texts, ...reasons]
  const { json } = await judgePart(finding(changes), [], { json: true, last: 0 })
  assert.equal(json, changes.map(whole).join(','))
})

test('secrets in the input of a change are not written', async () => {
  const secret = { ...call, input: { command: 'curl -H "Authorization: Bearer abcdefghijklmnop1234"' } }
  const change: Change = { call: secret, was: 'allow', would: 'deny', because }
  const { json } = await judgePart(finding([change]), [], { json: true, last: 0 })
  assert.deepEqual(JSON.parse(json).input, { command: 'curl -H "Authorization: Bearer [redacted]"' })
})
