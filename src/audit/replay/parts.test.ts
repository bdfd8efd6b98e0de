import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { createConversation, createSession } from '../../store/conversations.ts'
import { inMemory, openDb } from '../../store/open.ts'
import type { PartResult } from './part-result.ts'
import { judgeSideBySide, ownJudge, type Part, partsOf, type ThreadAnswer, threadJudge } from './parts.ts'
import { nothingYet, type Summary, sumOf } from './replay.ts'

/** Answers when it is told to. */
class Thread extends EventEmitter {
  readonly asked: Part[] = []
  ended = false
  postMessage(part: Part) {
    this.asked.push(part)
  }
  async terminate() {
    this.ended = true
    return 0
  }
  answer(answer: ThreadAnswer = found({ ...nothingYet, calls: Number(this.asked[0]!.sessions[0]) })) {
    this.asked.shift()
    this.emit('message', answer)
  }
}

const found = (summary: Summary): PartResult => ({ summary, kinds: [], changes: [], json: '' })
const parts = (count: number): Part[] =>
  Array.from({ length: count }, (_, at) => ({ sessions: [String(at)], share: (at + 1) / count }))
const settled = () => new Promise(setImmediate)

function judging(count: number) {
  const threads = [new Thread(), new Thread()] as const
  const reported: number[] = []
  const judges = threads.map((thread) => threadJudge(thread as unknown as Worker))
  const work = judgeSideBySide(parts(count), judges, (_, { summary }) => reported.push(summary.calls))
  return { threads, reported, work }
}

test('parts are reported in order, whichever thread is done first, and few of them wait', async () => {
  const { threads, reported, work } = judging(40)
  const [slow, quick] = threads
  for (let given = 0; quick.asked.length > 0; given++) {
    assert.ok(given < 16, 'it went on without an end')
    quick.answer()
    await settled()
  }
  assert.deepEqual(reported, [])
  while (slow.asked.length + quick.asked.length > 0) {
    for (const thread of [slow, quick]) if (thread.asked.length > 0) thread.answer()
    await settled()
  }
  await work
  assert.deepEqual(
    reported,
    parts(40).map((_, at) => at),
  )
  assert.deepEqual([slow.ended, quick.ended], [true, true])
})

test('this thread judges too, and another one has its next part before it is done', async () => {
  const thread = new Thread()
  const reported: number[] = []
  const own = ownJudge(async (part) => found({ ...nothingYet, calls: Number(part.sessions[0]) }))
  const judges = [own, threadJudge(thread as unknown as Worker)]
  const work = judgeSideBySide(parts(9), judges, (_, { summary }) => reported.push(summary.calls))
  assert.deepEqual(
    thread.asked.map(({ sessions }) => sessions),
    [['1'], ['2']],
  )
  while (reported.length < 9) {
    if (thread.asked.length > 0) thread.answer()
    await settled()
  }
  await work
  assert.deepEqual([reported, thread.ended], [parts(9).map((_, at) => at), true])
})

test('what fails in a thread, or its end, ends the replay and every thread', async () => {
  const problem = judging(4)
  problem.threads[1].answer({ problem: 'the archive x was changed', kind: 'damaged' })
  await assert.rejects(problem.work, { name: 'StoreError', kind: 'damaged', message: 'the archive x was changed' })
  const exit = judging(4)
  exit.threads[0].emit('exit', 1)
  await assert.rejects(exit.work, { message: 'a thread of the replay ended early' })
  const error = judging(4)
  error.threads[0].emit('error', new Error('out of memory'))
  await assert.rejects(error.work, { message: 'out of memory' })
  for (const { threads } of [problem, exit, error]) assert.ok(threads.every(({ ended }) => ended))
})

test('the summaries of two parts are one, with hooks and agents in the order in which they came', () => {
  const one: Summary = {
    ...{ calls: 3, same: 1, newlyDenied: 1, newlyAsked: 1, newlyAllowed: 0, notJudged: 2, notReplayed: 0 },
    ...{ notAsked: [{ hook: 'b', calls: 1 }], failed: [{ hook: 'x', calls: 1, why: 'first' }] },
    byAgent: { ona: { calls: 3, changed: 2 } },
  }
  const two: Summary = {
    ...{ calls: 5, same: 2, newlyDenied: 1, newlyAsked: 1, newlyAllowed: 1, notJudged: 1, notReplayed: 0 },
    notAsked: [
      { hook: 'a', calls: 4 },
      { hook: 'b', calls: 2 },
    ],
    failed: [{ hook: 'x', calls: 2, why: 'second' }],
    byAgent: { codex: { calls: 1, changed: 1 }, ona: { calls: 4, changed: 2 } },
  }
  assert.deepEqual(sumOf(one, two), {
    ...{ calls: 8, same: 3, newlyDenied: 2, newlyAsked: 2, newlyAllowed: 1, notJudged: 3, notReplayed: 0 },
    notAsked: [
      { hook: 'b', calls: 3 },
      { hook: 'a', calls: 4 },
    ],
    failed: [{ hook: 'x', calls: 3, why: 'first' }],
    byAgent: { ona: { calls: 7, changed: 4 }, codex: { calls: 1, changed: 1 } },
  })
  assert.deepEqual(sumOf(nothingYet, one), one)
})

test('a part has about a thousand calls, and archived sessions count by the rows of their conversation', (t) => {
  const db = openDb(inMemory)
  t.after(() => db.close())
  const ids = Array.from({ length: 6 }, (_, at) => {
    const conversation = createConversation(db, { projectDir: `/p${at}` })
    return { conversation: conversation.id, session: createSession(db, conversation.id).sessionId }
  })
  const entry =
    "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES (?, ?, 'user', '{}')"
  for (const { session } of ids.slice(0, 2)) db.run(entry, session, 1199) // 600 calls each
  const archived =
    "INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES (?, 'x', 0, 1, x'00', ?)"
  for (const { conversation } of ids.slice(2, 4)) db.run(archived, conversation, 7 * 1000)
  const sessions = ids.map(({ session }) => session)
  assert.deepEqual(
    [...partsOf(db, {})],
    [
      { sessions: sessions.slice(0, 2), share: 2 / 6 },
      { sessions: [sessions[2]], share: 3 / 6 },
      { sessions: [sessions[3]], share: 4 / 6 },
      { sessions: sessions.slice(4), share: 1 },
      { sessions: 'dispatcher', share: 1 },
    ],
  )
})
