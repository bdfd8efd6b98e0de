/** What was typed before in this project: walked with the arrows, searched with Ctrl-R. */
import type { Input } from './keys.ts'

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

/** Ctrl-R: letters narrow it down, and the line shows the newest entry that has them. */
export class HistorySearch {
  wanted = ''
  /** What the line held before. */
  readonly before: string
  readonly #entries: readonly string[]
  #at = 0

  constructor(entries: readonly string[], before: string) {
    this.#entries = entries
    this.before = before
  }

  get found(): string | undefined {
    return searchHistory(this.#entries, this.wanted)[this.#at]
  }

  /** Whether the search goes on after this, and else what becomes of what it found. */
  press(input: Input): 'goes-on' | 'kept' | 'run' | 'left' {
    if (!('key' in input)) {
      this.wanted += 'text' in input ? input.text : input.paste
      this.#at = 0
      return 'goes-on'
    }
    const { key } = input
    const last = searchHistory(this.#entries, this.wanted).length - 1
    if (key === 'ctrl+r') this.#at = Math.max(0, Math.min(this.#at + 1, last))
    else if (key === 'ctrl+s') this.#at = Math.max(0, this.#at - 1)
    else if (key === 'backspace' && this.wanted !== '') this.wanted = this.wanted.slice(0, -1)
    else if (key === 'backspace' || key === 'ctrl+c' || key === 'ctrl+g') return 'left'
    else return key === 'enter' ? 'run' : 'kept'
    return 'goes-on'
  }
}
