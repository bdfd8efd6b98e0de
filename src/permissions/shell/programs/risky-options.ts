/** Words that run a program or move to another place: an allow rule covers them only where it names them. */

import { abbreviates, optionName } from '../parse/abbreviates.ts'
import { byName } from '../parse/by-name.ts'
import type { ShellCommand, ShellWord } from '../parse/command.ts'
import { nameOf } from '../parse/wrappers.ts'
import { anywhere, byProgram, gitLetters, type RiskyUse, whole } from './risky-programs.ts'

/** The words of a command that an allow rule has to name, as they are written. */
export function riskyWords(
  words: readonly ShellWord[],
  { fed }: Partial<Pick<ShellCommand, 'fed'>> = {},
): readonly string[] {
  const name = nameOf(words)
  const use = useOf(name)
  const found: string[] = []
  const operands: string[] = []
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!
    const before = words[at - 1]!.value
    if (before === '--') {
      operands.push(...words.slice(at).map(({ value }) => value))
      break
    }
    const option = word.value.startsWith('-') || word.value.startsWith('+')
    if (use.script && !option && !before.startsWith('-')) break
    if (!option && !(operands.length === 0 && use.takes?.includes(before))) operands.push(word.value)
    const letters = (name === 'git' && operands.length > 0 ? own(gitLetters, operands[0]!) : use.letters) ?? ''
    if (mayBeOption(word, before, use) || (option && optionRuns(word.value, use, letters))) found.push(head(word))
    else if (use.words?.test(word.value)) found.push(word.value)
  }
  const [verb = '', ...rest] = operands
  if (use.verbs && own(use.verbs, verb)?.test(rest.join(' '))) found.push(verb)
  if (fed && use.fed) found.push('<')
  return found
}

/** Whether a rule's pattern names a risky word: it has it, or a beginning of it and a wildcard. */
export function names(pattern: string, risky: string): boolean {
  return pattern.split(/\s+/).some((word) => {
    const start = word.split(/[=*]/, 1)[0]!
    return word === risky || start === risky || (word.includes('*') && start.length > 2 && risky.startsWith(start))
  })
}

/** Whether a file whose name begins with a dash would be an option that a program in the tables minds. */
export const mindsOptions = (words: readonly ShellWord[]): boolean =>
  Object.hasOwn(byProgram, nameOf(words)) && !words.some((word) => word.value === '--')

/** A word of a command may be the name of what every object has: `git toString`. */
const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

const none: RiskyUse = {}
const useOf = byName((name): RiskyUse => own(byProgram, name) ?? own(byProgram, name.replace(/[\d.]+$/, '')) ?? none)

const head = ({ value, text, literal }: ShellWord): string => (literal ? optionName(value) : text)

/** What only the run can tell may be an option, unless it is the value of one. */
function mayBeOption({ value, text, literal, glob }: ShellWord, before: string, use: RiskyUse): boolean {
  if (literal || glob || use === none) return false
  const quoted = text.startsWith('"')
  if (quoted && (valued.test(before) || !value.startsWith('\u0000'))) return false
  return quoted ? true : value.startsWith('\u0000') || /[^\u0000/.\w-]/.test(value)
}

/** Options of many programs whose value is text. */
const valued =
  /^(-\w*[mbBtnkpU]|--(message|author|date|format|pretty|since|until|grep|body|title|name|filter|workspace))$/

function optionRuns(value: string, { takes = [], long = [], only }: RiskyUse, letters: string): boolean {
  if (only) return !only.test(value)
  if (value.startsWith('--')) {
    const given = optionName(value)
    if (runsAnywhere(given)) return true
    return long.some(optionIn(given))
  }
  if (long.some((each) => !each.startsWith('--') && value.startsWith(each))) return true
  for (const letter of value.slice(1)) {
    if (letters.includes(letter)) return true
    if (takes.includes(`-${letter}`) || !/\w/.test(letter)) return false
  }
  return false
}

/** An option by which every program that has it runs another, or moves. */
export const runsAnywhere = byName((given) => anywhere.some(optionIn(given)))

/** At least two letters of an abbreviation: shorter ones are no program's. */
function optionIn(given: string): (option: string) => boolean {
  const mayBeShort = given.length > 3 && !whole.test(given)
  return (option) => given === option || (mayBeShort && abbreviates(given, option))
}
