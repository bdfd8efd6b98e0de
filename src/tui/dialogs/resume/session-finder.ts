/** Sessions that match what was typed: read a page at a time, and only as far as the screen needs them. */
import type { SessionSummary } from '../../../store/session/session-list.ts'

/** Sessions older than the one given, newest first; an empty page is the end. */
export type ReadPage = (after: SessionSummary | undefined) => readonly SessionSummary[]

export class SessionFinder {
  readonly #readPage: ReadPage
  readonly #left: string
  #read: SessionSummary[] = []
  #isWhole = false
  #words: readonly string[] = []
  #branch: string | undefined
  #compared = 0
  #found: SessionSummary[] = []

  /** `left`: the id of one that is not listed. */
  constructor(readPage: ReadPage, left = '') {
    this.#readPage = readPage
    this.#left = left
  }

  /** Those that match so far. */
  get found(): readonly SessionSummary[] {
    return this.#found
  }

  /** No more will be found. */
  get isComplete(): boolean {
    return this.#isWhole && this.#compared === this.#read.length
  }

  /** Every word must stand in the title, the first prompt, the branch, the project or the beginning of the id. */
  search(query: string, branch?: string): void {
    this.#words = query.toLowerCase().split(/\s+/).filter(Boolean)
    this.#branch = branch
    this.#compared = 0
    this.#found = []
  }

  /** Looks for so many, but no longer than this: the keyboard must not wait. */
  look(wanted: number, ms: number): void {
    const end = performance.now() + ms
    while (this.#found.length < wanted && !this.isComplete) {
      if (this.#compared === this.#read.length) this.#more()
      else this.#compare(this.#read[this.#compared++]!)
      if (performance.now() >= end) return
    }
  }

  rename(conversationId: string, name: string | null): void {
    const renamed = (one: SessionSummary) => (one.conversationId === conversationId ? { ...one, name } : one)
    this.#read = this.#read.map(renamed)
    this.#found = this.#found.map(renamed)
  }

  #more(): void {
    const page = this.#readPage(this.#read.at(-1))
    this.#read.push(...page)
    this.#isWhole = page.length === 0
  }

  #compare(one: SessionSummary): void {
    if (one.sessionId === this.#left) return
    if (this.#branch !== undefined && one.branch !== this.#branch) return
    const text = [one.name, one.firstPrompt, one.branch, one.projectDir].join('\n').toLowerCase()
    if (this.#words.every((word) => text.includes(word) || isIdOf(one, word))) this.#found.push(one)
  }
}

/** Fewer characters are the beginning of too many ids. */
const isIdOf = ({ sessionId }: SessionSummary, word: string): boolean => word.length >= 4 && sessionId.startsWith(word)
