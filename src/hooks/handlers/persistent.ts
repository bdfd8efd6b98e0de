/**
 * A command hook that stays: the program is started once and answers one line of JSON for each line it is sent.
 *
 *   ona   → {"protocol":1}                      program → {"protocol":1}
 *   ona   → {"id":7,"input":{…}}                program → {"id":7,"verdict":{…}}
 *                                                     or  {"id":7,"block":"reason"}, or {"id":7,"error":"why"}
 *
 * `input` is what the hook would read on stdin, `verdict` what it would print; `block` is exit code 2, `error` a failure.
 */
import type { ChildProcess } from 'node:child_process'
import { isRunning, processOf } from '../../files/process-tree.ts'
import type { Env } from '../handler.ts'
import { bindGroup } from '../process/bound-groups.ts'
import { signalGroup, spawnFault, startFault, startGroup, wakeGroup } from '../process/process-group.ts'
import { isObject, type JsonObject } from '../shape.ts'
import { whyIn } from '../text/error-line.ts'
import { lineCutter, onOneLine } from '../text/json-lines.ts'
import { isTooDeep } from '../text/json-text.ts'
import { argvOf, type CommandRun } from './command.ts'
import { envText } from './hook-env.ts'

/** What is started, and where. Whoever asks with the very same object finds the program soonest. */
export interface Place {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Env
}

