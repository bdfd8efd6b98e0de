/** A question that is answered with a line of text. */

import type { Input } from '../input/keys.ts'
import { LineInput } from '../input/line-input.ts'
import { rule } from '../input/prompt-render.ts'
import { glyph } from '../render/glyphs.ts'
import type { Frame } from '../render/screen.ts'
import { bold, paint } from '../render/style.ts'
import type { View } from '../render/view.ts'
import { wrap } from '../render/width.ts'
import type { TextQuestion } from '../session/front.ts'

export class TextView implements View {
  readonly #question: TextQuestion
  readonly #line: LineInput
  readonly #done: (text: string | undefined) => void
  #problem = ''

  constructor(question: TextQuestion, done: (text: string | undefined) => void) {
    this.#question = question
    this.#done = done
    this.#line = new LineInput(question)
  }

  press(input: Input): void {
    if ('key' in input && (input.key === 'esc' || input.key === 'ctrl+c')) this.#done(undefined)
    else if ('key' in input && input.key === 'enter') {
      this.#problem = this.#question.check?.(this.#line.text) ?? ''
      if (this.#problem === '') this.#done(this.#line.text)
    } else this.#line.press(input)
  }

  draw(columns: number): Frame {
    const line = this.#line.draw(columns - 4)
    const lines = [
      paint('accent', rule(columns)),
      ...wrap(bold(this.#question.title), columns),
      ...(this.#question.body ?? []).flatMap((text) => wrap(text, columns - 2).map((one) => `  ${one}`)),
      '',
      `${paint('accent', glyph.prompt)} ${line.text}`,
    ]
    const cursor = { row: lines.length - 1, column: 2 + line.column }
    if (this.#problem) lines.push(...wrap(this.#problem, columns).map((one) => paint('bad', one)))
    lines.push(paint('dim', `enter to send ${glyph.dot} esc to cancel`))
    return { lines, cursor }
  }
}
