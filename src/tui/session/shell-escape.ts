/** `!command`: run at once in the user's shell; the agent sees command and output with the next prompt. */
import { StringDecoder } from 'node:string_decoder'
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import { runGroup } from '../../hooks/process-group.ts'
import { addEvent } from '../../store/audit.ts'

/** What the model is given of each stream. */
const mostCharacters = 30_000

/** Runs it, shows it like a call of the agent's, hands it on with the next prompt and writes it down. */
export async function shellLine(
  session: Session,
  command: string,
  signal: AbortSignal,
  on: (event: AgentEvent) => void,
): Promise<void> {
  const startedAt = Date.now()
  const id = `shell-${startedAt}`
  on({ type: 'tool-started', id, name: '!', input: { command }, summary: command })
  const run = await runShell(command, {
    cwd: session.cwd,
    env: session.runtime.childEnv,
    signal,
    progress: (text) => on({ type: 'tool-progress', id, text }),
  })
  const content = [run.stdout, run.stderr].filter(Boolean).join('\n')
  on({
    type: 'tool-finished',
    id,
    name: '!',
    output: {
      content: content || '(no output)',
      isError: run.exitCode !== 0,
      display: {
        kind: 'output',
        text: content,
        ...(run.exitCode !== 0 && { status: run.exitCode === null ? 'killed' : `exit ${run.exitCode}` }),
      },
    },
    ms: Date.now() - startedAt,
    outcome: signal.aborted ? 'interrupted' : 'ran',
  })
  session.carry([{ type: 'text', text: shellText(command, run) }])
  addEvent(session.db, {
    conversationId: session.conversationId,
    sessionId: session.id,
    type: 'operator_shell',
    detail: { command, exitCode: run.exitCode, cwd: session.cwd },
  })
}

interface ShellRun {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

async function runShell(
  command: string,
  options: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal; progress: (text: string) => void },
): Promise<ShellRun> {
  const { progress, ...place } = options
  const printed = { stdout: '', stderr: '' }
  const hear = (name: 'stdout' | 'stderr') => {
    const decoder = new StringDecoder()
    return (chunk: Buffer) => {
      const text = decoder.write(chunk)
      if (printed[name].length < mostCharacters) printed[name] += text
      progress(text)
    }
  }
  const end = await runGroup({
    program: '/bin/bash',
    args: ['-c', command],
    ...place,
    onStdout: hear('stdout'),
    onStderr: hear('stderr'),
  })
  if (typeof end.cause === 'object') printed.stderr += end.cause.notStarted
  return { exitCode: end.exitCode, stdout: cut(printed.stdout), stderr: cut(printed.stderr) }
}

const cut = (text: string) =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n[SDLC_TRUNCATED]` : text

/** The run as the model reads it. */
const shellText = (command: string, { exitCode, stdout, stderr }: ShellRun): string =>
  `<bash-input>${command}</bash-input>\n<bash-stdout>${stdout}</bash-stdout>\n<bash-stderr>${stderr}</bash-stderr>\n<bash-exit-code>${exitCode ?? 'killed'}</bash-exit-code>`
