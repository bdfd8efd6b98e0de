import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  if (ui.session.messages.length === 0) return ui.front.notice('info', 'There is nothing to branch from yet.')
  const old = ui.session.id
  const problem = await ui.switchSession({ kind: 'branch', ...(args && { name: args }) })
  if (problem) return ui.front.notice('error', problem)
  ui.front.notice('info', `A copy of the session. The original is kept: /resume ${old}`)
}
