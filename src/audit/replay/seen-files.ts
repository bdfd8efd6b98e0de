/** A view of the files that records what a ruling looked at. */
import type { FileView } from '../../permissions/paths/view.ts'

export interface Seen {
  readonly kind: 'real' | 'there' | 'empty' | 'other'
  readonly path: string
  readonly leadsTo: string | undefined
  readonly there: boolean | undefined
}

/** Answers as `files` does. What follows from files is computed again, so that every access to them is seen. */
export function recordingView(files: FileView): { readonly view: FileView; seen(): readonly Seen[] } {
  const seen = new Map<string, Seen>()
  const kept = new Map<string, unknown>()
  const note = (kind: Seen['kind'], path: string, leadsTo?: string, there?: boolean) =>
    seen.set(`${kind} ${path}`, { kind, path, leadsTo, there })
  const view: FileView = {
    lasting: false,
    real(path) {
      const leadsTo = files.real(path)
      note('real', path, leadsTo)
      return leadsTo
    },
    there(path) {
      const there = files.there(path)
      note('there', path, undefined, there)
      return there
    },
    keep<T>(about: string, work: () => T): T {
      if (kept.has(about)) return kept.get(about) as T
      const found = work()
      kept.set(about, found)
      // of a folder in which nothing is, whether it is there says all
      const isEmpty =
        Array.isArray(found) && found.length === 0 && seen.get(`there ${folderOf(about)}`)?.there === false
      note(isEmpty ? 'empty' : 'other', about)
      return found
    },
  }
  return { view, seen: () => [...seen.values()] }
}

const folderOf = (about: string): string => (about.startsWith('entries ') ? about.slice('entries '.length) : '')
