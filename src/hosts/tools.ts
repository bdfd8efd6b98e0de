/** A filter names tools as Claude Code does; here it becomes the names of another agent. */
import { nearest } from '../hooks/text/nearest.ts'
import { claudeTools } from './claudecode/tools.ts'
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
  const { title, tools } = dialect
  const known = [...Object.keys(tools), ...Object.values(tools).flat()]
  const translated = translate(what, dialect)
  if (translated.kind === 'all') return []
  if (translated.kind === 'regex') {
    const fault = dialect.regexFault?.(what)
    if (fault) return [{ hook, dropped: true, why: fault }]
    const source = new RegExp(what)
    if (what.includes('mcp') || known.some((name) => source.test(name))) return []
    const rule = /^(\w+)\(.*\)$/.exec(what)?.[1]
    const hint = rule ? `; a filter names tools, so write "${rule}" and let the command look at the input` : ''
    return [{ hook, dropped: true, why: `${title} has no tool that the expression "${what}" matches${hint}` }]
  }
  const { names, missing } = translated
  if (missing.length === 0) return []
  const meant = missing.filter((name) => !Object.hasOwn(claudeTools, name)).map((name) => nearest(name, known))
  const hint = meant.some(Boolean) ? `; did you mean ${meant.filter(Boolean).join(', ')}?` : ''
  return [{ hook, dropped: names.length === 0, why: `${title} has no tool for ${missing.join(', ')}${hint}` }]
}
