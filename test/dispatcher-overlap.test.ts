/** Many processes at once on one session: nothing is lost, nothing is mixed, no number is given twice. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EventName } from '../src/dispatcher/types.ts'
import { addModule, events, fire, lines, makeRepo, moduleBody, read, readFile, sid, state } from './dispatcher-lib.ts'

const atOnce = 50
const rounds = Number(process.env['DISPATCHER_ROUNDS'] ?? 2)

test(`${atOnce} processes at once, ${rounds} rounds: every event is in the log, no line is torn, the state is right`, async () => {
  const root = makeRepo(['session', 'graph-pretooluse', 'planGraph-exec'])
  addModule(
    root,
    'marks',
    moduleBody('marks', 'return { statePatch: { marks: { [ctx.event.toolUseId ?? "p" + ctx.ids.turnId]: true } } }', [
      'PreToolUse',
      'UserPromptSubmit',
    ]),
    { priority: 90 },
  )
  await fire(root, 'SessionStart')
  let prompts = 0
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      Array.from({ length: atOnce }, (_, n) => {
        const name: EventName = n % 5 === 0 ? 'UserPromptSubmit' : 'PreToolUse'
        if (name === 'UserPromptSubmit') prompts++
        return fire(
          root,
          name,
          name === 'PreToolUse' ? { ...readFile, tool_use_id: `${round}-${n}` } : { prompt: `p ${round} ${n}` },
        )
      }),
    )
    assert.equal(state(root).core['lastTurnId'], prompts, 'the snapshot on disk is the newest one')
  }
  const text = read(root, 'events.jsonl')
  assert.ok(text.endsWith('\n'))
  for (const line of text.split('\n').slice(0, -1)) JSON.parse(line)
  const calls = events(root, 'TOOL_DECISION').map((event) => event.data?.['toolUseId'])
  assert.equal(new Set(calls).size, rounds * (atOnce - 10))
  assert.equal(calls.length, rounds * (atOnce - 10))
  const turns = events(root, 'TURN_INCREMENT').map((event) => event.turnId)
  assert.deepEqual(
    [...turns].sort((a, b) => a! - b!),
    Array.from({ length: prompts }, (_, n) => n + 1),
    'no turn twice',
  )
  assert.equal(lines(root, 'p.jsonl').length, prompts)

  const before = state(root)
  assert.equal(Object.keys(before['marks'] as object).length, rounds * atOnce)
  assert.equal(before.core['phase'], 'PLANNING')
  writeFileSync(join(root, '.ai/tmp', sid, 'state.json'), 'lost')
  await fire(root, 'PreCompact')
  const { lastActiveTs: _, lastEventOffset: __, ...core } = before.core
  const { lastActiveTs: ___, lastEventOffset: ____, ...rebuilt } = state(root).core
  assert.deepEqual([rebuilt, state(root)['marks'], state(root)['plan']], [core, before['marks'], before['plan']])
})

test('subagents that start at once get different numbers', async () => {
  const root = makeRepo(['session', 'rlm-work'])
  await Promise.all(
    Array.from({ length: 12 }, (_, n) => fire(root, 'SubagentStart', { agent_id: `host-${n}`, agent_type: 'Explore' })),
  )
  const given = Object.values(state(root)['agents'] as Record<string, { aid: string }>).map((agent) => agent.aid)
  assert.deepEqual(
    given.sort(),
    Array.from({ length: 12 }, (_, n) => `a${String(n + 1).padStart(2, '0')}`),
  )
})

test('a log of 50 MB is not read again on every event', async () => {
  const root = makeRepo(['session', 'graph-pretooluse', 'planGraph-exec'])
  await fire(root, 'SessionStart')
  const line = `${JSON.stringify({ ts: 1, event: 'PreToolUse', producer: 'x', kind: 'FILLER', data: { text: 'y'.repeat(900) } })}\n`
  writeFileSync(join(root, '.ai/tmp', sid, 'events.jsonl'), read(root, 'events.jsonl') + line.repeat(50_000))
  await fire(root, 'PostToolUse', readFile)
  const offset = state(root).core['lastEventOffset'] as number
  assert.ok(offset > 45_000_000)
  await fire(root, 'PreToolUse', readFile)
  assert.ok((state(root).core['lastEventOffset'] as number) >= offset)
})
