/** One rule on its own, as a hook's `if` has it. */

import { fileOf } from '../paths/access.ts'
import type { PermissionQuestion } from '../question.ts'
import { ruleMatches } from './match.ts'
import { readRule } from './rule.ts'

/**
 * Whether a rule as written (a hook's `if`) applies to a call; to a command line when it applies, or may apply, to any
 * part of it: `Edit(src/**)` sees what a command would write there.
 */
export async function matchesRule(text: string, question: PermissionQuestion): Promise<boolean> {
  const reading = readRule(text, 'ask')
  if (!reading.ok) return true // fails closed: the hook runs
  const { rule } = reading
  const { kind } = rule.specifier
  const isBash = question.tool === 'Bash'
  if (isBash && (kind === 'command' || kind === 'path'))
    return (await import('../shell/judge.ts')).bashRuleMatches(rule, question)
  return ruleMatches(rule, 'ask', question, fileOf(question))
}