export interface PersistentRun {
  /** The event, as one line of JSON. */
  readonly input: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export type PersistentEnd =
  | { readonly kind: 'verdict'; readonly text: string; readonly stderr: string }
  | { readonly kind: 'block'; readonly text: string; readonly stderr: string }
  | {
      readonly kind: 'failure'
      readonly why: string
      readonly cause: 'failed' | 'timed-out' | 'interrupted'
      readonly stderr: string
    }

const protocol = 1
const longestLine = 4 * 1024 * 1024
const keptStderr = 64 * 1024
/** Calls of sub-agents run side by side; more than this many at once mean that the program does not answer. */
const mostWaiting = 64
/** A session that moves between folders has a program for each; of more than these the oldest idle one is ended. */
const mostPrograms = 16
/** One that has not answered by then may have been stopped while it was idle. */
const wakeAfterMs = 100
/** What a program printed just before it ended is still read; a child of its own may hold its stdout open. */
const lastWordsMs = 500

/** Often a program that does not speak the protocol at all. */
const ungreeted = `, without the answer {"protocol":${protocol}} to the handshake`
/** A program that has not ended so long after its stdin has does not intend to. */
const farewellMs = 100

/** Must not throw or reject: whatever becomes of the program is an end. */
export function askPersistent(place: Place, run: PersistentRun): Promise<PersistentEnd> {
  if (run.signal?.aborted) return Promise.resolve(failed('was interrupted before it was asked', 'interrupted'))
  const program = programFor(place)
  if (program.waiting.size >= mostWaiting) return Promise.resolve(failed(`${mostWaiting} calls wait for it already`))
  return new Promise((resolve) => {
    const id = ++program.lastId
    const { signal } = run
    const done = (end: PersistentEnd) => {
      signal?.removeEventListener('abort', interrupted)
      program.waiting.delete(id)
      if (program.waiting.size === 0) program.watch?.unref()
      resolve(end)
    }
    const giveUp = (why: string, cause: 'timed-out' | 'interrupted') => {
      done(failed(why, cause, program.takeStderr()))
      // it may be stuck: the next call restarts it. What others wait for was not interrupted, and has limits of its own
      if (cause === 'timed-out' || program.waiting.size === 0) end(program, `was ended because a call ${why}`)
    }
    const interrupted = () => giveUp('was interrupted', 'interrupted')
    signal?.addEventListener('abort', interrupted)
    const now = performance.now()
    program.waiting.set(id, {
      done,
      wakeAt: now + wakeAfterMs,
      endAt: now + run.timeoutMs,
      timeOut: () =>
        giveUp(`timed out after ${run.timeoutMs} ms${program.greeted ? program.stray : ungreeted}`, 'timed-out'),
    })
    watch(program)
    program.send(`{"id":${id},"input":${onOneLine(run.input)}}\n`)
  })
}

/**
 * One timer for all calls of a program: it stays set when a call is answered, since the next one comes soon, and keeps the
 * process alive only as long as a call waits.
 */
function watch(program: Program): void {
  let next = Number.POSITIVE_INFINITY
  for (const { wakeAt, endAt } of program.waiting.values()) next = Math.min(next, wakeAt, endAt)
  if (program.watch && program.watchAt <= next) return void program.watch.ref()
  clearTimeout(program.watch)
  program.watchAt = next
  const left = Math.ceil(next - performance.now())
  program.watch = setTimeout(look, Math.min(Math.max(left, 1), longestTimer), program)
}

/** Wakes a program that is late, and gives up on calls that are over their limit. */
function look(program: Program): void {
  program.watch = undefined
  const now = performance.now()
  for (const call of [...program.waiting.values()]) {
    if (call.endAt <= now) call.timeOut()
    else if (call.wakeAt <= now) {
      call.wakeAt = Number.POSITIVE_INFINITY
      if (program.child) wakeGroup(program.child)
    }
  }
  if (program.waiting.size > 0) watch(program)
}
/** `setTimeout` takes no more; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1

/** Starts the program, so that the first call finds it running. */
export function expectPersistent(run: Pick<CommandRun, 'command' | 'args' | 'shell' | 'cwd' | 'env'>): void {
  const argv = argvOf(run)
  if (argv) programFor({ argv, cwd: run.cwd, env: run.env })
}

interface Waiting {
  done(end: PersistentEnd): void
  /** By `performance.now()`. */
  wakeAt: number
  readonly endAt: number
  timeOut(): void
}

interface Program {
  readonly key: string
  readonly child: ChildProcess | undefined
  readonly waiting: Map<number, Waiting>
  lastId: number
  /** The timer of the calls that wait, and when it fires. */
  watch: NodeJS.Timeout | undefined
  watchAt: number
  /** It has answered the handshake; until then lines wait. */
  greeted: boolean
  /** What it has answered to no call since its last answer, in words. */
  stray: string
  send(line: string): void
  takeStderr(): string
  /** It has ended, and what it printed is still read; or it is over, and that is not. */
  hasEnded: boolean
  over: boolean
}

const programs = new Map<string, Program>()
/** The same by the very place: an environment is long. */
const programsAt = new WeakMap<Place, Program>()

function programFor(place: Place): Program {
  const known = programsAt.get(place)
  if (known && !known.hasEnded) return known
  const program = programIn(place)
  programsAt.set(place, program)
  return program
}

function programIn(place: Place): Program {
  const key = [...place.argv, place.cwd, envText(place.env)].join('\0')
  const known = programs.get(key)
  if (known && !known.hasEnded) return known
  const idle = programs.size >= mostPrograms && [...programs.values()].find(({ waiting }) => waiting.size === 0)
  if (idle) end(idle)
  const program = startProgram(key, place)
  if (programs.size === 0) process.on('exit', endAll)
  programs.set(key, program)
  return program
}

function startProgram(key: string, { argv, cwd, env }: Place): Program {
  const waiting: Program['waiting'] = new Map()
  const early: string[] = []
  let stderr = ''
  const cut = lineCutter()
  const takeStderr = () => {
    const text = stderr
    stderr = ''
    return text
  }
  let child: ChildProcess | undefined
  let problem: string | undefined
  try {
    child = startGroup({ program: argv[0]!, args: argv.slice(1), cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (cause) {
    problem = startFault(cause as Error)
  }
  const program: Program = {
    key,
    child,
    waiting,
    lastId: 0,
    watch: undefined,
    watchAt: 0,
    greeted: false,
    stray: '',
    hasEnded: false,
    over: false,
    takeStderr,
    send(line) {
      if (!program.greeted) early.push(line)
      else child?.stdin?.write(line)
    },
  }
  const hear = (line: string) => {
    const said = parsed(line)
    if (!program.greeted) {
      if (said?.protocol !== protocol)
        return end(program, `answered the handshake with ${line.slice(0, 80)}, not {"protocol":${protocol}}`)
      program.greeted = true
      release() // from now on it notices the end of its stdin
      for (const each of early.splice(0)) child?.stdin?.write(each)
      return undefined
    }
    const call = typeof said?.id === 'number' ? waiting.get(said.id) : undefined
    if (!said)
      return end(program, `printed a line that is not a JSON object: ${line.slice(0, 80)}; print nothing but answers`)
    // an answer that nobody waits for any more is dropped
    program.stray = call ? '' : `; it printed ${line.slice(0, 80)}, which has the "id" of no call that waits`
    return call?.done(endOf(said, line, takeStderr()))
  }
  if (!child || child.pid === undefined) {
    child?.on('error', (cause) => end(program, `not started: ${spawnFault({ program: argv[0]!, cwd }, cause)}`))
    if (!child) queueMicrotask(() => end(program, `not started: ${problem}`))
    return program
  }
  const release = bindGroup(child)
  child.stdin!.on('error', () => {}) // it has ended; that is reported by its exit
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    const { lines, openLength } = cut(text)
    if (openLength > longestLine) return end(program, `printed a line of more than ${longestLine} characters`)
    for (const line of lines.map((each) => each.trim())) if (!program.over && line !== '') hear(line)
  })
  child.stdout!.once('end', () => setTimeout(end, lastWordsMs, program, 'closed its stdout').unref())
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-keptStderr)
  })
  child.once('exit', (code, signal) => {
    program.hasEnded = true // the next call restarts it
    const ended = () => {
      const how = `ended with ${signal ?? code}${program.greeted ? '' : ungreeted}`
      end(program, `${how}${whyIn(stderr)}`)
    }
    const timer = setTimeout(ended, lastWordsMs)
    child.once('close', () => {
      clearTimeout(timer)
      ended()
    })
  })
  child.stdin!.write(`{"protocol":${protocol}}\n`)
  letGo(child)
  return program
}

