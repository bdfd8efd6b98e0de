/** What an event says in one line of its own. */
import type { AgentEvent } from '../../agent/events.ts'
import { cleanLine } from './clean.ts'
import { seconds, tokens } from './format.ts'
import { glyph } from './glyphs.ts'
import type { Item } from './items.ts'

type Notice = Extract<Item, { kind: 'notice' }>
type Of<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>

const info = (text: string): Notice => ({ kind: 'notice', level: 'info', text })

/** Undefined: there is nothing to say. */
export function noticeOf(event: AgentEvent): Notice | undefined {
  switch (event.type) {
    case 'phase':
      return info(`phase: ${event.from} ${glyph.to} ${event.to}`)
    case 'compacted':
      return info(
        `Conversation compacted (${event.trigger}): ${tokens(event.tokensBefore)} ${glyph.to} ${tokens(event.tokensAfter)} tokens`,
      )
    case 'task': {
      const text = `background task ${event.id} ${event.status}: ${event.about}`
      return { kind: 'notice', level: event.status === 'failed' ? 'warning' : 'info', text }
    }
    case 'notice':
      return { kind: 'notice', level: event.level, text: event.text }
    case 'turn-ended':
      return ended(event)
    default:
      return undefined
  }
}

function ended({ stop, failure }: Of<'turn-ended'>): Notice | undefined {
  if (failure) return { kind: 'notice', level: 'error', text: failure.message, isAnswer: true }
  const text = ends[stop]
  return text === undefined ? undefined : { kind: 'notice', level: 'warning', text }
}

const ends: Record<string, string> = {
  cancelled: 'Interrupted. What should be done instead?',
  max_tokens: 'The answer was cut off: it reached the limit of tokens for one answer.',
  max_turn_requests: 'Stopped: the turn reached its limit of requests.',
  refusal: 'The model refused.',
}

export const cutOff: Notice = {
  kind: 'notice',
  level: 'warning',
  text: 'The reply above was cut off; sending the request again',
}

/** What the working line says while a failed request waits for its next attempt: the time that is left counts down. */
export function retryStep({ waitMs, attempt, most, failure }: Of<'retry'>, since: number): (now: number) => string {
  const why = cleanLine(failure.message)
  return (now) => `Retrying in ${seconds(since + waitMs - now + 999)} (attempt ${attempt} of ${most}): ${why}`
}
