/** A filter names tools as Claude Code does; here it becomes the names of another agent. */
import { nearest } from '../hooks/text/nearest.ts'
import { slowPart } from '../hooks/text/slow-regex.ts'
import { claudeOwnTools, claudeTools } from './claudecode/tools.ts'
import type { BrainHook } from './hook.ts'
import type { Limit } from './host.ts'
import type { ToolDialect } from './tool-names.ts'

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

export function translate(what: string, { tools, mcp }: Pick<ToolDialect, 'tools' | 'mcp'>): Translated {
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

/** What an agent cannot do with a tool hook's filter: names without a tool there, expressions that match no tool. */
export function filterLimits(hook: BrainHook, dialect: ToolDialect): Limit[] {
  if (hook.event !== 'onTool') return []
  const what = hook.filter?.what.trim() || '*'
  const translated = translate(what, dialect)
  if (translated.kind === 'all') return []
  if (translated.kind === 'regex') return expressionLimits(hook, what, dialect)
  const { names, missing } = translated
  const { title } = dialect
  if (names.length + missing.length === 0) return [{ hook, dropped: true, why: `the filter "${what}" names no tool` }]
  if (missing.length === 0) return []
  const hints = [...new Set(missing.flatMap((name) => hintFor(name, dialect)))]
  const hint = hints.length > 0 ? `; ${hints.join(', ')}` : ''
  return [{ hook, dropped: names.length === 0, why: `${title} has no tool for ${missing.join(', ')}${hint}` }]
}

function expressionLimits(hook: BrainHook, what: string, dialect: ToolDialect): Limit[] {
  const fault = slowPart(what) ?? dialect.regexFault?.(what)
  if (fault) return [{ hook, dropped: true, why: fault }]
  const source = new RegExp(what)
  if ([...namesOf(dialect), 'mcp__server__tool'].some((name) => source.test(name))) return []
  const none = `${dialect.title} has no tool that the expression "${what}" matches`
  // which servers there are is not known here: an expression for one of them may match
  if (/mcp_?_/.test(what)) {
    const mayMatch = what.includes('mcp__')
    return mayMatch ? [] : [{ hook, dropped: false, why: `${none} for certain; ${mcpNames}` }]
  }
  const rule = /^(\w+)\(.*\)$/.exec(what)?.[1]
  const hint = rule ? `; a filter names tools, so write "${rule}" and let the command look at the input` : ''
  return [{ hook, dropped: true, why: `${none}${hint}` }]
}

const namesOf = ({ tools }: ToolDialect) => [...Object.keys(tools), ...Object.values(tools).flat()]

const mcpNames = 'a tool of an MCP server is called mcp__SERVER__TOOL'

/** What may be meant by a name without a tool. */
function hintFor(name: string, dialect: ToolDialect): string[] {
  if (/^mcp__[^_]+(_[^_]+)*$/.test(name)) return [`write "${name}__.*" for every tool of the server`]
  if (/^mcp/i.test(name)) return [mcpNames]
  if (Object.hasOwn(claudeTools, name) || Object.hasOwn(claudeOwnTools, name)) return []
  if (Object.values(claudeTools).some((natives: string[]) => natives.includes(name))) return []
  const meant = nearest(name, namesOf(dialect))
  return meant ? [`did you mean ${meant}?`] : []
}
