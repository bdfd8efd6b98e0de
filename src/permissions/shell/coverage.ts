/** Which commands an allow rule covers. */
import type { Rule } from '../rules/rule.ts'
import { HOLE } from '../wildcard.ts'
import { named } from './parse/by-name.ts'
import { type Allowable, asWritten, type ShellCommand, type ShellWord } from './parse/command.ts'
import { tells } from './parse/variables.ts'
import { clearForms, nameOf, needsExactRule, wrapperOf } from './parse/wrappers.ts'
import { languageRuns } from './programs/languages.ts'
import { mindsOptions, names, riskyWords } from './programs/risky-options.ts'
import type { CommandIndex, Placed } from './rule-index.ts'
import { gitCommand } from './spellings.ts'

/** The first allow rule that covers a command; `exactly`: of those without wildcards. */
export function coveringRule(index: CommandIndex, command: ShellCommand, exactly = false): Placed | undefined {
  if (index.isEmpty || !mayBeCovered(index, command)) return undefined
  let found: Placed | undefined
  for (const { texts, limits } of allowableOf(command)) {
    const covers = (rule: Rule, pattern: string): boolean => {
      const isExact = rule.specifier.kind === 'command' && rule.specifier.exact
      if (exactly && !isExact) return false
      const limit = limits()
      return (isExact || !limit.exactly) && limit.risky.every((word) => names(pattern, word))
    }
    const first = index.first(texts, covers)
    if (first && (!found || first.at < found.at)) found = first
  }
  return found
}

/** Whether a rule begins as the command does, also without what is looked through. */
function mayBeCovered({ mayMatch }: CommandIndex, { words, assignments }: ShellCommand): boolean {
  const first = words[0]
  if (!first || assignments || wrapperOf(nameOf(words))?.clear) return true
  return mayMatch(first.text)
}

function allowableOf(command: ShellCommand): readonly Allowable[] {
  command.known.allowable ??= [...barely(command), ...withVariables(command)]
  return command.known.allowable
}

/** Without its variables, where they change nothing. */
function barely(command: ShellCommand): Allowable[] {
  const { words, variables } = command
  if (!variables.every(isSafeVariable)) return []
  const found: Allowable[] = []
  for (const form of clearForms(words)) {
    if (!form[0]?.literal) continue
    const git = gitCommand(form, false)
    found.push({
      texts: git === form ? [asWritten(form)] : [asWritten(form), asWritten(git)],
      limits: once(() => ({
        exactly: needsExactRule(form) || languageRuns(form) || addsWords(words, form),
        risky: riskyWords(form, command),
      })),
    })
  }
  return found
}

/** With its variables: what programs are found by and loaded with takes a rule that says so in full. */
function withVariables(command: ShellCommand): Allowable[] {
  const { words, variables, assignments } = command
  if (!assignments || words[0]?.literal === false) return []
  const limits = once(() => ({
    exactly: needsExactRule(words) || languageRuns(words) || variables.some(tells),
    risky: riskyWords(words, command),
  }))
  return [{ texts: [words.length === 0 ? assignments : `${assignments} ${asWritten(words)}`], limits }]
}

/** Most commands are covered by no rule, whatever its limits. */
function once<T>(work: () => T): () => T {
  let found: T | undefined
  return () => {
    found ??= work()
    return found
  }
}

/** `xargs git`: the words that it reads may be any option of a program that has some to mind. */
const addsWords = (words: readonly ShellWord[], inner: readonly ShellWord[]): boolean =>
  clearForms(words).some((form) => nameOf(form) === 'xargs') && mindsOptions(inner)

/** Sets variables that change nothing, or only opens files, which are judged on their own. */
export const harmless = ({ words, variables }: ShellCommand): boolean =>
  words.length === 0 && variables.every(isSafeVariable)

const safeVariables =
  /^(NODE_ENV|LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|CI|TERM|COLUMNS|LINES|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH)$/
export const isSafeVariable = named(safeVariables)

export const textOf = ({ words }: ShellCommand): string => asWritten(words)
/** What an allow rule has to name: the command without what is looked through, or with its variables. */
export const wholeText = (command: ShellCommand): string => {
  const { words, variables, assignments = variables.map((name) => `${name}=…`).join(' ') } = command
  if (variables.every(isSafeVariable)) return asWritten(gitCommand(clearForms(words).at(-1)!, false))
  return `${assignments} ${textOf(command)}`.trim()
}
export const clip = (text: string): string =>
  (text.length > 200 ? `${text.slice(0, 200)}…` : text).replaceAll(HOLE, '…')
