/** A history in parts that several threads judge side by side; what they find is reported in the order of the record. */
import type { Worker } from 'node:worker_threads'
import { type ReadDb, StoreError } from '../../store/open.ts'
import { importedCalls } from './dispatcher-calls.ts'
import type { Policy } from './judge-call.ts'
import type { PartResult, Wanted } from './part-result.ts'
import { type CallFilter, callsOfSessions, countedSessions, type RecordedCall, sessionsOf } from './recorded-calls.ts'

/** Some sessions, or the log of the dispatcher. */
export interface Part {
  readonly sessions: readonly string[] | 'dispatcher'
  /** How much of the record has been given out with it, from 0 to 1. */
  readonly share: number
}

/** What a thread is started with. A policy crosses over without its functions, so none of its hooks may be one. */
export interface ThreadData {
  readonly path: string
  readonly filter: CallFilter
  readonly policy: Omit<Policy, 'tool'>
  readonly baseline: Omit<Policy, 'tool'> | undefined
  readonly wanted: Wanted
}

/** A thread's answer; `kind` is that of a StoreError. */
export type ThreadAnswer = PartResult | { readonly problem: string; readonly kind?: StoreError['kind'] }

/** About a thousand calls each. */
export function* partsOf(db: ReadDb, filter: CallFilter): Generator<Part> {
  const ids = sessionsOf(db, filter)
  let sessions: string[] = []
  let [calls, given] = [0, 0]
  for (const [id, count] of countedSessions(db, ids)) {
    sessions.push(id)
    calls += count
    given++
    if (calls < callsInPart && given < ids.length) continue
    yield { sessions, share: given / ids.length }
    sessions = []
    calls = 0
  }
  if (!filter.agents || filter.agents.includes('dispatcher')) yield { sessions: 'dispatcher', share: 1 }
}
const callsInPart = 1000

export const callsOfPart = (db: ReadDb, { sessions }: Part, filter: CallFilter): Iterable<RecordedCall> =>
  sessions === 'dispatcher' ? importedCalls(db, filter) : callsOfSessions(db, sessions, filter)

/** Whether a history has so many calls that threads are worth their start. */
export function isLong(db: ReadDb, filter: CallFilter): boolean {
  let calls = 0
  for (const [, count] of countedSessions(db, sessionsOf(db, filter))) {
    calls += count
    if (calls >= longHistory) return true
  }
  return false
}
const longHistory = 20_000

/** Judges parts: this thread, or another one. */
export interface PartJudge {
  judge(part: Part): Promise<PartResult>
  /** So many parts are given to it at once: another thread does not wait for this one before its next part. */
  readonly atOnce: number
  end(): Promise<unknown>
}

/** Gives out the parts, and reports each with its result, in order. A failure of one judge ends all of them. */
export async function judgeSideBySide(
  parts: Iterable<Part>,
  judges: readonly PartJudge[],
  onResult: (part: Part, result: PartResult) => void,
): Promise<void> {
  const left = parts[Symbol.iterator]()
  const done = new Map<number, { part: Part; result: PartResult }>()
  let [given, reported] = [0, 0]
  let room = Promise.withResolvers<void>()
  let hasEnded = false
  const drive = async (judge: PartJudge) => {
    for (;;) {
      // a judge that is far ahead of the slowest waits, so that few results are in memory
      while (given - reported >= mostAhead * judges.length) await room.promise
      if (hasEnded) return
      const next = left.next()
      if (next.done) return
      const at = given++
      done.set(at, { part: next.value, result: await judge.judge(next.value) })
      for (let each = done.get(reported); each; each = done.get(++reported)) {
        done.delete(reported)
        onResult(each.part, each.result)
      }
      room.resolve()
      room = Promise.withResolvers()
    }
  }
  try {
    await Promise.all(judges.flatMap((judge) => Array.from({ length: judge.atOnce }, () => drive(judge))))
  } finally {
    hasEnded = true
    await Promise.all(judges.map((judge) => judge.end()))
  }
}
const mostAhead = 8

/** This thread, which looks after the others between two parts. */
export const ownJudge = (work: (part: Part) => Promise<PartResult>): PartJudge => ({
  atOnce: 1,
  async judge(part) {
    await new Promise(setImmediate)
    return work(part)
  },
  end: async () => {},
})

/** Another thread, which answers in the order in which it is asked. */
export function threadJudge(thread: Worker): PartJudge {
  const asked: PromiseWithResolvers<PartResult>[] = []
  let failure: unknown
  const fail = (cause: unknown) => {
    failure ??= cause
    for (const each of asked.splice(0)) each.reject(failure)
  }
  thread.on('message', (answer: ThreadAnswer) => {
    if (!('problem' in answer)) asked.shift()?.resolve(answer)
    else fail(answer.kind ? new StoreError(answer.kind, answer.problem) : new Error(answer.problem))
  })
  thread.on('error', fail)
  thread.on('exit', () => fail(new Error('a thread of the replay ended early')))
  return {
    atOnce: 2,
    judge(part) {
      const answer = Promise.withResolvers<PartResult>()
      if (failure === undefined) {
        asked.push(answer)
        thread.postMessage(part)
      } else answer.reject(failure)
      return answer.promise
    },
    end: () => thread.terminate(),
  }
}
