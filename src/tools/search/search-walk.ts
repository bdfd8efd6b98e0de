/** Searching without ripgrep: our own walk, with the same answers. Runs in the worker, where it can be ended. */
import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import picomatch from 'picomatch'
import { decode, sniff } from '../encoding.ts'
import { clip, type Found, type FoundFile, type FoundLine, heldBytes, type Search } from './search.ts'
import { toRegExp } from './search-regex.ts'
import { globsOfType } from './search-types.ts'
import { globOptions, walk } from './walk.ts'

/** Files that do not fit into one string. */
const sizeLimit = 268_435_456

export async function searchWalk(search: Search): Promise<Found> {
  const translated = toRegExp(search.pattern, search)
  if (!translated.ok) return translated
  const ofType = search.type === undefined ? undefined : globsOfType(search.type)
  if (search.type !== undefined && !ofType) {
    return { ok: false, why: `unknown type ${JSON.stringify(search.type)}; use glob instead` }
  }

  const files: FoundFile[] = []
  let room = heldBytes(search)
  for (const path of await pathsOf(search, ofType)) {
    const found = searchFile(path, translated.regex, search)
    if (!found) continue
    files.push(found)
    room -= found.lines.reduce((sum, { text }) => sum + text.length + path.length, path.length)
    if (room < 0) return { ok: true, files, cut: true }
  }
  return { ok: true, files, cut: false }
}

async function pathsOf({ root, rootIsFile, globs }: Search, ofType: readonly string[] | undefined): Promise<string[]> {
  if (rootIsFile) return [root]
  const chosen = chooser(globs)
  const isOfType = ofType && picomatch([...ofType], globOptions)
  const found: string[] = []
  await walk({ root, ignoring: true, choose: chosen }, (path) => {
    if (!isOfType || isOfType(basename(path))) found.push(join(root, path))
  })
  return found.sort()
}

/** ripgrep's --glob: the last one that fits decides; when any chooses, files that none chose are out. */
function chooser(globs: readonly string[]): (path: string, folder: boolean) => 'in' | 'out' | undefined {
  const rules = globs.map((glob) => {
    const out = glob.startsWith('!')
    const plain = (out ? glob.slice(1) : glob).replace(/\/$/, '')
    const anchored = plain.includes('/')
    const fits = picomatch(anchored ? plain.replace(/^\//, '') : `**/${plain}`, globOptions)
    return { answer: out ? ('out' as const) : ('in' as const), fits }
  })
  const otherwise = rules.some(({ answer }) => answer === 'in') ? ('out' as const) : undefined
  return (path, folder) => rules.findLast(({ fits }) => fits(path))?.answer ?? (folder ? undefined : otherwise)
}

function searchFile(path: string, regex: RegExp, search: Search): FoundFile | undefined {
  const text = textOf(path)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const matched = search.multiline ? acrossLines(text, regex) : withinLines(text, lines, regex)
  if (matched.lines.length === 0) return undefined
  const shown = search.mode === 'content' ? around(lines, matched.lines, search) : []
  return { path, count: matched.count, lines: shown }
}

/** Undefined for what is binary, too large or not ours to read: ripgrep passes over these too. */
function textOf(path: string): string | undefined {
  try {
    if (statSync(path).size > sizeLimit) return undefined
    const bytes = readFileSync(path)
    const encoding = sniff(bytes.subarray(0, 65_536), bytes.length <= 65_536)
    const wide = encoding === 'utf16le' || encoding === 'utf16be'
    if (!wide && bytes.includes(0)) return undefined
    if (wide && bytes[0] !== 0xff && bytes[0] !== 0xfe) return undefined
    return decode(bytes, wide || encoding === 'utf8-bom' ? encoding : 'utf8').replaceAll('\r\n', '\n')
  } catch {
    return undefined
  }
}

interface Matched {
  /** Indexes, ascending. */
  readonly lines: readonly number[]
  readonly count: number
}

function withinLines(text: string, lines: readonly string[], regex: RegExp): Matched {
  // One look at the whole text passes over most files; ^ and $ then mean any line's.
  if (!new RegExp(regex.source, `${regex.flags}m`).test(text)) return { lines: [], count: 0 }
  const found: number[] = []
  for (const [index, line] of lines.entries()) if (regex.test(line)) found.push(index)
  return { lines: found, count: found.length }
}

function acrossLines(text: string, regex: RegExp): Matched {
  const found = new Set<number>()
  let count = 0
  let line = 0
  let at = 0
  const lineAt = (position: number) => {
    for (let end = text.indexOf('\n', at); end >= 0 && end < position; end = text.indexOf('\n', at)) {
      line++
      at = end + 1
    }
    return line
  }
  for (const match of text.matchAll(new RegExp(regex.source, `${regex.flags}g`))) {
    if (match.index === text.length && text !== '' && match[0] === '') continue
    count++
    const first = lineAt(match.index)
    const last = lineAt(match.index + Math.max(0, match[0].length - 1))
    for (let each = first; each <= last; each++) found.add(each)
  }
  return { lines: [...found], count }
}

function around(lines: readonly string[], matched: readonly number[], { before, after }: Search): FoundLine[] {
  const matches = new Set(matched)
  const chosen = new Set<number>()
  for (const at of matched) {
    for (let each = Math.max(0, at - before); each <= Math.min(lines.length - 1, at + after); each++) chosen.add(each)
  }
  return [...chosen]
    .sort((a, b) => a - b)
    .map((index) => ({ number: index + 1, text: clip(lines[index]!), match: matches.has(index) }))
}
