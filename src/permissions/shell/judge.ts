/** Rules on Bash: held against every command in a line, in every spelling it may have. */
import type { Finding, PermissionQuestion } from '../question.ts'
import type { Rule } from '../rules/rule.ts'
import type { Rules } from '../rules/rules.ts'
import { doubtful, forbidden } from './forbidden.ts'
import { guarded } from './guarded.ts'
import { type Line, lineOf } from './line.ts'
import { permitted } from './permitted.ts'

export function judgeBash(question: PermissionQuestion, rules: Rules): Finding {
  const line = lineOf(question, rules)
  const guard = guarded(line)
  const denied = forbidden(line, 'deny') ?? (guard?.word === 'deny' ? guard : undefined)
  return denied ?? forbidden(line, 'ask') ?? guard ?? unlessDoubtful(line)
}

function unlessDoubtful(line: Line): Finding {
  const doubt = doubtful(line)
  const otherwise = permitted(line)
  if (!doubt || otherwise.word === 'deny') return otherwise
  return { ...doubt, ...(otherwise.word === 'open' && { unlessDenied: true }) }
}

/** Whether one rule applies, or may apply, to any part of a command line. */
export function bashRuleMatches(rule: Rule, question: PermissionQuestion): boolean {
  const line = lineOf(question, { allow: [], deny: [], ask: [rule], warnings: [] })
  return (forbidden(line, 'ask') ?? doubtful(line))?.rule === rule
}
