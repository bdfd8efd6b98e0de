/** What agents call their tools, beside the names that a role's filter uses. */

/** The names that a filter uses, and what each is called in some agent; an empty list: it has no such tool. */
export type ToolNames = Readonly<Record<string, readonly string[]>>

/** How an agent names its tools. */
export interface ToolDialect {
  /** The agent's title, for messages. */
  readonly title: string
  readonly tools: ToolNames
  /** The agent's name for a tool of an MCP server; none: such tools have no fixed name there. */
  mcp?(server: string, tool: string): string
  /** Why a regular expression over Claude Code's names cannot be used; null when it can. */
  regexFault?(source: string): string | null
}

/** From an agent's name of a tool to the names that a filter may use for it. */
export function neutralNames(...tables: readonly ToolNames[]): Record<string, string[]> {
  const neutral: Record<string, string[]> = {}
  for (const table of tables)
    for (const [name, natives] of Object.entries(table))
      for (const native of natives) neutral[native] = [...new Set([...(neutral[native] ?? []), name])]
  return neutral
}
