/** Which events concern a handler: the matcher of spec 003 §5.1, and the `match` of a step. */
import { basename } from 'node:path'
import type { Profile } from '../claude/profile.ts'
import { type EventName, rowOf } from '../events.ts'
import type { Safety } from '../steps.ts'
import { slowPart } from '../text/slow-regex.ts'

/** Held against the query of an event: a tool's name, a source, a reason. */
export type Matcher = (query: string) => boolean

/**
 * What a matcher means; undefined when it is no regular expression or one that could run for ever, and then it matches
 * nothing. In Claude Code a single plain name matches exactly too, and a list may have commas and blanks.
 */
export function readMatcher(matcher: string, profile?: Profile): Matcher | undefined {
  if (matcher === '' || matcher === '*') return matchesAll
  if (profile === 'claude' && /^[\w ,|-]+$/.test(matcher)) {
    const names = new Set(matcher.split(/[|,]/).map((name) => name.trim()))
    return (query) => names.has(query)
  }
  if (matcher.includes('|') && /^[a-zA-Z0-9_|]+$/.test(matcher)) {
    const names = new Set(matcher.split('|'))
    return (query) => names.has(query)
  }
  try {
    const pattern = new RegExp(matcher)
    return slowMatcher(matcher) === null ? (query) => pattern.test(query) : undefined
  } catch {
    return undefined // the one error that RegExp has: a pattern that it cannot read
  }
}

/** Why a regular expression is too slow to be a matcher; null for any other text. */
export const slowMatcher = (matcher: string): string | null => (/[*+{]/.test(matcher) ? slowPart(matcher) : null)

export const matchesAll: Matcher = () => true
export const matchesNothing: Matcher = () => false

/**
 * What an event's matchers are held against. Null: nothing, so that only "" and * match. Undefined: the event takes no
 * matcher, and whatever is written there is ignored.
 */
export function matchQuery(name: EventName, fields: Readonly<Record<string, unknown>>): string | null | undefined {
  const row = rowOf(name)
  if (row.matchOn === undefined) return row.takesNoMatcher ? undefined : null
  const value = fields[row.matchOn]
  return name === 'FileChanged' ? basename(String(value ?? '')) : String(value ?? '')
}

/** A step's own condition: every part given must hold. */
export interface StepMatch {
  readonly tool?: string
  readonly tool_glob?: string
  readonly safety?: readonly Safety[]
}

export type StepMatcher = (tool: string | undefined, safety: Safety | undefined) => boolean

export function readStepMatch({ tool: exact, tool_glob, safety: any = [] }: StepMatch): StepMatcher {
  const glob = tool_glob === undefined ? undefined : readGlob(tool_glob)
  return (tool, safety) =>
    (exact === undefined || exact === tool) &&
    (glob === undefined || (tool !== undefined && glob(tool))) &&
    (any.length === 0 || (safety !== undefined && any.includes(safety)))
}

/**
 * The whole name, case-sensitive: `*` (also across /), `?`, `[a-z]`, `[!a]`, `{a,b}`. A broken one matches nothing. No regular
 * expression is made of it: with many stars one would take hours.
 */
export function readGlob(glob: string): Matcher {
  const globs = readPieces(glob)
  return globs ? (query) => globs.some((pieces) => fits(pieces, query)) : matchesNothing
}

/** Reads one character; `star`: any number of any. */
type Piece = 'star' | ((char: string) => boolean)

/** More ways to read the braces than this are not looked at. */
const mostGlobs = 1000

/** The glob without its braces, once for each way to read them; undefined when it is broken. */
function readPieces(glob: string): Piece[][] | undefined {
  // what is open, the whole glob at the bottom: the ways that are done, and those being read
  const open: { done: Piece[][]; now: Piece[][]; before: Piece[][] }[] = [{ done: [], now: [[]], before: [] }]
  const top = () => open.at(-1)!
  const add = (piece: Piece) => {
    top().now = top().now.map((pieces) => [...pieces, piece])
  }
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at]!
    if (char === '*') add('star')
    else if (char === '?') add(() => true)
    else if (char === '{') open.push({ done: [], now: [[]], before: top().now })
    else if (char === '}' && open.length > 1) {
      const { done, now, before } = open.pop()!
      top().now = before.flatMap((start) => [...done, ...now].map((rest) => [...start, ...rest]))
    } else if (char === ',' && open.length > 1) {
      top().done.push(...top().now)
      top().now = [[]]
    } else if (char === '[') {
      const end = glob.indexOf(']', at + 2)
      const set = end < 0 ? undefined : readSet(glob.slice(at + 1, end))
      if (!set) return undefined
      add(set)
      at = end
    } else add((one) => one === char)
    if (top().now.length > mostGlobs) return undefined
  }
  return open.length > 1 ? undefined : top().now
}

function readSet(text: string): ((char: string) => boolean) | undefined {
  const set = text.replaceAll(/[\\^[]/g, '\\$&').replace(/^(!|\\\^)/, '^')
  try {
    const pattern = new RegExp(`^[${set}]$`)
    return (char) => pattern.test(char)
  } catch {
    return undefined // such as the range [z-a]
  }
}

/** Where it does not fit, only the last star may take more: an earlier one could not do better. */
function fits(pieces: readonly Piece[], text: string): boolean {
  let piece = 0
  let star = -1
  let starAt = 0
  for (let at = 0; at < text.length; ) {
    const here = pieces[piece]
    if (here === 'star') {
      star = piece++
      starAt = at
    } else if (here?.(text[at]!)) {
      piece++
      at++
    } else if (star < 0) return false
    else {
      piece = star + 1
      at = ++starAt
    }
  }
  while (pieces[piece] === 'star') piece++
  return piece === pieces.length
}
