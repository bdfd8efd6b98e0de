/** A handler that calls a model: the prompt, and how the reply is parsed. The caller provides the call itself. */
import type { Handler, Render } from '../handler.ts'
import { isObject, type JsonObject } from '../shape.ts'
import { readJson } from '../text/json-text.ts'

export interface ModelQuestion {
  readonly system?: string
  readonly prompt: string
  readonly model?: string
  readonly signal: AbortSignal
}

/** Gives the model's whole reply as text; rejects when there is none. */
export type AskModel = (question: ModelQuestion) => Promise<string>

/** The text of the question. `$ARGUMENTS` stands for the input; where it does not occur, the input follows. */
export function questionOf({ prompt, render = 'json' }: Handler & { kind: 'prompt' }, input: JsonObject): string {
  if (prompt === undefined) return renderInput(render, input)
  const json = JSON.stringify(input)
  return prompt.includes('$ARGUMENTS') ? prompt.replaceAll('$ARGUMENTS', () => json) : `${prompt}\n\n${json}`
}

/** `{{key}}` stands for a key of the input: a string as it is, another value as JSON, a missing one as nothing. */
export function renderInput(render: Render, input: JsonObject): string {
  if (render === 'json') return JSON.stringify(input)
  return render.template.replaceAll(/\{\{(.*?)\}\}/gs, (_, key: string) => {
    const name = key.trim()
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  })
}

/** At a step: a JSON object is a verdict, other text is for the agent's model, and no text says nothing. */
export function stepReply(reply: string): JsonObject | null {
  const text = reply.trim()
  if (text === '') return null
  return readObject(text) ?? { additional_context: [reply] }
}

/** At an event: `{"ok":false,"reason":…}` blocks; another object without `ok` is read as a hook's answer. */
export function eventReply(reply: string): JsonObject | undefined {
  const answer = readObject(reply.trim())
  if (!answer || Object.keys(answer).length === 0) return undefined
  if (typeof answer.ok !== 'boolean') return Object.hasOwn(answer, 'ok') ? undefined : answer
  const reason = typeof answer.reason === 'string' ? answer.reason : 'the model that was asked said no'
  return answer.ok ? {} : { decision: 'block', reason }
}

/** The JSON object that a model answered, also inside a code fence. */
function readObject(text: string): JsonObject | undefined {
  const bare = /^```(?:json)?\s*(\{.*\})\s*```$/s.exec(text)?.[1] ?? text
  const read = readJson(bare)
  return read.ok && isObject(read.value) ? read.value : undefined
}
