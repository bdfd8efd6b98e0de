/** One rule on its own, as a hook's `if` has it. */
import { ruleMatches } from './match.ts'
import { fileOf } from './paths/access.ts'
import type { PermissionQuestion } from './question.ts'
import { readRule } from './rule.ts'

/** Whether a rule as written (a hook's `if`) applies to a call; to a command line when it applies to any part of it. */
export async function matchesRule(text: string, question: PermissionQuestion): Promise<boolean> {
  const reading = readRule(text, 'ask')
  if (!reading.ok) return false
  const { rule } = reading
  if (rule.specifier.kind !== 'command') return ruleMatches(rule, 'ask', question, fileOf(question))
  return question.tool === 'Bash' && (await import('./shell/judge.ts')).bashRuleMatches(rule, 'ask', question)
}
