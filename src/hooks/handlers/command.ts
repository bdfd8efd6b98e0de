/** A command hook's process (spec 003 §5.11): one spawn, its input at once, its output bounded while it streams. */
import { existsSync, statSync } from 'node:fs'
import type { Env, Shell, Wrap } from '../handler.ts'
import { runGroup } from '../process/process-group.ts'
import { onPath } from './find-program.ts'
import type { WarmShell } from './shells/waiting-shell.ts'
import { expectCommand, withWarmShell } from './shells/warm-shell.ts'

export interface CommandRun {
  readonly command: string
  readonly shell: Shell
  /** The exec form: `command` is a program, run with these and without a shell. */
  readonly args?: readonly string[]
  readonly cwd: string
  /** One JSON object, without the newline. */
  readonly input: string
  readonly env: Env
  readonly timeoutMs: number
  /** False: a shell of its own, whatever it costs. */
  readonly mayWarm?: boolean
  readonly signal?: AbortSignal
  /** Hears the first line of stdout as soon as it is there. */
  onFirstLine?(line: string): void
  /** The sandbox that it must run in. */
  readonly wrap?: Wrap
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
export async function runCommand(run: CommandRun): Promise<Exit> {
  const { cwd, signal } = run
  if (signal?.aborted) return notStarted('was interrupted before it started', 'interrupted')
  const argv = argvOf(run)
  if (!argv) return notStarted('not started: neither pwsh nor powershell is on the PATH')
  if (run.wrap) {
    if (!isFolder(cwd)) return noFolder(cwd)
    return run.wrap(argv, run).then(
      ({ words, env }) => start(run, words, env),
      (error: Error) => notStarted(`not started: it must run in a sandbox, and ${error.message}`),
    )
  }
  if (!isLogin(run) || run.mayWarm === false) return start(run, argv, run.env)
  return withWarmShell(run.command, { shell: argv[0]!, cwd, env: run.env }, (shell) => start(run, argv, run.env, shell))
}

const isLogin = ({ args, shell }: Pick<CommandRun, 'args' | 'shell'>) =>
  !args && shell === 'bash' && process.platform !== 'win32'

/** The same command will be run soon. */
export function expectRun(run: Pick<CommandRun, 'command' | 'args' | 'shell' | 'cwd' | 'env'>): void {
  if (isLogin(run)) expectCommand(run.command, { shell: posixShell('bash'), cwd: run.cwd, env: run.env })
}

function start(run: CommandRun, argv: readonly string[], env: Env, shell?: WarmShell): Promise<Exit> {
  const { cwd, signal } = run
  if (!shell && !isFolder(cwd)) return Promise.resolve(noFolder(cwd)) // a warm one was started in this very folder
  if (signal?.aborted) shell?.dismiss()
  else shell?.release()
  const stdout = capture(run.onFirstLine)
  const stderr = capture()
  return runGroup({
    program: argv[0]!,
    ...(shell && { child: shell.child }),
    args: argv.slice(1),
    cwd,
    env,
    input: `${run.input}\n`,
    timeoutMs: run.timeoutMs,
    ...(signal && { signal }),
    graceMs,
    onStdout: stdout.add,
    onStderr: stderr.add,
  }).then(async ({ exitCode, signal: endedBy, cause }) => {
    if (shell && !cause && !(await shell.began)) return start(run, argv, env) // it has run nothing
    if (typeof cause === 'object') return notStarted(`not started: ${cause.notStarted}`)
    const printed = { exitCode, stdout: stdout.text(), stderr: stderr.text() }
    if (cause === 'timed-out') return { end: 'timed-out', note: `timed out after ${run.timeoutMs} ms`, ...printed }
    if (cause === 'aborted') return { end: 'interrupted', note: 'was interrupted', ...printed }
    if (endedBy) return { end: 'killed', note: `ended by ${endedBy}`, ...printed }
    return { end: 'exited', note: '', ...printed }
  })
}

const graceMs = 500

/** Keeps the first 4 MiB. A hook that prints more can still end by itself; one that never stops loses its pipe. */
function capture(onFirstLine?: (line: string) => void): { add(chunk: Buffer): boolean; text(): string } {
  const chunks: Buffer[] = []
  let kept = 0
  let seen = 0
  let hears = onFirstLine
  return {
    add(chunk) {
      seen += chunk.length
      if (kept >= outputLimit) return seen <= 16 * outputLimit
      const part = kept + chunk.length > outputLimit ? Buffer.from(chunk.subarray(0, outputLimit - kept)) : chunk
      chunks.push(part)
      kept += part.length
      if (hears && part.includes(10)) {
        const text = Buffer.concat(chunks).toString()
        hears(text.slice(0, text.indexOf('\n')))
        hears = undefined
      }
      return true
    },
    text() {
      const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString()
      return (text.startsWith('\uFEFF') ? text.slice(1) : text) + (seen > kept ? truncationMark : '')
    },
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
const noFolder = (cwd: string) => notStarted(`not started: its working directory ${cwd} does not exist`)

const notStarted = (note: string, end: Exit['end'] = 'not-started'): Exit => ({
  end,
  exitCode: null,
  stdout: '',
  stderr: '',
  note,
})

/** The program and its arguments; undefined where there is no such shell. */
export const argvOf = ({ command, args, shell, env }: Pick<CommandRun, 'command' | 'args' | 'shell' | 'env'>) =>
  args ? execArgv(command, args, env) : shellArgv(shell, command, env)

/** `${CLAUDE_PROJECT_DIR}` and the like stand for variables of the hook's environment. */
const execArgv = (command: string, args: readonly string[], env: Env): string[] =>
  [command, ...args].map((word) =>
    word.replaceAll(/\$\{(CLAUDE_\w+)\}/g, (written, name: string) => env[name] ?? written),
  )

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
