/** `!command`: run at once in the user's shell; the agent sees command and output with the next prompt. */
import { StringDecoder } from 'node:string_decoder'
import type { AgentEvent } from '../../agent/events.ts'
import { questionOf } from '../../agent/permission-question.ts'
import type { Session } from '../../agent/session/session.ts'
import { runGroup } from '../../hooks/process/process-group.ts'
import type { Place } from '../../sandbox/place.ts'
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
  const place = await placeOfLine(session, command)
  const run = await runShell(command, {
    cwd: session.cwd,
    env: session.runtime.childEnv,
    ...(place && { place }),
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
    detail: {
      command,
      exitCode: run.exitCode,
      cwd: session.cwd,
      sandboxed: place?.in === 'sandbox',
      ...(place?.in === 'sandbox' && { sandbox_profile: place.cell.digest }),
    },
  })
}

interface ShellRun {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Undefined where no sandbox is enabled. */
async function placeOfLine(session: Session, command: string): Promise<Place | undefined> {
  const { runtime, rules: permissions, cwd, projectDir } = session
  if (!runtime.sandbox) return undefined
  const { placeOf } = await import('../../sandbox/place.ts')
  const { home, childEnv: env } = runtime
  const { protect } = questionOf(session)
  return placeOf(await runtime.sandbox(), { command, disable: false, permissions, cwd, projectDir, home, env, protect })
}

interface ShellPlace {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly place?: Place
  readonly signal: AbortSignal
  progress(text: string): void
}

async function runShell(command: string, { progress, place, ...options }: ShellPlace): Promise<ShellRun> {
  if (place?.in === 'nowhere') return { exitCode: null, stdout: '', stderr: place.why }
  const printed = { stdout: '', stderr: '' }
  const hear = (name: 'stdout' | 'stderr') => {
    const decoder = new StringDecoder()
    return (chunk: Buffer) => {
      const text = decoder.write(chunk)
      if (printed[name].length < mostCharacters) printed[name] += text
      progress(text)
    }
  }
  const words = ['/bin/bash', '-c', command]
  const cell = place?.in === 'sandbox' ? place.cell : undefined
  const [program, ...args] = cell?.argv(words) ?? words
  const stop = new AbortController()
  const breaches: string[] = []
  const look = () => {
    breaches.push(...(cell?.breaches() ?? []))
    if (breaches.length > 0) stop.abort()
  }
  const unwatch = cell?.watch(look)
  const end = await runGroup({
    program: program!,
    args,
    ...options,
    signal: AbortSignal.any([options.signal, stop.signal]),
    env: cell?.env ?? options.env,
    onStdout: hear('stdout'),
    onStderr: hear('stderr'),
  })
  if (typeof end.cause === 'object') printed.stderr += end.cause.notStarted
  unwatch?.()
  look()
  const notes = [...breaches, ...new Set(cell?.refusals())]
  if (cell) {
    const { fenceNotes } = await import('../../sandbox/explain.ts')
    const output = `${printed.stderr}\n${end.exitCode === 0 ? '' : printed.stdout}`
    notes.push(...fenceNotes(output, cell, options.cwd, options.env['HOME'] ?? ''))
  }
  if (place?.in === 'open' && place.says) notes.push(`This command ran without a sandbox: ${place.why}`)
  for (const note of notes) printed.stderr += `\n[sandbox] ${note}`
  return { exitCode: end.exitCode, stdout: cut(printed.stdout), stderr: cut(printed.stderr) }
}

const cut = (text: string) =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters)}\n[SDLC_TRUNCATED]` : text

/** The run as the model reads it. */
const shellText = (command: string, { exitCode, stdout, stderr }: ShellRun): string =>
  `<bash-input>${command}</bash-input>\n<bash-stdout>${stdout}</bash-stdout>\n<bash-stderr>${stderr}</bash-stderr>\n<bash-exit-code>${exitCode ?? 'killed'}</bash-exit-code>`
