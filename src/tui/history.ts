/** What was typed before in this project: kept in the database, walked with the arrows, searched with Ctrl-R. */
import type { Db } from '../store/open.ts'

/** As many as are read at start. */
const most = 1_000
const longest = 10_000

export interface History {
  add(text: string): void
  /** The newest last. */
  entries(): readonly string[]
}

export function openHistory(db: Db, projectDir: string, clean: (text: string) => string): History {
  let read: string[] | undefined
  const entries = () =>
    (read ??= db
      .all<{ text: string }>(
        'SELECT text FROM ona_prompt_history WHERE project_dir = ? ORDER BY id DESC LIMIT ?',
        projectDir,
        most,
      )
      .map(({ text }) => text)
      .reverse())
  return {
    entries,
    add(text) {
      const kept = clean(text)
      if (kept.trim() === '' || kept.length > longest || entries().at(-1) === kept) return
      entries()
      read!.push(kept)
      db.run('INSERT INTO ona_prompt_history (project_dir, text) VALUES (?, ?)', projectDir, kept)
    },
  }
}

/** For tests and for where there is no database: until the process ends. */
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
