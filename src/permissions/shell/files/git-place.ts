/** Whether git, run in a folder, reads the configuration of the project's own repository and of no other. */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../../paths/pattern.ts'

/** False where a repository lies between the folder and the project: its configuration can run programs. */
export function inProjectRepository(folder: string, projectDir: string): boolean {
  for (let at = folder; isWithin(at, projectDir) && at !== projectDir; at = dirname(at)) {
    if (exists(join(at, '.git')) || isBare(at)) return false
  }
  return isWithin(folder, projectDir) && !isBare(projectDir)
}

/** Whether the repository's own configuration names a program that a command which reads would run. */
export function configRunsPrograms(projectDir: string): boolean {
  const folder = gitFolder(projectDir)
  if (folder === undefined) return false // no repository: git says so and ends
  const common = text(join(folder, 'commondir'))?.trim()
  const configs = [folder, ...(common ? [resolve(folder, common)] : [])].flatMap((at) => [
    join(at, 'config'),
    join(at, 'config.worktree'),
  ])
  return configs.some((file) => runsPrograms.test(text(file) ?? ''))
}

/** Anywhere in the file, also as part of another name: a false match costs a prompt. */
const runsPrograms =
  /fsmonitor|hookspath|pager|external|textconv|filter|include|\bdriver|command\b|\bprogram\b|worktree\s*=|attributesfile|partialclone|promisor/i

function gitFolder(from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const entry = join(at, '.git')
    const stat = statSync(entry, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return entry
    if (stat?.isFile()) return resolve(at, /^gitdir: (.+)$/m.exec(text(entry) ?? '')?.[1] ?? '')
    if (dirname(at) === at) return undefined
  }
}

/** What git takes for a repository without a `.git`. */
const isBare = (folder: string): boolean =>
  exists(join(folder, 'HEAD')) && exists(join(folder, 'objects')) && exists(join(folder, 'refs'))

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

function text(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat?.isFile() || stat.size > 1_000_000) return stat ? 'include' : undefined // too odd to trust
  return readFileSync(file, 'utf8')
}
