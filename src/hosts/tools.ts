/** A filter says tools by one set of names; here it becomes the names of another agent. */

/** The names that a filter uses, and what each is called in some agent; an empty list: it has no such tool. */
export type ToolNames = Readonly<Record<string, readonly string[]>>

export type Translated =
  | { kind: 'all' }
  /** `missing`: names in the filter for which the agent has no tool. */
  | { kind: 'names'; names: readonly string[]; missing: readonly string[] }
  | { kind: 'regex'; source: string }

/** The plain names in a filter, or null when it is a regular expression. The same line that Claude Code draws. */
export function namesIn(what: string): string[] | null {
  if (/[^\w\s|,-]/.test(what)) return null
  const names = what.split(/[|,]/).map((name) => name.trim())
  return [...new Set(names.filter((name) => name !== ''))]
}

export function translate(what: string, tools: ToolNames, mcp?: (server: string, tool: string) => string): Translated {
  if (what === '*') return { kind: 'all' }
  const wanted = namesIn(what)
  if (!wanted) return { kind: 'regex', source: what }
  const natives = Object.values(tools).flat()
  const names: string[] = []
  const missing: string[] = []
  for (const name of wanted) {
    const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
    const native =
      server && tool && mcp ? [mcp(server, tool)] : (tools[name] ?? natives.filter((native) => native === name))
    if (native.length === 0) missing.push(name)
    names.push(...native)
  }
  return { kind: 'names', names: [...new Set(names)], missing }
}

/** From an agent's name of a tool to the names that a filter may use for it. */
export function neutralNames(...tables: readonly ToolNames[]): Record<string, string[]> {
  const neutral: Record<string, string[]> = {}
  for (const table of tables)
    for (const [name, natives] of Object.entries(table))
      for (const native of natives) neutral[native] = [...new Set([...(neutral[native] ?? []), name])]
  return neutral
}
