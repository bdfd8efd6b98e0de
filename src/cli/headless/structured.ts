/** `--json-schema`: a turn whose answer is JSON of a given shape. */
import { structuredAnswer } from '../../agent/model/structured-answer.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import { textBlock } from '../../hooks/step/blocks.ts'
import type { Block } from '../../hooks/steps.ts'
import { schemaProblem } from './json-schema.ts'

const mostRetries = 2

export interface Structured {
  readonly end: TurnEnd
  readonly structured?: unknown
  readonly error?: 'error_max_structured_output_retries'
}

export async function structuredTurn(
  prompt: readonly Block[],
  schemaText: string,
  turn: (prompt: readonly Block[]) => Promise<TurnEnd>,
): Promise<Structured> {
  const schema = JSON.parse(schemaText)
  const wanted = `\n\nWhen you are done, answer with nothing but one JSON value that fits this JSON Schema:\n${schemaText}`
  let end = await turn([...prompt, textBlock(wanted)])
  if (end.stop !== 'end_turn') return { end }
  const answer = await structuredAnswer(end.text, {
    mostRetries,
    fits: (raw) => {
      const why = schemaProblem(schema, raw)
      return why === undefined ? { ok: true, value: raw } : { ok: false, why, raw }
    },
    async retry(feedback) {
      end = await turn([textBlock(feedback)])
      return end.stop === 'end_turn' ? end.text : undefined
    },
  })
  if (!answer) return { end }
  if (answer.ok) return { end, structured: answer.value }
  return {
    end: { ...end, why: `the answer does not fit the schema: ${answer.why}` },
    error: 'error_max_structured_output_retries',
  }
}
