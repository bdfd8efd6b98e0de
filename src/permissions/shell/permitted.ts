/** What allow rules say of a command line: every part covered by one, and every file that it opens. */
import { modeSays } from '../modes.ts'
import { allowingRule, type FileAccess } from '../paths/access.ts'
import type { Finding } from '../question.ts'
import { isBuiltinRule } from '../rules/builtin-rules.ts'
import type { Rule } from '../rules/rule.ts'
import { HOLE } from '../wildcard.ts'
import { clip, coveringRule, harmless, isSafeVariable, wholeText } from './coverage.ts'
import { movesAway } from './files/directories.ts'
import { configRunsPrograms, inProjectRepository } from './files/git-place.ts'
import type { Place } from './files/place.ts'
import type { Line } from './line.ts'
import type { Permission, ShellCommand, ShellWord } from './parse/command.ts'
import { tells } from './parse/variables.ts'
import { nameOf } from './parse/wrappers.ts'
import { readOnlyUse } from './programs/read-only.ts'
import { mindsOptions } from './programs/risky-options.ts'

export function permitted(line: Line): Finding {
  const { commands, unknown } = line.reading
  const { whole } = line.place.index
  if (whole) return { word: 'allow', rule: whole, why: `the allow rule "${whole.text}"` }
  if (unknown) return { word: 'open', why: unknown }
  if (commands.length === 0) return { word: 'open', why: 'there is no command in it' }
  const stray = strayGit(line)
  if (stray) return { word: 'open', why: stray }
  const dashed = commands.find((command) => dashedNames(line, command))
  if (dashed)
    return {
      word: 'open',
      why: `a file whose name is an option is among the words of \`${clip(wholeText(dashed))}\``,
    }
  const uncovered: string[] = []
  let rule: Rule | undefined
  for (const command of commands) {
    const verdict = line.place.verdictOf(command)
    verdict.permission ??= permissionFor(line.place, command)
    const { permission } = verdict
    if (permission.ends) return permission.ends
    rule = rule && !isBuiltinRule(rule.text) ? rule : (permission.rule ?? rule)
    if (permission.uncovered !== undefined) uncovered.push(permission.uncovered)
  }
  if (uncovered.length > 0) return { word: 'open', why: `no rule allows \`${clip(uncovered[0]!)}\``, uncovered }
  const kind = rule && isBuiltinRule(rule.text) ? 'built-in' : 'allow'
  return { word: 'allow', ...(rule && { rule }), why: `the ${kind} rule "${rule?.text}"` }
}

function permissionFor(place: Place, command: ShellCommand): Permission {
  const rule = allowing(place, command)
  const uncovered = rule || harmless(command) ? undefined : wholeText(command)
  return { rule, uncovered, ends: filesEnd(place, command) }
}

/** The first of the allow rules that covers a command, the built-in one among them. */
function allowing(place: Place, command: ShellCommand): Rule | undefined {
  const { commands, builtin } = place.index
  const found = coveringRule(commands.allow, command)
  if (!builtin || (found && found.at < builtin.at)) return found?.rule
  return builtinCovers(place, command) ? builtin.rule : found?.rule
}

/** What ends the matter: a file that the shell may not open. */
function filesEnd(place: Place, { reads, writes }: ShellCommand): Finding | undefined {
  for (const target of writes) {
    const word = writeIs(place, target)
    if (word === 'deny') return { word: 'deny', why: `${target.text} may not be written in this mode` }
    if (word === 'ask') return { word: 'open', why: `it writes ${target.text}` }
  }
  const unread = reads.find((target) => !mayRead(place, target))
  return unread && { word: 'open', why: `it reads ${unread.text}` }
}

/** Git reads the configuration of the repository it runs in, and that can run programs. */
function strayGit({ reading, place }: Line): string | undefined {
  if (!reading.commands.some((each) => nameOf(each.words) === 'git')) return undefined
  if (reading.commands.some(movesAway)) return 'it changes directory before it runs git'
  const { cwd, projectDir } = place.question
  return place.answer('own repository', () => inProjectRepository(cwd, projectDir))
    ? undefined
    : `git would run in another repository than that of ${projectDir}`
}

/** `tar cf x *` beside a file named `--checkpoint-action=exec=x`, or in a line that may make one. */
function dashedNames(line: Line, { words }: ShellCommand): boolean {
  if (!words.some(startsOpen) || !mindsOptions(words)) return false
  const { commands } = line.reading
  const makes = commands.some((each) =>
    each.words.some(
      ({ value }, at) => /\/-/.test(value) || (at > 1 && each.words[at - 1]!.value === '--' && value.startsWith('-')),
    ),
  )
  return makes || words.filter(startsOpen).some((word) => line.place.mayBeOption(word))
}

const startsOpen = ({ glob, path }: ShellWord): boolean => glob && /^[*?[{-]/.test(path)

function builtinCovers(place: Place, command: ShellCommand): boolean {
  if (command.words.length === 0)
    return command.variables.every((name) => isSafeVariable(name) || isPlainVariable(name))
  if (!command.variables.every(isSafeVariable)) return false
  const use = readOnlyUse(command)
  if (!use || (use.git && gitRunsPrograms(place))) return false
  return use.paths.every((word) => place.readable(word, use))
}

const gitRunsPrograms = (place: Place): boolean =>
  place.answer('git runs programs', () => configRunsPrograms(place.question.projectDir))

/** Programs are steered by variables in capitals. */
const isPlainVariable = (name: string): boolean => /^[a-z_][a-z0-9_]*$/.test(name) && !tells(name)

/** What the rules and the mode say of a file that the shell opens for writing. */
function writeIs(place: Place, target: ShellWord): 'allow' | 'ask' | 'deny' {
  if (/^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/.test(target.value)) return 'allow'
  if (target.path.includes(HOLE) || target.glob || !place.directories) return 'ask'
  const words = place.accesses(target, 'edit').map((access) => {
    const bare = place.rules.allow.some((rule) => rule.tool === 'Write' && rule.specifier.kind === 'any')
    return bare || allowingRule(place.rules.allow, access, place.question)
      ? 'allow'
      : modeSays({ ...place.question, tool: 'Write' }, access).word
  })
  return words.find((word) => word !== 'allow') ?? 'allow' // no mode asks of one folder and denies in another
}

/** `< file` is judged as Read is: inside the working directories, or by a rule or the mode. */
function mayRead(place: Place, target: ShellWord): boolean {
  if (place.readable(target)) return true
  if (place.rules.allow.some((rule) => rule.tool === 'Read' && rule.specifier.kind === 'any')) return true
  if (target.path.includes(HOLE) || target.glob || !place.directories) return false
  const allowed = (access: FileAccess) =>
    allowingRule(place.rules.allow, access, place.question) !== undefined ||
    modeSays({ ...place.question, tool: 'Read' }, access).word === 'allow'
  return place.accesses(target, 'read').every(allowed)
}
