/** Which events concern a handler: the matcher of spec 003 §5.1, and the `match` of a step. */
import { basename } from 'node:path'
import type { Profile } from '../claude/profile.ts'
import { type EventName, rowOf } from '../events.ts'
import type { Safety } from '../steps.ts'

/** Held against the query of an event: a tool's name, a source, a reason. */
export type Matcher = (query: string) => boolean

/**
 * What a matcher means; undefined when it is no regular expression, and then it matches nothing. In Claude Code a single
 * plain name matches exactly too, and a list may have commas and blanks.
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
    return (query) => pattern.test(query)
  } catch {
    return undefined // the one error that RegExp has: a pattern that it cannot read
  }
}

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

/** The whole name, case-sensitive: `*` (also across /), `?`, `[a-z]`, `[!a]`, `{a,b}`. A broken one matches nothing. */
export function readGlob(glob: string): Matcher {
  let source = ''
  let braces = 0
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at]!
    if (char === '*') source += '[^]*'
    else if (char === '?') source += '[^]'
    else if (char === '{') {
      source += '(?:'
      braces++
    } else if (char === '}' && braces > 0) {
      source += ')'
      braces--
    } else if (char === ',' && braces > 0) source += '|'
    else if (char === '[') {
      const end = glob.indexOf(']', at + 2)
      if (end < 0) return matchesNothing
      const set = glob.slice(at + 1, end).replaceAll(/[\\^[]/g, '\\$&')
      source += `[${set.replace(/^(!|\\\^)/, '^')}]`
      at = end
    } else source += char.replace(/[\\^$.|+()[\]{}]/g, '\\$&')
  }
  if (braces > 0) return matchesNothing
  try {
    const pattern = new RegExp(`^${source}$`)
    return (query) => pattern.test(query)
  } catch {
    return matchesNothing // such as the range [z-a]
  }
}
