/** Which tools the model sees from the start, and which it finds by ToolSearch. */
import type { Tool } from '../tools/tool.ts'

type Sized = Pick<Tool, 'name' | 'prompt' | 'input'>

export interface Deferral<T> {
  readonly listed: readonly T[]
  readonly deferred: readonly T[]
}

/**
 * `ENABLE_TOOL_SEARCH`: `true` defers all, `false` none, `auto:N` (by default 10) those that together would take more
 * than N percent of the context window.
 */
export function deferTools<T extends Sized & { readonly alwaysLoad?: boolean }>(
  tools: readonly T[],
  contextTokens: number,
  setting = 'auto',
): Deferral<T> {
  const percent = /^auto(?::(\d+))?$/.exec(setting)
  const limit =
    setting === 'true' ? 0 : percent ? (contextTokens * Number(percent[1] ?? 10)) / 100 : Number.POSITIVE_INFINITY
  if (tools.reduce((sum, tool) => sum + tokensOf(tool), 0) <= limit) return { listed: tools, deferred: [] }
  return { listed: tools.filter((tool) => tool.alwaysLoad), deferred: tools.filter((tool) => !tool.alwaysLoad) }
}

/** The most that tools which were loaded may take of the window: the conversation needs room, too. */
const mostOfWindow = 0.25

/** Of the tools that were loaded, those loaded last for which there is room. `names`: in the order in which they were loaded. */
export function loadedTools<T extends Sized>(
  deferred: readonly T[],
  names: Iterable<string>,
  contextTokens: number,
): ReadonlySet<T> {
  let room = contextTokens * mostOfWindow
  const loaded = new Set<T>()
  for (const name of [...names].reverse()) {
    const tool = deferred.find((each) => each.name === name)
    if (!tool || tokensOf(tool) > room) continue
    room -= tokensOf(tool)
    loaded.add(tool)
  }
  return loaded
}

/** About four characters make a token. */
const tokensOf = ({ name, prompt, input }: Sized): number =>
  (name.length + prompt.length + JSON.stringify(input.schema()).length) / 4
