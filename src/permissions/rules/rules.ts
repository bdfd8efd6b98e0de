/** The rules of a settings object, read once and kept with it. */
import type { PermissionSettings } from '../question.ts'
import { perObject } from '../recent.ts'
import { type Behavior, type Rule, readRule } from './rule.ts'

export interface Rules extends Readonly<Record<Behavior, readonly Rule[]>> {
  /** What was dropped or is never consulted, each quoted, for the user. */
  readonly warnings: readonly string[]
}

export const rulesOf: (settings: PermissionSettings) => Rules = perObject(readRules)

function readRules(settings: PermissionSettings): Rules {
  const warnings: string[] = []
  const list = (behavior: Behavior): Rule[] => {
    const rules: Rule[] = []
    const texts: unknown = settings[behavior] ?? []
    if (!Array.isArray(texts)) {
      warnings.push(`permissions.${behavior} must be a list of rules; it is not, and was skipped`)
      return []
    }
    for (const text of texts) {
      const reading = readRule(text, behavior)
      if (!reading.ok) {
        warnings.push(`Invalid permission rule ${JSON.stringify(text)} in ${behavior} was skipped: ${reading.why}`)
        continue
      }
      rules.push(reading.rule)
      if (reading.warning) warnings.push(`Permission rule "${text}" in ${behavior}: ${reading.warning}`)
    }
    return rules
  }
  return { deny: list('deny'), ask: list('ask'), allow: list('allow'), warnings }
}
