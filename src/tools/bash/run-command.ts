/** What the Bash tool makes of a command's end. */

import type { Bounded } from '../bounded.ts'
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
  let toldAt = Date.now()
  const end = await runPlaced(input.command, context, {
    signal: context.signal,
    timeoutMs,
    onOutput(chunk) {
      const now = Date.now()
      if (now - toldAt < progressEveryMs) return
      toldAt = now
      context.progress(chunk.toString('utf8').slice(-2000))
    },
  })
  const moved = await follow(end, context)
  return answer(end, timeoutMs, moved)
}

function inBackground(command: string, context: ToolContext): ToolOutput {
  const id = context.host.tasks.start({
    kind: 'bash',
    about: command,
    async run(signal, write) {
      const end = await runPlaced(command, context, { signal, onOutput: (chunk) => write(chunk.toString('utf8')) })
      for (const each of end.notes) write(`\n${each}`)
      if (typeof end.cause === 'object') return { exitCode: null, note: end.cause.notStarted }
      return { exitCode: end.exitCode ?? null, ...(end.signal && { note: `ended by ${end.signal}` }) }
    },
  })
  const text = `Command running in background with ID: ${id}. See its output with TaskOutput, end it with TaskStop.`
  return {
    ...said(text, { kind: 'text', summary: `Running in background (${id})` }),
    response: () => ({ ...responseOf('', ''), backgroundTaskId: id }),
  }
}

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
