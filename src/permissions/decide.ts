/** One pure function decides on a call: allow, ask or deny, with the rule that said so. */

import { modeSays } from './modes.ts'
import { namedFilesFinding } from './named-files.ts'
import { allowingRule, type FileAccess, fileOf, inWorkingDirectories, placesOf } from './paths/access.ts'
import { freshView } from './paths/view.ts'
import { protectedFinding } from './protection.ts'
import type { Finding, PermissionQuestion, Ruling } from './question.ts'
import { isBuiltinRule } from './rules/builtin-rules.ts'
import { ruleMatches } from './rules/match.ts'
import type { Rule } from './rules/rule.ts'
import { type Rules, rulesOf } from './rules/rules.ts'
import { suggest } from './rules/suggest.ts'
import { isSecretFile } from './secret-files.ts'

/**
 * Deny rules, then ask rules, then allow rules, then the hook's allow, then the mode (spec 003 §5.12). The promise is
 * there for Bash alone, whose parser is loaded when a rule needs it; nothing else is awaited.
 */
export async function decide(question: PermissionQuestion): Promise<Ruling> {
  const { ruling, access, finding } = await judge(question)
  return {
    ...ruling,
    suggestions: ruling.decision === 'ask' ? suggest(question, access, finding.uncovered) : [],
    ...(access && { paths: access.paths }),
  }
}

export interface Judged {
  readonly ruling: Omit<Ruling, 'suggestions'>
  /** The file that the call is about, where it is about one. */
  readonly access: FileAccess | undefined
  readonly finding: Finding
}

/** The ruling alone, for callers that do not prompt; at once where nothing has to be loaded. */
export function judge(asked: PermissionQuestion): Promise<Judged> | Judged {
  const question = asked.tool === 'Bash' ? asked : seen(asked)
  const access = fileOf(question)
  const found = find(question, rulesOf(question.settings), access)
  const judged = (finding: Finding): Judged => ({ ruling: settle(question, finding, access), access, finding })
  return found instanceof Promise ? found.then(judged) : judged(found)
}

/** With what is seen of the files. A command line brings its own. */
function seen(asked: PermissionQuestion): PermissionQuestion {
  const question = { ...asked, files: asked.files ?? freshView }
  return { ...question, places: placesOf(question) }
}

/** Once it is loaded: even asking for it again costs more than most rulings. */
let bash: typeof import('./shell/judge.ts') | undefined

function find(question: PermissionQuestion, rules: Rules, access: FileAccess | undefined): Promise<Finding> | Finding {
  if (question.tool === 'Bash') return bash ? bash.judgeBash(question, rules) : findLater(question, rules)
  const guarded = access ? protectedFinding(access, question, rules) : namedFilesFinding(question, rules)
  for (const behavior of ['deny', 'ask'] as const) {
    const rule = rules[behavior].find((each) => ruleMatches(each, behavior, question, access))
    if (rule) return { word: behavior, rule, why: `the ${behavior} rule "${rule.text}" matches` }
    if (guarded?.word === behavior) return guarded
  }
  const rule =
    rules.allow.find((each) => ruleMatches(each, 'allow', question, access)) ??
    (access && allowingRule(rules.allow, access, question))
  if (rule) return { word: 'allow', rule, why: allowedBy(rule) }
  return { word: 'open', why: outsideOrSecret(access, question) ?? `no rule covers ${question.tool}` }
}

async function findLater(question: PermissionQuestion, rules: Rules): Promise<Finding> {
  bash = await import('./shell/judge.ts')
  return bash.judgeBash(question, rules)
}

const allowedBy = (rule: Rule): string =>
  `the ${isBuiltinRule(rule.text) ? 'built-in' : 'allow'} rule "${rule.text}" matches`

/** Why the built-in rule for reading does not cover a file, where that is why. */
function outsideOrSecret(access: FileAccess | undefined, question: PermissionQuestion): string | undefined {
  if (access?.kind !== 'read') return undefined
  const secret = access.paths.find(isSecretFile)
  if (secret) return `${secret} usually holds secrets`
  return inWorkingDirectories(access, question)
    ? undefined
    : `${access.paths.at(-1)} is outside the working directories`
}

/** The rules' word, the hook's and the mode's made one. */
function settle(
  question: PermissionQuestion,
  finding: Finding,
  access: FileAccess | undefined,
): Omit<Ruling, 'suggestions'> {
  const { hook, tool, mode } = question
  const rule = finding.rule && { rule: finding.rule.text }
  const because = mode === 'dontAsk' ? " because ona is running in don't ask mode" : ''
  const refused = (why: string) =>
    ({ decision: 'deny', reason: `Permission to use ${tool} has been denied${because}: ${why}.` }) as const
  if (hook === 'deny') return { decision: 'deny', reason: 'a hook denied it' }
  if (finding.word === 'deny') {
    return { decision: 'deny', reason: `Permission to use ${tool} has been denied: ${finding.why}.`, ...rule }
  }
  const said = modeSays(question, access)
  const open = finding.word === 'open' || finding.unlessDenied === true
  // A hook's allow replaces the user's answer. Plan mode's deny is no prompt, so it stays.
  const answered = hook === 'allow' && mode === 'dontAsk'
  if (open && said.word === 'deny' && !answered) return refused(mode === 'dontAsk' ? finding.why : said.why)
  if (finding.word === 'ask' || hook === 'ask') {
    const why = finding.word === 'ask' ? finding.why : 'a hook requires a prompt'
    const byRule = finding.word === 'ask' ? rule : undefined
    return mode === 'dontAsk' ? { ...refused(why), ...byRule } : { decision: 'ask', reason: why, ...byRule }
  }
  if (finding.word === 'allow') return { decision: 'allow', reason: finding.why, ...rule }
  if (hook === 'allow') return { decision: 'allow', reason: 'a hook allowed it' }
  return said.word === 'ask'
    ? { decision: 'ask', reason: said.why === finding.why ? said.why : `${said.why}; ${finding.why}` }
    : { decision: 'allow', reason: said.why }
}
