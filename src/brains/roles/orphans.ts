/** Hooks in an agent whose role is not linked here: when they are removed, and when they stay. */
import { git } from '../../hooks/process/quiet-git.ts'
import type { Roles } from './find.ts'

export interface Orphans {
  /** Whether the hooks of an author that is not linked are removed. */
  drops(author: string): boolean
  /** Why hooks that were asked about are kept although nothing declares them. */
  kept(): string[]
}

/**
 * A role that nothing declares any more is dropped when everything that could declare it was read. One that is declared and
 * not linked may be linked in another checkout: it is dropped only where the links are committed, or where the user says so.
 */
export async function orphansOf(
  root: string,
  all: Roles,
  { prune, unlinked }: { prune: boolean; unlinked: readonly string[] },
): Promise<Orphans> {
  const declared = new Set(all.roles.map(({ author }) => author))
  const isUnread = all.problems.length + all.unusable.length > 0
  const kept = new Set<string>()
  const committed = all.roles.some(({ linked }) => !linked) && (await linksAreCommitted(root))
  return {
    drops(author) {
      if (prune || unlinked.includes(author)) return true
      if (declared.has(author)) return committed
      if (isUnread)
        kept.add(`${author} has hooks in an agent and nothing that could be read declares it; they are kept`)
      return !isUnread
    },
    kept: () => [...kept],
  }
}

/** Whether git tracks the links of roles: then they are the repository's list, not one developer's. */
async function linksAreCommitted(root: string): Promise<boolean> {
  const { ok, text } = await git(root, ['ls-files', '--', '.agent'])
  return ok && text.trim() !== ''
}
