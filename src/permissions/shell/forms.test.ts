/** What a command runs, and what an allow rule has to name of it: `COMMAND ¦ FORMS`. */
import { join } from 'node:path'
import { test } from 'node:test'
import { holdsTable } from '../../../test/support/table.ts'
import { HOLE } from '../wildcard.ts'
import { asWritten, type ShellWord } from './parse/command.ts'
import { readShell } from './parse/read.ts'
import { clearForms, formsOf, needsExactRule } from './parse/wrappers.ts'
import { languageRuns } from './programs/languages.ts'
import { riskyWords } from './programs/risky-options.ts'

/**
 * The commands that it wraps, each after a `>`, and `=` where an allow rule for it is enough. Then, of the command itself:
 * `exact` where a wildcard does not allow it, `names` before words that the rule has to name.
 */
function resultOf(line: string): string {
  const command = readShell(line).commands[0]!
  const { words } = command
  const clear = clearForms(words)
  const shown = (form: readonly ShellWord[]) => asWritten(form).replaceAll(HOLE, '…')
  const inner = formsOf(command)
    .slice(1)
    .map((form) => `${clear.some((each) => asWritten(each) === asWritten(form)) ? '=>' : '>'} ${shown(form)}`)
  const unseen = clear.slice(1).filter((form) => !formsOf(command).some((each) => asWritten(each) === asWritten(form)))
  const risky = riskyWords(words, command)
  return [
    ...inner,
    ...unseen.map((form) => `= ${shown(form)}`),
    ...(needsExactRule(words) || languageRuns(words) ? ['exact'] : []),
    ...(risky.length > 0 ? [`names ${risky.join(' ').replaceAll(HOLE, '…')}`] : []),
  ].join('; ')
}

test('what a command runs, and what an allow rule has to name', () => {
  holdsTable(join(import.meta.dirname, 'fixtures/forms.txt'), resultOf)
})
