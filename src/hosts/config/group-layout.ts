/** The layout that Claude Code began and Codex, Gemini CLI and ona share: event, group with a matcher, handlers. */
import { durationMs, durationText } from '../duration.ts'
import { type BrainHook, bootSources, eventOf, filterAt, momentOf, refusesOnFailure, whatOf } from '../hook.ts'
import { type DeclaredCommand, refusalMarginMs } from '../shim/command-text.ts'
import type { Layout } from './layout.ts'
import { markOf, readMark } from './mark.ts'

interface Dialect extends Pick<Layout, 'events' | 'unitMs' | 'defaultMs' | 'keepPositions' | 'neutral' | 'strict'> {
  /** The handler's display field, which holds our mark. */
  readonly markKey: 'statusMessage' | 'description'
  /** The tools of a filter as the agent's matcher, null when they cannot be one; by default as they are. */
  matcher?(what: string): string | null
  /** The sources of a session start as the agent's matcher; by default its names joined by "|". */
  bootMatcher?(sources: readonly string[]): string
  /** Fields that a handler gets whose failure refuses the call. */
  readonly refusing?: Readonly<Record<string, unknown>>
  /** The same for an agent in which the field is all that is needed: the command is written as it is. */
  readonly refusesNatively?: Readonly<Record<string, unknown>>
  /** Takes over hooks that rhachet wrote itself. */
  readonly adopts?: boolean
  /** The hook's command as it is put into the file, and back. */
  written(hook: BrainHook): string
  declared(command: string): DeclaredCommand
}

export function groupLayout(dialect: Dialect): Layout {
  const { events, unitMs, defaultMs, keepPositions, markKey, neutral, strict, adopts } = dialect
  return {
    groups: true,
    events,
    unitMs,
    defaultMs,
    ...(keepPositions && { keepPositions }),
    ...(neutral && { neutral }),
    ...(strict && { strict }),
    ...(adopts && { alsoIn: { PostCompact: { moment: 'boot', what: 'PostCompact' } }, adopted: isAdopted }),
    render(hook) {
      const what = whatOf(hook)
      const matcher = matcherOf(dialect, hook)
      if (matcher === null) return null
      const refuses = refusesOnFailure(hook)
      const { filter } = filterAt(momentOf(hook), what)
      const needsMark = matcher !== what && what !== '*' && filter?.what === what && momentOf(hook) !== 'compact'
      const handler = {
        type: 'command',
        command: dialect.written(hook),
        // rounded up: 0 would mean the agent's default of a minute or ten
        timeout: Math.ceil(
          (durationMs(hook.timeout) + (refuses && !dialect.refusesNatively ? refusalMarginMs : 0)) / unitMs,
        ),
        [markKey]: markOf(hook.author, needsMark ? what : undefined),
        ...(refuses && (dialect.refusesNatively ?? dialect.refusing)),
      }
      return { ...(matcher !== '' && { matcher }), hooks: [handler] }
    },
    recognise(handler, matcher, moment) {
      const own = readMark(handler[markKey])
      const mark = own ?? (adopts ? adoptedMark(handler, matcher) : null)
      if (!mark || typeof handler['command'] !== 'string') return null
      const given = Number(handler['timeout'])
      const declared = own ? dialect.declared(handler['command']) : { command: handler['command'] }
      const ms = given > 0 ? given * unitMs : defaultMs
      const refuses = dialect.refusesNatively && own && handler['onFailure'] === dialect.refusesNatively['onFailure']
      return {
        author: mark.author,
        event: eventOf[moment],
        ...declared,
        timeout: durationText(declared.onFailure ? ms - refusalMarginMs : ms),
        ...filterAt(moment, mark.what ?? matcher),
        ...(refuses && { onFailure: 'refuse' as const }),
      }
    },
  }
}

function matcherOf(dialect: Dialect, hook: BrainHook): string | null {
  const what = whatOf(hook)
  const moment = momentOf(hook)
  if (moment === 'boot') {
    const sources = bootSources(what)
    if (!sources) return sources === null ? '' : null
    return dialect.bootMatcher ? dialect.bootMatcher(sources) : sources.join('|')
  }
  if (hook.event !== 'onTool' || what === '*') return ''
  return dialect.matcher ? dialect.matcher(what) : what
}

/** How rhachet marks its hooks: a key `author` on the handler; before that, a comment in front of the matcher. */
const inMatcher = /^#\s*author=(repo=[^\s/]+\/role=[^\s/]+)\s*(.*)$/s

function adoptedMark(
  handler: Readonly<Record<string, unknown>>,
  matcher: string,
): { author: string; what?: string } | null {
  const [, older, rest] = inMatcher.exec(matcher) ?? []
  const author = older ?? handler['author']
  if (typeof author !== 'string' || !/^repo=[^\s/]+\/role=[^\s/]+$/.test(author)) return null
  const what = (older ? rest! : matcher).trim()
  return { author, what: what === '' ? '*' : what }
}

const isAdopted = (handler: Readonly<Record<string, unknown>>, matcher: string): boolean =>
  adoptedMark(handler, matcher) !== null
