/** A unified diff as numbered lines: backgrounds for what changed, stronger ones for the changed words, code in colours. */
import { clean } from './clean.ts'
import { plural } from './format.ts'
import { glyph } from './glyphs.ts'
import { colours, type Ground, onGround, paint } from './style.ts'
import { pad, width, wrap } from './width.ts'

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
  /** Longer lines are wrapped under their own text; changed lines share one width, at most this. */
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
  return hunks.map(joined)
}

/** Added lines that could as well begin earlier, right after another change, do: one block reads better than two. */
function joined(hunk: readonly Line[]): Line[] {
  const lines = [...hunk]
  for (let from = 0; from < lines.length; from++) {
    const count = runOf(lines, from, '+')
    if (count === 0) continue
    let up = 0
    while (lines[from - 1 - up]?.sign === ' ' && lines[from - 1 - up]!.text === lines[from + count - 1 - up]!.text) up++
    if (up > 0 && up <= count && ['+', '-'].includes(lines[from - 1 - up]?.sign ?? ''))
      for (let step = 1; step <= up; step++) {
        lines[from - step] = { ...lines[from - step]!, sign: '+' }
        lines[from + count - step] = { ...lines[from + count - step]!, sign: ' ' }
      }
    from += count - 1
  }
  return lines
}

function draw(hunk: readonly Line[], digits: number, language: string, columns: number): string[] {
  const coloured = highlight
    ? highlight(hunk.map(({ text }) => text).join('\n'), language)
    : hunk.map(({ text }) => text)
  const words = changedWords(hunk)
  const lead = digits + 3
  const room = columns > 0 ? Math.max(8, columns - lead) : Number.POSITIVE_INFINITY
  const wide = columns > 0 ? lead + Math.min(room, Math.max(...hunk.map(({ text }) => width(text)))) : 0
  return hunk.flatMap(({ sign, number, text }, row) => {
    const label = `${String(number).padStart(digits)} ${sign} `
    const code = coloured[row] ?? text
    const beside = (line: string, at: number) => (at === 0 ? label : ' '.repeat(lead)) + line
    if (sign === ' ')
      return wrap(code, room).map((line, at) => (at === 0 ? paint('dim', label) : ' '.repeat(lead)) + line)
    const ground: Ground = sign === '+' ? 'added' : 'removed'
    if (!colours()) return wrap(text, room).map(beside)
    const change = words.get(row)
    const painted = highlight ? code : paint(ground, text)
    const body = change ? mark(painted, change, ground) : painted
    return wrap(body, room).map((line, at) =>
      onGround(ground, pad((at === 0 ? paint(ground, label) : ' '.repeat(lead)) + line, wide)),
    )
  })
}

/** The characters of the span on the stronger background, in one colour that is readable there; the rest keeps its styles. */
function mark(styled: string, [from, to]: readonly [number, number], ground: 'added' | 'removed'): string {
  let at = 0
  let style = ''
  return styled
    .split(/(\x1b\[[0-9;:]*m)/)
    .map((piece) => {
      if (piece.startsWith('\x1b')) {
        style = piece
        return piece
      }
      const [begin, end] = [Math.max(0, from - at), Math.max(0, to - at)]
      at += piece.length
      const word = piece.slice(begin, end)
      if (word === '') return piece
      return piece.slice(0, begin) + onGround(`${ground}Word`, paint('word', word), ground) + style + piece.slice(end)
    })
    .join('')
}

/** Lines that are compared with each other, at most: a larger change has no pairs that one could follow. */
const mostPaired = 60

/** Where a line that replaces another differs from it. */
function changedWords(hunk: readonly Line[]): Map<number, readonly [number, number]> {
  const found = new Map<number, readonly [number, number]>()
  for (let at = 0; at < hunk.length; ) {
    const removed = runOf(hunk, at, '-')
    const added = runOf(hunk, at + removed, '+')
    if (removed > 0 && removed <= mostPaired && added <= mostPaired)
      for (const [row, other, spans] of pairs(hunk, at, removed, added)) {
        found.set(row, spans[0])
        found.set(other, spans[1])
      }
    at += Math.max(1, removed + added)
  }
  return found
}

/** Each removed line with the added one that replaces it: of as many, in their order; else the most alike, in order. */
function pairs(hunk: readonly Line[], at: number, removed: number, added: number): [number, number, Spans][] {
  const made: [number, number, Spans][] = []
  let free = at + removed
  for (let row = at; row < at + removed; row++) {
    const others =
      removed === added ? [row + removed] : Array.from({ length: at + removed + added - free }, (_, i) => free + i)
    const alike = others
      .map((other) => ({ other, ...difference(hunk[row]!.text, hunk[other]!.text) }))
      .reduce((best, one) => (one.shared > best.shared ? one : best), {
        other: -1,
        shared: 0,
        spans: undefined as Spans | undefined,
      })
    if (!alike.spans) continue
    made.push([row, alike.other, alike.spans])
    free = alike.other + 1
  }
  return made
}

function runOf(hunk: readonly Line[], from: number, sign: Line['sign']): number {
  let length = 0
  while (hunk[from + length]?.sign === sign) length++
  return length
}

type Spans = readonly [readonly [number, number], readonly [number, number]]

/** What lies between the words that both begin with and the words that both end with; no spans: too little is shared. */
function difference(a: string, b: string): { shared: number; spans: Spans | undefined } {
  const [one, two] = [a.match(/\w+|\W/g) ?? [], b.match(/\w+|\W/g) ?? []]
  let head = 0
  while (head < one.length && head < two.length && one[head] === two[head]) head++
  let tail = 0
  while (tail < one.length - head && tail < two.length - head && one.at(-1 - tail) === two.at(-1 - tail)) tail++
  const start = one.slice(0, head).join('').length
  const end = one.slice(one.length - tail).join('').length
  const shared = a.slice(0, start).trim().length + end
  if (shared * 3 < Math.max(a.trim().length, b.trim().length)) return { shared: 0, spans: undefined }
  const spans = [
    [start, a.length - end],
    [start, b.length - end],
  ] as const
  return { shared, spans }
}
