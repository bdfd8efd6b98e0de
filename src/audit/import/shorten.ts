/** Keeps what is stored small and free of secrets: long texts become head, tail and the hash of the whole. */
import { redact } from '../../hooks/secrets/redact.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import { storable } from '../../store/secrets.ts'

/** Above this, an output is stored as its head and tail. */
export const longestText = 16 * 1024
const HEAD = 8 * 1024
const TAIL = 4 * 1024
/** Secrets are looked for a little beyond a cut, so that half a secret is recognised too. */
const OVERLAP = 4 * 1024

/** The text as it is stored. The hash is that of the original: it proves what was there without keeping it. */
export function stored(text: string): string {
  if (text.length <= longestText) return clean(text)
  const head = clean(text.slice(0, HEAD + OVERLAP)).slice(0, HEAD)
  const tail = clean(text.slice(-TAIL - OVERLAP)).slice(-TAIL)
  const left = (text.length - HEAD - TAIL).toLocaleString('en')
  return `${head}\n[… ${left} characters not stored; sha256 of the whole: ${sha256(text)}]\n${tail}`
}

/** Only what rules never look at is shortened: content that is written or replaced. */
export function storedInput(input: JsonObject): JsonObject {
  let changed = false
  const short = Object.entries(input).map(([key, value]) => {
    if (typeof value !== 'string' || value.length <= longestText || judged.has(key)) return [key, value]
    changed = true
    return [key, stored(value)]
  })
  return changed ? Object.fromEntries(short) : input
}
const judged = new Set(['command', 'file_path', 'notebook_path', 'path', 'url', 'pattern', 'query'])

/** A value as JSON text without secrets: keys tell what is one. */
export const storedJson = (value: unknown): string => storable(redact(wellFormed(JSON.stringify(value)), 'json'))

const clean = (text: string): string => storable(redact(wellFormed(text)))
const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())

const sha256 = (text: string): string => process.getBuiltinModule('node:crypto').hash('sha256', text)
