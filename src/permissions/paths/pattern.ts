/** Paths under rules: gitignore patterns with four anchors, and a path's every spelling. */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { literal } from '../wildcard.ts'
import { type FileView, freshView, goesUp, posix } from './view.ts'

export interface PathPattern {
  /** What the pattern is relative to. */
  readonly anchor: 'root' | 'home' | 'project' | 'cwd'
  /** Leading directories without wildcards. */
  readonly base: string
  /** The rest, for a path relative to the base. */
  readonly rest: RegExp
  /** The parts of the pattern that are plain names, to hold a shell's wildcards against. */
  readonly names: readonly string[]
  /** The parts with wildcards beside other characters, each wildcard as `*`; for the same. */
  readonly globs: readonly string[]
  /** Part of every path that matches, to rule most paths out by. */
  readonly part: string
}

/** Where the anchors are. */
export interface Places {
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
  /** Folders besides the project that deny and ask rules are anchored to as well. */
  readonly origins?: readonly string[]
  /** Folders besides the project that tools work in: bare names are denied there too. */
  readonly directories?: readonly string[]
  /** What is seen of the file system; without one, it is looked at each time. */
  readonly files?: FileView
  /** The folders that patterns were found to be anchored to: as named, and where they lead. */
  readonly bases?: Readonly<Record<'allow' | 'forbid' | 'reach', Map<PathPattern, readonly string[]>>>
}

/** Places, and what was worked out about them. */
export interface KnownPlaces extends Places {
  /** The working directories, as named and where links lead. */
  working(): readonly string[]
}

/** The file systems of these know no difference between capitals and small letters. */
export const foldsCase = process.platform === 'darwin' || process.platform === 'win32'

/**
 * Reads `//abs`, `~/home`, `/project`, `./cwd` or a bare pattern. A bare name, or `name/**` in a deny or ask rule, is
 * looked for at any depth. A pattern that names a directory covers all below it.
 */
export function pathPattern(text: string, allow: boolean): PathPattern {
  const [anchor, pattern] = text.startsWith('//')
    ? (['root', text] as const)
    : text === '~' || text.startsWith('~/')
      ? (['home', `/${text.slice(2)}`] as const)
      : ([text.startsWith('/') ? 'project' : 'cwd', text] as const)
  const trimmed = pattern.replace(/\/+$/, '')
  const anyDepth = !trimmed.includes('/') || (!allow && /^[^/]+\/\*\*$/.test(trimmed))
  const segments = trimmed.split('/').filter((part) => part !== '' && part !== '.')
  if (segments.length === 0) return { anchor, base: '', rest: /^/, names: [], globs: [], part: '' }
  const first = anyDepth ? 0 : segments.findIndex((part, at) => wild.test(part) || at === segments.length - 1)
  const base = segments.slice(0, Math.max(first, 0)).map(plain).join('/')
  const rest = segments.slice(Math.max(first, 0))
  return {
    anchor,
    base,
    rest: new RegExp(`^${anyDepth ? '(?:.*/)?' : ''}${regexOf(rest)}(?:/.*)?$`, foldsCase ? 'isu' : 'su'),
    names: segments.filter((part) => !wild.test(part)).map(plain),
    globs: segments
      .filter((part) => wild.test(part))
      .map(asStars)
      .filter((part) => part !== '*'),
    part: foldsCase ? '' : longestOf(rest.filter((each) => !wild.test(each)).map(plain)),
  }
}

const longestOf = (texts: readonly string[]): string =>
  texts.reduce((longest, each) => (each.length > longest.length ? each : longest), '')

const wild = /(?<!\\)[*?[]/
const plain = (part: string): string => part.replace(/\\(.)/g, '$1')
/** `a?[bc]*` as `a*`: what it matches, and more. */
const asStars = (part: string): string => plain(part.replace(/(?<!\\)(\[[^\]]*\]?|[*?])+/g, '*'))

function regexOf(segments: readonly string[]): string {
  let out = ''
  for (const [at, segment] of segments.entries()) {
    const last = at === segments.length - 1
    if (segment === '**') out += last ? '.+' : '(?:[^/]+/)*'
    else out += segmentRegex(segment) + (last ? '' : '/')
  }
  return out
}

/** One part of a path: `*`, `?` and `[…]` stay within it. NUL stands for any name there may be: only `*` matches it. */
export function segmentRegex(segment: string): string {
  let out = ''
  for (let i = 0; i < segment.length; i++) {
    const char = segment[i]!
    if (char === '*') {
      if (segment[i - 1] !== '*') out += '[^/]*'
    } else if (char === '?') out += '[^/\\u0000]'
    else if (char === '\\' && i + 1 < segment.length) out += literal(segment[++i]!)
    else if (char === '[') {
      const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(segment.slice(i))
      if (!set) out += '\\['
      else {
        out += setRegex(set[1] !== '', set[2]!)
        i += set[0].length - 1
      }
    } else out += literal(char)
  }
  return out
}

