/** What was found in a part of a record, as whoever prints it needs it: made where the part is judged, in whichever thread. */
import { redact } from '../../hooks/secrets/redact.ts'
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
  const jsonOf = changeWriter()
  const summary = await replay(calls, (change) => {
    const { was, would } = change
    const kind = `${was} ${would}`
    if (!kinds.has(kind)) kinds.set(kind, { was, would })
    if (json) texts.push(jsonOf(change))
    if (last > 0) changes.push(change)
    if (changes.length > 2 * last) changes.splice(0, changes.length - last)
  })
  changes.splice(0, Math.max(0, changes.length - last))
  return { summary, kinds: [...kinds.values()], changes, json: texts.join(',') }
}

/** Changes as JSON, without secrets; what the calls of a session have in common is put together once. */
function changeWriter(): (change: Change) => string {
  let last: RecordedCall | undefined
  let common = ''
  return ({ call, was, would, because }) => {
    const { source, conversationId, sessionId, input } = call
    if (last?.sessionId !== sessionId || last.conversationId !== conversationId || last.source !== source)
      common = `"agent":${quoted(source)},"conversation":${quoted(conversationId)},"session":${quoted(sessionId)}`
    last = call
    const text = JSON.stringify(input)
    const shown = redact(text, 'json')
    const plain = shown === text ? text : JSON.stringify(JSON.parse(shown))
    const { by, name, reason } = because
    return `{"at":${quoted(call.at)},${common},"tool_use_id":${quoted(call.toolUseId)},"tool":${quoted(call.tool)},"input":${plain},"was":"${was}","would_be":"${would}","because":{"by":"${by}","name":${quoted(name)},"reason":${quoted(reason)}}}`
  }
}

/** As JSON.stringify writes it, which takes longer where nothing is escaped. */
const quoted = (text: string): string => (escaped.test(text) ? JSON.stringify(text) : `"${text}"`)
const escaped = /[\u0000-\u001f\\"\ud800-\udfff]/
