/**
 * A shell that is started while the model answers and waits for its command: a call of Bash then waits for no start. The
 * command runs as it would in `bash -c`, by `eval`; one that could tell the difference gets a shell of its own.
 *
 * What still differs: a program that a signal ends is reported by bash, with exit code 128 and the signal, even where it is all
 * of the command; a syntax error is said to be of `eval`; and the arguments of the shell do not hold the command.
 *
 * The shell acknowledges its command before it runs it. One that ended without doing so has run nothing, and the command is
 * given to a new one: none is skipped or run twice.
 */
import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import { processOf } from '../../files/process-tree.ts'
import { runsAlike, startsAlike, waits } from '../../hooks/handlers/shells/command-script.ts'
import { keepAlive, type WarmShell, warmShell } from '../../hooks/handlers/shells/waiting-shell.ts'
import { startGroup } from '../../hooks/process/process-group.ts'

export interface ShellPlace {
  readonly cwd: string
  /** The same object for as long as nothing in it changes. */
  readonly env: NodeJS.ProcessEnv
}

export interface WaitingShell extends WarmShell {
  /** The process, known for as long as the machine runs: `PID:TICKS`. It is older than the command that it runs. */
  readonly process: string
}

/** The record finds the command of a process that was started up to this long before it (store/operator.ts). */
export const longestWaitMs = 10 * 60_000

/** bash reads a socket byte by byte: a longer command takes longer to be read than a shell takes to start. */
const longestCommand = 1000
const program = '/bin/bash'

interface Waiting {
  readonly place: ShellPlace
  readonly folder: string
  readonly shell: WaitingShell
  readonly startedAt: number
  /** Ends it when it is too old. A machine that sleeps does not count the time. */
  readonly limit: NodeJS.Timeout
}

let waiting: Waiting | undefined
const fits = new WeakMap<NodeJS.ProcessEnv, boolean>()

/** Starts one, unless one waits there. Only where /proc tells whose a process is. Must not throw. */
export function prepareShell(place: ShellPlace): void {
  if (process.platform !== 'linux' || !canWait(place.env) || isFor(place)) return
  drop()
  const folder = folderOf(place.cwd)
  const child = folder === undefined ? undefined : start(place)
  const started = child?.pid === undefined ? undefined : processOf(child.pid)
  if (!child || folder === undefined || !started) return void child?.kill('SIGKILL')
  const shell = { ...warmShell(child, folder), process: `${started.pid}:${started.ticks}` }
  waiting = { place, folder, shell, startedAt: Date.now(), limit: setTimeout(drop, longestWaitMs).unref() }
  child.once('exit', () => {
    if (waiting?.shell === shell) drop()
  })
  keepAlive(child, false)
}

/** What prevents it will prevent the next command, too, which says so. */
function start(place: ShellPlace): ChildProcess | undefined {
  try {
    const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const
    return startGroup({ program, args: ['-c', waits, program], ...place, stdio }).on('error', () => {})
  } catch {
    return undefined
  }
}

function drop(): void {
  clearTimeout(waiting?.limit)
  waiting?.shell.dismiss()
  waiting = undefined
}

/** The one that waits there, for this command; undefined where the command has to have a shell of its own. */
export function takeShell(command: string, place: ShellPlace): WaitingShell | undefined {
  if (!waiting || !isFor(place) || command.length > longestCommand || !runsAlike(command)) return undefined
  const { shell, folder, startedAt, limit } = waiting
  clearTimeout(limit)
  waiting = undefined
  const isOld = Math.abs(Date.now() - startedAt) > longestWaitMs
  if (!isOld && folderOf(place.cwd) === folder) return shell
  shell.dismiss()
  return undefined
}

const isFor = ({ cwd, env }: ShellPlace) => waiting?.place.cwd === cwd && waiting.place.env === env

function canWait(env: NodeJS.ProcessEnv): boolean {
  const known = fits.get(env)
  if (known !== undefined) return known
  const can = startsAlike(env)
  fits.set(env, can)
  return can
}

/** Another folder may have taken its place; undefined where it is gone, or not ours to look at. */
function folderOf(cwd: string): string | undefined {
  try {
    const { dev, ino } = statSync(cwd)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
