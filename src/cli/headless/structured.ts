/** `--json-schema`: an answer that is JSON of a given shape; a wrong one is sent back with the error, a few times. */
import { answerJson } from '../../agent/model/answer-json.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import { textBlock } from '../../hooks/blocks.ts'
import type { Block } from '../../hooks/steps.ts'
import { schemaProblem } from './json-schema.ts'

const mostTries = 3

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
  let ask = [...prompt, textBlock(wanted)]
  for (let attempt = 1; ; attempt++) {
    const end = await turn(ask)
    if (end.stop !== 'end_turn') return { end }
    const read = answerJson(end.text)
    const problem = read.ok ? schemaProblem(schema, read.value) : read.why
    if (problem === undefined) return { end, structured: (read as { value: unknown }).value }
    if (attempt >= mostTries) {
      return {
        end: { ...end, why: `the answer does not fit the schema: ${problem}` },
        error: 'error_max_structured_output_retries',
      }
    }
    ask = [textBlock(`Your answer does not fit the schema: ${problem}. Answer again with nothing but the JSON value.`)]
  }
}
