import { git as ask } from '../../../hooks/process/quiet-git.ts'
import { diffLines } from '../../render/diff-view.ts'
import { plural } from '../../render/format.ts'
import { bold, paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, { session, front }: Ui): Promise<void> {
  const git = async (...words: string[]) => {
    const { ok, text } = await ask(session.cwd, words)
    return ok ? text : undefined
  }
  const head = await git('rev-parse', '--verify', 'HEAD')
  const patch = await git('diff', ...(head ? ['HEAD'] : ['--cached']))
  const untracked = (await git('ls-files', '--others', '--exclude-standard')) ?? ''
  if (patch === undefined) return front.notice('error', `${session.cwd} is no git repository, or git is not there`)
  const files = patch.split(/^(?=diff --git )/m).filter(Boolean)
  const fresh = untracked.split('\n').filter(Boolean)
  if (files.length + fresh.length === 0) return front.print('No uncommitted changes.')
  const lines = files.flatMap((file) => {
    const name = /^diff --git a\/.* b\/(.*)$/m.exec(file)?.[1] ?? '?'
    return ['', bold(name), ...diffLines(file)]
  })
  const summary = [
    plural(files.length, 'changed file'),
    ...(fresh.length > 0 ? [plural(fresh.length, 'new file')] : []),
  ].join(', ')
  await front.page('uncommitted changes', [summary, ...lines, ...fresh.map((name) => paint('added', `new: ${name}`))])
}
