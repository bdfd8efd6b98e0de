/** Which files a search may show: not those that a deny or ask rule keeps from being read without a word. */

import { fileRuleMatches } from './paths/access.ts'
import { resolvePaths } from './paths/pattern.ts'
import type { PermissionQuestion } from './question.ts'
import { type Behavior, readRule } from './rule.ts'

type Asked = Pick<PermissionQuestion, 'settings' | 'cwd' | 'projectDir' | 'home'>

/** A search is judged by the folder it starts in; this judges each file that it finds there. */
export function searchable(asked: Asked): (path: string) => boolean {
  const rulesOf = (behavior: Behavior, texts: readonly string[] = []) =>
    texts.flatMap((text) => {
      const read = readRule(text, behavior)
      return read.ok && read.rule.specifier.kind === 'path' ? [{ behavior, rule: read.rule }] : []
    })
  const rules = [...rulesOf('deny', asked.settings.deny), ...rulesOf('ask', asked.settings.ask)]
  if (rules.length === 0) return () => true
  return (path) => {
    const access = { kind: 'read', paths: resolvePaths(path, asked.cwd, asked.home), tree: false } as const
    return !rules.some(({ behavior, rule }) => fileRuleMatches(rule, behavior, access, asked))
  }
}