const inSet = (char: string): string => char.replace(/[\\^\][-]/, '\\$&')

/** `[a-z]` as a set that never holds a slash; ranges that run backwards match nothing. */
function setRegex(negated: boolean, body: string): string {
  let out = ''
  const chars = [...body.replace(/\\(.)/g, '$1')]
  for (let i = 0; i < chars.length; i++) {
    const to = chars[i + 1] === '-' ? chars[i + 2] : undefined
    if (to === undefined) out += inSet(chars[i]!)
    else {
      if (chars[i]! <= to) out += `${inSet(chars[i]!)}-${inSet(to)}`
      i += 2
    }
  }
  return negated ? `[^/\\u0000${out}]` : `(?!/)[${out}]`
}

/** Whether a pattern matches an absolute, normal path. Deny and ask also hold for every directory up to the project. */
export function matchesPath(pattern: PathPattern, path: string, places: Places, allow: boolean): boolean {
  if (!path.includes(pattern.part)) return false
  for (const base of basesOf(pattern, places, allow)) if (restMatches(pattern, base, path)) return true
  return false
}

function basesOf(pattern: PathPattern, places: Places, allow: boolean): readonly string[] {
  const known = places.bases?.[allow ? 'allow' : 'forbid']
  const before = known?.get(pattern)
  if (before) return before
  const { real } = places.files ?? freshView
  const named = anchors(pattern, places, allow).map((each) => (pattern.base === '' ? each : join(each, pattern.base)))
  const bases = [...new Set(named.flatMap((base) => [base, real(base)]))]
  known?.set(pattern, bases)
  return bases
}

/** Whether something below a folder could match the pattern. */
export function reachesInto(pattern: PathPattern, folder: string, places: Places): boolean {
  return realBasesOf(pattern, places).some((base) => isWithin(base, folder) || isWithin(folder, base))
}

function realBasesOf(pattern: PathPattern, places: Places): readonly string[] {
  const before = places.bases?.reach.get(pattern)
  if (before) return before
  const { real } = places.files ?? freshView
  const bases = anchors(pattern, places, false).map((anchor) => real(join(anchor, pattern.base)))
  places.bases?.reach.set(pattern, bases)
  return bases
}

/**
 * Moving into a folder, a worktree or an additional directory must not lift a deny rule that is written relative to where
 * the session began.
 */
function anchors({ anchor }: PathPattern, places: Places, allow: boolean): readonly string[] {
  const { cwd, projectDir, home, origins = [], directories = [] } = places
  if (anchor === 'root') return ['/']
  if (anchor === 'home') return [home]
  if (anchor === 'project') return allow ? [projectDir] : [projectDir, ...origins]
  if (allow) return [cwd]
  const up = [cwd]
  for (let dir = cwd; dir !== projectDir && isWithin(dir, projectDir); ) {
    dir = dirname(dir)
    up.push(dir)
  }
  return [...new Set([...up, projectDir, ...origins, ...directories])]
}

function restMatches(pattern: PathPattern, base: string, path: string): boolean {
  if (base === '/') return pattern.rest.test(path.slice(1))
  if (path.charCodeAt(base.length) !== slash || !path.startsWith(base)) return false
  return pattern.rest.test(path.slice(base.length + 1))
}

export const isWithin = (path: string, directory: string): boolean =>
  path.startsWith(directory) &&
  (path.length === directory.length || path.charCodeAt(directory.length) === slash || directory.endsWith('/'))

/** A path as given, made absolute. */
export function absolutePath(path: string, cwd: string, home: string): string {
  const expanded = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path
  if (!isTidy(expanded) || !isTidyFolder(cwd)) return posix(resolve(cwd, expanded))
  return expanded.startsWith('/') ? expanded : `${cwd}/${expanded}`
}

/** A path as its spellings: as given, made absolute; and as the file system follows it, links and `..` in their order. */
export function resolvePaths(path: string, cwd: string, home: string, files = freshView): readonly string[] {
  const expanded = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path
  if (isTidy(expanded) && isTidyFolder(cwd)) {
    const given = expanded.startsWith('/') ? expanded : `${cwd}/${expanded}`
    const real = files.real(given)
    return given === real ? [given] : [given, real]
  }
  const given = posix(resolve(cwd, expanded))
  const tidy = files.real(given)
  if (!goesUp.test(expanded) && !goesUp.test(cwd)) return given === tidy ? [given] : [given, tidy]
  const followed = files.real(isAbsolute(expanded) ? expanded : `${cwd}/${expanded}`)
  return [...new Set([given, followed, tidy])]
}

const isTidyFolder = (path: string): boolean => path.startsWith('/') && isTidy(path)

/** Nothing in it that `resolve` would change: no part that is empty, `.` or `..`. */
const isTidy = (path: string): boolean => !untidyPart.test(path)

const untidyPart = /(?:^(?!\/)|\/)\.{0,2}(?:\/|$)/
const slash = 47
