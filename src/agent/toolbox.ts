/** The tools of a session: the built-in ones, those of MCP servers, and which of them the model is told of. */
import type { ToolDefinition } from '../providers/model.ts'
import { builtInTool, builtInTools, definitionOf } from '../tools/all.ts'
import type { Tool } from '../tools/tool.ts'
import type { Runtime } from './runtime.ts'

export interface Toolbox {
  get(name: string): Tool | undefined
  /** Every tool that may be called. */
  names(): string[]
  /** What the next request tells the model; the same object while nothing has changed. */
  definitions(): readonly ToolDefinition[]
  /** Known by name only until ToolSearch asks for them. */
  deferred(): readonly ToolDefinition[]
  reveal(names: readonly string[]): void
}

/** More MCP tools than this are told by name only. */
const mostToldAtOnce = 40

export function toolsOf(runtime: Runtime, only?: (name: string) => boolean): Toolbox {
  const allowed = (name: string) => !runtime.withoutTools.includes(name) && (only?.(name) ?? true)
  const builtIn = builtInTools.filter((tool) => allowed(tool.name))
  const revealed = new Set<string>()
  const mcpTools = () => (runtime.mcp?.tools() ?? []).filter((tool) => allowed(tool.name))
  let told: { readonly from: string; readonly list: readonly ToolDefinition[] } | undefined

  const isDeferred = (name: string, count: number) => count > mostToldAtOnce && !revealed.has(name)
  return {
    get(name) {
      if (!allowed(name)) return undefined
      return name.startsWith('mcp__') ? mcpTools().find((tool) => tool.name === name) : builtInTool(name)
    },
    names: () => [...builtIn.map((each) => each.name), ...mcpTools().map((tool) => tool.name)],
    definitions() {
      const tools = mcpTools()
      const shown = tools.filter((tool) => !isDeferred(tool.name, tools.length))
      const from = shown.map((tool) => tool.name).join()
      if (told?.from !== from) told = { from, list: [...builtIn, ...shown].map(definitionOf) }
      return told.list
    },
    deferred() {
      const tools = mcpTools()
      return tools.filter((tool) => isDeferred(tool.name, tools.length)).map(definitionOf)
    },
    reveal(names) {
      for (const name of names) revealed.add(name)
    },
  }
}
