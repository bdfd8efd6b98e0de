/** An answer that is JSON of a wanted shape: a wrong one goes back to the model with the error, a few times. */
import { type Read, readJson } from '../../hooks/text/json-text.ts'

export type Judged<Value> = { readonly ok: true; readonly value: Value } | Misfit

interface Misfit {
  readonly ok: false
  readonly why: string
  /** What was judged: the JSON, or the text where it is none. */
  readonly raw: unknown
  /** The first field that does not fit, as a path; '' for the whole. */
  readonly field?: string
  readonly expectedType?: string
}

export type Answered<Value> =
  | { readonly ok: true; readonly value: Value; readonly text: string }
  | { readonly ok: false; readonly why: string; readonly attempts: number; readonly text: string }

export interface Asking<Value> {
  /** Whether the JSON of an answer has the wanted shape. */
  fits(json: unknown): Judged<Value> | Promise<Judged<Value>>
  /** Puts the feedback to the model and gives its next answer; undefined ends the asking. */
  retry(feedback: string): Promise<string | undefined>
  /** How often the model may try again. */
  readonly mostRetries: number
  misfit?(misfit: Misfit, attempt: number): Promise<void>
}

/** Undefined where `retry` had no further answer. */
export async function structuredAnswer<Value>(
  first: string,
  asking: Asking<Value>,
): Promise<Answered<Value> | undefined> {
  let text: string | undefined = first
  for (let attempts = 1; text !== undefined; attempts++) {
    const read = answerJson(text)
    const judged = read.ok ? await asking.fits(read.value) : { ok: false as const, why: read.why, raw: text }
    if (judged.ok) return { ok: true, value: judged.value, text }
    await asking.misfit?.(judged, attempts)
    if (attempts > asking.mostRetries) return { ok: false, why: judged.why, attempts, text }
    text = await asking.retry(`Your answer does not fit: ${judged.why}. Answer again with nothing but the JSON value.`)
  }
  return undefined
}

/** The JSON of a model's answer, with or without a code fence around it. */
export function answerJson(text: string): Read {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)
  const read = readJson((fenced?.[1] ?? text).trim())
  return read.ok ? read : { ok: false, why: `it is not JSON that can be used (${read.why})` }
}
