/** Markdown while it comes in: blocks that can no longer change are given out once, the rest is shown as it stands. */
import { marked, type Tokens } from 'marked'
import { clean } from './clean.ts'
import { block, codeLines, drawn, type Highlighter, listItem } from './markdown.ts'

interface Fence {
  readonly mark: string
  readonly language: string
  /** The lines given out so far, so that the next ones are coloured in their context. */
  readonly lines: string[]
}

/** Characters of one paragraph that are kept together. */
const longest = 8_000
/** Lines of code above a new one that its colours may depend on. */
const codeContext = 200

export class MarkdownStream {
  /** Clean text that is not given out yet. */
  #rest = ''
  /** What may be the start of an escape sequence or of a line's end. */
  #held = ''
  #fence: Fence | undefined
  #begun = false
  #inList = false
  #ending = false
  readonly #highlighter: () => Highlighter | undefined | 'loading'

  constructor(highlighter: () => Highlighter | undefined | 'loading') {
    this.#highlighter = highlighter
  }

  push(text: string): void {
    const raw = this.#held + text
    const cut = held.exec(raw)?.index ?? raw.length
    this.#held = raw.slice(cut)
    this.#rest += clean(raw.slice(0, cut))
  }

  /** Lines that are finished since the last call. */
  finished(columns: number): string[] {
    const out: string[] = []
    for (let more = true; more; ) more = this.#fence ? this.#code(out) : this.#blocks(out, columns)
    return out
  }

  /** What is not finished yet. */
  tail(columns: number): string[] {
    if (this.#fence) return this.#rest === '' ? [] : this.#rest.split('\n')
    const lines = marked
      .lexer(this.#rest)
      .filter(drawn)
      .flatMap((token) => block(token, columns, this.#colours()))
    return lines.length > 0 && this.#begun && !this.#inList ? ['', ...lines] : lines
  }

  /** Everything that is left. */
  end(columns: number): string[] {
    this.#rest += clean(this.#held)
    this.#held = ''
    this.#ending = true
    const out = this.finished(columns)
    if (!this.#fence) out.push(...this.tail(columns))
    else if (this.#rest !== '' && !closes(this.#rest, this.#fence.mark)) out.push(...this.#coloured([this.#rest]))
    this.#rest = ''
    this.#fence = undefined
    return out
  }

  #colours(): Highlighter | undefined {
    const highlighter = this.#highlighter()
    return highlighter === 'loading' ? undefined : highlighter
  }

  #blocks(out: string[], columns: number): boolean {
    const fence = /^(?:[ \t]*\n)*( {0,3})(`{3,}|~{3,})([^`\n]*)\n/.exec(this.#rest)
    if (fence) {
      this.#space(out, 'code')
      this.#rest = this.#rest.slice(fence[0].length)
      this.#fence = { mark: fence[2]!, language: fence[3]!.trim(), lines: [] }
      return true
    }
    const tokens = marked.lexer(this.#rest)
    const at = tokens.findLastIndex(drawn)
    const last = tokens[at]
    if (!last) return false
    const done = tokens.slice(0, at)
    for (const token of done.filter(drawn)) {
      this.#space(out, token.type)
      out.push(...block(token, columns, this.#colours()))
    }
    this.#rest = this.#rest.slice(done.reduce((sum, { raw }) => sum + raw.length, 0))
    if (this.#rest.length > longest && last.type === 'paragraph') this.#cut(out, columns)
    if (last.type === 'list' && (last as Tokens.List).items.length > 1) this.#items(last as Tokens.List, out, columns)
    return done.some(drawn)
  }

  /** A paragraph without end is given out in pieces: reparsing all of it for each frame would take ever longer. */
  #cut(out: string[], columns: number): void {
    const space = this.#rest.lastIndexOf(' ')
    const at = space > longest / 2 ? space + 1 : this.#rest.length
    if (!this.#inList) this.#space(out, 'paragraph')
    for (const token of marked.lexer(this.#rest.slice(0, at)).filter(drawn))
      out.push(...block(token, columns, this.#colours()))
    this.#rest = this.#rest.slice(at)
    this.#inList = true // what comes next goes on without an empty line
  }

  /** All items but the one being written. */
  #items(list: Tokens.List, out: string[], columns: number): void {
    this.#space(out, 'list')
    const done = list.items.length - 1
    for (let index = 0; index < done; index++) {
      out.push(...listItem(list, index, columns, this.#colours()))
      this.#rest = this.#rest.slice(list.items[index]!.raw.length)
    }
    this.#rest = this.#rest.replace(/^\n+/, '')
    this.#inList = true
  }

  #code(out: string[]): boolean {
    if (!this.#ending && this.#fence!.language !== '' && this.#highlighter() === 'loading') return false
    const end = this.#rest.lastIndexOf('\n')
    if (end < 0) return false
    const lines = this.#rest.slice(0, end).split('\n')
    const close = lines.findIndex((line) => closes(line, this.#fence!.mark))
    out.push(...this.#coloured(close < 0 ? lines : lines.slice(0, close)))
    if (close < 0) {
      this.#rest = this.#rest.slice(end + 1)
      return false
    }
    this.#rest = [...lines.slice(close + 1), this.#rest.slice(end + 1)].join('\n')
    this.#fence = undefined
    return true
  }

  #coloured(lines: string[]): string[] {
    const fence = this.#fence!
    if (lines.length === 0) return []
    const context = fence.lines.slice(-codeContext)
    fence.lines.push(...lines)
    return codeLines([...context, ...lines].join('\n'), fence.language, this.#colours()).slice(-lines.length)
  }

  /** An empty line between blocks, none between the items of a list. */
  #space(out: string[], type: string): void {
    if (this.#begun && !(this.#inList && type === 'list')) out.push('')
    this.#begun = true
    this.#inList = false
  }
}

const held = /\r$|\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,200}\x1b?|[ -/]*)?$/

const closes = (line: string, mark: string) => new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`).test(line)
