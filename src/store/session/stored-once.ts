/**
 * A long output is stored once, in its `tool_result`. Hooks after the call were given it too: their rows name it instead, and
 * readers put it back. See docs/decisions/2026-11-15-outputs-once.md.
 */
import type { Invocation } from '../../hooks/plane.ts'
import type { ReadDb } from '../open.ts'

/** Shorter ones stay in the row: a reference would save little. */
const longFrom = 2048

/** The rows of hooks as they are stored beside this result. */
export function withoutOutput(
  invocations: readonly Invocation[],
  result: Readonly<Record<string, unknown>>,
): readonly Invocation[] {
  const { tool_use_id: id, content } = result
  if (typeof content !== 'string' || content.length < longFrom || invocations.length === 0) return invocations
  const output = JSON.stringify(content)
  const reference = JSON.stringify({ [marker]: { tool_use_id: id, characters: content.length } })
  return invocations.map((each) =>
    each.inputJson.includes(output) ? { ...each, inputJson: each.inputJson.replaceAll(output, () => reference) } : each,
  )
}

/** What a hook was given, whole. An output that was erased or is missing stays a reference. */
export function withOutput(db: ReadDb, sessionId: string, inputJson: string): string {
  return inputJson.replaceAll(references, (reference, id: string) => {
    const row = db.get<{ content: string | null }>(
      `SELECT iif(json_valid(payload_json), payload_json -> 'content', NULL) AS content FROM transcript_entries
       WHERE session_id = ? AND +entry_type = 'tool_result' AND tool_use_id = ? ORDER BY +sequence DESC LIMIT 1`,
      sessionId,
      JSON.parse(id) as string,
    )
    return row?.content ?? reference
  })
}

const marker = 'stored_in_transcript'
const references = /\{"stored_in_transcript":\{"tool_use_id":("(?:[^"\\]|\\.)*"),"characters":\d+\}\}/g
