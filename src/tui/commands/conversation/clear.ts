import { setState } from '../../../store/state.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  if (args) setState(ui.session.db, ui.session.conversationId, 'name', args)
  const old = ui.session.id
  const problem = await ui.switchSession({ kind: 'clear' })
  if (problem) return ui.front.notice('error', problem)
  ui.front.notice('info', `A new conversation. The old one is kept: /resume ${old}`)
}
