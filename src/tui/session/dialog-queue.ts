/** The dialogs that wait for an answer: the one opened first has the keyboard, the others are counted. */
import type { Input } from '../input/keys.ts'
import { cleanLine } from '../render/clean.ts'
import { plural } from '../render/format.ts'
import { paint } from '../render/style.ts'
import type { View } from '../render/view.ts'
import { graphemes } from '../render/width.ts'

/** A dialog that waits this long is notified of. */
const bellMs = 6_000
/** Whoever types when a dialog comes up goes on typing into the line until they pause this long. */
const pauseMs = 700
/** One that waited behind another takes no key before a user can have seen it. */
const readMs = 300

interface OpenDialog {
  readonly view: View
  readonly title: string
  readonly body: readonly string[]
  afterPause: boolean
  /** Keys before this were meant for the dialog that stood here until then. */
  from: number
}

interface Shown {
  readonly title: string
  readonly body: readonly string[]
  readonly signal?: AbortSignal | undefined
  /** The user opened it: no bell. */
  readonly isQuiet?: boolean
}

export interface DialogSurface {
  /** What is being typed: keys meant for it must not answer a dialog. */
  draft(): string
  notify(title: string): void
  changed(): void
}

export class DialogQueue {
  readonly #surface: DialogSurface
  readonly #open: OpenDialog[] = []
  #typedAt = 0

  constructor(surface: DialogSurface) {
    this.#surface = surface
  }

  get size(): number {
    return this.#open.length
  }

  get first(): OpenDialog | undefined {
    return this.#open[0]
  }

  /** A dialog has the keyboard until it is answered or withdrawn. */
  show<T>(
    { title, body, signal, isQuiet = false }: Shown,
    make: (done: (value: T | undefined) => void) => View,
  ): Promise<T | undefined> {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve(undefined)
        return
      }
      const bell = isQuiet ? undefined : setTimeout(() => this.#surface.notify(title), bellMs).unref()
      const finish = (value: T | undefined) => {
        const at = this.#open.indexOf(entry)
        if (at < 0) return
        clearTimeout(bell)
        this.#open.splice(at, 1)
        if (at === 0 && this.first) this.first.from = Date.now() + readMs
        signal?.removeEventListener('abort', withdraw)
        this.#surface.changed()
        resolve(value)
      }
      const withdraw = () => finish(undefined)
      const typing = Date.now() - this.#typedAt < pauseMs && this.#surface.draft() !== ''
      const afterPause = typing && this.#open.length === 0
      const entry: OpenDialog = { view: make(finish), body, title, afterPause, from: 0 }
      signal?.addEventListener('abort', withdraw)
      this.#open.push(entry)
      this.#surface.changed()
    })
  }

  /** A key came: whether it goes to the line, because no dialog is open or the user still types. */
  typesOn(): boolean {
    const now = Date.now()
    const { first } = this
    if (first && now - this.#typedAt >= pauseMs) first.afterPause = false
    this.#typedAt = now
    return first?.afterPause ?? true
  }

  /** Gives the key to the first dialog. Text that comes in one piece was typed one by one. */
  press(input: Input): void {
    const { first } = this
    if (!first || Date.now() < first.from) return
    for (const one of singles(input)) if (this.first === first) first.view.press(one)
  }

  /** What stands above the dialog: the line that is being typed, and how many more wait. */
  above(): string[] {
    const more = this.size - 1
    return [
      ...(this.first?.afterPause ? [paint('dim', `  your line: ${cleanLine(this.#surface.draft())}`)] : []),
      ...(more > 0 ? [paint('warn', `  ${plural(more, 'more question')} after this one`)] : []),
    ]
  }
}

/** Ctrl-O shows the whole of a body that the screen is too small for. */
export const wantsBody = (input: Input, dialog: OpenDialog | undefined): dialog is OpenDialog =>
  dialog !== undefined && 'key' in input && input.key === 'ctrl+o' && dialog.body.length > 0

/** What is typed fast comes in one piece; to a dialog and to a page each character is a key. */
export const singles = (input: Input): readonly Input[] =>
  'text' in input ? graphemes(input.text).map((text) => ({ text })) : [input]
