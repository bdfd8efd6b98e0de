/** What protected paths mean for a call: they are rules of every tool, above the user's allow rules and the mode. */
import type { FileAccess } from './paths/access.ts'
import { fileRuleMatches } from './paths/access.ts'
import { type ProtectedPath, protectionOf } from './protected-paths.ts'
import type { Finding, PermissionQuestion } from './question.ts'
import type { Rules } from './rules/rules.ts'

/** The row that protects one of the spellings of a path; the strictest of them: what may not be read, may not be changed either. */
export function protectionFor(
  { paths }: Pick<FileAccess, 'paths'>,
  { home, protect }: PermissionQuestion,
): ProtectedPath | undefined {
  const rows = paths.flatMap((path) => protectionOf(path, home, protect) ?? [])
  const unread = rows.find(({ read }) => read !== undefined)
  return unread ?? rows.find(({ edit }) => edit === 'deny') ?? rows.find(({ edit }) => edit === 'ask') ?? rows[0]
}

/** Deny or ask for a file that a call touches; undefined where the ordinary rules decide. */
export function protectedFinding(
  access: FileAccess,
  question: PermissionQuestion,
  rules: Rules,
): (Finding & { readonly word: 'deny' | 'ask' }) | undefined {
  const row = protectionFor(access, question)
  if (!row) return undefined
  const path = access.paths[0]!
  if (access.kind === 'read') {
    return row.read ? { word: 'deny', why: `${path} is ${row.what}, which no tool may read` } : undefined
  }
  if (row.edit === 'deny') return { word: 'deny', why: `${path} is ${row.what}, which no tool may change` }
  if (row.edit === 'mode' || namedByRule(row, access, question, rules)) return undefined
  return { word: 'ask', why: `${path} is ${row.what}` }
}

/** An allow rule that spells out the protected name is meant for it: `Edit(.ona/skills/**)`. A bare `Edit` is not. */
function namedByRule(row: ProtectedPath, access: FileAccess, question: PermissionQuestion, { allow }: Rules): boolean {
  const [name = ''] = row.path.split('/').slice(row.at === 'exact' ? -1 : 0)
  return allow.some(
    (rule) =>
      rule.specifier.kind === 'path' &&
      rule.specifier.pattern.names.includes(name) &&
      fileRuleMatches(rule, 'allow', access, question),
  )
}
