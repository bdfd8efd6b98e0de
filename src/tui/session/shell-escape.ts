/** `!command`: run at once in the person's shell; the agent sees command and output with the next prompt. */
import { spawn } from 'node:child_process'
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
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
    output: { content: content || '(no output)', isError: run.exitCode !== 0 },
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

function runShell(
  command: string,
  {
    cwd,
    env,
    signal,
    progress,
  }: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal; progress: (text: string) => void },
): Promise<ShellRun> {
  return new Promise((resolve) => {
    const child = spawn('/bin/bash', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < mostCharacters) stdout += text
      progress(text)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < mostCharacters) stderr += text
      progress(text)
    })
    const stop = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
      } catch {
        // it has ended already
      }
    }
    signal.addEventListener('abort', stop)
    child.on('error', (cause) => resolve({ exitCode: null, stdout, stderr: stderr + cause.message }))
    child.on('close', (exitCode) => {
      signal.removeEventListener('abort', stop)
      resolve({ exitCode, stdout: cut(stdout), stderr: cut(stderr) })
    })
  })
}

const cut = (text: string) =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n[SDLC_TRUNCATED]` : text

/** The run as the model reads it. */
const shellText = (command: string, { exitCode, stdout, stderr }: ShellRun): string =>
  `<bash-input>${command}</bash-input>\n<bash-stdout>${stdout}</bash-stdout>\n<bash-stderr>${stderr}</bash-stderr>\n<bash-exit-code>${exitCode ?? 'killed'}</bash-exit-code>`
