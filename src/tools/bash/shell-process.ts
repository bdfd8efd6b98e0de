/**
 * One command in one shell: one spawn, its own process group, bounded output, and an end that reaches its children.
 *
 * This is on the way of every turn that runs a command, so nothing is done that a command does not need.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
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
  readonly cause: 'timed-out' | 'aborted' | { readonly wouldNotStart: string } | undefined
  /** Something it started still holds its output open. */
  readonly leftBehind: boolean
}

export interface ShellOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** None for background work. */
  readonly timeoutMs?: number
  /** Hears what comes, as it comes. */
  onOutput?(chunk: Buffer): void
}

/** How long a group has between the polite signal and the last one. */
const graceMs = 2000
/** How long after the shell's end we listen for output that its children still hold back. */
const lingerMs = 100

export function runShell(command: string, options: ShellOptions): Promise<ShellEnd> {
  return new Promise((resolve) => {
    const moves = mayMove.test(command)
    const stdout = new Bounded()
    const stderr = new Bounded()
    let where = ''
    let cause: ShellEnd['cause']
    let exit: Pick<ShellEnd, 'exitCode' | 'signal'> = { exitCode: undefined, signal: undefined }
    let timer: NodeJS.Timeout | undefined
    let kill: NodeJS.Timeout | undefined
    let linger: NodeJS.Timeout | undefined

    if (options.signal.aborted) {
      resolve({ ...exit, stdout, stderr, cwd: undefined, cause: 'aborted', leftBehind: false })
      return
    }
    let child: ChildProcess
    try {
      child = spawn(shell, ['-c', moves ? `${tellWhere}${command}` : command], {
        cwd: options.cwd,
        env: options.env,
        detached: true, // a session and process group of its own: no terminal to wait for, and one signal reaches all
        stdio: moves ? ['ignore', 'pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe'],
      })
    } catch (error) {
      // Most failures come as an event; those that no try could mend, such as a line that is too long, are thrown.
      const wouldNotStart = whyNot(options.cwd, error as Error)
      resolve({ ...exit, stdout, stderr, cwd: undefined, cause: { wouldNotStart }, leftBehind: false })
      return
    }

    const finish = (leftBehind: boolean) => {
      clearTimeout(timer)
      clearTimeout(kill)
      clearTimeout(linger)
      options.signal.removeEventListener('abort', onAbort)
      if (cause) signalGroup(child, 'SIGKILL') // also what let the shell go first and kept its own output closed
      // Whatever still writes to us is let run, but does not keep us alive.
      if (leftBehind) for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
      resolve({ ...exit, stdout, stderr, cwd: where === '' ? undefined : where.replace(/\n$/, ''), cause, leftBehind })
    }
    const end = (why: 'timed-out' | 'aborted') => {
      if (cause) return
      cause = why
      signalGroup(child, 'SIGTERM')
      kill = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs)
    }
    const onAbort = () => end('aborted')
    const hear = (stream: Bounded) => (chunk: Buffer) => {
      stream.add(chunk)
      options.onOutput?.(chunk)
      linger?.refresh()
    }

    child.stdout?.on('data', hear(stdout))
    child.stderr?.on('data', hear(stderr))
    const third = child.stdio[3] as NodeJS.ReadableStream | null | undefined
    third?.on('data', (chunk: Buffer) => {
      if (where.length < 65_536) where += chunk.toString('utf8')
    })
    child.on('error', (error) => {
      if (child.pid !== undefined) return // a signal that could not be sent; its exit will tell
      cause = { wouldNotStart: whyNot(options.cwd, error) }
      finish(false)
    })
    child.on('exit', (code, signal) => {
      exit = { exitCode: code ?? undefined, signal: signal ?? undefined }
      linger = setTimeout(() => finish(true), lingerMs)
    })
    child.on('close', () => finish(false))
    options.signal.addEventListener('abort', onAbort, { once: true })
    if (options.timeoutMs !== undefined) timer = setTimeout(end, options.timeoutMs, 'timed-out')
  })
}

const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'

/**
 * Words that can move a shell. Only then is it asked where it ended: bash runs a lone command in its own place
 * without another process, and a trap would take that from it.
 */
const mayMove = /(?:^|[^\w-])(?:cd|pushd|popd|source|eval)(?:$|[^\w-])|(?:^|[;&|({\n]\s*)\.\s/
const tellWhere = "trap 'pwd -P >&3' EXIT; "

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal)
  } catch {
    // the whole group is gone already
  }
}

const whyNot = (cwd: string, error: Error) =>
  existsSync(cwd)
    ? `${shell} would not start: ${error.message}`
    : `the working directory ${cwd} is gone; cd somewhere else`
