/** Many processes at once on one session: nothing is lost, nothing is mixed, no number is given twice. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EventName } from '../../src/dispatcher/types.ts'
import { sized } from '../support/campaign-size.ts'
import { makeRepo, moduleBody, readFile, sid } from '../support/dispatcher.ts'

const atOnce = sized(20, 50)
const rounds = Number(process.env['DISPATCHER_ROUNDS'] ?? sized(1, 2))

test(`${atOnce} processes at once, round after round: every event is in the log, no line is torn, the state is right`, async () => {
  const repo = makeRepo(['session', 'graph-pretooluse', 'planGraph-exec'])
  repo.addModule(
    'marks',
    moduleBody('marks', 'return { statePatch: { marks: { [ctx.event.toolUseId ?? "p" + ctx.ids.turnId]: true } } }', [
      'PreToolUse',
      'UserPromptSubmit',
    ]),
    { priority: 90 },
  )
  await repo.fire('SessionStart')
  let prompts = 0
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      Array.from({ length: atOnce }, (_, n) => {
        const name: EventName = n % 5 === 0 ? 'UserPromptSubmit' : 'PreToolUse'
        if (name === 'UserPromptSubmit') prompts++
        return repo.fire(
          name,
          name === 'PreToolUse' ? { ...readFile, tool_use_id: `${round}-${n}` } : { prompt: `p ${round} ${n}` },
        )
      }),
    )
    assert.equal(repo.state().core['lastTurnId'], prompts, 'the snapshot on disk is the newest one')
  }
  const text = repo.read('events.jsonl')
  assert.ok(text.endsWith('\n'))
  for (const line of text.split('\n').slice(0, -1)) JSON.parse(line)
  const calls = repo.events('TOOL_DECISION').map((event) => event.data?.['toolUseId'])
  assert.equal(new Set(calls).size, rounds * (atOnce - atOnce / 5))
  assert.equal(calls.length, rounds * (atOnce - atOnce / 5))
  const turns = repo.events('TURN_INCREMENT').map((event) => event.turnId)
  assert.deepEqual(
    [...turns].sort((a, b) => a! - b!),
    Array.from({ length: prompts }, (_, n) => n + 1),
    'no turn twice',
  )
  assert.equal(repo.lines('p.jsonl').length, prompts)

  const before = repo.state()
  assert.equal(Object.keys(before['marks'] as object).length, rounds * atOnce)
  assert.equal(before.core['phase'], 'PLANNING')
  writeFileSync(join(repo.root, '.ai/tmp', sid, 'state.json'), 'lost')
  await repo.fire('PreCompact')
  const { lastActiveTs: _, lastEventOffset: __, ...core } = before.core
  const { lastActiveTs: ___, lastEventOffset: ____, ...rebuilt } = repo.state().core
  assert.deepEqual([rebuilt, repo.state()['marks'], repo.state()['plan']], [core, before['marks'], before['plan']])
})

test('subagents that start at once get different numbers', async () => {
  const repo = makeRepo(['session', 'rlm-work'])
  await Promise.all(
    Array.from({ length: 12 }, (_, n) => repo.fire('SubagentStart', { agent_id: `host-${n}`, agent_type: 'Explore' })),
  )
  const given = Object.values(repo.state()['agents'] as Record<string, { aid: string }>).map((agent) => agent.aid)
  assert.deepEqual(
    given.sort(),
    Array.from({ length: 12 }, (_, n) => `a${String(n + 1).padStart(2, '0')}`),
  )
})

test('a log of 50 MB is not read again on every event', async () => {
  const repo = makeRepo(['session', 'graph-pretooluse', 'planGraph-exec'])
  await repo.fire('SessionStart')
  const line = `${JSON.stringify({ ts: 1, event: 'PreToolUse', producer: 'x', kind: 'FILLER', data: { text: 'y'.repeat(900) } })}\n`
  writeFileSync(join(repo.root, '.ai/tmp', sid, 'events.jsonl'), repo.read('events.jsonl') + line.repeat(50_000))
  await repo.fire('PostToolUse', readFile)
  const offset = repo.state().core['lastEventOffset'] as number
  assert.ok(offset > 45_000_000)
  await repo.fire('PreToolUse', readFile)
  assert.ok((repo.state().core['lastEventOffset'] as number) >= offset)
})
