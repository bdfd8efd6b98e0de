/** `--json-schema`: an answer that is JSON of a given shape; a wrong one is sent back with the error, a few times. */
import type { Session } from '../agent/session.ts'
import { asText } from '../agent/stages.ts'
import { runTurn, type TurnEnd } from '../agent/turn.ts'
import { schemaProblem } from './json-schema.ts'

const mostTries = 3

export interface Structured {
  readonly end: TurnEnd
  readonly structured?: unknown
  readonly error?: 'error_max_structured_output_retries'
}

export async function structuredTurn(session: Session, prompt: string, schemaText: string): Promise<Structured> {
  const schema = JSON.parse(schemaText)
  let ask = `${prompt}\n\nWhen you are done, answer with nothing but one JSON value that fits this JSON Schema:\n${schemaText}`
  for (let attempt = 1; ; attempt++) {
    const end = await runTurn(session, [asText(ask)])
    if (end.stop !== 'end_turn') return { end }
    const read = readJson(end.text)
    const problem = read.ok ? schemaProblem(schema, read.value) : read.why
    if (problem === undefined) return { end, structured: (read as { value: unknown }).value }
    if (attempt >= mostTries) {
      return {
        end: { ...end, why: `the answer does not fit the schema: ${problem}` },
        error: 'error_max_structured_output_retries',
      }
    }
    ask = `Your answer does not fit the schema: ${problem}. Answer again with nothing but the JSON value.`
  }
}

/** The JSON of an answer, with or without a code fence around it. */
export function readJson(text: string): { ok: true; value: unknown } | { ok: false; why: string } {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)
  try {
    return { ok: true, value: JSON.parse((fenced?.[1] ?? text).trim()) }
  } catch (cause) {
    return { ok: false, why: `it is not JSON (${(cause as Error).message})` }
  }
}
