/** Git folders: which one a project writes to, and what in it can run programs. */
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'

/**
 * The `.git` folder that commits of a project go to when it lies outside the project: that of the repository around it,
 * or the main one of a worktree. A link is followed only where the other end names this project, too.
 */
export function outerGitDir(projectDir: string, home: string): string | undefined {
  for (let at = projectDir; ; at = dirname(at)) {
    const git = join(at, '.git')
    const stat = lstatSync(git, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return at === projectDir ? undefined : git
    if (stat?.isFile()) return worktreeGitDir(git)
    if (at === home || dirname(at) === at) return undefined
  }
}

function worktreeGitDir(file: string): string | undefined {
  try {
    const own = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]
    if (own === undefined) return undefined
    const folder = realpathSync(resolve(dirname(file), own))
    const main = /^(.*\/\.git)\/worktrees\/[^/]+$/.exec(folder)?.[1]
    const back = readFileSync(join(folder, 'gitdir'), 'utf8').trim()
    return main !== undefined && realpathSync(resolve(folder, back)) === realpathSync(file) ? main : undefined
  } catch {
    return undefined // no worktree, or a broken one: git does not work there either
  }
}

/** Names in a git folder that decide which programs git runs. */
export const gitControls: readonly string[] = [
  ...['hooks', 'config', 'config.worktree', 'commondir', 'info/attributes', 'modules'],
]

/** Further paths that a repository's configuration leads to: its own hooks folder, and included files. */
export function configuredPaths(gitDir: string): string[] {
  const found: string[] = []
  for (const [, key, value] of readText(join(gitDir, 'config')).matchAll(
    /^\s*(hookspath|path)\s*=\s*"?([^"\n]+?)"?\s*$/gim,
  )) {
    if (value!.startsWith('~')) continue // the home is not writable
    const base = key!.toLowerCase() === 'path' ? gitDir : dirname(gitDir)
    found.push(isAbsolute(value!) ? value! : resolve(base, value!))
  }
  for (const name of entries(join(gitDir, 'worktrees')))
    for (const file of ['config.worktree', 'commondir', 'gitdir']) found.push(join(gitDir, 'worktrees', name, file))
  return found
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // not a repository yet
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // no worktrees
  }
}
