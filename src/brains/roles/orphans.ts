/** Hooks in an agent whose role is not linked here: when they are removed, and when they stay. */
import { spawnSync } from 'node:child_process'
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
export function orphansOf(
  root: string,
  all: Roles,
  { prune, unlinked }: { prune: boolean; unlinked: readonly string[] },
): Orphans {
  const declared = new Set(all.roles.map(({ author }) => author))
  const isUnread = all.problems.length + all.unusable.length > 0
  const kept = new Set<string>()
  let committed: boolean | undefined
  return {
    drops(author) {
      if (prune || unlinked.includes(author)) return true
      if (declared.has(author)) {
        committed ??= linksAreCommitted(root)
        return committed
      }
      if (isUnread)
        kept.add(`${author} has hooks in an agent and nothing that could be read declares it; they are kept`)
      return !isUnread
    },
    kept: () => [...kept],
  }
}

/** Whether git tracks the links of roles: then they are the repository's list, not one developer's. */
function linksAreCommitted(root: string): boolean {
  const run = spawnSync('git', ['ls-files', '--', '.agent'], { cwd: root, encoding: 'utf8' })
  return run.status === 0 && run.stdout.trim() !== ''
}
