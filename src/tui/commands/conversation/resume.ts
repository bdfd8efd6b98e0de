import { listSessions } from '../../../store/conversations.ts'
import { cleanLine } from '../../render/clean.ts'
import { ago } from '../../render/format.ts'
import { clip } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  if (args) return go(args, ui)
  const others = listSessions(session.db, { projectDir: session.projectDir }).filter(
    ({ sessionId, entries }) => sessionId !== session.id && entries > 0,
  )
  if (others.length === 0) return front.notice('info', `No other session of ${session.projectDir}.`)
  const label = (one: (typeof others)[number]) => clip(cleanLine(one.name ?? one.firstPrompt ?? '(no prompt)'), 60)
  const hint = (one: (typeof others)[number]) => `${ago(one.lastActive)}, ${one.entries} entries, ${one.phase}`
  if (!front.interactive) {
    for (const one of others) front.print(`${one.sessionId}  ${label(one)} (${hint(one)})`)
    return
  }
  const chosen = await front.choose({
    title: 'Resume a session',
    filter: true,
    choices: others.map((one) => ({ label: label(one), value: one.sessionId, hint: hint(one) })),
  })
  if (chosen) await go(chosen.value, ui)
}

async function go(id: string, ui: Ui): Promise<void> {
  const problem = await ui.switchSession({ kind: 'resume', id })
  if (problem) return ui.front.notice('error', problem)
  const { session, front } = ui
  const last = session.messages
    .findLast(({ role }) => role === 'assistant')
    ?.content.find((block) => block.type === 'text')
  front.notice('info', `Resumed ${session.id} (${session.messages.length} messages, phase ${session.phase})`)
  if (last?.type === 'text') front.markdown(last.text)
}
