/** The tools of an agent in code: those it was given, and no other. */
import type { Runtime } from '../agent/session/runtime.ts'
import type { Toolbox } from '../agent/toolbox.ts'
import { builtInTool, definitionOf } from '../tools/all.ts'
import type { Tool } from '../tools/tool.ts'

/** Built-in and MCP tools by name, functions as they are. MCP tools are looked up each time: servers come and go. */
export function toolboxOf(runtime: Runtime, names: readonly string[], functions: readonly Tool[]): Toolbox {
  const allowed = (name: string) => !runtime.withoutTools.includes(name)
  const own = [...names.flatMap((name) => builtInTool(name) ?? []), ...functions].filter(({ name }) => allowed(name))
  const byName = new Map(own.map((tool) => [tool.name, tool]))
  const wanted = names.filter((name) => name.startsWith('mcp__'))
  const offered = (): readonly Tool[] =>
    wanted.length === 0
      ? []
      : (runtime.mcp?.tools() ?? []).filter(
          ({ name }) => allowed(name) && wanted.some((each) => name === each || name.startsWith(`${each}__`)),
        )
  const ownDefinitions = own.map(definitionOf)
  return {
    get: (name) => byName.get(name) ?? offered().find((tool) => tool.name === name),
    names: () => [...byName.keys(), ...offered().map(({ name }) => name)],
    definitions: () => (wanted.length === 0 ? ownDefinitions : [...ownDefinitions, ...offered().map(definitionOf)]),
    deferred: () => [],
    reveal: () => {},
  }
}
