/** The branch that a folder is on, read from git's files. Starts no program. */
import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readPlainFile } from './plain-file.ts'

/** Also from below the repository's root and in a worktree; a detached HEAD is shown as its commit. */
export function branchOf(folder: string): string | undefined {
  try {
    const git = gitFolder(folder)
    const head = git && readPlainFile(join(git, 'HEAD'), 4096).trim()
    return head?.startsWith('ref: refs/heads/') ? head.slice('ref: refs/heads/'.length) : head?.slice(0, 7)
  } catch {
    return undefined // unreadable: the branch is only displayed, never relied on
  }
}

function gitFolder(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const entry = join(at, '.git')
    const stat = statSync(entry, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return entry
    if (stat?.isFile()) {
      const to = /^gitdir: (.+)$/m.exec(readPlainFile(entry, 4096))?.[1]
      return to && resolve(at, to)
    }
    if (dirname(at) === at) return undefined
  }
}
