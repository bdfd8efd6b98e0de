/** One line of text inside a dialog. */

import { glyph } from '../render/glyphs.ts'
import { paint } from '../render/style.ts'
import { graphemes, width } from '../render/width.ts'
import { change, draftOf, type Editor, insert, newEditor, press } from './editor.ts'
import type { Input } from './keys.ts'

export class LineInput {
  readonly #editor: Editor = newEditor()
  readonly #secret: boolean
  readonly #placeholder: string

  constructor(options: { secret?: boolean; placeholder?: string; initial?: string } = {}) {
    this.#secret = options.secret ?? false
    this.#placeholder = options.placeholder ?? ''
    if (options.initial) this.#editor.draft = draftOf(options.initial)
  }

  get text(): string {
    return this.#editor.draft.text
  }

  press(input: Input): boolean {
    if ('text' in input) change(this.#editor, insert(this.#editor.draft, input.text))
    else if ('paste' in input) change(this.#editor, insert(this.#editor.draft, input.paste.replaceAll('\n', ' ')))
    else if (/enter|ctrl\+j/.test(input.key)) return false
    else return press(this.#editor, input.key)
    return true
  }

  /** The part of it round the cursor that fits, and the cursor's column in that. */
  draw(columns: number): { text: string; column: number } {
    const { text, cursor } = this.#editor.draft
    if (text === '') return { text: paint('dim', this.#placeholder), column: 0 }
    const shown = this.#secret ? glyph.secret.repeat(graphemes(text).length) : text
    const before = this.#secret ? glyph.secret.repeat(graphemes(text.slice(0, cursor)).length) : text.slice(0, cursor)
    let start = 0
    while (width(before.slice(start)) >= columns) start += graphemes(shown.slice(start, start + 20))[0]!.length
    let end = shown.length
    while (width(shown.slice(start, end)) > columns) end--
    return { text: shown.slice(start, end), column: width(before.slice(start)) }
  }
}
