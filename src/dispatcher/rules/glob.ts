/**
 * The one pattern dialect of every list in our configuration: `**`, `*`, `?`, `[…]`, `{a,b}`; anchored at the
 * repository's root; dotfiles match; a pattern that ends in `/` means everything below.
 */

const cache = new Map<string, Matcher>()
const foldCase = process.platform === 'win32' || process.platform === 'darwin' ? 'i' : ''

export function globMatches(pattern: string, path: string): boolean {
  let matcher = cache.get(pattern)
  if (!matcher) {
    matcher = matcherOf(pattern)
    cache.set(pattern, matcher)
  }
  return matches(matcher, path)
}

export const matchesAny = (patterns: readonly string[], path: string): boolean =>
  patterns.some((pattern) => globMatches(pattern, path))

/**
 * States of a machine that reads a path letter by letter, all possible ones at a time: a regular expression tries them one after
 * another, and a pattern with many stars would take it hours. A state reads a letter or leads on without one.
 */
interface State {
  readonly reads?: (char: string) => boolean
  readonly next: number[]
}
type Matcher = readonly State[]

function matches(states: Matcher, path: string): boolean {
  let now = closure(states, [0])
  for (let i = 0; i < path.length; i++) {
    const char = path[i]!
    const next: number[] = []
    for (const at of now) if (states[at]!.reads?.(char)) next.push(...states[at]!.next)
    if (next.length === 0) return false
    now = closure(states, next)
  }
  return now.has(states.length - 1)
}

function closure(states: Matcher, from: readonly number[]): Set<number> {
  const found = new Set(from)
  for (const at of found) if (!states[at]!.reads) for (const next of states[at]!.next) found.add(next)
  return found
}

/** A pattern that cannot be read matches its own letters only. */
function matcherOf(pattern: string): Matcher {
  let glob = pattern.replaceAll('\\', '/')
  while (glob.startsWith('./')) glob = glob.slice(2)
  if (glob.endsWith('/')) glob += '**'
  return machine(glob, translate) ?? machine(glob, letters)!
}

/** Adds states at the end, from the one that is last to a new last one. */
interface Build {
  readonly states: State[]
  /** A state that reads one letter and goes on. */
  read(reads: (char: string) => boolean): void
  /** A way without a letter. */
  link(from: number, to: number): void
  /** The last state. */
  end(): number
  /** A new last state; nothing leads to it yet. */
  add(): number
}

function machine(glob: string, write: (glob: string, build: Build) => boolean): Matcher | undefined {
  const states: State[] = [{ next: [] }]
  const end = () => states.length - 1
  const add = () => states.push({ next: [] }) - 1
  const build: Build = {
    states,
    end,
    add,
    link: (from, to) => void states[from]!.next.push(to),
    read: (reads) => {
      const from = end()
      states.push({ reads, next: [] })
      states[from]!.next.push(end())
      const reader = end()
      states[reader]!.next.push(add())
    },
  }
  return write(glob, build) ? states : undefined
}

const same = (char: string) =>
  foldCase ? (other: string) => other.toLowerCase() === char.toLowerCase() : (other: string) => other === char
const notSlash = (char: string) => char !== '/'

function letters(glob: string, { read }: Build): boolean {
  for (let i = 0; i < glob.length; i++) read(same(glob[i]!))
  return true
}

/** Any number of these letters. */
function many(reads: (char: string) => boolean, { read, link, end }: Build): void {
  const from = end()
  read(reads)
  link(end(), from)
  link(from, end())
}

function translate(glob: string, build: Build): boolean {
  const { read, link, end, add } = build
  /** Of every open brace: where it begins, and the ends of the parts before. */
  const braces: { from: number; ends: number[] }[] = []
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!
    const brace = braces.at(-1)
    if (char === '*') {
      if (glob[i + 1] !== '*') {
        many(notSlash, build)
        continue
      }
      while (glob[i + 1] === '*') i++
      const from = end()
      link(from, add()) // many() comes back to where it began, and from there nothing is skipped
      many(() => true, build)
      if (glob[i + 1] !== '/') continue
      i++
      read(same('/'))
      link(from, end())
    } else if (char === '?') read(notSlash)
    else if (char === '[') {
      const close = glob.indexOf(']', i + (/[!^]/.test(glob[i + 1] ?? '') ? 3 : 2)) // a ] that comes first is a letter
      const reads = close === -1 ? same('[') : classOf(glob.slice(i + 1, close))
      if (!reads) return false
      read(reads)
      if (close !== -1) i = close
    } else if (char === '{' && glob.includes('}', i)) {
      braces.push({ from: end(), ends: [] })
      const from = end()
      link(from, add())
    } else if (char === '}' && brace) {
      braces.pop()
      const ends = [...brace.ends, end()]
      const last = add()
      for (const each of ends) link(each, last)
    } else if (char === ',' && brace) {
      brace.ends.push(end())
      link(brace.from, add())
    } else read(same(char))
  }
  return braces.length === 0
}

function classOf(body: string): ((char: string) => boolean) | undefined {
  try {
    const text = body.replace(/^!/, '^').replaceAll('\\', '\\\\').replaceAll(']', '\\]')
    const regex = new RegExp(`^[${text}]$`, foldCase)
    return (char) => notSlash(char) && regex.test(char)
  } catch {
    return undefined
  }
}

/** True for patterns made of nothing but stars, dots and slashes: they reach the whole repository. */
export const isRepoWide = (pattern: string): boolean => /^[*./\s\\]*$/.test(pattern)

/** Whether what `inner` can match lies inside what `outer` matches. When in doubt, no. */
export function globInside(inner: string, outer: string): boolean {
  if (inner === outer) return true
  if (!/[*?[{]/.test(inner)) return globMatches(outer, inner)
  const open = /^([^*?[{]+)\/\*\*(?:\/\*)?$/.exec(outer)
  return open !== null && literalBase(inner).startsWith(`${open[1]}/`) && !inner.includes('..')
}

/** The part of a pattern before its first wildcard, up to a slash. */
function literalBase(glob: string): string {
  const literal = glob.slice(0, Math.max(0, glob.search(/[*?[{]/)))
  return literal.slice(0, literal.lastIndexOf('/') + 1)
}
