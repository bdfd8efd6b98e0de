/** Patterns whose one special character is `*`, any run of characters; matched without backtracking. */
import { recent } from './recent.ts'

/** Stands in a text for something that is only known when the command runs. */
export const HOLE = '\u0000'

/** A text, for a regular expression that matches it as it stands. */
export const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** What stands between the wildcards of a pattern: one part where there is none. */
export type Parts = readonly string[]

const known = recent<string, Parts>(500)

export function partsOf(pattern: string): Parts {
  const before = known.get(pattern)
  if (before) return before
  const parts = pattern.split('*')
  known.set(pattern, parts)
  return parts
}

export const matches = (pattern: string, text: string): boolean => fits(partsOf(pattern), text)

/** Whether the pattern could match once every hole in the text is filled with something. */
export const couldMatch = (pattern: string, text: string): boolean => couldFit(partsOf(pattern), text)

/** The first part begins the text, the last one ends it, and the others follow each other in between. */
export function fits(parts: Parts, text: string): boolean {
  const first = parts[0]!
  if (parts.length === 1) return text === first
  const last = parts[parts.length - 1]!
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let part = 1; part < parts.length - 1; part++) {
    const found = text.indexOf(parts[part]!, at)
    at = found + parts[part]!.length
    if (found < 0 || at > end) return false
  }
  return true
}

/**
 * A hole is any run of characters too. Where both have one, what stands between can be put one after the other, so that only the
 * beginnings and the ends have to agree as far as both go.
 */
export function couldFit(parts: Parts, text: string): boolean {
  const hole = text.indexOf(HOLE)
  if (hole < 0) return fits(parts, text)
  const first = parts[0]!
  if (parts.length === 1) return fits(text.split(HOLE), first)
  const last = parts[parts.length - 1]!
  const begin = text.slice(0, hole)
  const end = text.slice(text.lastIndexOf(HOLE) + 1)
  return (begin.startsWith(first) || first.startsWith(begin)) && (end.endsWith(last) || last.endsWith(end))
}
