/** What a conversation is given, on a terminal or over a pipe, and how it is ended from outside. */
import type { AgentEvent, User } from '../../agent/events.ts'
import type { EndReason, Started } from '../../agent/session/start.ts'
import type { StartProblem } from '../../agent/session/start-options.ts'
import type { ModelUsage } from '../../providers/model.ts'
import type { Front } from './front.ts'

/** What the session is started with: who answers, and who hears. */
export interface Ports {
  readonly user: User
  readonly promptsForHosts?: boolean
  readonly front: Front
  /** The user has left: what is under way, the start too, comes to its end. */
  readonly signal: AbortSignal
  on(event: AgentEvent): void
  onUsage(model: string, usage: ModelUsage, costUsd: number | null): void
}

export interface ReplOptions {
  /** Starts the session; the screen is there already, so that it may ask (trust) and tell. Undefined: the user left. */
  start(ports: Ports): Promise<Started | StartProblem | undefined>
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  readonly env: NodeJS.ProcessEnv
  /** Whether a user is at the terminal; otherwise lines are read to the end and no prompt appears. */
  readonly interactive: boolean
  readonly cwd: string
  /** Said first, as if it had been typed; known when the session has started. */
  prompt(): string
}

/** Ends the session however the program is ended. Gives a function that stops listening. */
export function endOnSignals(
  leave: (reason: EndReason) => void,
  interrupt?: () => void,
): { code(): number | undefined; release(): void } {
  let code: number | undefined
  const handlers: [NodeJS.Signals, () => void][] = [
    ['SIGTERM', () => end(143)],
    ['SIGHUP', () => end(129)],
    ['SIGINT', () => (interrupt ? interrupt() : end(130))],
  ]
  const end = (number: number) => {
    code = number
    leave('other')
  }
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return {
    code: () => code,
    release: () => {
      for (const [signal, handler] of handlers) process.off(signal, handler)
    },
  }
}
