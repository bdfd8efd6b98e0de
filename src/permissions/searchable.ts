/** Which files a search may show: not those that Read would be denied or would prompt for. */
import { modeInForce } from './modes.ts'
import { allowingRule, fileRuleMatches } from './paths/access.ts'
import { resolvePaths } from './paths/pattern.ts'
import { protectionOf } from './protected-paths.ts'
import type { PermissionQuestion } from './question.ts'
import { rulesOf } from './rules/rules.ts'
import { isSecretFile } from './secret-files.ts'

type Asked = Pick<PermissionQuestion, 'settings' | 'mode' | 'cwd' | 'projectDir' | 'home' | 'origins' | 'protect'>

/** A search is judged by the folder it starts in; this judges each file that it finds there. */
export function searchable(asked: Asked): (path: string) => boolean {
  const { settings, mode, cwd, home, protect } = asked
  const rules = rulesOf(settings)
  const forbidding = (['deny', 'ask'] as const).flatMap((behavior) =>
    rules[behavior].filter(({ specifier }) => specifier.kind === 'path').map((rule) => ({ behavior, rule })),
  )
  // whoever allowed reading outright, by rule or by mode, allowed it for secrets too
  const open =
    modeInForce(mode, settings) === 'bypassPermissions' ||
    rules.allow.some((rule) => rule.tool === 'Read' && rule.specifier.kind === 'any')
  return (path) => {
    const secret = isSecretFile(path)
    if (!secret && forbidding.length === 0) return true
    const access = { kind: 'read', paths: resolvePaths(path, cwd, home), tree: false } as const
    if (forbidding.some(({ behavior, rule }) => fileRuleMatches(rule, behavior, access, asked))) return false
    if (!secret) return true
    if (access.paths.some((each) => protectionOf(each, home, protect)?.read)) return false
    return open || allowingRule(rules.allow, access, asked) !== undefined
  }
}
