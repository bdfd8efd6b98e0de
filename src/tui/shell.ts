/** `!command`: run at once in the person's shell; the agent sees command and output with the next prompt. */
import { spawn } from 'node:child_process'

/** What the model is given of each stream. */
const mostCharacters = 30_000

export interface ShellRun {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export function runShell(
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
export const shellText = (command: string, { exitCode, stdout, stderr }: ShellRun): string =>
  `<bash-input>${command}</bash-input>\n<bash-stdout>${stdout}</bash-stdout>\n<bash-stderr>${stderr}</bash-stderr>\n<bash-exit-code>${exitCode ?? 'killed'}</bash-exit-code>`
