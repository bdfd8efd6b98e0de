/** The layout that Claude Code began and Codex, Gemini CLI and ona share: event, group with a matcher, handlers. */
import { durationMs, durationText } from '../duration.ts'
import { type BrainHook, eventOf, type Moment, whatOf } from '../hook.ts'
import type { Layout } from './json-config.ts'
import { markOf, readMark } from './mark.ts'

interface Dialect {
  readonly events: Readonly<Record<Moment, string>>
  readonly unitMs: number
  readonly defaultMs: number
  readonly keepPositions?: boolean
  /** The handler's field for people in which our mark stands. */
  readonly markKey: 'statusMessage' | 'description'
  /** The filter as the agent's matcher, null when it cannot be one; by default as it is. */
  matcher?(what: string): string | null
  neutral?(matcher: string): string | null
  /** The hook's command as it is put into the file, and back. */
  written(hook: BrainHook): string
  declared(command: string): string
}

export function groupLayout(dialect: Dialect): Layout {
  const { events, unitMs, defaultMs, keepPositions, markKey, neutral } = dialect
  const matcherOf = (what: string) => (what === '*' ? '' : dialect.matcher ? dialect.matcher(what) : what)
  return {
    groups: true,
    events,
    unitMs,
    defaultMs,
    ...(keepPositions && { keepPositions }),
    ...(neutral && { neutral }),
    render(hook) {
      const what = whatOf(hook)
      const matcher = matcherOf(what)
      if (matcher === null) return null
      const handler = {
        type: 'command',
        command: dialect.written(hook),
        // rounded up: 0 would mean the agent's default of a minute or ten
        timeout: Math.ceil(durationMs(hook.timeout) / unitMs),
        [markKey]: markOf(hook.author, matcher === '' || matcher === what ? undefined : what),
      }
      return { ...(matcher !== '' && { matcher }), hooks: [handler] }
    },
    recognise(handler, matcher, moment) {
      const mark = readMark(handler[markKey])
      if (!mark || typeof handler['command'] !== 'string') return null
      const event = eventOf[moment]
      const given = Number(handler['timeout'])
      const filter = event === 'onTool' && { what: mark.what ?? (matcher || '*'), when: moment as 'before' | 'after' }
      return {
        author: mark.author,
        event,
        command: dialect.declared(handler['command']),
        timeout: durationText(given > 0 ? given * unitMs : defaultMs),
        ...(filter && { filter }),
      }
    },
  }
}
