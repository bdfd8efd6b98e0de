/** How many terminal cells a text takes, and how it is cut and wrapped at them. Styled text (SGR) and links (OSC 8) are understood. */
import { glyph } from './glyphs.ts'
import { endOfLink } from './hyperlink.ts'

/**
 * Letters, lines and our own signs: one cell and one character each, and by far the most of what is shown. Everything else
 * needs the segmenter, which takes longer to make than the whole first screen.
 */
const narrow = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2500-\u25fc\u2691\u2714\u276f\u2800-\u28ff]*$/
/** Styles (SGR) and links (OSC 8). */
const code = /\x1b\[[0-9;:]*m|\x1b\]8;;[\x20-\x7e]*?\x1b\\/
const codeHere = new RegExp(code, 'y')
let segmenter: Intl.Segmenter | undefined

/** The text as what a user sees as single characters. */
export function graphemes(text: string): string[] {
  if (narrow.test(text)) return text.split('')
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), (part) => part.segment)
}

export function width(text: string): number {
  if (narrow.test(text)) return text.length
  let cells = 0
  for (const part of parts(text)) cells += part.cells
  return cells
}

/** Cuts to at most so many cells; what is cut off leaves an ellipsis. */
export function clip(text: string, columns: number, ellipsis = glyph.more): string {
  if (columns <= 0) return ''
  if (width(text) <= columns) return text
  const mark = ellipsis.slice(0, columns)
  let cells = 0
  let kept = ''
  let styled = false
  for (const part of parts(text)) {
    if (part.cells > 0 && cells + part.cells > columns - width(mark)) break
    kept += part.text
    cells += part.cells
    styled ||= part.text.startsWith('\x1b')
  }
  return kept + (styled ? '\x1b[0m' : '') + (isLinked(kept) ? endOfLink : '') + mark
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)))
}

/**
 * Breaks one line at spaces into lines of at most so many cells; a longer word is broken where it must be. Styles go on
 * from line to line. The lines after the first begin `indent` cells to the right.
 */
export function wrap(line: string, columns: number, indent = 0): string[] {
  if (columns < 1) return [line]
  if (line.includes('\n')) return line.split('\n').flatMap((one) => wrap(one, columns, indent))
  if (line.length <= columns && narrow.test(line)) return [line]
  const lines: string[] = []
  let active = ''
  let current: Part[] = []
  let cells = 0
  let room = columns
  const flush = (until: number) => {
    const done = current.slice(0, until)
    const before = active
    for (const part of done) if (part.cells === 0 && part.text.startsWith('\x1b')) active = carry(active, part.text)
    const text = done.map((part) => part.text).join('')
    const lead = lines.length > 0 ? ' '.repeat(indent) : ''
    lines.push(lead + before + trimEnd(text) + (active ? `\x1b[0m${isLinked(active) ? endOfLink : ''}` : ''))
    room = columns - indent
    current = current.slice(until)
    while (lines.length > 0 && current[0]?.text === ' ') current.shift()
    cells = current.reduce((sum, part) => sum + part.cells, 0)
  }
  for (const part of parts(line)) {
    if (cells + part.cells > room && part.text !== ' ') {
      const space = current.findLastIndex((one) => one.text === ' ')
      flush(
        space > 0 && current.slice(0, space).some((one) => one.cells > 0 && one.text !== ' ') ? space : current.length,
      )
    }
    current.push(part)
    cells += part.cells
  }
  flush(current.length)
  return lines
}

/** The text without its styles. */
export const bare = (text: string): string => text.replace(new RegExp(code, 'g'), '')

/** Wraps a line under its own text: under its second column where it has one, else under where it begins. */
export function wrapUnder(line: string, columns: number): string[] {
  if (width(line) <= columns) return [line]
  const text = bare(line)
  const [begin = ''] = /^ */.exec(text) ?? []
  const [second = ''] = /^ *\S.*? {2,}(?=\S)/.exec(text) ?? []
  const indent = second !== '' && width(second) <= columns * 0.6 ? width(second) : begin.length
  return wrap(line, columns, Math.min(indent, Math.floor(columns * 0.6)))
}

const trimEnd = (text: string) => text.replace(/ +((?:\x1b\[[0-9;:]*m)*)$/, '$1')

/** The styles that are on after this one: a closing code takes its opening one away, a full reset all. */
function carry(active: string, code: string): string {
  if (code === '\x1b[0m' || code === '\x1b[m') return openLink.exec(active)?.[0] ?? ''
  if (code === endOfLink) return active.replace(openLink, '')
  const closed = closing[code]
  return closed ? active.replace(closed, '') : active + code
}

const openLink = /\x1b\]8;;[\x20-\x7e]+?\x1b\\/
/** The last of its links is not closed. */
const isLinked = (text: string): boolean => openLink.test(text.slice(Math.max(0, text.lastIndexOf('\x1b]8;;'))))

const closing: Record<string, RegExp> = {
  '\x1b[22m': /\x1b\[[12]m/g,
  '\x1b[23m': /\x1b\[3m/g,
  '\x1b[24m': /\x1b\[4m/g,
  '\x1b[27m': /\x1b\[7m/g,
  '\x1b[29m': /\x1b\[9m/g,
  '\x1b[49m': /\x1b\[(?:48;[0-9;]*|4[0-7]|10[0-7])m/g,
  '\x1b[39m': /\x1b\[(?:38;[0-9;]*|3[0-7]|9[0-7])m/g,
}

interface Part {
  readonly text: string
  readonly cells: number
}

function* parts(text: string): Generator<Part> {
  let at = 0
  while (at < text.length) {
    codeHere.lastIndex = at
    const found = text.charCodeAt(at) === 0x1b ? codeHere.exec(text) : null
    if (found) {
      yield { text: found[0], cells: 0 }
      at += found[0].length
      continue
    }
    const nextCode = text.indexOf('\x1b', at + 1)
    const end = nextCode < 0 ? text.length : nextCode
    const run = text.slice(at, end)
    const plain = narrow.test(run)
    for (const part of graphemes(run)) yield { text: part, cells: plain ? 1 : cellsOf(part) }
    at = end
  }
}

const zero = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u
const emoji = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Regional_Indicator}{2})/u

function cellsOf(grapheme: string): number {
  const code = grapheme.codePointAt(0)!
  if (code >= 0x20 && code < 0x7f) return grapheme.includes('\ufe0f') && grapheme.includes('\u20e3') ? 2 : 1
  if (zero.test(grapheme)) return 0
  if (code < 0x1100) return 1
  return emoji.test(grapheme) || wide.some(([from, to]) => code >= from && code <= to) ? 2 : 1
}

/** East Asian wide and fullwidth (Unicode Standard Annex 11), without the emoji above. */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
]
