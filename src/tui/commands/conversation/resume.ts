import { fromHome, plural } from '../../render/format.ts'
import type { Ui } from '../../session/command-context.ts'

/** An id, the beginning of one, or a name resumes at once; other words search the list. */
export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const known = args !== '' && (await import('../../../agent/session/find-session.ts')).namedSession(session.db, args)
  if (known) return go(known.sessionId, ui)
  const { pickSession } = await import('../../dialogs/resume/pick-session.ts')
  const picked = await pickSession(front, session, args)
  if (!picked) return
  const { sessionId, projectDir } = picked
  if (projectDir === session.projectDir) return go(sessionId, ui)
  const folder = fromHome(projectDir)
  front.notice('info', `That session belongs to ${folder}. Resume it there:`)
  front.print(
    `cd ${/^[\w./~-]+$/.test(folder) ? folder : `'${projectDir.replaceAll("'", "'\\''")}'`} && ona --resume ${sessionId}`,
  )
}

async function go(id: string, ui: Ui): Promise<void> {
  const problem = await ui.switchSession({ kind: 'resume', id })
  if (problem) return ui.front.notice('error', problem)
  const { session, front } = ui
  const last = session.messages
    .findLast(({ role }) => role === 'assistant')
    ?.content.find((block) => block.type === 'text')
  front.notice('info', `Resumed ${session.id} (${plural(session.messages.length, 'message')}, phase ${session.phase})`)
  if (last?.type === 'text') front.markdown(last.text)
}
