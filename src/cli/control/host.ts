/** A session that another program drives over the stream-json pipe. */
import { mostWaitMs } from '../../agent/session/idle-turns.ts'
import { type RewindPoint, rewind, rewindPoints } from '../../agent/session/rewind.ts'
import type { Session } from '../../agent/session/session.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import { newId } from '../../store/open.ts'
import type { Host } from './control.ts'
import { answerControl } from './controls.ts'
import type { PromptLine } from './lines.ts'

interface Prompted {
  readonly uuid: string
  /** The newest prompt in the transcript before this one. */
  readonly after: number
}

interface Turns {
  /** The session's SessionStart hooks want this said first. */
  readonly initialPrompt: string
  prompt(text: string, line?: PromptLine & { uuid: string }): Promise<void>
  /** A background agent has finished. */
  news(): Promise<void>
  fault(why: string): void
}

/**
 * Takes prompts one after another, in the order they came, and between them the news of background agents. A control
 * request is answered at once, also during a turn. Ends when the input has ended and no background agent works.
 */
export async function serveHost(
  session: Session,
  { pipe, servers, mayBypass }: Pick<Host, 'pipe' | 'servers' | 'mayBypass'>,
  turns: Turns,
): Promise<void> {
  const prompted: Prompted[] = []
  const host: Host = {
    session,
    pipe,
    servers,
    mayBypass,
    stamp: () => ({ uuid: newId(session.db), session_id: session.id }),
    rewind: (id, dryRun) => rewindTo(session, prompted, id, dryRun),
  }
  pipe.onFault(turns.fault)
  pipe.onControl(({ id, request }) => void answerControl(host, id, request).then(pipe.write))
  if (turns.initialPrompt) await turns.prompt(turns.initialPrompt)
  for (;;) {
    const line = pipe.takePrompt()
    if (line) {
      const uuid = typeof line.message['uuid'] === 'string' ? line.message['uuid'] : newId(session.db)
      prompted.push({ uuid, after: rewindPoints(session)[0]?.sequence ?? -1 })
      await turns.prompt(line.text, { ...line, uuid })
      continue
    }
    const heard = pipe.changed()
    const woken = new AbortController()
    void heard.then(() => woken.abort())
    const signal = pipe.ended ? session.signal : AbortSignal.any([session.signal, woken.signal])
    if (await session.tasks.news(mostWaitMs, signal)) await turns.news()
    else if (pipe.ended) return
    else await heard
  }
}

/** A prompt is known by the uuid that the host gave it, or that the replayed message has. */
function rewindTo(session: Session, prompted: readonly Prompted[], id: string, dryRun: boolean): JsonObject {
  const known = prompted.find(({ uuid }) => uuid === id)
  const point = known && pointAfter(rewindPoints(session), known.after)
  if (!point) return { canRewind: false, error: `no file checkpoint was found for the message ${id}` }
  if (dryRun) return { canRewind: true, filesChanged: [...point.files] }
  const { problems } = rewind(session, point, 'files')
  if (problems.length > 0) return { canRewind: false, error: problems.join('; ') }
  return { canRewind: true, filesChanged: [...point.files] }
}

const pointAfter = (newestFirst: readonly RewindPoint[], sequence: number): RewindPoint | undefined =>
  newestFirst.findLast((point) => point.sequence > sequence)
