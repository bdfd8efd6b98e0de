/** /sandbox: whether commands are sandboxed here and what that means; `on` and `off` change the setting. */
import { questionOf } from '../../../agent/permission-question.ts'
import type { Ui } from '../../session/command-context.ts'
import { saveSetting } from '../../session/save-setting.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { front, session } = ui
  const word = args.trim()
  if (word === 'on' || word === 'off') {
    const saved = await saveSetting(ui, 'user', ['sandbox', 'enabled'], word === 'on')
    if (saved)
      front.print(`Sessions that start from now on run commands ${word === 'on' ? 'in' : 'without'} a sandbox.`)
    return
  }
  if (word !== '')
    return front.notice('error', `unexpected argument \`${word}\`; use /sandbox, /sandbox on or /sandbox off`)
  const fence = await session.runtime.sandbox?.()
  if (!fence) return front.print('Commands are not sandboxed. /sandbox on changes that; see docs/sandbox.md.')
  if (!fence.availability.ok)
    return front.notice('warning', `Commands run without a sandbox: ${fence.availability.why}`)
  const { summaryOf, summaryText } = await import('../../../sandbox/summary.ts')
  const cell = await fence.cell({
    permissions: session.rules,
    projectDir: session.projectDir,
    cwd: session.cwd,
    env: session.runtime.childEnv,
    protect: questionOf(session).protect,
  })
  front.print(`Commands are sandboxed.\n${summaryText(summaryOf(cell))}`)
}
