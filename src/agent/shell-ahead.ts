/** The shell of the next Bash command, started while the model answers. */
import type { Call } from './call.ts'
import type { Session } from './session/session.ts'

/** Loaded with the first command: most sessions of one turn run none. */
let shells: typeof import('../tools/bash/waiting-shell.ts') | undefined

/** Sessions that have run a command outside of a sandbox: they are likely to run another. */
const runsCommands = new WeakSet<Session>()

/** For the command of this call. It is recorded with the start of the command, since it is older than that. */
export async function shellFor({ session, tool, place, input }: Call): Promise<Pick<Call, 'shell'>> {
  if (tool.name !== 'Bash' || place?.in === 'sandbox') return {}
  runsCommands.add(session)
  shells ??= await import('../tools/bash/waiting-shell.ts')
  const shell = shells.takeShell(String(input['command']), placeOf(session))
  return shell ? { shell } : {}
}

/** Once the request is on its way. */
export function startShellAhead(session: Session): void {
  if (runsCommands.has(session)) setImmediate(prepare, session)
}

function prepare(session: Session): void {
  if (!session.signal.aborted) shells!.prepareShell(placeOf(session))
}

const placeOf = ({ cwd, runtime }: Session) => ({ cwd, env: runtime.childEnv })
