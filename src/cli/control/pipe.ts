/**
 * The stream-json pipe to the program that drives ona (the host): its lines, sorted as they arrive, and our own control
 * requests to it. Reading starts at once, because hooks and MCP servers of the host answer before the first prompt.
 */

import type { JsonObject } from '../../hooks/shape.ts'
import { lineCutter } from '../../hooks/text/json-lines.ts'
import { type AnswerLine, type ControlLine, type PromptLine, readStreamLine } from './lines.ts'

export type HostAnswer = AnswerLine['answer']

export interface Pipe {
  /** Sends a control request. Undefined: the host is gone, or the signal withdrew the request. */
  request(request: JsonObject, signal?: AbortSignal): Promise<HostAnswer | undefined>
  write(message: object): void
  /** Waits for the first prompt or control request. Takes it if it is `initialize`; anything else stays queued. */
  opening(): Promise<ControlLine | undefined>
  /** From now on every control request goes here, those that wait first. */
  onControl(take: (line: ControlLine) => void): void
  onFault(take: (why: string) => void): void
  /** The next prompt; undefined when none waits. */
  takePrompt(): PromptLine | undefined
  readonly ended: boolean
  /** Until a line arrives or the input ends. */
  changed(): Promise<void>
}

export function openPipe(input: NodeJS.ReadableStream, write: (message: object) => void): Pipe {
  const waiting = new Map<string, (answer: HostAnswer | undefined) => void>()
  const prompts: PromptLine[] = []
  const controls: ControlLine[] = []
  const faults: string[] = []
  let takeControl: ((line: ControlLine) => void) | undefined
  let takeFault: ((why: string) => void) | undefined
  let initializesFirst: boolean | undefined
  let ended = false
  let wake = Promise.withResolvers<void>()
  const changed = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }

  const hear = (text: string) => {
    const line = readStreamLine(text)
    if (line.kind === 'control' || line.kind === 'prompt')
      initializesFirst ??= line.kind === 'control' && line.request['subtype'] === 'initialize'
    if (line.kind === 'wrong') takeFault ? takeFault(line.why) : faults.push(line.why)
    if (line.kind === 'control') takeControl ? takeControl(line) : controls.push(line)
    if (line.kind === 'answer') waiting.get(line.id)?.(line.answer)
    if (line.kind === 'prompt') prompts.push(line)
    changed()
  }
  const cut = lineCutter()
  input.setEncoding('utf8')
  input.on('data', (text: string) => {
    for (const line of cut(text).lines) hear(line)
  })
  input.once('end', () => {
    for (const line of cut('\n').lines) hear(line)
    ended = true
    for (const settle of waiting.values()) settle(undefined)
    changed()
  })

  return {
    async request(request, signal) {
      if (ended || signal?.aborted) return undefined
      const request_id = crypto.randomUUID()
      const answer = Promise.withResolvers<HostAnswer | undefined>()
      const cancel = () => {
        write({ type: 'control_cancel_request', request_id })
        answer.resolve(undefined)
      }
      signal?.addEventListener('abort', cancel, { once: true })
      waiting.set(request_id, answer.resolve)
      write({ type: 'control_request', request_id, request })
      try {
        return await answer.promise
      } finally {
        signal?.removeEventListener('abort', cancel)
        waiting.delete(request_id)
      }
    },
    write,
    async opening() {
      while (!ended && prompts.length === 0 && controls.length === 0) await wake.promise
      return initializesFirst ? controls.shift() : undefined
    },
    onControl(take) {
      takeControl = take
      for (const line of controls.splice(0)) take(line)
    },
    onFault(take) {
      takeFault = take
      for (const why of faults.splice(0)) take(why)
    },
    takePrompt: () => prompts.shift(),
    get ended() {
      return ended
    },
    changed: () => wake.promise,
  }
}
