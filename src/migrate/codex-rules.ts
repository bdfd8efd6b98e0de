/** `prefix_rule(pattern=[…], decision=…)` of Codex, as rules of ona. Starlark is not run: what is not a plain list of words is left. */

export interface Rule {
  readonly list: 'allow' | 'ask' | 'deny'
  readonly text: string
}

const lists: Readonly<Record<string, Rule['list']>> = { allow: 'allow', prompt: 'ask', forbidden: 'deny' }

export function rulesFile(text: string): { readonly rules: readonly Rule[]; readonly unread: readonly string[] } {
  const rules: Rule[] = []
  const unread: string[] = []
  const code = text.replace(/^\s*#.*$/gm, '')
  for (const [call] of code.matchAll(/\bprefix_rule\s*\((?:[^()"']|"[^"]*"|'[^']*')*\)/g)) {
    const pattern = /\bpattern\s*=\s*(\[(?:[^[\]]|\[[^\]]*\])*\])/.exec(call)?.[1]
    const decision = /\bdecision\s*=\s*["'](\w+)["']/.exec(call)?.[1] ?? 'allow'
    const words = pattern && wordLists(pattern)
    const list = lists[decision]
    if (!words || !list) unread.push(call.replaceAll(/\s+/g, ' ').slice(0, 120))
    else for (const each of words) rules.push({ list, text: `Bash(${each.join(' ')} *)` })
  }
  for (const [other] of code.matchAll(/^(?!prefix_rule\b)\w+\s*\(.*$/gm)) unread.push(other.slice(0, 120))
  return { rules, unread }
}

/** `["git", ["push", "pull"]]`: every combination; undefined where something is not a plain word. */
function wordLists(pattern: string): string[][] | undefined {
  let value: unknown
  try {
    value = JSON.parse(pattern.replaceAll("'", '"').replace(/,\s*\]/g, ']'))
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || value.length === 0) return undefined
  let lists: string[][] = [[]]
  for (const part of value) {
    const choices: unknown[] = Array.isArray(part) ? part : [part]
    if (
      !choices.every((each) => typeof each === 'string' && /^[\w./:=@+-]+$/.test(each)) ||
      lists.length * choices.length > 64
    )
      return undefined
    lists = lists.flatMap((words) => choices.map((each) => [...words, each as string]))
  }
  return lists
}
