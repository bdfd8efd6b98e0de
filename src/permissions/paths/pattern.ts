/** Paths under rules: gitignore patterns with four anchors, and a path's every spelling. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'

export interface PathPattern {
  /** What the pattern is relative to. */
  readonly anchor: 'root' | 'home' | 'project' | 'cwd'
  /** Leading directories without wildcards. */
  readonly base: string
  /** The rest, for a path relative to the base. */
  readonly rest: RegExp
  /** The parts of the pattern that are plain names, to hold a shell's wildcards against. */
  readonly names: readonly string[]
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
  /** `real`, with a memory that lasts for one ruling: the next may find other links. Who rules on what is past gives one for all. */
  readonly follow?: (path: string) => string
}

/** `real`, asked once about each path, and once about a folder for all that is in it. */
export function rememberingReal(): (path: string) => string {
  const known = new Map<string, string>()
  const follow = (path: string): string => {
    const found = known.get(path)
    if (found !== undefined) return found
    const plain = sep === '/' && path !== '/' && !goesUp.test(path) && !mayBeLink(path)
    const at = plain ? join(follow(dirname(path)), basename(path)) : real(path)
    if (known.size >= mostKnown) known.clear()
    known.set(path, at)
    return at
  }
  return follow
}

const mostKnown = 100_000

function mayBeLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  } catch {
    return true // through a file, or not ours to look at
  }
}

/** The file systems of these know no difference between capitals and small letters. */
export const foldsCase = process.platform === 'darwin' || process.platform === 'win32'

/**
 * Reads `//abs`, `~/home`, `/project`, `./cwd` or a bare pattern. A bare name, or `name/**` in a deny or ask rule, is
 * looked for at any depth. A pattern that names a directory covers all below it.
 */
export function pathPattern(text: string, allow: boolean): PathPattern {
  const [anchor, pattern] = text.startsWith('//')
    ? (['root', text.slice(1)] as const)
    : text === '~' || text.startsWith('~/')
      ? (['home', `/${text.slice(2)}`] as const)
      : text.startsWith('/')
        ? (['project', text] as const)
        : text.startsWith('./')
          ? (['cwd', text.slice(1)] as const)
          : (['cwd', text] as const)
  const trimmed = pattern.replace(/\/+$/, '')
  const anyDepth = !trimmed.includes('/') || (!allow && /^[^/]+\/\*\*$/.test(trimmed))
  const segments = trimmed.split('/').filter((part) => part !== '' && part !== '.')
  if (segments.length === 0) return { anchor, base: '', rest: /^/, names: [] }
  const literal = anyDepth ? 0 : segments.findIndex((part, at) => wild.test(part) || at === segments.length - 1)
  const base = segments.slice(0, Math.max(literal, 0)).map(plain).join('/')
  const rest = segments.slice(Math.max(literal, 0))
  return {
    anchor,
    base,
    rest: new RegExp(`^${anyDepth ? '(?:.*/)?' : ''}${regexOf(rest)}(?:/.*)?$`, foldsCase ? 'isu' : 'su'),
    names: segments.filter((part) => !wild.test(part)).map(plain),
  }
}

