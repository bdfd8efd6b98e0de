import { setState } from '../../../store/state.ts'
import { cleanLine } from '../../render/clean.ts'
import { clip } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const first = session.messages[0]?.content.find((block) => block.type === 'text')
  const name = cleanLine(args) || (first?.type === 'text' ? clip(cleanLine(first.text), 40, '') : '')
  if (!name) return front.notice('warning', 'No name given and no prompt to take one from. Usage: /rename NAME')
  setState(session.db, session.conversationId, 'name', name)
  ui.refresh()
  front.notice('info', `This session is now "${name}"; ona --resume "${name}" finds it`)
}
