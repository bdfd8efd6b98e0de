/** Which commands an allow rule covers. */
import type { Rule } from '../rule.ts'
import { HOLE, matches } from '../wildcard.ts'
import type { Allowable, ShellCommand, ShellWord } from './command.ts'
import { languageRuns } from './programs/languages.ts'
import { mindsOptions, names, riskyWords } from './programs/risky-options.ts'
import { gitCommand } from './spellings.ts'
import { tells } from './variables.ts'
import { clearForms, nameOf, needsExactRule } from './wrappers.ts'

export function allowRuleCovers({ specifier }: Rule, command: ShellCommand): boolean {
  if (specifier.kind !== 'command') return false
  for (const { texts, exactly, risky } of allowableOf(command)) {
    if (exactly && !specifier.exact) continue
    for (const pattern of specifier.patterns)
      for (const text of texts) if (matches(pattern, text) && risky.every((word) => names(pattern, word))) return true
  }
  return false
}

function allowableOf(command: ShellCommand): readonly Allowable[] {
  command.known.allowable ??= [...barely(command), ...asWritten(command)]
  return command.known.allowable
}

/** Without its variables, where they change nothing. */
function barely(command: ShellCommand): Allowable[] {
  const { words, variables } = command
  if (!variables.every(isSafeVariable)) return []
  return clearForms(words)
    .filter((each) => each.length > 0 && each[0]!.literal)
    .map((each) => ({
      texts: [...new Set([each, gitCommand(each, false)])].map((form) => form.map((word) => word.text).join(' ')),
      exactly: needsExactRule(each) || languageRuns(each) || addsWords(words, each),
      risky: riskyWords(each, command),
    }))
}

/** With its variables: what programs are found by and loaded with takes a rule that says so in full. */
function asWritten(command: ShellCommand): Allowable[] {
  const { words, variables, assignments } = command
  if (!assignments || words[0]?.literal === false) return []
  const text = [assignments, ...words.map((word) => word.text)].join(' ')
  const exactly = needsExactRule(words) || languageRuns(words) || variables.some(tells)
  return [{ texts: [text], exactly, risky: riskyWords(words, command) }]
}

/** `xargs git`: the words that it reads may be any option of a program that has some to mind. */
const addsWords = (words: readonly ShellWord[], inner: readonly ShellWord[]): boolean =>
  mindsOptions(inner) && nameOf(inner) !== 'xargs' && clearForms(words).some((form) => nameOf(form) === 'xargs')

/** Sets variables that change nothing, or only opens files, which are judged on their own. */
export const harmless = ({ words, variables }: ShellCommand): boolean =>
  words.length === 0 && variables.every(isSafeVariable)

const safeVariables =
  /^(NODE_ENV|LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|CI|TERM|COLUMNS|LINES|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH)$/
export const isSafeVariable = (name: string): boolean => safeVariables.test(name)

export const textOf = ({ words }: ShellCommand): string => words.map((word) => word.text).join(' ')
/** What an allow rule has to name: the command without what is looked through, or with its variables. */
export const wholeText = (command: ShellCommand): string => {
  const { words, variables, assignments = variables.map((name) => `${name}=…`).join(' ') } = command
  if (variables.every(isSafeVariable))
    return textOf({ ...command, words: gitCommand(clearForms(words).at(-1)!, false) })
  return `${assignments} ${textOf(command)}`.trim()
}
export const clip = (text: string): string =>
  (text.length > 200 ? `${text.slice(0, 200)}…` : text).replaceAll(HOLE, '…')