const wild = /(?<!\\)[*?[]/
const plain = (part: string): string => part.replace(/\\(.)/g, '$1')

function regexOf(segments: readonly string[]): string {
  let out = ''
  for (const [at, segment] of segments.entries()) {
    const last = at === segments.length - 1
    if (segment === '**') out += last ? '.+' : '(?:[^/]+/)*'
    else out += segmentRegex(segment) + (last ? '' : '/')
  }
  return out
}

/** One part of a path: `*`, `?` and `[…]` stay within it. */
export function segmentRegex(segment: string): string {
  let out = ''
  for (let i = 0; i < segment.length; i++) {
    const char = segment[i]!
    if (char === '*') {
      if (segment[i - 1] !== '*') out += '[^/]*'
    } else if (char === '?') out += '[^/]'
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

const literal = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
const inSet = (char: string): string => char.replace(/[\\^\][-]/g, '\\$&')

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
  return negated ? `[^/${out}]` : out === '' ? '(?!)' : `(?!/)[${out}]`
}

/** Whether a pattern matches an absolute, normal path. Deny and ask also hold for every directory up to the project. */
export function matchesPath(pattern: PathPattern, path: string, places: Places, allow: boolean): boolean {
  return anchors(pattern, places, allow).some((anchor) => {
    const base = pattern.base === '' ? anchor : join(anchor, pattern.base)
    return restMatches(pattern, base, path) || restMatches(pattern, (places.follow ?? real)(base), path)
  })
}

/** Whether something below a folder could match the pattern. */
export function reachesInto(pattern: PathPattern, folder: string, places: Places): boolean {
  return anchors(pattern, places, false).some((anchor) => {
    const base = (places.follow ?? real)(join(anchor, pattern.base))
    return isWithin(base, folder) || isWithin(folder, base)
  })
}

/**
 * Moving into a folder, a worktree or an additional directory must not lift a deny rule that is written relative to where
 * the session began.
 */
function anchors({ anchor }: PathPattern, places: Places, allow: boolean): readonly string[] {
  const { cwd, projectDir, home, origins = [], directories = [] } = places
  if (anchor === 'root') return ['/']
  if (anchor === 'home') return [home]
  if (anchor === 'project') return allow || origins.length === 0 ? [projectDir] : [projectDir, ...origins]
  if (allow) return [cwd]
  if (cwd === projectDir && origins.length === 0 && directories.length === 0) return [cwd]
  const up = [cwd]
  for (let dir = cwd; dir !== projectDir && isWithin(dir, projectDir); ) {
    dir = dirname(dir)
    up.push(dir)
  }
  return [...new Set([...up, projectDir, ...origins, ...directories])]
}

function restMatches(pattern: PathPattern, base: string, path: string): boolean {
  const below = base === '/' ? path.slice(1) : path.startsWith(`${base}/`) ? path.slice(base.length + 1) : undefined
  return below !== undefined && pattern.rest.test(below)
}

export const isWithin = (path: string, directory: string): boolean =>
  path === directory || directory === '/' || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)

/** A path as its spellings: as given, made absolute; and as the file system follows it, links and `..` in their order. */
export function resolvePaths(path: string, cwd: string, home: string, follow = real): readonly string[] {
  const expanded = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path
  const given = posix(resolve(cwd, expanded))
  const tidy = follow(given)
  if (!goesUp.test(expanded) && !goesUp.test(cwd)) return given === tidy ? [given] : [given, tidy]
  const followed = follow(isAbsolute(expanded) ? expanded : `${cwd}/${expanded}`)
  return [...new Set([given, followed, tidy])]
}

/** Only `..` makes a difference between tidying a path first and following it as it is written. */
const goesUp = /(^|[/\\])\.\.([/\\]|$)/

/** Where a path really leads, also when its end does not exist yet or is a link to nothing. */
export function real(path: string): string {
  if (sep !== '/' || goesUp.test(path)) return posix(walk(path))
  try {
    let there = path
    while (there !== '/' && !lstatSync(there, { throwIfNoEntry: false })) there = dirname(there)
    return join(realpathSync.native(there), path.slice(there.length))
  } catch {
    return walk(path) // it leads through a link to nothing, or through what is not ours to look at
  }
}

function walk(path: string): string {
  const waiting = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.')
  let at = sep === '/' ? '/' : `${waiting.shift() ?? ''}/`
  for (let links = 0; waiting.length > 0; ) {
    const part = waiting.shift()!
    if (part === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, part)
    const target = linkTarget(next)
    if (target === undefined || ++links > 40) at = next
    else {
      waiting.unshift(...target.split('/').filter((each) => each !== '' && each !== '.'))
      if (isAbsolute(target)) at = '/'
    }
  }
  return at
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined // not there, or not ours to look at: then nothing behind it can be reached either
  }
}

const posix = (path: string): string => (sep === '/' ? path : path.replaceAll('\\', '/'))
