/**
 * One program in a process group of its own: bounded in time, interruptible, and ended with everything it started.
 *
 * It is on the way of every command that a turn, a hook or a test runs, so it does nothing that a command does not need.
 */
import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

export interface GroupRun {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env: NodeJS.ProcessEnv
  /** Written to stdin, which then closes. Without it stdin is empty. */
  readonly input?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number
  /** How long to wait, after the program's exit, for output that its children still hold back. */
  readonly lingerMs?: number
  /** What it leaves running is ended with it, also when it exits by itself. */
  readonly endsWhole?: boolean
  /** `false` closes the stream: nothing more of it is read. */
  onStdout?(chunk: Buffer): unknown
  onStderr?(chunk: Buffer): unknown
  /** One that runs already, in a group of its own; its program and arguments are ignored. */
  readonly child?: ChildProcess
  /** A third pipe, as descriptor 3, where this is set. */
  onThird?(chunk: Buffer): unknown
  /** A file that the program finds open for reading. */
  readonly file?: OpenFile
}

export interface OpenFile {
  /** Above 3. */
  readonly fd: number
  readonly path: string
}

export interface GroupEnd {
  /** null when a signal ended it, or when it did not start. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** Why we ended it, or why it never ran. */
  readonly cause: 'timed-out' | 'aborted' | { readonly notStarted: string } | undefined
  /** Something it started still holds its output open. */
  readonly leftBehind: boolean
}

const defaultGraceMs = 2000
/** On a busy machine what is about to end takes this long to do so. */
const defaultLingerMs = 300
/** A child that never stops printing does not keep us waiting longer than this. */
const longestLingerMs = 5000
const isWindows = process.platform === 'win32'

/** Must not throw or reject: whatever becomes of the process is an end. */
export function runGroup(run: GroupRun): Promise<GroupEnd> {
  const { signal, timeoutMs } = run
  const ended = (cause: GroupEnd['cause']): GroupEnd => ({ exitCode: null, signal: null, cause, leftBehind: false })
  if (signal?.aborted) return Promise.resolve(ended('aborted'))
  return new Promise((resolve) => {
    let child: ChildProcess
    try {
      child = run.child ?? start(run)
    } catch (error) {
      return resolve(ended({ notStarted: startFault(error as Error) }))
    }
    if (child.pid === undefined) {
      child.once('error', (error) => resolve(ended({ notStarted: spawnFault(run, error) })))
      return
    }
    let cause: GroupEnd['cause']
    let timer: NodeJS.Timeout | undefined
    let kill: NodeJS.Timeout | undefined
    let linger: NodeJS.Timeout | undefined
    let late: NodeJS.Immediate | undefined
    let exitedAt = 0

    const finish = (leftBehind: boolean) => {
      clearTimeout(timer)
      clearTimeout(kill)
      clearTimeout(linger)
      clearImmediate(late)
      signal?.removeEventListener('abort', abort)
      if (cause || run.endsWhole) signalGroup(child, 'SIGKILL') // also what ignored the first signal
      // What still writes to us runs on, and does not keep this process alive.
      if (leftBehind) for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
      resolve({ exitCode: child.exitCode, signal: child.signalCode, cause, leftBehind })
    }
    const end = (why: 'timed-out' | 'aborted') => {
      if (cause || exitedAt > 0) return
      cause = why
      signalGroup(child, 'SIGTERM')
      kill = setTimeout(() => signalGroup(child, 'SIGKILL'), run.graceMs ?? defaultGraceMs)
    }
    /** What came while this process was busy is read in one turn of the event loop, and closed at its end. */
    const afterReading = () => {
      late = setImmediate(() => {
        late = setImmediate(finish, true)
      })
    }
    const abort = () => end('aborted')
    const hear = (stream: Readable | null | undefined, listener: ((chunk: Buffer) => unknown) | undefined) => {
      stream?.on('error', () => {}) // a broken pipe is the end of the output
      stream?.on('data', (chunk: Buffer) => {
        if (listener?.call(run, chunk) === false) stream.destroy()
        if (!linger || Date.now() - exitedAt >= longestLingerMs) return
        clearImmediate(late)
        linger.refresh()
      })
    }
    hear(child.stdout, run.onStdout)
    hear(child.stderr, run.onStderr)
    hear(child.stdio[3] as Readable | undefined, run.onThird)
    child.once('close', () => finish(false))
    child.once('exit', () => {
      exitedAt = Date.now()
      linger = setTimeout(afterReading, run.lingerMs ?? defaultLingerMs)
    })
    signal?.addEventListener('abort', abort)
    if (timeoutMs !== undefined) timer = setTimeout(end, Math.min(timeoutMs, 2 ** 31 - 1), 'timed-out')
    if (run.input !== undefined) {
      child.stdin!.on('error', () => {}) // it may exit without reading; its exit code still counts
      child.stdin!.end(run.input)
    }
  })
}

