/** Which tools the model sees from the start, and which it finds by ToolSearch. */
import type { Tool } from '../tools/tool.ts'

export interface Deferral<T> {
  readonly listed: readonly T[]
  readonly deferred: readonly T[]
}

/**
 * `ENABLE_TOOL_SEARCH`: `true` defers all, `false` none, `auto:N` (by default 10) those that together would take more
 * than N percent of the context window.
 */
export function deferTools<T extends Pick<Tool, 'name' | 'prompt' | 'input'> & { readonly alwaysLoad?: boolean }>(
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

/** About four characters make a token. */
const tokensOf = ({ name, prompt, input }: Pick<Tool, 'name' | 'prompt' | 'input'>): number =>
  (name.length + prompt.length + JSON.stringify(input.schema()).length) / 4
