/** What was typed before in this project: walked with the arrows, searched with Ctrl-R. */

export interface History {
  add(text: string): void
  /** The newest last. */
  entries(): readonly string[]
}

/** Until the database is open, and for tests. */
export function memoryHistory(): History {
  const kept: string[] = []
  return {
    entries: () => kept,
    add: (text) => {
      if (text.trim() !== '' && kept.at(-1) !== text) kept.push(text)
    },
  }
}

/** Up and Down through the entries that start the way the draft does; the draft itself is the last. */
export class HistoryWalk {
  readonly #entries: readonly string[]
  readonly #draft: string
  #at: number

  constructor(entries: readonly string[], draft: string) {
    this.#entries = entries
    this.#draft = draft
    this.#at = entries.length
  }

  older(): string | undefined {
    if (this.#at === 0) return undefined
    this.#at--
    return this.#entries[this.#at]
  }

  newer(): string | undefined {
    if (this.#at >= this.#entries.length) return undefined
    this.#at++
    return this.#entries[this.#at] ?? this.#draft
  }
}

/** Entries with these letters in them, the newest first, each once. */
export function searchHistory(entries: readonly string[], wanted: string): string[] {
  const needle = wanted.toLowerCase()
  return [...new Set(entries.toReversed())].filter((entry) => entry.toLowerCase().includes(needle))
}
