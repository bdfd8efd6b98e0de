/** The JSON of a model's answer, with or without a code fence around it. */
import { type Read, readJson } from '../../hooks/text/json-text.ts'

export function answerJson(text: string): Read {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)
  const read = readJson((fenced?.[1] ?? text).trim())
  return read.ok ? read : { ok: false, why: `it is not JSON that can be used (${read.why})` }
}
