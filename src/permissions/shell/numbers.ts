/**
 * Numbers in a command line that nothing tells apart: no rule, table or folder mentions them, and they name no descriptor, no
 * character and no set. Lines that differ in such numbers alone are read alike, so a replay rules on one of them and on its like.
 * What is unusual is not free: then the line is judged as it stands.
 */

import { isDeepStrictEqual } from 'node:util'

export interface Numbered {
  /** The line with a mark for each free number; the same mark for the same number. */
  readonly key: string
  /** The free numbers, by their marks. */
  readonly numbers: readonly string[]
}

/** A number that something compares with, by its first digit, and what stands before it. */
interface ToldNumber {
  readonly digits: string
  /** Letters, dots and dashes right before it, small; `start`: it begins a word or a name; `any`: whatever stands there. */
  readonly before: { readonly text: string } | 'start' | 'any'
}

export interface ToldNumbers {
  readonly byDigit: readonly (readonly ToldNumber[])[]
  readonly anywhere: readonly ToldNumber[]
}

/** The numbers in texts that command lines are compared with: rules, folders. Undefined: a set of characters is among them. */
export function toldNumbers(texts: readonly string[]): ToldNumbers | undefined {
  const found = programNumbers.flatMap(numbersIn)
  for (const text of texts) {
    if (text.includes('[')) return undefined
    found.push(...numbersIn(text), ...numbersIn(text.replace(/["'\\]/g, '')))
  }
  const placed = found.filter(({ before }) => before !== 'any')
  return {
    byDigit: Array.from({ length: 10 }, (_, digit) => placed.filter(({ digits }) => digits.startsWith(`${digit}`))),
    anywhere: found.filter(({ before }) => before === 'any'),
  }
}

/** Whether every number in a text is one of them. */
export const tellsAll = ({ byDigit, anywhere }: ToldNumbers, text: string): boolean =>
  numbersIn(text).every(
    ({ digits, before }) =>
      anywhere.some((each) => each.digits === digits) ||
      byDigit[Number(digits[0])]!.some((each) => each.digits === digits && isDeepStrictEqual(each.before, before)),
  )

function numbersIn(text: string): ToldNumber[] {
  return Array.from(text.matchAll(/\d+/g), ({ 0: digits, index }) => {
    const name = /[A-Za-z_.-]*$/.exec(text.slice(0, index))![0].toLowerCase()
    if (name !== '') return { digits, before: { text: name } }
    return { digits, before: /[\s/\d]/.test(text[index - 1] ?? '') ? 'start' : 'any' }
  })
}

/**
 * Every number in the tables and expressions of the rules on Bash; a test compares this list with them. `7z` is told by its
 * letter, a lone `0` and the numbers of options by where they stand: see `isFree`.
 */
export const programNumbers: readonly string[] = [
  ...['python3', 'pip3', 'pypy3', 'sqlite3', 'm4', 'p4', 'aria2c', 'bzip2', 'b2sum', 'md5sum', 'sha1sum', 'sha256sum'],
  ...['sha512sum', 'base32', 'base64', 'linux32', 'linux64', 'i386', 'x86_64', 'proxychains4', 'i18n', 'iso-8601'],
  ...['PS0', 'PS1', 'PS2', 'PS3', 'PS4', 'PERL5', '.s3cfg', '.p12', 'id_ed25519', 'Open3', 'capture2', 'capture3'],
  ...['copy2', 'files0', 'bz2', 'bunzip2', 'lz4', 's3cmd', 's4cmd', 's5cmd'],
]

/** Calculation, tests, expansions whose inside bash reads by rules of its own, here-documents, and what is not ASCII. */
const unusual = /\(\(|\[\[|\$[{['"]|<<|[^\t\n\u0020-\u007e]/
/** Longer lines are not looked at. In lines longer than the second, texts may be cut, so that the numbers' lengths count. */
const longest = 2000
const longestUncut = 150

export function numbered(line: string, told: ToldNumbers): Numbered | undefined {
  if (line.length > longest || unusual.test(line)) return undefined
  const spans = numbersOf(line, told)
  if (spans.length === 0 || spans.length > mostNumbers || (line.includes('xargs') && /\s(-\w*[Ii]|--rep)/.test(line)))
    return undefined
  const sized = line.length > longestUncut
  const numbers: string[] = []
  let key = ''
  let from = 0
  for (const { begin, end, free } of spans) {
    if (!free) continue
    const text = line.slice(begin, end)
    // the same number elsewhere counts: the line may compare the two
    if (spans.some((each) => !each.free && line.slice(each.begin, each.end) === text)) continue
    let at = numbers.indexOf(text)
    if (at < 0) at = numbers.push(text) - 1
    key += `${line.slice(from, begin)}\u0001${String.fromCharCode(firstMark + at)}`
    if (sized) key += String.fromCharCode(firstMark + text.length)
    from = end
  }
  return numbers.length === 0 ? undefined : { key: key + line.slice(from), numbers }
}
const firstMark = 0x100
const mostNumbers = 30

/** A line of the same key with other numbers. */
export const renumbered = (key: string, numbers: readonly string[]): string =>
  key.replace(/\u0001([\u0100-\uffff])[\u0100-\uffff]?/g, (_, mark: string) => numbers[mark.charCodeAt(0) - firstMark]!)

interface Span {
  readonly begin: number
  readonly end: number
  free: boolean
}

function numbersOf(line: string, told: ToldNumbers): readonly Span[] {
  const spans: Span[] = []
  const hasSed = line.includes('sed')
  for (let at = 0; at < line.length; at++) {
    if (!isDigit(line.charCodeAt(at))) continue
    const begin = at++
    while (isDigit(line.charCodeAt(at))) at++
    const last = spans.at(-1)
    const joined = last !== undefined && joins(line, last.end, begin)
    if (joined) last.free = false
    spans.push({ begin, end: at, free: !joined && isFree(line, begin, at, told, hasSed) })
  }
  return spans
}

/** Whether quotes alone stand between two numbers, or what code puts strings together by: they may become one. */
function joins(line: string, from: number, to: number): boolean {
  let quotes = false
  for (let at = from; at < to; at++) {
    if (is(quote | backslash, line, at)) quotes = true
    else if (!is(joint, line, at)) return false
  }
  return quotes
}

function isFree(line: string, begin: number, end: number, told: ToldNumbers, hasSed: boolean): boolean {
  if (end - begin === 1 && line[begin] === '0') return false
  if (is(steers, line, end) || (line[end - 1] === '7' && is(letterZ, line, is(quote, line, end) ? end + 1 : end)))
    return false
  if (!standsAlone(line, begin, end)) return false
  let at = begin
  while (is(name, line, at - 1)) at--
  if (!beginsPlainly(line, at)) return false
  const first = line.charCodeAt(begin - 1)
  if (hasSed && (first === letterS || first === letterY)) return false // `s1a1b1`
  const number = line.slice(begin, end)
  for (const { digits } of told.anywhere) if (number.includes(digits) || digits.includes(number)) return false
  for (const { digits, before } of told.byDigit[line.charCodeAt(begin) - zero]!) {
    if (!number.startsWith(digits) && !digits.startsWith(number)) continue
    // a file stands right after the letter of sed's command
    if (before === 'start' ? at >= begin - 1 : endsWith(line, begin, (before as { text: string }).text)) return false
  }
  return true
}

const endsWith = (line: string, end: number, text: string): boolean =>
  line.slice(Math.max(0, end - text.length), end).toLowerCase() === text

/** Neither in an option, nor in a part with wildcards or in braces. */
function standsAlone(line: string, begin: number, end: number): boolean {
  let first = begin
  let sameName = true
  for (let at = begin - 1; at >= 0 && !is(wordEnd, line, at); at--) {
    if (is(brace, line, at) || (sameName && is(wildcard, line, at))) return false
    if (line.charCodeAt(at) === slash) sameName = false
    if (!is(quote, line, at)) first = at
  }
  if (line.charCodeAt(first) === dash) return false
  sameName = true
  let at = end
  for (; at < line.length && !is(wordEnd, line, at); at++) {
    if (is(brace, line, at) || (sameName && is(wildcard, line, at))) return false
    if (line.charCodeAt(at) === slash) sameName = false
  }
  // `@(a|b)` within the word
  return !(line[at] === '(' && is(extends_, line, at - 1))
}

/** Whether the name that a number stands in begins at a place where nothing is put before it. */
function beginsPlainly(line: string, begin: number): boolean {
  let at = begin - 1
  while (is(name | digit | brace, line, at)) at--
  if (is(backslash | steersBefore, line, at)) return false // \x41, $1, $(x)2
  at = begin - 1
  if (is(redirects, line, at)) return false
  if (line[at] === '(' && is(extends_ | wildcard, line, at - 1)) return false
  if (!is(quote, line, at)) return true
  if (is(name | digit | quote | backslash | steersBefore, line, at - 1)) return false
  for (at--; is(joint, line, at); ) at--
  return !is(quote, line, at)
}

/** Sets of characters, as bits. */
const [digit, name, quote, backslash, joint, steers, steersBefore] = [1, 2, 4, 8, 16, 32, 64]
const [redirects, wordEnd, wildcard, brace, extends_, letterZ] = [128, 256, 512, 1024, 2048, 4096]
const zero = 48
const isDigit = (code: number): boolean => code >= zero && code <= zero + 9
const slash = 47
const dash = 45
const letterS = 's'.charCodeAt(0)
const letterY = 'y'.charCodeAt(0)
const sets: readonly (readonly [RegExp, number])[] = [
  [/\d/, digit],
  [/[A-Za-z_.-]/, name],
  [/["'`]/, quote],
  [/\\/, backslash],
  [/[\s+.|]/, joint],
  [/[\\<>$`]/, steers],
  [/[$)}`]/, steersBefore],
  [/[<>&]/, redirects],
  [/[\s;|&()<>=]/, wordEnd],
  [/[*?[\]]/, wildcard],
  [/[{}]/, brace],
  [/[@+!]/, extends_],
  [/[zZ]/, letterZ],
]
const bits = Uint16Array.from({ length: 128 }, (_, code) => {
  let all = 0
  for (const [set, bit] of sets) if (set.test(String.fromCharCode(code))) all |= bit
  return all
})
/** Lines are ASCII here; nothing stands before their beginning and after their end. */
const is = (set: number, line: string, at: number): boolean =>
  at >= 0 && at < line.length && (bits[line.charCodeAt(at)]! & set) !== 0
