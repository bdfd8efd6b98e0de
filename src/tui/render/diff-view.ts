/** A unified diff as numbered lines: backgrounds for what changed, stronger ones for the changed words, code in colours. */
import { clean } from './clean.ts'
import { plural } from './format.ts'
import { glyph } from './glyphs.ts'
import { colours, type Ground, onGround, paint } from './style.ts'
import { pad, width } from './width.ts'

/** Colours the lines of a file by its name. Loaded with the first change, so that a start does without it. */
let highlight: ((code: string, language: string) => string[]) | undefined

export async function loadDiffColours(): Promise<void> {
  if (colours()) highlight ??= (await import('./highlight.ts')).highlight
}

interface Line {
  readonly sign: ' ' | '+' | '-'
  readonly number: number
  readonly text: string
}

export interface DiffOptions {
  /** Lines to show; the rest is counted. */
  readonly most?: number
  /** The file's name: its ending names the language. */
  readonly path?: string
  /** Changed lines share one width, at most this. */
  readonly columns?: number
}

export function diffLines(
  patch: string,
  { most = Number.POSITIVE_INFINITY, path, columns = 0 }: DiffOptions = {},
): string[] {
  const hunks = read(clean(patch))
  const numbers = hunks.flatMap((hunk) => hunk.map(({ number }) => number))
  const digits = Math.max(3, String(Math.max(0, ...numbers)).length)
  const language = /\.(\w+)$/.exec(path ?? '')?.[1] ?? ''
  const lines = hunks.flatMap((hunk, index) => [
    ...(index > 0 ? [paint('dim', glyph.more.padStart(digits))] : []),
    ...draw(hunk, digits, language, columns),
  ])
  if (lines.length <= most) return lines
  const more = paint('dim', `${glyph.more} +${plural(lines.length - most, 'line')} (ctrl+o shows all)`)
  return [...lines.slice(0, most), more]
}

function read(patch: string): Line[][] {
  const hunks: Line[][] = []
  let [before, after] = [0, 0]
  for (const line of patch.split('\n')) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
    if (head) {
      ;[before, after] = [Number(head[1]), Number(head[2])]
      hunks.push([])
      continue
    }
    const sign = line[0]
    if (hunks.length === 0 || (sign !== ' ' && sign !== '+' && sign !== '-')) continue
    const number = sign === '-' ? before : after
    if (sign !== '+') before++
    if (sign !== '-') after++
    hunks.at(-1)!.push({ sign, number, text: line.slice(1) })
  }
  return hunks
}

function draw(hunk: readonly Line[], digits: number, language: string, columns: number): string[] {
  const coloured = highlight
    ? highlight(hunk.map(({ text }) => text).join('\n'), language)
    : hunk.map(({ text }) => text)
  const words = changedWords(hunk)
  const wide = Math.min(columns, Math.max(...hunk.map(({ text }) => digits + 3 + width(text))))
  return hunk.map(({ sign, number, text }, row) => {
    const label = `${String(number).padStart(digits)} ${sign}`
    if (sign === ' ') return `${paint('dim', label)} ${coloured[row] ?? text}`
    const ground: Ground = sign === '+' ? 'added' : 'removed'
    const change = words.get(row)
    // the changed words stand out by their background; colours of code would hide where they begin
    const body = change ? mark(text, change, ground) : highlight ? (coloured[row] ?? text) : paint(ground, text)
    const line = `${paint(ground, label)} ${body}`
    return colours() ? onGround(ground, pad(line, wide)) : line
  })
}

const mark = (text: string, [from, to]: readonly [number, number], ground: 'added' | 'removed'): string =>
  paint(ground, text.slice(0, from)) +
  onGround(`${ground}Word`, paint(ground, text.slice(from, to)), ground) +
  paint(ground, text.slice(to))

/** Where a line that replaces another differs from it: removed and added lines of the same number are pairs. */
function changedWords(hunk: readonly Line[]): Map<number, readonly [number, number]> {
  const found = new Map<number, readonly [number, number]>()
  for (let at = 0; at < hunk.length; ) {
    const removed = runOf(hunk, at, '-')
    const added = runOf(hunk, at + removed, '+')
    if (removed > 0 && removed === added)
      for (let row = at; row < at + removed; row++) {
        const pair = difference(hunk[row]!.text, hunk[row + removed]!.text)
        if (!pair) continue
        found.set(row, pair[0])
        found.set(row + removed, pair[1])
      }
    at += Math.max(1, removed + added)
  }
  return found
}

function runOf(hunk: readonly Line[], from: number, sign: Line['sign']): number {
  let length = 0
  while (hunk[from + length]?.sign === sign) length++
  return length
}

/** What lies between the words that both begin with and the words that both end with; undefined: too little is shared. */
function difference(a: string, b: string): [readonly [number, number], readonly [number, number]] | undefined {
  const [one, two] = [a.match(/\w+|\W/g) ?? [], b.match(/\w+|\W/g) ?? []]
  let head = 0
  while (head < one.length && head < two.length && one[head] === two[head]) head++
  let tail = 0
  while (tail < one.length - head && tail < two.length - head && one.at(-1 - tail) === two.at(-1 - tail)) tail++
  const start = one.slice(0, head).join('').length
  const end = one.slice(one.length - tail).join('').length
  if ((start + end) * 3 < Math.max(a.length, b.length)) return undefined
  return [
    [start, a.length - end],
    [start, b.length - end],
  ]
}
