/** What has happened: kept for the full transcript, and waiting to be printed into the scrollback. */
import { type Item, itemLines } from './items.ts'

/** How much of it is kept, in characters. */
const keptCharacters = 8_000_000

interface Waiting {
  readonly item: Item
  /** An empty line goes before it. */
  readonly spaced: boolean
}

type Markdown = (text: string, columns: number) => string[]

/** `tight`: no empty line goes before it. */
export type Kept = Item & { readonly tight?: true }

/** Everything in full. */
export const transcriptLines = (items: readonly Kept[], columns: number, markdown: Markdown): string[] =>
  items.flatMap((item) => {
    const lines = itemLines(item, columns, true, markdown)
    return lines.length > 0 && !item.tight ? ['', ...lines] : lines
  })

export class Happened {
  readonly items: Kept[] = []
  #size = 0
  #ready: Waiting[] = []
  #aside: Waiting[] | undefined
  #held = false

  keep(item: Item, spaced = true): void {
    this.items.push(spaced ? item : { ...item, tight: true })
    this.#size += sizeOf(item)
    while (this.#size > keptCharacters && this.items.length > 1) this.#size -= sizeOf(this.items.shift()!)
  }

  /** Of the agent's doing. */
  add(item: Item, spaced = true): void {
    this.keep(item, spaced)
    this.print(item, spaced)
  }

  /** Of the user's: an echo, what a command says. */
  addAside(item: Item, spaced = true): void {
    this.keep(item, spaced)
    if (this.#aside) this.#aside.push({ item, spaced })
    else this.print(item, spaced)
  }

  /** Nothing is printed until `release`; what waits is shown as live. */
  hold(): void {
    this.#held = true
  }

  /** Prints `first` and then, below an empty line, all that waited. */
  release(first?: Item): void {
    this.#held = false
    if (!first) return
    this.items.unshift({ ...first, tight: true })
    const waited = this.#ready.map((one, at) => (at === 0 ? { ...one, spaced: true } : one))
    this.#ready = [{ item: first, spaced: false }, ...waited]
  }

  /** For the scrollback alone. */
  print(item: Item, spaced = true): void {
    this.#ready.push({ item, spaced })
  }

  /** What a command shows stays together, however long it takes and whatever the agent does meanwhile. */
  async aside(work: () => Promise<void>): Promise<void> {
    if (this.#aside) return work()
    this.#aside = []
    try {
      await work()
    } finally {
      this.#ready.push(...this.#aside)
      this.#aside = undefined
    }
  }

  take(columns: number, markdown: Markdown): string[] {
    return this.#held ? [] : linesOf(this.#ready.splice(0), columns, markdown)
  }

  /** What is held back, and what a command that is not done yet has shown so far. */
  live(columns: number, markdown: Markdown): string[] {
    return linesOf([...(this.#held ? this.#ready : []), ...(this.#aside ?? [])], columns, markdown)
  }
}

const linesOf = (waiting: readonly Waiting[], columns: number, markdown: Markdown): string[] =>
  waiting.flatMap(({ item, spaced }) => {
    const lines = itemLines(item, columns, false, markdown)
    return lines.length > 0 && spaced ? ['', ...lines] : lines
  })

const sizeOf = (item: Item): number => {
  if (item.kind === 'tool') return (item.call.output?.content.length ?? 0) + 200
  if ('lines' in item) return item.lines.reduce((sum, line) => sum + line.length, 0)
  return 'text' in item ? item.text.length : 200
}