/** What is thrown at once, in words: arguments that are too long, or a NUL in one. */
export const startFault = (error: NodeJS.ErrnoException): string =>
  error.code === 'E2BIG'
    ? 'its command and environment are longer than the system takes; put a long command into a file'
    : error.message

/** `spawn guard.sh ENOENT` in words; the system says the same of a folder, a program and its interpreter. */
export function spawnFault({ program, cwd = '.' }: Pick<GroupRun, 'program' | 'cwd'>, error: NodeJS.ErrnoException) {
  if (error.code !== 'EACCES' && error.code !== 'ENOENT') return error.message
  const { existsSync, statSync } = process.getBuiltinModule('node:fs')
  if (error.code === 'EACCES') {
    try {
      statSync(`${cwd}/.`)
    } catch {
      return `there is no permission to enter its working directory ${cwd}`
    }
    return `there is no permission to execute ${program}`
  }
  const { resolve } = process.getBuiltinModule('node:path')
  if (!existsSync(cwd)) return `its working directory ${cwd} does not exist`
  if (program.includes('/') && existsSync(resolve(cwd, program)))
    return `the interpreter that ${program} names does not exist`
  return `there is no program ${program}`
}

function start({ input, onThird, file, ...run }: GroupRun): ChildProcess {
  const stdio: ('pipe' | 'ignore' | number)[] = [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe']
  if (onThird) stdio.push('pipe')
  return file ? withFile(stdio, file, () => startGroup({ ...run, stdio })) : startGroup({ ...run, stdio })
}

/** Opens the file again for each program that is started: two readers of one descriptor would share its position. */
export function withFile<T>(stdio: ('pipe' | 'ignore' | number)[], { fd, path }: OpenFile, work: () => T): T {
  const { closeSync, openSync } = process.getBuiltinModule('node:fs')
  const opened = openSync(path, 'r')
  try {
    while (stdio.length < fd) stdio.push('ignore')
    stdio[fd] = opened
    return work()
  } finally {
    closeSync(opened)
  }
}

/** Starts a program as the leader of a group of its own. May throw. */
export function startGroup({
  program,
  args,
  cwd,
  env,
  stdio,
}: Pick<GroupRun, 'program' | 'args' | 'cwd' | 'env'> & {
  readonly stdio: readonly ('pipe' | 'ignore' | number)[]
}): ChildProcess {
  // Late: loading it costs 5 ms, and most starts run nothing.
  const { spawn } = process.getBuiltinModule('node:child_process')
  return spawn(program, args, {
    ...(cwd !== undefined && { cwd }),
    env,
    detached: !isWindows, // a session of its own: no terminal to wait for, and one signal reaches all
    windowsHide: true,
    stdio: [...stdio],
  })
}

/** A group that a tool of the agent's has stopped while it was idle goes on. */
export function wakeGroup(child: ChildProcess): void {
  if (!isWindows && child.pid !== undefined) signalGroup(child, 'SIGCONT')
}

export function signalGroup(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL' | 'SIGCONT'): void {
  try {
    if (!isWindows) process.kill(-child.pid!, name)
    else {
      const { spawn } = process.getBuiltinModule('node:child_process')
      spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore' })
    }
  } catch {
    // ESRCH: the group has ended already
  }
}
