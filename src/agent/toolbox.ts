/** The tools of a session: the built-in ones, those of MCP servers, and which of them the model sees. */
import { deferTools } from '../mcp/deferral.ts'
import type { ToolDefinition } from '../providers/model.ts'
import { builtInTool, builtInTools, definitionOf } from '../tools/all.ts'
import type { Tool } from '../tools/tool.ts'
import type { Runtime } from './session/runtime.ts'

export interface Toolbox {
  get(name: string): Tool | undefined
  /** Every tool that may be called. */
  names(): string[]
  /** What the next request tells a model with this window; the same object while nothing has changed. */
  definitions(window: number): readonly ToolDefinition[]
  /** Known by name only until ToolSearch asks for them. */
  deferred(window: number): readonly ToolDefinition[]
  reveal(names: readonly string[]): void
}

export function toolsOf(runtime: Runtime, only?: (name: string) => boolean): Toolbox {
  const allowed = (name: string) => !runtime.withoutTools.includes(name) && (only?.(name) ?? true)
  const builtIn = builtInTools.filter((tool) => allowed(tool.name))
  const revealed = new Set<string>()
  const mcpTools = () => (runtime.mcp?.tools() ?? []).filter((tool) => allowed(tool.name))
  let listed: { readonly from: readonly Tool[]; readonly list: readonly ToolDefinition[] } | undefined

  const split = (window: number) => deferTools(mcpTools(), window, runtime.env['ENABLE_TOOL_SEARCH'])
  return {
    get(name) {
      if (!allowed(name)) return undefined
      return name.startsWith('mcp__') ? mcpTools().find((tool) => tool.name === name) : builtInTool(name)
    },
    names: () => [...builtIn.map((each) => each.name), ...mcpTools().map((tool) => tool.name)],
    definitions(window) {
      const { listed: tools, deferred } = split(window)
      const shown = [...tools, ...deferred.filter((tool) => revealed.has(tool.name))]
      if (listed?.from.length !== shown.length || shown.some((tool, at) => tool !== listed?.from[at]))
        listed = { from: shown, list: [...builtIn, ...shown].map(definitionOf) }
      return listed.list
    },
    deferred: (window) =>
      split(window)
        .deferred.filter((tool) => !revealed.has(tool.name))
        .map(definitionOf),
    reveal(names) {
      for (const name of names) revealed.add(name)
    },
  }
}
