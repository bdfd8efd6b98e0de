/** What a headless run prints, in the form that `--output-format` names. */
import type { AgentEvent } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import type { StartOptions, StartProblem } from '../../agent/session/start-options.ts'
import type { TurnEnd } from '../../agent/turn-end.ts'
import { forShell } from '../auth.ts'
import type { Flags } from '../flags.ts'
import { failed, noted, saidJson, shown, warned, write, wrong } from '../print.ts'
import { tellNotice } from './deny-all.ts'
import { resultMessage, startFailure, type Turned } from './result.ts'
import { addUsage, follow, newFacts, nextTurn, type RunFacts } from './run-facts.ts'
import { initMessage, messageStream } from './stream-json.ts'

export interface Reporter {
  on(event: AgentEvent): void
  onUsage: NonNullable<StartOptions['onUsage']>
  /** The session has started. What happened before is printed after its first message. */
  begin(session: Session, more?: { readonly subagentText?: boolean }): void
  /** Prints the result of a turn; gives the exit code. `messageId`: the client's name of the prompt. */
  result(turned: Turned, messageId?: string): number
  /** Prints why no session came about; gives the exit code. */
  startFailed(problem: StartProblem): number
}

export async function reporterFor(flags: Flags): Promise<Reporter> {
  const format = flags['output-format'] ?? 'text'
  const streams = format === 'stream-json'
  const early: AgentEvent[] = []
  const debug =
    flags.debug || flags['debug-file'] ? (await import('./debug.ts')).debugLog(flags['debug-file']) : undefined
  let facts: RunFacts | undefined
  let messages: ReturnType<typeof messageStream> = () => []
  const report = (event: AgentEvent) => {
    if (flags.verbose && format === 'text') reportWork(event)
    if (streams) for (const message of messages(event)) line(message)
    else tellNotice(event)
  }
  const on = (event: AgentEvent) => {
    if (!facts) return void early.push(event)
    follow(facts, event)
    debug?.(event)
    report(event)
  }
  return {
    on,
    onUsage: (model, usage, cost) => facts && addUsage(facts, model, usage, cost),
    begin(session, { subagentText = false } = {}) {
      facts = newFacts(session)
      const partial = flags['include-partial-messages'] === true
      messages = messageStream(session, { partial, hooks: flags['include-hook-events'] === true, subagentText })
      if (streams) line(initMessage(session))
      for (const event of early.splice(0)) on(event)
    },
    result(turned, messageId) {
      const result = resultMessage({ ...facts!, ...(messageId && { messageId }) }, turned)
      nextTurn(facts!)
      if (format === 'text') {
        const text = turned.structured !== undefined ? JSON.stringify(turned.structured) : answer(turned.end)
        // To a program as the model said it; to a terminal without control characters.
        write(`${process.stdout.isTTY ? shown(text) : text}\n`)
      } else line(result)
      return result.is_error ? 1 : 0
    },
    startFailed(problem) {
      const why = forShell(problem.problem)
      if (problem.usage) return wrong('ona', why)
      if (format === 'text') return failed(why)
      for (const event of early) tellNotice(event)
      warned(why)
      line(startFailure({ ...problem, problem: why }))
      return 1
    },
  }
}

/** The model's words; where they are not the whole answer, also why. */
const answer = ({ stop, text, why = '' }: TurnEnd): string =>
  stop === 'error' ? [text, why].filter(Boolean).join('\n\n') : text || why

/** `--verbose` with text: each call on the way to the answer. */
function reportWork(event: AgentEvent): void {
  if (event.type === 'tool-started') noted(`${event.name} ${event.summary}`)
  if (event.type === 'tool-finished') noted(`${event.name} ${event.outcome} in ${Math.round(event.ms)} ms`)
  if (event.type === 'notice' && event.level === 'info') noted(event.text)
}

export const line = (message: object): void => void saidJson(message)
