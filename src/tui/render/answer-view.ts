/** The agent's words while they come in. What draws them is loaded while the model still thinks. */
import { clean } from './clean.ts'
import { answerLines } from './items.ts'
import type { Highlighter } from './markdown.ts'
import type { MarkdownStream } from './markdown-stream.ts'
import { wrap } from './width.ts'

export class AnswerView {
  readonly #changed: () => void
  #modules: (typeof import('./markdown.ts') & typeof import('./markdown-stream.ts')) | undefined
  #loading: Promise<void> | undefined
  #highlight: Highlighter | undefined | 'loading'
  #stream: MarkdownStream | undefined
  #text = ''
  #begun = false

  constructor(changed: () => void) {
    this.#changed = changed
  }

  prepare(): Promise<void> {
    this.#loading ??= Promise.all([import('./markdown.ts'), import('./markdown-stream.ts')]).then(([a, b]) => {
      this.#modules = { ...a, ...b }
      if (this.#text !== '') this.#open().push(this.#text)
      this.#changed()
      this.#loadColours() // a short answer would be over before they are there
    })
    return this.#loading
  }

  /** Part of it stands in the scrollback, and more will come. */
  get begun(): boolean {
    return this.#begun
  }

  /** A whole text. */
  markdown(text: string, columns: number): string[] {
    const highlight = this.#highlight === 'loading' ? undefined : this.#highlight
    if (this.#modules) return this.#modules.renderMarkdown(text, columns, highlight)
    return clean(text)
      .split('\n')
      .flatMap((line) => wrap(line, columns))
  }

  write(text: string): void {
    this.#text += text
    if (this.#modules) this.#open().push(text)
    else void this.prepare()
  }

  /** Lines for the scrollback since the last call. */
  finished(columns: number): string[] {
    return this.#marked(this.#stream?.finished(columns - 2) ?? [])
  }

  live(columns: number): string[] {
    const tail = this.#stream?.tail(columns - 2) ?? []
    if (tail.length === 0) return []
    return this.#begun ? answerLines(tail, false) : ['', ...answerLines(tail)]
  }

  /** What came so far is void. True: part of it stands in the scrollback and cannot be taken back. */
  drop(): boolean {
    const stands = this.#begun
    this.#stream = undefined
    this.#text = ''
    this.#begun = false
    return stands
  }

  /** The answer is complete: its text, and the lines that are left. Undefined: nothing had come. */
  end(columns: number): { readonly text: string; readonly lines: string[] } | undefined {
    const text = this.#text
    if (text === '') return undefined
    const lines = this.#marked(this.#stream ? this.#stream.end(columns - 2) : this.markdown(text, columns - 2))
    this.#stream = undefined
    this.#text = ''
    this.#begun = false
    return { text, lines }
  }

  #open(): MarkdownStream {
    this.#stream ??= new this.#modules!.MarkdownStream(() => this.#highlight)
    return this.#stream
  }

  #marked(lines: readonly string[]): string[] {
    if (lines.length === 0) return []
    const lead = this.#begun ? [] : ['']
    const shown = answerLines(lines, !this.#begun)
    this.#begun = true
    return [...lead, ...shown]
  }

  #loadColours(): void {
    this.#highlight = 'loading'
    import('./highlight.ts').then(
      ({ highlight }) => {
        this.#highlight = highlight
        this.#changed()
      },
      () => {
        this.#highlight = (code) => code.split('\n') // shown plain: colours are no reason to lose an answer
      },
    )
  }
}
