/** A git worktree to work in, so that the user's own files stay as they are; hooks may make it in another way. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import { git as ask } from '../../hooks/process/quiet-git.ts'
import { isTrusted } from '../../store/settings/trust.ts'
import type { Session } from './session.ts'

export interface Worktree {
  readonly path: string
  /** Goes away when nothing was changed in it; otherwise stays, says so, and gives true. */
  leave(): Promise<boolean>
}

export type Made = Worktree | { readonly problem: string }

export async function makeWorktree(session: Session, wanted: string): Promise<Made> {
  const name = wanted || `work-${crypto.randomUUID().slice(0, 8)}`
  if (!/^[\w][\w.-]*$/.test(name))
    return { problem: `a worktree's name is letters, digits, ".", "_" and "-", not "${name}"` }
  const answer = await session.raise('WorktreeCreate', () => ({ name }))
  session.commit(() => {})
  if (answer.decision === 'deny') return { problem: `a hook refused the worktree ${name}: ${answer.reason}` }
  if (answer.worktreePath !== null) return ofHook(session, resolve(session.cwd, answer.worktreePath))
  return ofGit(session, name)
}

/** What a hook made, hooks take away. */
function ofHook(session: Session, path: string): Made {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return { problem: `a hook says that the worktree is ${path}, and there is no such folder` }
  return {
    path,
    async leave() {
      await removed(session, path)
      return false
    },
  }
}

type Git = (cwd: string, ...args: string[]) => ReturnType<typeof ask>

/** Hooks and filters of a repository run where the user trusts it. */
function gitOf({ cwd, runtime: { home } }: Session): Git {
  const trusted = isTrusted(cwd, { home })
  return async (at, ...args) => {
    const { ok, text } = await ask(at, args, { timeoutMs: 60_000, trusted })
    return { ok, text: text.trim() }
  }
}

async function ofGit(session: Session, name: string): Promise<Made> {
  const { cwd } = session
  const git = gitOf(session)
  const top = await git(cwd, 'rev-parse', '--show-toplevel')
  if (!top.ok) return { problem: `${cwd} is no git repository; a worktree needs one, or a WorktreeCreate hook` }
  const path = join(top.text, '.ona', 'worktrees', name)
  if (leadsOut(top.text, path)) return { problem: `${path} lies behind a link that leads out of the repository` }
  if (!existsSync(path)) {
    await exclude(git, top.text)
    const branch = `worktree-${name}`
    const has = await git(cwd, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)
    const added = await git(cwd, 'worktree', 'add', path, ...(has.ok ? [branch] : ['-b', branch]))
    if (!added.ok) return { problem: `git worktree add failed: ${added.text}` }
  }
  const start = await git(path, 'rev-parse', 'HEAD')
  return {
    path,
    async leave() {
      const changed = await git(path, 'status', '--porcelain')
      const head = await git(path, 'rev-parse', 'HEAD')
      if (!changed.ok || changed.text !== '' || head.text !== start.text) {
        session.emit({ type: 'notice', level: 'info', text: `The worktree ${path} has changes and stays.` })
        return true
      }
      await removed(session, path)
      await git(cwd, 'worktree', 'remove', path)
      await git(cwd, 'branch', '-d', `worktree-${name}`)
      return false
    },
  }
}

async function removed(session: Session, path: string): Promise<void> {
  await session.raise('WorktreeRemove', () => ({ worktree_path: path }), new AbortController().signal)
  session.commit(() => {})
}

/** Kept from git by its own private list: no file of the project's is changed. */
async function exclude(git: Git, top: string): Promise<void> {
  const common = await git(top, 'rev-parse', '--git-common-dir')
  if (!common.ok) return
  const folder = resolve(top, common.text)
  const file = join(folder, 'info', 'exclude')
  if (leadsOut(folder, file)) return
  const line = '/.ona/worktrees/'
  if (existsSync(file) && readFileSync(file, 'utf8').split('\n').includes(line)) return
  mkdirSync(dirname(file), { recursive: true })
  appendFileSync(file, `${line}\n`)
}
