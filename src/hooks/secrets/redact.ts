/** Takes secrets out of text that is going to be kept. One pass, linear, and JSON stays JSON. */
import { secretNamePattern } from './secret-names.ts'

/** In `json`, no value reaches beyond the string that it stands in: a quote that is never closed leaves JSON. */
export type Redact = (text: string, as?: 'text' | 'json') => string

const mark = '[redacted]'

/** Redacts what looks like a secret, and the very values given (a key that this process holds). */
export function createRedactor(values: readonly string[] = []): Redact {
  // the longest first: of a value that begins with another one nothing may be left
  const longest = values.filter((value) => value.length >= 8).toSorted((a, b) => b.length - a.length)
  const known = longest.map(literally)
  const pattern = known.length > 0 ? new RegExp(`${known.join('|')}|${looksSecret.source}`, 'gi') : looksSecret
  return (text, as) => replaceAll(text, pattern, as === 'json')
}

/** Redacts what looks like a secret. */
export const redact: Redact = (text, as) => replaceAll(text, looksSecret, as === 'json')

/** The first secret in a text that is known by its form alone, whatever it is called there. */
export function secretIn(text: string): string | undefined {
  const match = text.match(formsAlone)
  return match?.[0].slice(match.groups?.['scheme']?.length ?? 0)
}

/*
 * Nothing here may look further than a few characters before it is sure: a run is taken whole or the match fails within
 * its first characters. The value after a key is found by hand, from where the key ended, so no character is read twice.
 */
const wellKnown = [
  'sk-[a-z0-9_-]{16,}', // Anthropic, OpenAI
  'gh[pousr]_[a-z0-9]{20,}|github_pat_[a-z0-9_]{20,}',
  'glpat-[a-z0-9_-]{16,}',
  '(?:AKIA|ASIA)[A-Z0-9]{16}',
  'AIza[a-z0-9_-]{30,}',
  'xox[abeoprs]-[a-z0-9-]{10,}',
  'npm_[a-z0-9]{30,}',
  'hf_[a-z0-9]{30,}',
  '[rs]k_(?:live|test)_[a-z0-9]{16,}',
  'eyJ[a-z0-9_-]{8,400}\\.eyJ[a-z0-9_-]{8,}(?:\\.[a-z0-9_-]*)?',
]
const schemes = '(?<scheme>(?:Bearer|Basic)[ \\t]{1,4})[a-z0-9._~+/=-]{12,}'
const privateKey = '(?<begin>-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)'
/** A key that ends in such a name, its separator, and the quote that opens its value (in nested JSON: with backslashes). */
const keyed = `(?:${secretNamePattern})(?<close>\\\\{0,8}["'])?(?<sep>[ \\t]{0,4}[:=][ \\t]{0,4})(?<open>\\\\{0,8}["'])?`
const formsAlone = new RegExp([...wellKnown, schemes, privateKey].join('|'), 'i')
const looksSecret = new RegExp([...wellKnown, schemes, privateKey, keyed].join('|'), 'gi')

function replaceAll(text: string, pattern: RegExp, isJson: boolean): string {
  let out = ''
  let from = 0
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const end = match.index + match[0].length
    const { scheme, begin, close, sep, open } = match.groups ?? {}
    if (sep !== undefined) {
      if (isJson && close !== '"' && open?.endsWith('"') && open.length % 2 === 1) continue // the end of its string
      const until =
        open === undefined
          ? bareEnd(text, end, close, sep)
          : isJson
            ? withinString(text, end, open)
            : quotedEnd(text, end, open)
      if (until <= end || text.startsWith(mark, end)) continue
      out += text.slice(from, end) + mark
      from = until
    } else if (begin !== undefined) {
      const string = isJson ? quotedEnd(text, end, '"') : text.length
      const found = text.slice(end, string).indexOf('-----END')
      out += text.slice(from, end) + mark
      // cut off before its end: to the end of its JSON string
      from = found < 0 ? quotedEnd(text, end, '"') : end + found
    } else {
      out += text.slice(from, match.index) + (scheme ?? '') + mark
      from = end
    }
    pattern.lastIndex = from
  }
  return from === 0 ? text : out + text.slice(from)
}

/** Where a quoted value ends: at the same quote, escaped as often as the one that opened it. */
function quotedEnd(text: string, start: number, open: string): number {
  const quote = open.at(-1)!
  const depth = open.length - 1
  for (let at = text.indexOf(quote, start); at >= 0; at = text.indexOf(quote, at + 1)) {
    let slashes = 0
    while (at - slashes > start && text[at - slashes - 1] === '\\') slashes++
    if (slashes < depth) return at - slashes
    if (slashes % (2 * depth + 2) === depth) return at - depth
  }
  return text.length
}

/** Looks no further than the end of the JSON string, so that many quotes that are never closed stay cheap. */
function withinString(json: string, start: number, open: string): number {
  const string = json.slice(start, quotedEnd(json, start, '"'))
  return start + quotedEnd(string, 0, open)
}

/** `KEY=value` and `key: value` without quotes: a word that is no number, no variable and no expression. */
function bareEnd(text: string, start: number, close: string | undefined, sep: string): number {
  if (close !== undefined || (sep !== '=' && !sep.startsWith(':'))) return start
  bareValue.lastIndex = start
  const value = bareValue.exec(text)?.[0] ?? ''
  const secret = value.length >= 6 && !notSecret.test(value) && (sep === '=' || /\d/.test(value))
  return secret ? start + value.length : start
}
const notSecret = /^(?:[\d.]+$|\$|process\.|bearer$|basic$)/i
const bareValue = /[^\s"'`,;&|<>()[\]{}\\]+/y

const literally = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
