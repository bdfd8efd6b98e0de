/** One command in one shell, with bounded output, and where the shell ended up. */
import { existsSync } from 'node:fs'
import { runsAlike, wordFor } from '../../hooks/handlers/shells/command-script.ts'
import type { WarmShell } from '../../hooks/handlers/shells/waiting-shell.ts'
import { runGroup } from '../../hooks/process/process-group.ts'
import type { Cell } from '../../sandbox/fence.ts'
import { Bounded } from '../bounded.ts'

export interface ShellEnd {
  /** Undefined when a signal ended it, or when it did not start. */
  readonly exitCode: number | undefined
  readonly signal: NodeJS.Signals | undefined
  readonly stdout: Bounded
  readonly stderr: Bounded
  /** Where the shell stood at its end, when it may have moved. */
  readonly cwd: string | undefined
  /** Why we ended it, or why it never ran. */
  readonly cause: 'timed-out' | 'aborted' | { readonly notStarted: string } | undefined
  /** Something it started still holds its output open. */
  readonly leftBehind: boolean
}

export interface ShellOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Puts the shell's words inside a sandbox; the descriptors are those that it is given on purpose. */
  readonly launch?: Cell['launch']
  /** A sandbox that waits for a command already. */
  readonly spare?: Cell['spare']
  /** A shell that was started for this command. */
  readonly shell?: WarmShell
  /** Shell text that goes before the command. */
  readonly prelude: string
  readonly signal: AbortSignal
  /** None for background work. */
  readonly timeoutMs?: number
  /** Hears what comes, as it comes. */
  onOutput?(chunk: Buffer): void
}

export async function runShell(command: string, options: ShellOptions): Promise<ShellEnd> {
  const moves = mayMove.test(command)
  const stdout = new Bounded()
  const stderr = new Bounded()
  let where = ''
  const hear = (stream: Bounded) => (chunk: Buffer) => {
    stream.add(chunk)
    options.onOutput?.(chunk)
  }
  const words = [shell, '-c', `${moves ? tellWhere : ''}${options.prelude}${command}`]
  const waiting = waitingFor(`${options.prelude}${command}`, options)
  waiting?.release(wordFor(words[2]!, moves))
  const launch = (!waiting && options.launch?.(words, moves ? [3] : [])) || { words }
  const end = await runGroup({
    program: launch.words[0]!,
    args: launch.words.slice(1),
    ...('file' in launch && { file: launch.file }),
    cwd: options.cwd,
    env: options.env,
    signal: options.signal,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    onStdout: hear(stdout),
    onStderr: hear(stderr),
    ...(waiting && { child: waiting.child }),
    ...((moves || waiting) && {
      onThird(chunk: Buffer) {
        if (where.length < 65_536) where += chunk.toString('utf8')
      },
    }),
  })
  if (waiting && !end.cause && !(await waiting.began))
    return runShell(command, { ...options, shell: undefined, spare: undefined })
  if (waiting) where = where.slice(1) // what it acknowledged with
  return {
    exitCode: end.exitCode ?? undefined,
    signal: end.signal ?? undefined,
    stdout,
    stderr,
    cwd: where === '' ? undefined : where.replace(/\n$/, ''),
    cause: typeof end.cause === 'object' ? { notStarted: whyNot(options.cwd, end.cause.notStarted) } : end.cause,
    leftBehind: end.leftBehind,
  }
}

/** One that takes this text and runs it as a shell of its own would. */
function waitingFor(text: string, { shell, spare, signal }: ShellOptions): WarmShell | undefined {
  if (!signal.aborted && runsAlike(text)) return shell ?? spare?.(text)
  shell?.dismiss()
  return undefined
}

const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'

/**
 * Words that can move a shell. Only then is it asked where it ended: bash runs a lone command in its own place
 * without another process, and a trap would take that from it.
 */
const mayMove = /(?:^|[^\w-])(?:cd|pushd|popd|source|eval)(?:$|[^\w-])|(?:^|[;&|({\n]\s*)\.\s/
const tellWhere = "trap 'pwd -P >&3' EXIT; "

const whyNot = (cwd: string, why: string) =>
  existsSync(cwd) ? `${shell} could not be started: ${why}` : `the working directory ${cwd} is gone; cd somewhere else`
