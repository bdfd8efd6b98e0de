/** The tools of a session: the built-in ones, those of MCP servers, and which of them the model sees. */
import { deferTools, loadedTools } from '../mcp/deferral.ts'
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
  /** Loads them, and those loaded long ago make room. */
  reveal(names: readonly string[]): void
}

export function toolsOf(runtime: Runtime, only?: (name: string) => boolean): Toolbox {
  const allowed = (name: string) => !runtime.withoutTools.includes(name) && (only?.(name) ?? true)
  const builtIn = builtInTools.filter((tool) => allowed(tool.name))
  const revealed = new Set<string>()
  const mcpTools = () => (runtime.mcp?.tools() ?? []).filter((tool) => allowed(tool.name))
  let listed: { readonly from: readonly Tool[]; readonly list: readonly ToolDefinition[] } | undefined

  const split = (window: number) => {
    const { listed, deferred } = deferTools(mcpTools(), window, runtime.env['ENABLE_TOOL_SEARCH'])
    const loaded = loadedTools(deferred, revealed, window)
    return {
      shown: [...listed, ...deferred.filter((tool) => loaded.has(tool))],
      deferred: deferred.filter((tool) => !loaded.has(tool)),
    }
  }
  return {
    get(name) {
      if (!allowed(name)) return undefined
      return name.startsWith('mcp__') ? mcpTools().find((tool) => tool.name === name) : builtInTool(name)
    },
    names: () => [...builtIn.map((each) => each.name), ...mcpTools().map((tool) => tool.name)],
    definitions(window) {
      const { shown } = split(window)
      if (listed?.from.length !== shown.length || shown.some((tool, at) => tool !== listed?.from[at]))
        listed = { from: shown, list: [...builtIn, ...shown].map(definitionOf) }
      return listed.list
    },
    deferred: (window) => split(window).deferred.map(definitionOf),
    reveal(names) {
      for (const name of names) {
        revealed.delete(name)
        revealed.add(name)
      }
    },
  }
}
