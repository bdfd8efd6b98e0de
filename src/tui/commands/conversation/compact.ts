import { compact } from '../../../agent/context/compact.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  if (ui.session.runtime.env['DISABLE_COMPACT']) return ui.front.notice('warning', 'DISABLE_COMPACT is set')
  if (ui.session.messages.length > 0) ui.front.notice('info', 'Compacting the conversation…')
  const done = await compact(ui.session, 'manual', args || null)
  if (!done.done) ui.front.notice('warning', `Not compacted: ${done.why}`)
}
