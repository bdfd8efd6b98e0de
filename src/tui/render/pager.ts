/** Long text on the alternate screen: the scrollback keeps what it had. */

import type { Input } from '../input/keys.ts'
import { onlyStyles } from './clean.ts'
import { glyph } from './glyphs.ts'
import type { Output } from './screen.ts'
import { bold, inverse, paint } from './style.ts'
import { bare, clip } from './width.ts'

export class Pager {
  readonly #out: Output
  readonly #title: string
  readonly #lines: (columns: number) => readonly string[]
  readonly #done: () => void
  readonly #awaited: () => boolean
  #top: number
  #search = ''
  /** The line that was found last. */
  #hit: number | undefined
  #asking: string | undefined

  constructor(
    out: Output,
    page: {
      title: string
      lines(columns: number): readonly string[]
      done(): void
      /** Whether somebody waits for the page to be left. */
      awaited(): boolean
      /** Opens at the end, as a transcript is read, or at the start. */
      atEnd: boolean
    },
  ) {
    this.#out = out
    this.#title = page.title
    this.#lines = page.lines
    this.#done = page.done
    this.#awaited = page.awaited
    this.#top = page.atEnd ? Number.POSITIVE_INFINITY : 0
  }

  open(): void {
    this.#out.write('\x1b[?1049h\x1b[?25l')
    this.draw()
  }

  close(): void {
    this.#out.write('\x1b[?1049l\x1b[?25h')
    this.#done()
  }

  press(input: Input): void {
    if (this.#asking !== undefined) this.#ask(input)
    else this.#go('key' in input ? input.key : 'text' in input ? input.text : '')
  }

  #go(key: string): void {
    const page = this.#height - 1
    const moves: Record<string, number> = {
      up: -1,
      k: -1,
      down: 1,
      j: 1,
      enter: 1,
      pageup: -page,
      b: -page,
      pagedown: page,
      ' ': page,
      'ctrl+u': -page / 2,
      'ctrl+d': page / 2,
    }
    if (['q', 'esc', 'ctrl+o', 'ctrl+c'].includes(key)) {
      this.close()
      return
    }
    if (key === 'g' || key === 'home') this.#top = 0
    else if (key === 'G' || key === 'end') this.#top = Number.POSITIVE_INFINITY
    else if (key === '/') this.#asking = ''
    else if (key === 'n' || key === 'N') this.#find(key === 'n' ? 1 : -1)
    else if (moves[key] !== undefined) this.#top += Math.trunc(moves[key])
    this.draw()
  }

  #ask(input: Input): void {
    if ('text' in input) this.#asking += input.text
    else if ('paste' in input) this.#asking += input.paste
    else if (input.key === 'backspace') this.#asking = this.#asking!.slice(0, -1)
    else if (input.key === 'enter') {
      this.#search = this.#asking!.toLowerCase()
      this.#asking = undefined
      this.#hit = undefined
      this.#find(1)
    } else if (input.key === 'esc' || input.key === 'ctrl+c') this.#asking = undefined
    this.draw()
  }

  get #height(): number {
    return Math.max(2, this.#out.rows || 24) - 1
  }

  /** The next or the last line with what is searched for; after the last comes the first. */
  #find(by: 1 | -1): void {
    const lines = this.#lines(this.#out.columns || 80)
    const hits = this.#hits(lines)
    const from = this.#hit ?? this.#clamped(lines.length) - by
    this.#hit = by > 0 ? (hits.find((at) => at > from) ?? hits[0]) : (hits.findLast((at) => at < from) ?? hits.at(-1))
    if (this.#hit !== undefined) this.#top = this.#hit
  }

  #hits(lines: readonly string[]): number[] {
    if (this.#search === '') return []
    return lines.flatMap((line, at) => (bare(line).toLowerCase().includes(this.#search) ? [at] : []))
  }

  #clamped(count: number): number {
    return Math.max(0, Math.min(this.#top, count - this.#height))
  }

  draw(): void {
    const columns = this.#out.columns || 80
    const lines = this.#lines(columns)
    this.#top = this.#clamped(lines.length)
    const shown = Array.from({ length: this.#height }, (_, row) => {
      const at = this.#top + row
      const line = clip(onlyStyles(lines[at] ?? paint('dim', '~')), columns)
      return at === this.#hit ? inverse(bare(line)) : line
    })
    const foot = this.#asking !== undefined ? `/${this.#asking}` : this.#foot(lines)
    this.#out.write(
      `\x1b[?2026h\x1b[H${[...shown.map((line) => `${line}\x1b[0m\x1b[K`), inverse(bold(clip(foot, columns - 1)))].join('\r\n')}\x1b[K\x1b[?2026l`,
    )
  }

  #foot(lines: readonly string[]): string {
    const share = Math.round(((this.#top + this.#height) / lines.length) * 100)
    const leave = this.#awaited() ? 'a question waits, q leaves' : 'arrows move, q leaves'
    const hits = this.#hits(lines)
    const found =
      this.#search === ''
        ? '/ searches'
        : hits.length === 0
          ? `${this.#search}: not found`
          : `${this.#search}: ${hits.indexOf(this.#hit!) + 1} of ${hits.length} (n, N)`
    return [this.#title, lines.length <= this.#height ? 'all' : `${share}%`, found, leave].join(` ${glyph.dot} `)
  }
}
