/** A command hook's process (spec 003 §5.11): one spawn, its input at once, its output bounded while it streams. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import type { Env, Shell } from '../handler.ts'
import { onPath } from './find-program.ts'

export interface CommandRun {
  readonly command: string
  readonly shell: Shell
  readonly cwd: string
  /** One JSON object, without the newline. */
  readonly input: string
  readonly env: Env
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface Exit {
  readonly end: 'exited' | 'killed' | 'timed-out' | 'interrupted' | 'not-started'
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** What there is to say besides what it printed: the signal, the limit, why it did not start. */
  readonly note: string
}

export const outputLimit = 4 * 1024 * 1024
export const truncationMark = '\n[SDLC_OUTPUT_TRUNCATED]\n'

/** Must not throw or reject: whatever becomes of the process is an exit. */
export function runCommand(run: CommandRun): Promise<Exit> {
  const { cwd, signal } = run
  if (signal?.aborted) return Promise.resolve(notStarted('was interrupted before it started', 'interrupted'))
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return Promise.resolve(notStarted(`not started: its working directory ${cwd} does not exist`))
  }
  const argv = shellArgv(run.shell, run.command, run.env)
  if (!argv) return Promise.resolve(notStarted('not started: neither pwsh nor powershell is on the PATH'))
  return new Promise((resolve) => {
    let child: ChildProcess
    try {
      child = spawning().spawn(argv[0]!, argv.slice(1), { cwd, env: run.env, detached: !isWindows, windowsHide: true })
    } catch (cause) {
      return resolve(notStarted(`not started: ${(cause as Error).message}`)) // a NUL in the command, arguments too long
    }
    if (child.pid !== undefined) return watch(child, run, resolve)
    child.once('error', (cause) => resolve(notStarted(`not started: ${cause.message}`)))
  })
}

function watch(child: ChildProcess, { timeoutMs, signal, input }: CommandRun, resolve: (exit: Exit) => void): void {
  const stdout = capture(child.stdout!)
  const stderr = capture(child.stderr!)
  let end: Exit['end'] = 'exited'
  let note = ''
  let kill: NodeJS.Timeout | undefined
  let linger: NodeJS.Timeout | undefined

  const stop = (why: Exit['end'], said: string) => {
    if (end !== 'exited' || child.exitCode !== null || child.signalCode !== null) return
    end = why
    note = said
    signalGroup(child, 'SIGTERM')
    kill = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs)
  }
  const limit = setTimeout(() => stop('timed-out', `timed out after ${timeoutMs} ms`), Math.min(timeoutMs, 2 ** 31 - 1))
  const abort = () => stop('interrupted', 'was interrupted')
  signal?.addEventListener('abort', abort, { once: true })

  const finish = () => {
    if (end !== 'exited') signalGroup(child, 'SIGKILL') // whoever of the group did not heed the first signal
    clearTimeout(limit)
    clearTimeout(kill)
    clearTimeout(linger)
    signal?.removeEventListener('abort', abort)
    child.stdout!.destroy()
    child.stderr!.destroy()
    if (end === 'exited' && child.signalCode) {
      end = 'killed'
      note = `ended by ${child.signalCode}`
    }
    resolve({ end, exitCode: child.exitCode, stdout: stdout(), stderr: stderr(), note })
  }
  child.once('error', () => {}) // a signal could not be sent: it has ended by itself
  child.once('close', finish)
  // What a hook leaves running may hold its pipes open for ever. What the hook itself wrote is there by now.
  child.once('exit', () => {
    linger = setTimeout(finish, lingerMs)
  })
  child.stdin!.on('error', () => {}) // a hook may exit without reading us; its exit code is the answer
  child.stdin!.end(`${input}\n`)
}

const graceMs = 500
const lingerMs = 300
const isWindows = process.platform === 'win32'

/** Keeps the first 4 MiB. A hook that prints more can still end by itself; one that never stops loses its pipe. */
function capture(stream: NodeJS.ReadableStream & { destroy(): void }): () => string {
  const chunks: Buffer[] = []
  let kept = 0
  let seen = 0
  stream.on('data', (chunk: Buffer) => {
    seen += chunk.length
    if (kept < outputLimit) {
      const part = kept + chunk.length > outputLimit ? Buffer.from(chunk.subarray(0, outputLimit - kept)) : chunk
      chunks.push(part)
      kept += part.length
    } else if (seen > 16 * outputLimit) stream.destroy()
  })
  stream.on('error', () => {}) // a broken pipe is the end of the output
  return () => {
    const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString()
    return (text.startsWith('\uFEFF') ? text.slice(1) : text) + (seen > kept ? truncationMark : '')
  }
}

const notStarted = (note: string, end: Exit['end'] = 'not-started'): Exit => ({
  end,
  exitCode: null,
  stdout: '',
  stderr: '',
  note,
})

/** The hook leads a process group of its own, so that what it started ends with it. */
function signalGroup(child: ChildProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    if (isWindows) spawning().spawn('taskkill', ['/pid', String(child.pid), '/t', '/f'], { stdio: 'ignore' })
    else process.kill(-child.pid, name)
  } catch {
    // ESRCH: the group has ended already
  }
}

function shellArgv(shell: Shell, command: string, env: Env): string[] | undefined {
  if (shell === 'powershell') {
    const program = onPath(['pwsh', 'powershell'], env)
    return program === undefined ? undefined : [program, '-NoProfile', '-NonInteractive', '-Command', command]
  }
  return [posixShell(shell), shell === 'bash' ? '-lc' : '-c', command]
}

const found = new Map<Shell, string>()

function posixShell(shell: 'bash' | 'sh'): string {
  const known = found.get(shell)
  if (known) return known
  const path = [`/bin/${shell}`, `/usr/bin/${shell}`].find((path) => existsSync(path)) ?? shell
  found.set(shell, path)
  return path
}

/** The environment of a command hook: the host's own, and where it is. */
export function hookEnv(host: Env, { dbPath, projectDir }: { dbPath: string; projectDir?: string }): Env {
  return {
    ...host,
    AGENT_SDLC_DB: dbPath,
    SDLC_HOOK: '1',
    ...(!host.LANG && !host.LC_ALL && { LANG: 'C.UTF-8' }),
    ...(projectDir !== undefined && { CLAUDE_PROJECT_DIR: projectDir }),
  }
}

/** Late: loading it costs 5 ms, and most starts run no hook. */
const spawning = () => process.getBuiltinModule('node:child_process')
