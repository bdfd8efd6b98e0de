/** The one total order of all handlers (spec 003 §5.2): an ordinal each, from 0. */
import { type Handler, labelOf, type Source } from './handler.ts'

export type Ordered = Handler & { readonly ordinal: number }

/**
 * Functions of the program itself come first, then the settings as written, then plugins by id, then what the session
 * added, in the order it was added. A handler that is the same as the one right before it is dropped.
 */
export function orderHandlers(handlers: readonly Handler[]): Ordered[] {
  const sorted = handlers.toSorted(
    (a, b) => rank[a.source.kind] - rank[b.source.kind] || byCodePoint(pluginOf(a.source), pluginOf(b.source)),
  )
  return sorted
    .filter((handler, index) => index === 0 || !isSame(sorted[index - 1]!, handler))
    .map((handler, ordinal) => ({ ...handler, ordinal }))
}

const rank: Record<Source['kind'], number> = { code: 0, settings: 1, plugin: 2, session: 3 }
const pluginOf = (source: Source) => (source.kind === 'plugin' ? source.pluginId : '')

function isSame(a: Handler, b: Handler): boolean {
  if (a.kind === 'function' || b.kind === 'function') return a === b
  return (
    a.event === b.event &&
    a.matcher === b.matcher &&
    a.kind === b.kind &&
    a.ifCondition === b.ifCondition &&
    a.withheld === b.withheld &&
    a.onFailure === b.onFailure &&
    a.profile === b.profile &&
    a.once === b.once &&
    a.parallel === b.parallel &&
    labelOf(a) === labelOf(b) &&
    runsAlike(a, b)
  )
}

function runsAlike(a: Handler, b: Handler): boolean {
  if (a.kind === 'command' && b.kind === 'command')
    return (
      a.shell === b.shell &&
      a.sandbox === b.sandbox &&
      a.args?.length === b.args?.length &&
      a.persistent === b.persistent &&
      a.async === b.async
    )
  // the label leaves out what may be secret
  if (a.kind === 'http' && b.kind === 'http') return sentBy(a) === sentBy(b)
  return a.kind !== 'prompt'
}

const sentBy = ({ url, headers, allowedEnvVars }: Handler & { kind: 'http' }): string =>
  JSON.stringify([url, headers, allowedEnvVars])

/** By Unicode code point, which is not JavaScript's own order of strings beyond U+FFFF. */
function byCodePoint(a: string, b: string): number {
  if (a === b) return 0
  const left = Array.from(a, (char) => char.codePointAt(0)!)
  const right = Array.from(b, (char) => char.codePointAt(0)!)
  const at = left.findIndex((point, index) => point !== right[index])
  return at < 0 ? -1 : left[at]! - (right[at] ?? -1)
}
