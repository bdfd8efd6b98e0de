/** What was found in a part of a record, as whoever prints it needs it: made where the part is judged, in whichever thread. */
import { redact } from '../../hooks/redact.ts'
import type { Word } from './judge-call.ts'
import type { RecordedCall } from './recorded-calls.ts'
import type { Change, Replay, Summary } from './replay.ts'

/** What is needed of the changes, besides their number and kinds. */
export interface Wanted {
  /** All of them, as they are printed in JSON. */
  readonly json: boolean
  /** The last so many of each part, whole. */
  readonly last: number
}

export interface PartResult {
  readonly summary: Summary
  /** The kinds of changes that there are. */
  readonly kinds: readonly ChangeKind[]
  /** The last ones, as many as were wanted. */
  readonly changes: readonly Change[]
  /** All of them as objects in JSON with a comma between, or nothing. */
  readonly json: string
}

export interface ChangeKind {
  readonly was: Word
  readonly would: Word
}

export async function judgePart(
  replay: Replay,
  calls: Iterable<RecordedCall>,
  { json, last }: Wanted,
): Promise<PartResult> {
  const kinds = new Map<string, ChangeKind>()
  const changes: Change[] = []
  const texts: string[] = []
  const summary = await replay(calls, (change) => {
    const { was, would } = change
    const kind = `${was} ${would}`
    if (!kinds.has(kind)) kinds.set(kind, { was, would })
    if (json) texts.push(changeJson(change))
    if (last > 0) changes.push(change)
    if (changes.length > 2 * last) changes.splice(0, changes.length - last)
  })
  changes.splice(0, Math.max(0, changes.length - last))
  return { summary, kinds: [...kinds.values()], changes, json: texts.join(',') }
}

/** One change, without secrets. */
function changeJson({ call, was, would, because }: Change): string {
  const { at, source, conversationId, sessionId, toolUseId, tool, input } = call
  const about = { at, agent: source, conversation: conversationId, session: sessionId, tool_use_id: toolUseId, tool }
  const text = JSON.stringify(input)
  const shown = redact(text, 'json')
  const plain = shown === text ? text : JSON.stringify(JSON.parse(shown))
  const rest = JSON.stringify({ was, would_be: would, because })
  return `${JSON.stringify(about).slice(0, -1)},"input":${plain},${rest.slice(1)}`
}
