/** What the Bash tool makes of a command's end. */

import { Bounded } from '../bounded.ts'
import { broke, failed, said, type ToolOutput } from '../output.ts'
import type { ToolContext } from '../tool.ts'
import { type PlacedEnd, runPlaced } from './in-sandbox.ts'
import { bashLimits } from './limits.ts'

interface BashInput {
  readonly command: string
  readonly timeout?: number
  readonly run_in_background?: boolean
}

const progressEveryMs = 200
/** Linux takes 128 KiB for one word of a command line. */
const lengthLimit = 130_000

export async function runCommand(input: BashInput, context: ToolContext): Promise<ToolOutput> {
  if (input.command.includes('\0')) return failed('command holds a NUL character, which no shell can take')
  if (Buffer.byteLength(input.command) > lengthLimit) {
    return failed(
      `command is longer than a command line can be (${lengthLimit} bytes); write it to a file and run that`,
    )
  }
  if (input.run_in_background) return inBackground(input.command, context)
  const timeoutMs = Math.min(input.timeout ?? bashLimits.timeoutMs, bashLimits.maxTimeoutMs)
  const running = runForeground(input.command, context, timeoutMs)
  const moved = Promise.withResolvers<'moved'>()
  const release = context.host.tasks.movable(() => moved.resolve('moved'))
  const end = await Promise.race([running.end, moved.promise])
  release()
  if (end === 'moved') return adopt(input.command, context, running)
  const where = await follow(end, context)
  return answer(end, timeoutMs, where)
}

interface Foreground {
  readonly end: Promise<PlacedEnd>
  /** From now on the turn neither ends nor waits for it; what it has printed so far, and prints from now on, is written. */
  detach(signal: AbortSignal, write: (text: string) => void): void
}

/** The time limit is ours, not the process group's: a command that is sent to the background has none. */
function runForeground(command: string, context: ToolContext, timeoutMs: number): Foreground {
  const stop = new AbortController()
  const abort = () => stop.abort()
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    stop.abort()
  }, timeoutMs)
  if (context.signal.aborted) abort()
  context.signal.addEventListener('abort', abort)
  const release = () => {
    clearTimeout(limit)
    context.signal.removeEventListener('abort', abort)
  }
  const printed = new Bounded()
  let toldAt = Date.now()
  let hear = (chunk: Buffer) => {
    printed.add(chunk)
    const now = Date.now()
    if (now - toldAt < progressEveryMs) return
    toldAt = now
    context.progress(chunk.toString('utf8').slice(-2000))
  }
  const end = runPlaced(command, context, { signal: stop.signal, onOutput: (chunk) => hear(chunk) })
  return {
    end: end.finally(release).then((each) => (isLate ? { ...each, cause: 'timed-out' as const } : each)),
    detach(signal, write) {
      release()
      if (signal.aborted) stop.abort()
      signal.addEventListener('abort', () => stop.abort(), { once: true })
      write(printed.text())
      hear = (chunk) => write(chunk.toString('utf8'))
    },
  }
}

function inBackground(command: string, context: ToolContext): ToolOutput {
  const id = context.host.tasks.start({
    kind: 'bash',
    about: command,
    run: async (signal, write) =>
      taskEnd(await runPlaced(command, context, { signal, onOutput: (chunk) => write(chunk.toString('utf8')) }), write),
  })
  return runsOn(id, `Command running in background with ID: ${id}.`)
}

/** The user sent a running command to the background. */
function adopt(command: string, context: ToolContext, running: Foreground): ToolOutput {
  const id = context.host.tasks.start({
    kind: 'bash',
    about: command,
    async run(signal, write) {
      running.detach(signal, write)
      return taskEnd(await running.end, write)
    },
  })
  return runsOn(id, `The user sent the command to the background; it runs on with ID: ${id}.`)
}

function taskEnd(end: PlacedEnd, write: (text: string) => void): { exitCode: number | null; note?: string } {
  for (const each of end.notes) write(`\n${each}`)
  if (typeof end.cause === 'object') return { exitCode: null, note: end.cause.notStarted }
  return { exitCode: end.exitCode ?? null, ...(end.signal && { note: `ended by ${end.signal}` }) }
}

const runsOn = (id: string, how: string): ToolOutput => ({
  ...said(`${how} See its output with TaskOutput, end it with TaskStop.`, {
    ...{ kind: 'text', summary: `Running in background (${id})` },
  }),
  response: () => ({ ...responseOf('', ''), backgroundTaskId: id }),
})

const responseOf = (stdout: string, stderr: string) => ({
  stdout: stdout.trimEnd(),
  stderr: stderr.trimEnd(),
  interrupted: false,
  isImage: false,
})

/** The session goes where the shell went, unless that lies outside the working directories. */
async function follow({ cwd, cause }: PlacedEnd, context: ToolContext): Promise<string> {
  if (cwd === undefined || cause !== undefined || cwd === context.cwd) return ''
  return (await context.host.moveTo(cwd)) ? '' : `\nShell cwd was reset to ${context.cwd}`
}

function answer(end: PlacedEnd, timeoutMs: number, moved: string): ToolOutput {
  if (typeof end.cause === 'object') return broke(end.cause.notStarted)
  const output = streams(end.stdout, end.stderr)
  const fenced = end.notes.map((each) => `\n${each}`).join('')
  const note = moved + fenced
  const shown = `${output}${fenced}`
  if (end.cause === 'timed-out') {
    const why = `the command was ended after ${timeoutMs} ms; set a longer timeout or run_in_background`
    return broke(output === '' ? `${why}${note}` : `${why}. Its output until then:\n${output}${note}`)
  }
  const left = end.leftBehind ? '\n(A process it started still runs; what that prints from now on is not shown.)' : ''
  const content = `${output === '' ? '(no output)' : output}${note}${left}`
  if (end.cause === 'aborted')
    return failed(`The command was interrupted.\n${content}`, { kind: 'output', text: shown })
  if (end.exitCode === 0) {
    const response = () => responseOf(end.stdout.text(), end.stderr.text())
    return { ...said(content, { kind: 'output', text: shown }), response }
  }
  const code = end.exitCode === undefined ? `Ended by ${end.signal ?? 'a signal'}` : `Exit code ${end.exitCode}`
  return failed(output === '' ? `${code}${note}${left}` : `${content}${content.endsWith('\n') ? '' : '\n'}${code}`, {
    kind: 'output',
    text: shown,
    status: end.exitCode === undefined ? (end.signal ?? 'killed') : `exit ${end.exitCode}`,
  })
}

/** Both streams as one text (spec 003 §7.1). */
const streams = (stdout: Bounded, stderr: Bounded) =>
  stdout.text() + (stderr.seen > 0 ? `\n--- stderr ---\n${stderr.text()}` : '')
