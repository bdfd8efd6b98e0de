/** The menu under the line: what could be meant, which of it is picked, and whether it was closed. */
import { type Menu, type Sources, type Suggestion, suggest } from './complete.ts'
import type { Draft } from './editor.ts'

export class CompletionMenu {
  /** What is open, if anything is. */
  open: (Menu & { at: number }) | undefined
  readonly #sources: Sources
  readonly #changed: () => void
  #asked = 0
  #closedAt: string | undefined

  constructor(sources: Sources, changed: () => void) {
    this.#sources = sources
    this.#changed = changed
  }

  get picked(): Suggestion | undefined {
    return this.open?.items[this.open.at]
  }

  /** Asks what could be meant now; an older asking that answers later is not heard. */
  ask(draft: Draft, again = false): void {
    const turn = ++this.#asked
    if (draft.text === this.#closedAt && !again) return
    this.#closedAt = undefined
    void suggest(draft, this.#sources).then((menu) => {
      if (turn !== this.#asked) return
      this.open = menu && { ...menu, at: 0 }
      this.#changed()
    })
  }

  close(): void {
    this.open = undefined
    this.#asked++
  }

  /** Closed by the user: it stays so until the line is another one. */
  dismiss({ text }: Draft): void {
    this.#closedAt = text
    this.close()
  }

  move(by: number): void {
    const { open } = this
    if (open) open.at = (open.at + by + open.items.length) % open.items.length
  }

  /** The draft with what was picked in it. A folder goes on to what is in it. */
  accept({ text }: Draft): Draft {
    const { from, to } = this.open!
    const { insert } = this.picked!
    const draft = { text: text.slice(0, from) + insert + text.slice(to), cursor: from + insert.length }
    this.close()
    if (insert.endsWith('/')) this.ask(draft)
    return draft
  }
}
