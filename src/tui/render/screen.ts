/**
 * The screen: what is finished is printed once and belongs to the terminal's own scrollback; below it lies the live area,
 * the only part that is ever drawn again.
 */
import { onlyStyles } from './clean.ts'
import { clip, width } from './width.ts'

export interface Frame {
  readonly lines: readonly string[]
  /** Where typing goes; without it the cursor is hidden. */
  readonly cursor?: { readonly row: number; readonly column: number }
}

export interface Output {
  write(text: string): unknown
  readonly columns?: number
  readonly rows?: number
  /** Node's terminal stream: asks the system for the size now, where `columns` is of the last signal. */
  _refreshSize?(): void
}

const begin = '\x1b[?2026h\x1b[?25l'
const end = '\x1b[?2026l'
/** tmux and screen break lines at once, and tell a program of further sizes up to a quarter of a second later. */
const settleMs = 300

export class Screen {
  readonly #out: Output
  /** Whether the terminal rewraps long lines when it gets narrower; xterm and the Linux console do not. */
  readonly #reflows: boolean
  /** xterm.js moves the cursor down by the rows that breaking lines below it adds, too. */
  readonly #sinks: boolean
  readonly #settles: boolean
  #drawn: string[] = []
  #row = 0
  #column = 0
  #columns: number
  #printed: string[] = []
  #away = false
  #measuring = false
  #measured: number
  #measuredAt = 0

  constructor(out: Output, env: NodeJS.ProcessEnv = process.env) {
    this.#out = out
    this.#reflows = env['TERM'] !== 'linux' && !(env['XTERM_VERSION'] && !env['TMUX'])
    this.#sinks = env['TERM_PROGRAM'] === 'vscode' && !env['TMUX']
    this.#settles = Boolean(env['TMUX']) || /^(tmux|screen)/.test(env['TERM'] ?? '')
    this.#columns = this.columns
    this.#measured = this.columns
  }

  get columns(): number {
    return Math.max(10, this.#out.columns || 80)
  }
  get rows(): number {
    return Math.max(3, this.#out.rows || 24)
  }

  /** The size as it is now: a window made narrower has broken our lines before its signal reaches us. */
  measure(): { columns: number; rows: number } {
    if (!this.#measuring) {
      this.#measuring = true // it reports a new size at once, and whoever hears that draws
      this.#out._refreshSize?.()
      this.#measuring = false
    }
    return { columns: this.columns, rows: this.rows }
  }

  /** How long to draw nothing: between two sizes of a multiplexer it cannot be known how many rows our lines take. */
  unsettledMs(): number {
    if (this.columns !== this.#measured) {
      this.#measured = this.columns
      this.#measuredAt = Date.now()
    }
    return this.#settles ? Math.max(0, this.#measuredAt + settleMs - Date.now()) : 0
  }

  /** Finished lines; they appear above the live area with the next draw. */
  print(lines: readonly string[]): void {
    for (const line of lines) this.#printed.push(onlyStyles(line))
  }

  draw(frame: Frame): void {
    if (this.#away) return
    const { columns } = this
    if (columns !== this.#columns) this.#reflow(columns)
    const over = Math.max(0, frame.lines.length - this.rows)
    const lines = frame.lines.slice(over).map((line) => clip(onlyStyles(line), columns))
    const cursor = frame.cursor && { row: Math.max(0, frame.cursor.row - over), column: frame.cursor.column }
    const text = this.#printed.length > 0 ? this.#printAbove(lines) : this.#change(lines)
    const right = cursor && cursor.column > 0 ? `\x1b[${cursor.column}C` : ''
    const place = cursor ? `${this.#move(cursor.row)}\r${right}` : ''
    if (cursor) this.#column = cursor.column
    this.#drawn = lines
    if (text + place !== '') this.#out.write(`${begin}${text}${place}${cursor ? '\x1b[?25h' : ''}${end}`)
  }

  /** Takes the live area off the screen: another program or the alternate screen gets the terminal. */
  leave(): void {
    if (this.#away) return
    this.#out.write(`${this.#erased(this.#drawn.length)}\x1b[?25h`)
    this.#forget()
    this.#away = true
  }

  back(): void {
    this.#away = false
    this.#forget()
  }

  /** Starts over on an empty screen (Ctrl-L). The scrollback stays. */
  wipe(): void {
    this.#out.write('\x1b[H\x1b[2J')
    this.#forget()
  }

  #forget(): void {
    this.#drawn = []
    this.#row = 0
    this.#column = 0
    this.#columns = this.columns
  }

  /**
   * Goes to the top of the live area and empties its rows one by one. Erasing "to the end of the screen" would be
   * shorter, but from the first row tmux takes that for a new page and keeps the old one in its history.
   */
  #erased(rows: number): string {
    const up = `\r${this.#row > 0 ? `\x1b[${this.#row}A` : ''}`
    return rows === 0 ? up : `${up}\x1b7${Array(rows).fill('\x1b[2K').join('\x1b[B')}\x1b8`
  }

  #printAbove(lines: readonly string[]): string {
    const text = `${this.#erased(this.#drawn.length)}${this.#printed.map((line) => `${line}\r\n`).join('')}${lines.join('\r\n')}`
    this.#printed = []
    this.#row = Math.max(0, lines.length - 1)
    return text
  }

  /** Writes the lines that differ, and no other. */
  #change(lines: readonly string[]): string {
    let text = ''
    for (let row = 0; row < lines.length; row++) {
      if (row < this.#drawn.length && lines[row] === this.#drawn[row]) continue
      // a shorter line is written on an emptied row: after erasing only the rest tmux would wrap the blanks as text
      const empty = width(lines[row]!) < width(this.#drawn[row] ?? '') ? '\x1b[2K' : ''
      text += `${this.#move(row)}\r${empty}${lines[row]}`
    }
    if (lines.length < this.#drawn.length) {
      const last = Math.max(0, lines.length - 1)
      text += lines.length === 0 ? this.#erased(this.#drawn.length) : `${this.#move(last)}\r\n\x1b[J\x1b[A`
      this.#row = last
    }
    return text
  }

  /** To a row of the live area; rows that are not there yet are made by line feeds, which scroll. */
  #move(row: number): string {
    const from = this.#row
    this.#row = row
    if (row < from) return `\x1b[${from - row}A`
    return '\r\n'.repeat(row - from)
  }

  /** The terminal has rewrapped our lines: where the live area now begins is counted from what was drawn. */
  #reflow(columns: number): void {
    const rowsOf = (cells: number) => (this.#reflows ? Math.max(1, Math.ceil(cells / columns)) : 1)
    const rows = this.#drawn.reduce((sum, line) => sum + rowsOf(width(line)), 0)
    if (this.#reflows && columns < this.#columns) {
      const above = this.#drawn.slice(0, this.#row).reduce((sum, line) => sum + rowsOf(width(line)), 0)
      const added = this.#drawn.slice(this.#row).reduce((sum, line) => sum + rowsOf(width(line)) - 1, 0)
      this.#row = above + (this.#sinks ? added : Math.floor(this.#column / columns))
    }
    this.#columns = columns
    this.#out.write(this.#erased(rows))
    this.#drawn = []
    this.#row = 0
  }
}
