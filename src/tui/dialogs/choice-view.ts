/** A dialog on the terminal: choices picked by arrows, numbers or keys, with a line of text where one is asked for. */

import type { Input } from '../input/keys.ts'
import { LineInput } from '../input/line-input.ts'
import { rule } from '../input/prompt-render.ts'
import { plural } from '../render/format.ts'
import { glyph } from '../render/glyphs.ts'
import type { Frame } from '../render/screen.ts'
import { bold, paint } from '../render/style.ts'
import type { View } from '../render/view.ts'
import { clip, pad, width, wrap } from '../render/width.ts'
import type { Choice, Chosen, Dialog } from '../session/front.ts'

/** From this height on an empty line parts the choices from the keys. */
const tallRows = 20

/** Where the text of a line begins: after its indent, and after the number and the sign of a changed line. */
const textColumn = (line: string): number =>
  /^ *(?:\d+ [ +-] )?/.exec(line.replaceAll(/\x1b\[[0-9;]*m/g, ''))![0].length

export class ChoiceView<T> implements View {
  readonly #dialog: Dialog<T>
  readonly #done: (chosen: Chosen<T> | undefined) => void
  readonly #ticked = new Set<Choice<T>>()
  readonly #texts = new Map<Choice<T>, LineInput>()
  #at: number
  #filter: LineInput | undefined
  #writing = false

  constructor(dialog: Dialog<T>, done: (chosen: Chosen<T> | undefined) => void) {
    this.#dialog = dialog
    this.#done = done
    this.#at = dialog.selected ?? 0
    if (dialog.filter) this.#filter = new LineInput({ placeholder: 'type to filter' })
  }

  get #choices(): readonly Choice<T>[] {
    const words = (this.#filter?.text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return this.#dialog.choices
    return this.#dialog.choices.filter(({ label, hint }) => {
      const text = `${label} ${hint ?? ''}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
  }

  press(input: Input): void {
    const choices = this.#choices
    const choice = choices[this.#at]
    const key = 'key' in input ? input.key : 'text' in input ? input.text : ''
    if (this.#writing && choice) {
      if (key === 'enter') this.#finish(choice)
      else if (key === 'esc' || key === 'up' || key === 'tab') this.#writing = false
      else this.#textOf(choice).press(input)
      return
    }
    if (key === 'esc' || key === 'ctrl+c') this.#done(undefined)
    else if (key === 'up' || key === 'ctrl+p' || key === 'shift+tab') this.#move(-1)
    else if (key === 'down' || key === 'ctrl+n') this.#move(1)
    else if (key === 'pageup') this.#move(-8, true)
    else if (key === 'pagedown') this.#move(8, true)
    else if (key === 'tab' && choice?.edit !== undefined) this.#writing = true
    else if (key === 'tab' && choice?.text === undefined) this.#move(1)
    else if (key === 'enter' || key === 'tab') choice && this.#pick(choice)
    else this.#other(input, key, choice)
  }

  #other(input: Input, key: string, choice: Choice<T> | undefined): void {
    const extra = this.#dialog.keys?.[key]
    if (extra) {
      void Promise.resolve(extra.act(choice?.value)).then((value) => {
        if (value !== undefined) this.#done({ value, values: [value] })
      })
    } else if (this.#filter && (!('key' in input) || input.key === 'backspace' || input.key.startsWith('ctrl+'))) {
      this.#filter.press(input)
      this.#at = 0
    } else if (key === ' ' && this.#dialog.multiple && choice) this.#tick(choice)
    else if (/^[1-9]$/.test(key) && this.#choices[Number(key) - 1]) {
      this.#at = Number(key) - 1
      const numbered = this.#choices[this.#at]!
      if (this.#dialog.multiple && numbered.text === undefined) this.#tick(numbered)
      else this.#pick(numbered)
    } else if (key === 'j' || key === 'k') this.#move(key === 'j' ? 1 : -1)
    else {
      const named = this.#choices.findIndex((one) => one.key === key.toLowerCase())
      if (named >= 0) {
        this.#at = named
        this.#pick(this.#choices[named]!)
      }
    }
  }

  #move(by: number, stop = false): void {
    const count = this.#choices.length
    if (count > 0) this.#at = stop ? Math.min(count - 1, Math.max(0, this.#at + by)) : (this.#at + by + count) % count
  }

  #tick(choice: Choice<T>): void {
    if (!this.#ticked.delete(choice)) this.#ticked.add(choice)
  }

  #pick(choice: Choice<T>): void {
    if (choice.text !== undefined) this.#writing = true
    else this.#finish(choice)
  }

  #finish(choice: Choice<T>): void {
    const text = this.#texts.get(choice)?.text
    if (this.#dialog.multiple && choice.text !== undefined) this.#ticked.add(choice)
    const ticked = this.#dialog.choices.filter((one) => this.#ticked.has(one)).map((one) => one.value)
    const values = this.#dialog.multiple ? (ticked.length > 0 ? ticked : [choice.value]) : [choice.value]
    this.#done({ value: choice.value, values, ...(text !== undefined && { text }) })
  }

  #textOf(choice: Choice<T>): LineInput {
    const input = this.#texts.get(choice) ?? new LineInput({ placeholder: choice.text, initial: choice.edit })
    this.#texts.set(choice, input)
    return input
  }

  draw(columns: number, rows: number): Frame {
    const { title, question, multiple } = this.#dialog
    // the question is never cut at the side: the end of a command may be what matters
    const body = (this.#dialog.body ?? []).flatMap((line) =>
      width(line) <= columns - 2 ? [line] : wrap(line, columns - 2, textColumn(line)),
    )
    const head = [paint('accent', rule(columns)), ...wrap(bold(title), columns)]
    const asked = question ? ['', ...wrap(question, columns)] : ['']
    const list = this.#list(columns, rows - head.length - asked.length - 1 - Math.min(body.length + 1, 5))
    const place = list.shown < this.#choices.length ? `${this.#at + 1} of ${this.#choices.length} ${glyph.dot} ` : ''
    const apart = rows >= tallRows && list.shown === this.#choices.length ? [''] : []
    const hints = wrap(place + this.#hints(multiple ?? false), columns)
    const foot = [...apart, ...hints.map((line) => paint('dim', line))]
    const room = Math.max(0, rows - head.length - asked.length - list.lines.length - foot.length - 1)
    const left = body.length - room + 1
    const more = paint('dim', `${glyph.more} +${plural(left, 'line')} (ctrl+o shows all)`)
    const shown = body.length > room ? [...body.slice(0, Math.max(0, room - 1)), more] : body
    const top = [...head, ...(shown.length > 0 ? ['', ...shown.map((line) => `  ${line}`)] : []), ...asked]
    const { cursor } = list
    return {
      lines: [...top, ...list.lines, ...foot],
      ...(cursor && { cursor: { row: top.length + cursor.row, column: cursor.column } }),
    }
  }

  /** The choices round the one that is picked, as many as there is room for. */
  #list(columns: number, rows: number): { lines: string[]; shown: number; cursor?: Frame['cursor'] } {
    const choices = this.#choices
    const room = Math.max(1, Math.min(choices.length, rows - (this.#filter ? 1 : 0)))
    const from = Math.max(0, Math.min(this.#at - Math.floor(room / 2), choices.length - room))
    const wide = Math.min(columns - 12, Math.max(...choices.map(({ label }) => width(label)), 0))
    const lines: string[] = []
    let cursor: Frame['cursor']
    if (this.#filter) {
      const line = this.#filter.draw(columns - 4)
      lines.push(`  ${line.text}`, ...(choices.length === 0 ? [paint('dim', '  nothing matches')] : []))
      cursor = { row: 0, column: 2 + line.column }
    }
    for (const choice of choices.slice(from, from + room)) {
      lines.push(...this.#choiceLines(choice, columns, wide))
      if (!this.#writing || choice !== choices[this.#at]) continue
      const line = this.#textOf(choice).draw(columns - 6)
      lines.push(`    ${line.text}`)
      cursor = { row: lines.length - 1, column: 4 + line.column }
    }
    return { lines, shown: room, cursor }
  }

  /** One line where it fits; else the hint goes on in its column, or below a long label. Lists to filter are cut. */
  #choiceLines(choice: Choice<T>, columns: number, wide: number): string[] {
    const choices = this.#choices
    const here = choice === choices[this.#at]
    const box = this.#dialog.multiple ? `${this.#ticked.has(choice) ? glyph.on : glyph.off} ` : ''
    const number = choices.length < 10 && !this.#filter ? `${choices.indexOf(choice) + 1}. ` : ''
    const lead = `${here ? paint('accent', glyph.pick) : ' '} ${number}${box}`
    const hint = this.#texts.get(choice)?.text || choice.hint
    const label = here ? paint('accent', choice.label) : choice.label
    const padded = hint ? pad(clip(label, wide), wide) : label
    const whole = `${lead}${padded}${hint ? paint('dim', `  ${hint}`) : ''}`
    if (width(whole) <= columns && width(label) <= wide) return [whole]
    if (this.#filter) return [clip(whole, columns)]
    const column = width(lead) + wide + 2
    if (columns - column >= 24) return wrap(whole, columns, column)
    const indent = ' '.repeat(width(lead))
    const rest = columns - indent.length
    const hints = hint ? wrap(hint, rest).map((line) => indent + paint('dim', line)) : []
    return [...wrap(label, rest).map((line, row) => (row === 0 ? lead : indent) + line), ...hints]
  }

  #hints(multiple: boolean): string {
    if (this.#writing) return 'enter to send, esc to go back'
    const more = Object.entries(this.#dialog.keys ?? {}).map(([key, { about }]) => `${key} ${about}`)
    const edits = this.#choices[this.#at]?.edit !== undefined ? ['tab to edit the rule'] : []
    return [
      multiple ? 'space ticks, enter confirms' : 'enter to choose',
      ...edits,
      ...more,
      `esc to ${this.#dialog.escape ?? 'cancel'}`,
    ].join(` ${glyph.dot} `)
  }
}
