/** A tool's input cut down for the log: shallow, short, and without what looks like a secret. */
import { commonSecretNames } from '../hooks/secrets/secret-names.ts'
import type { Json } from './types.ts'

const limits = { depth: 4, items: 20, text: 200, whole: 4096 }

export function summarise(input: Json | undefined, redactKeys: unknown): unknown {
  if (input === undefined) return undefined
  const keys = Array.isArray(redactKeys) ? redactKeys.filter((key) => typeof key === 'string') : commonSecretNames
  const secret = new Set(keys.map(plain))
  const whole = cut(input, limits.depth, secret)
  const text = JSON.stringify(whole)
  return text.length <= limits.whole ? whole : `${text.slice(0, limits.whole - 40)}… (${text.length} characters)`
}

/** `api_key`, `API-Key` and `apiKey` are one key. */
const plain = (key: string): string => key.toLowerCase().replace(/[^a-z0-9]/g, '')

function cut(value: unknown, depth: number, secret: ReadonlySet<string>): unknown {
  if (typeof value === 'string')
    return value.length <= limits.text ? value : `${value.slice(0, 100)}… (${value.length} characters)`
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return Array.isArray(value) ? `[${value.length} items]` : '{…}'
  if (Array.isArray(value)) {
    const items = value.slice(0, limits.items).map((item) => cut(item, depth - 1, secret))
    return value.length > limits.items ? [...items, `… ${value.length - limits.items} more`] : items
  }
  const entries = Object.entries(value)
  const kept = entries.slice(0, limits.items).map(([key, item]) => {
    return [key.slice(0, limits.text), secret.has(plain(key)) ? '[redacted]' : cut(item, depth - 1, secret)]
  })
  if (entries.length > limits.items) kept.push(['…', `${entries.length - limits.items} more`])
  return Object.fromEntries(kept)
}
