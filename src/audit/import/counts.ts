/** What an import found, by kind. */

export interface Counts {
  sessions: number
  prompts: number
  replies: number
  calls: number
  denied: number
  hooks: number
  errors: number
  /** Records that a forked session, or a thin copy of a session, repeats: they are stored from the file that was read first. */
  copied: number
  /** Lines that are no JSON, or that a reader could not take. */
  unreadable: number
  /** Records of types that the reader does not know, by type. */
  unknown: Record<string, number>
}

export const noCounts = (): Counts => ({
  ...{ sessions: 0, prompts: 0, replies: 0, calls: 0, denied: 0, hooks: 0, errors: 0 },
  ...{ copied: 0, unreadable: 0, unknown: Object.create(null) },
})

export function addCounts(to: Counts, { unknown, ...more }: Counts): void {
  for (const [name, count] of Object.entries(more)) to[name as keyof typeof more] += count
  for (const [type, count] of Object.entries(unknown)) addUnknown(to, type, count)
}

/** A file may name any number of types, of any length. */
export function addUnknown({ unknown }: Counts, type: string, count = 1): void {
  const short = type.length > 60 ? `${type.slice(0, 60).toWellFormed()}…` : type
  const name = Object.hasOwn(unknown, short) || Object.keys(unknown).length < 40 ? short : 'others'
  unknown[name] = (unknown[name] ?? 0) + count
}