function endOf({ verdict, block, error }: JsonObject, line: string, stderr: string): PersistentEnd {
  if (isSet(block))
    return { kind: 'block', text: typeof block === 'string' ? block : 'its "block" is not a string', stderr }
  if (isTooDeep(line)) return failed('answered with JSON that is nested too deep', 'failed', stderr)
  if (isSet(error)) return failed(typeof error === 'string' ? error : JSON.stringify(error), 'failed', stderr)
  if (verdict === null) return { kind: 'verdict', text: '', stderr }
  if (isObject(verdict)) return { kind: 'verdict', text: JSON.stringify(verdict), stderr }
  return failed('answered with neither a verdict nor a block', 'failed', stderr)
}

/** A program may write all three keys each time, and leave two of them empty. */
const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false

/** The calls in flight fail, by their failure rule; the next one restarts the program. */
function end(program: Program, why = ''): void {
  if (program.over) return
  program.over = program.hasEnded = true
  if (programs.get(program.key) === program) programs.delete(program.key)
  if (programs.size === 0) process.off('exit', endAll)
  const stderr = program.takeStderr()
  for (const { done } of [...program.waiting.values()]) done(failed(why, 'failed', stderr))
  const { child } = program
  if (child?.pid === undefined) return
  signalGroup(child, 'SIGKILL')
  for (const stream of child.stdio) stream?.destroy() // what left its group may hold them, and print on
}

/** Their stdin closes with this process. One that runs on without it is ended; the others may finish what they are at. */
function endAll(): void {
  const running = [...programs.values()].flatMap(({ child }) => {
    child?.stdin?.destroy()
    const known = child?.pid === undefined ? undefined : processOf(child.pid)
    return known ? [{ child: child!, known }] : []
  })
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; waited < farewellMs && running.some(({ known }) => isRunning(known)); waited++)
    Atomics.wait(pause, 0, 0, 1)
  for (const { child, known } of running) if (isRunning(known)) signalGroup(child, 'SIGTERM')
}

/** A program does not keep the process alive; its stdin closes when the process ends. A call that waits has a timer. */
function letGo(child: ChildProcess): void {
  child.unref()
  for (const stream of child.stdio) (stream as { unref?(): void } | null)?.unref?.()
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const failed = (why: string, cause: 'failed' | 'timed-out' | 'interrupted' = 'failed', stderr = ''): PersistentEnd => ({
  kind: 'failure',
  why,
  cause,
  stderr,
})
