/**
 * A step of the workflow that the operator asks for, taken by our own command line: a process that has seen none of the
 * conversation, so that nothing of it can reach the tests it generates (spec 003 §8.5.1).
 */
import { ownProgram } from './own-program.ts'
import { runShell } from './shell.ts'
import type { Ui } from './ui.ts'

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** False: the gate said no. Its words are shown either way. */
export async function transition(ui: Ui, phase: 'test' | 'verify' | 'done'): Promise<boolean> {
  const { session, front } = ui
  const from = session.phase
  const { program, words } = ownProgram('--transition', phase, '--conversation', session.conversationId)
  const run = await runShell([program, ...words].map(quoted).join(' '), {
    cwd: session.projectDir,
    env: { ...session.runtime.env, AGENT_SDLC_DB: session.db.path },
    signal: session.signal,
    progress: (text) => front.print(...text.trimEnd().split('\n')),
  })
  const done = run.exitCode === 0 && session.phase === phase
  if (done && from !== phase) session.emit({ type: 'phase', from, to: phase })
  else if (!done) front.notice('error', `still in ${session.phase}: ${phase} was refused`)
  ui.refresh()
  return done
}
