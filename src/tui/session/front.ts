/** What a user sits in front of: a full terminal, or plain lines. Dialogs and commands are written against this. */
import type { View } from '../render/view.ts'

export interface Choice<T> {
  readonly label: string
  readonly value: T
  /** Beside the label, dim. */
  readonly hint?: string
  /** A key that picks it, beside its number. */
  readonly key?: string
  /** Picking it asks for a line of text first; this stands in the empty line. */
  readonly text?: string
  /** Tab opens this text for editing; what it becomes is the text of the choice. */
  readonly edit?: string
}

export interface Dialog<T> {
  readonly title: string
  /** The subject of the prompt: a command, a diff. Shown as it is, cut to the screen. */
  readonly body?: readonly string[]
  readonly question?: string
  readonly choices: readonly Choice<T>[]
  readonly multiple?: boolean
  /** Typing narrows the choices down. */
  readonly filter?: boolean
  readonly selected?: number
  /** What Esc means here; `cancel` where nothing else is said. */
  readonly escape?: string
  /** More keys, shown below. Answering with a value closes the dialog; undefined keeps it open. */
  readonly keys?: Readonly<
    Record<string, { readonly about: string; act(value: T | undefined): Promise<T | undefined> | T | undefined }>
  >
}

export interface Chosen<T> {
  readonly value: T
  /** All that were ticked, where several may be. */
  readonly values: readonly T[]
  readonly text?: string
}

export interface TextQuestion {
  readonly title: string
  readonly body?: readonly string[]
  readonly placeholder?: string
  readonly initial?: string
  /** Shown as dots and never kept. */
  readonly secret?: boolean
  /** What is wrong with an answer; it is asked again. */
  check?(text: string): string | undefined
}

/** What a view may use of the terminal. */
export interface ViewTools {
  changed(): void
  markdown(text: string, columns: number): string[]
}

export interface Front {
  /** Whether a user is there to answer. */
  readonly interactive: boolean
  readonly columns: number
  print(...lines: string[]): void
  notice(level: 'info' | 'warning' | 'error', text: string): void
  markdown(text: string): void
  /** Undefined: nobody is there, they would not answer, or it was withdrawn. */
  choose<T>(dialog: Dialog<T>, signal?: AbortSignal): Promise<Chosen<T> | undefined>
  ask(question: TextQuestion, signal?: AbortSignal): Promise<string | undefined>
  /** A view of its own that has the keyboard until it is done; only where there is a screen. */
  openView?<T>(
    title: string,
    make: (done: (value: T | undefined) => void, tools: ViewTools) => View,
  ): Promise<T | undefined>
  /** Long text to look through. */
  page(title: string, lines: readonly string[]): Promise<void>
  /** Opens a file in the user's editor and waits; false when there is none or it failed. `about` is what they call it. */
  edit(path: string, about?: string): Promise<boolean>
  /** Gives the whole screen to a program and waits for it; false when it failed. */
  handOver(program: string, words: readonly string[]): Promise<boolean>
  /** Puts text into the input line. */
  setDraft(text: string): void
  copy(text: string): Promise<boolean>
}
