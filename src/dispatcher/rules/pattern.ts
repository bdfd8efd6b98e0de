/** Regular expressions out of the repository's configuration: held against bounded text, and rejected where they could be slow. */
import { slowPart } from '../../hooks/text/slow-regex.ts'

/** What a pattern is held against: the name of a tool, or text of any length. */
export type PatternKind = 'name' | 'text'

/** Repeats that may share a text, and how much of the text is looked at. */
const bounds: Readonly<Record<PatternKind, { readonly loops: number; readonly length: number }>> = {
  name: { loops: 3, length: 256 },
  text: { loops: 1, length: 8192 },
}

/** Why a pattern cannot be used. */
export function patternFault(source: string, kind: PatternKind): string | undefined {
  try {
    new RegExp(source)
  } catch (cause) {
    return (cause as Error).message
  }
  return slowPart(source, { loops: bounds[kind].loops, foldCase: true }) ?? undefined
}

/** Whether the pattern is found, letters of either case alike; never for one that cannot be used, which the doctor reports. */
export const patternMatches = (source: string, text: string, kind: PatternKind): boolean =>
  patternFault(source, kind) === undefined && new RegExp(source, 'i').test(text.slice(0, bounds[kind].length))

/** What the pattern finds in the text, each time; none for one that cannot be used. */
export const patternFinds = (source: string, text: string): string[] =>
  patternFault(source, 'text') === undefined
    ? Array.from(text.slice(0, bounds.text.length).matchAll(new RegExp(source, 'g')), ([found]) => found)
    : []
