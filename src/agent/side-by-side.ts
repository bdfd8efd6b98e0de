/**
 * Calls of one reply that run side by side: sub-agents. Only their work overlaps. Before it starts, each call passes hooks,
 * rules and the user in the order of the reply; after it, hooks and the record take the calls in that order again.
 */
import type { ToolUse } from '../providers/model.ts'
import type { Outcome } from './call.ts'
import { now } from './clock.ts'
import type { Session } from './session/session.ts'
import { complete, interruptedResult, outcomeOf, type Prepared, prepare, type ToolCallEnd } from './tool-call.ts'

/** More than these wait until the first of them has finished. */
const mostAtOnce = 10

/**
 * The calls of a reply, those that may run side by side in one group. A script that plays the model plays its lines in order:
 * there each is alone.
 */
export function* grouped(session: Session, calls: readonly ToolUse[]): Generator<readonly ToolUse[]> {
  let group: ToolUse[] = []
  for (const call of calls) {
    const isApart = session.model.rehearsal || !session.tool(call.name)?.sideBySide
    if (group.length > 0 && (isApart || !session.tool(group[0]!.name)?.sideBySide)) {
      yield group
      group = []
    }
    group.push(call)
  }
  if (group.length > 0) yield group
}

interface Running {
  readonly prepared: Prepared
  readonly work: Promise<Outcome>
  /** Lets it go on from its work to its hooks. */
  release(): void
}

/** The ends of those that were started. Once one ends the turn, none is started any more and those at work are stopped. */
export async function runSideBySide(session: Session, uses: readonly ToolUse[]): Promise<ToolCallEnd[]> {
  const stop = new AbortController()
  const signal = AbortSignal.any([session.signal, stop.signal])
  const running: Running[] = []
  const ends: ToolCallEnd[] = []
  const completeFirst = async () => {
    const { prepared, work, release } = running.shift()!
    release()
    const end = await complete(session, prepared, await work)
    ends.push(end)
    if (end.end && !end.end.approval) stop.abort()
  }

  let started = 0
  try {
    for (const use of uses) {
      if (signal.aborted || running.some(({ prepared }) => prepared.call?.end) || ends.some(({ end }) => end)) break
      started++
      running.push(await start(session, use, signal))
      if (running.length === mostAtOnce) await completeFirst()
    }
    while (running.length > 0) await completeFirst()
  } finally {
    stop.abort() // where the record fails, none works on
  }
  const why = ends.find(({ end }) => end)?.end
  for (const use of uses.slice(started))
    session.result(use, interruptedResult(why?.why ?? why?.stop ?? 'the turn was interrupted'))
  return ends
}

/** Judges the call, and lets its work begin: returns when the work asks no more hooks of this session. */
async function start(session: Session, use: ToolUse, signal: AbortSignal): Promise<Running> {
  const prepared = await prepare(session, use)
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const { call } = prepared
  if (call) {
    const startedAt = now()
    call.pace = {
      signal,
      started: begun.resolve,
      turn() {
        call.ranMs = now() - startedAt
        return released.promise
      },
    }
  }
  const work = outcomeOf(prepared)
  work.catch(() => {}) // it is awaited in its turn, or one before it has failed already
  await Promise.race([begun.promise, work])
  return { prepared, work, release: released.resolve }
}
