/** What commands run as text: scripts that are given to shells, and what of them cannot be known. */

import { gitScripts } from '../programs/embedded.ts'
import { sedRuns } from '../programs/languages.ts'
import { abbreviates } from './abbreviates.ts'
import { byName, named } from './by-name.ts'
import type { ShellCommand, ShellWord } from './command.ts'
import { afterOptions, formsOf, mostForms, nameOf, runsLater, shells, wrapperOf } from './wrappers.ts'

/** Builtins that evaluate the text they are given: a name such as `a[$(…)]` runs what is in it. */
const evaluators = [
  'test',
  '[',
  'let',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'printf',
  'read',
  'unset',
  'wait',
]

/** What a command line makes other programs run as text, and what of that cannot be known. */
export function look(command: ShellCommand): Look {
  const wrapped = formsOf(command)
  if (wrapped.length > mostForms) return { scripts: [], unknown: 'it wraps commands too deeply' }
  for (const form of wrapped) {
    const first = form[0]
    if (!first) continue
    if (!first.literal) return { scripts: [], unknown: 'the name of a command in it is only known when it runs' }
    if (isOdd(first.value)) return { scripts: [], unknown: 'a command name is not plain ASCII' }
  }
  if (wrapped.length === 1) return lookAt(wrapped[0]!)
  const all = wrapped.map(lookAt)
  return {
    scripts: all.flatMap((each) => each.scripts),
    unknown: all.find((each) => each.unknown)?.unknown,
    evaluates: all.some((each) => each.evaluates),
  }
}

const isOdd = named(/[^\u0020-\u007e]/)

interface Look {
  readonly scripts: readonly string[]
  readonly unknown?: string | undefined
  readonly evaluates?: boolean
}

const nothingSeen: Look = { scripts: [], evaluates: false }

/** Programs of which there is more to know than that they run. */
const isSpecial = byName(
  (name): boolean =>
    [shells, evaluators, runsLater, special, setsOptions].some((names) => names.includes(name)) ||
    wrapperOf(name) !== undefined ||
    interprets.test(name) ||
    takesScript.test(name) ||
    loads.test(name),
)
const special = ['eval', 'source', '.', 'trap', 'git', 'run-parts', 'mapfile', 'readarray']
/** Builtins that set options of the shell: of bash, and those of zsh. */
const setsOptions = ['set', 'shopt', 'setopt', 'unsetopt', 'emulate']
const loads = /^ld(-linux.*)?\.so/

function lookAt(words: readonly ShellWord[]): Look {
  const name = nameOf(words)
  if (!isSpecial(name)) return nothingSeen
  const args = words[1]?.value === '--' ? words.slice(2) : words.slice(1)
  const literal = (word: ShellWord | undefined, what: string): Look =>
    word?.literal ? { scripts: [word.value] } : { scripts: [], unknown: `what ${what} runs is only known when it runs` }
  if (shells.includes(name)) return lookAtShell(name, args)
  if (name === 'eval') {
    return args.every((word) => word.literal)
      ? { scripts: [args.map((word) => word.value).join(' ')] }
      : literal(undefined, 'eval')
  }
  if (name === 'source' || name === '.') return { scripts: [], unknown: `${name} runs a file` }
  if (name === 'trap') {
    return args.length < 2 || args[0]!.value.startsWith('-') ? { scripts: [] } : literal(args[0], 'trap')
  }
  if (name === 'git') return gitScripts(words)
  if (name === 'sed' && sedRuns(words)) return { scripts: [], unknown: 'the e of sed runs what it makes' }
  if (name === 'run-parts') return { scripts: [], unknown: 'run-parts runs the files of a folder' }
  if (loads.test(name)) return { scripts: [], unknown: `${name} runs any program` }
  if (interprets.test(name) && readsProgram(args))
    return { scripts: [], unknown: `${name} reads its program from its input` }
  if (takesScript.test(name) && args.some((word, at) => isPrinted(word) && takesFile.test(args[at - 1]?.value ?? '')))
    return { scripts: [], unknown: `${name} runs what another command prints` }
  if (/^(ed|ex)$/.test(name)) return { scripts: [], unknown: `${name} takes commands from its input` }
  if (setsOptions.includes(name) && !setsHarmless(name, args))
    return { scripts: [], unknown: `${name} changes how words are read` }
  if (startsShell(name, args)) return { scripts: [], unknown: `${name} starts a shell that reads its input` }
  if (runsLater.includes(name)) return { scripts: [], unknown: `${name} lets commands run under other names or later` }
  if ((name === 'mapfile' || name === 'readarray') && args.some((word) => word.value.startsWith('-C'))) {
    return { scripts: [], unknown: `${name} -C runs a command` }
  }
  const wrapper = wrapperOf(name)
  if (wrapper?.script) {
    const at = args.findIndex((word) => wrapper.script!.some((flag) => isFlag(word.value, flag)))
    const applies = !wrapper.verbs || wrapper.verbs.includes(args[0]?.value ?? '')
    if (at >= 0 && applies) return scriptAfter(args, at, wrapper.script, name)
  }
  if (wrapper?.joins) {
    const inner = afterOptions(words, wrapper)
    if (inner.length > 0) {
      return inner.every((word) => word.literal)
        ? { scripts: [inner.map((word) => word.value).join(' ')] }
        : literal(undefined, name)
    }
  }
  return { scripts: [], evaluates: evaluators.includes(name) }
}

/** Programs that take their code from a file, an option, or else from their input. */
const interprets =
  /^(python[\d.]*|pypy3?|node|nodejs|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|tclsh|wish|expect|osascript|Rscript|R|ghci|irb|groovy|scala|julia|octave|gdb|lldb|ed|ex|bc|dc|m4|gawk|mawk|awk|sqlite3|psql|mysql)$/

/** Programs with an option for a file of commands, which may be what another command prints: `make -f <(…)`. */
const takesScript = /^(sed|g?make|ninja|cmake|just|vim?|nvim|emacs)$/
const takesFile = /^(-\w*[fSsPl]|--(file|makefile|justfile|load|script))$/
const isPrinted = ({ path }: ShellWord): boolean => path.startsWith('/dev/fd/')

/** No file and no code among the words, or a file that is its input. */
function readsProgram(args: readonly ShellWord[]): boolean {
  if (args.some((word) => /^\/(dev|proc)\//.test(word.path) || word.value === '-')) return true
  if (
    args.some((word) =>
      /^(-\w*[cefrEBm]|--(test|eval|print|version|help|execute|command|file|expr)|-[vVh]$)/.test(word.value),
    )
  )
    return false
  return args.every((word) => word.value.startsWith('-'))
}

const startsShell = (name: string, args: readonly ShellWord[]): boolean =>
  name === 'sudo'
    ? args.some((word) => /^(-[a-zA-Z]*[si]|--shell|--login)$/.test(word.value))
    : (name === 'su' || name === 'script') &&
      !args.some((word) => isFlag(word.value, '-c') || isFlag(word.value, '--command'))

const withLetter = byName((flag) => new RegExp(`^-\\w*${flag[1]}`))

const isFlag = (value: string, flag: string): boolean =>
  value === flag || (flag.startsWith('--') ? abbreviates(value, flag) : withLetter(flag).test(value))

/** `-c 'x'`, `-Sx`, `--split-string=x`. */
function scriptAfter(args: readonly ShellWord[], at: number, flags: readonly string[], name: string): Look {
  const word = args[at]!
  if (!word.literal) return { scripts: [], unknown: `what ${name} runs is only known when it runs` }
  if (name === 'env' && args.some((each) => /[\\$]/.test(each.value))) {
    return { scripts: [], unknown: 'env -S has escapes of its own' }
  }
  const joined = word.value.startsWith('--')
    ? word.value.split('=').slice(1).join('=')
    : word.value.slice(word.value.indexOf(flags[0]![1]!) + 1)
  const rest = joined === '' ? args.slice(at + 1) : args.slice(at)
  if (rest.some((each) => !each.literal))
    return { scripts: [], unknown: `what ${name} runs is only known when it runs` }
  const scripts = joined === '' ? [rest[0]?.value ?? ''] : [joined]
  // env -S splits, then appends the words that follow
  return { scripts: [...scripts, [joined, ...rest.map((each) => each.value)].join(' ').trim()] }
}

/** Options of shells under which words still mean what they say. */
const keepsWords = named(
  /^(allexport|checkwinsize|emacs|errexit|errtrace|failglob|functrace|history|inherit_errexit|lastpipe|monitor|noclobber|noexec|noglob|notify|nounset|nullglob|pipefail|posix|verbose|vi|xtrace)$/,
)

/** The options that a word such as `-euo` takes from the words behind it. */
const optionsAfter = (args: readonly ShellWord[], at: number): readonly ShellWord[] =>
  args.slice(at + 1, at + 1 + (/^[-+][A-Za-z]*o/i.test(args[at]!.value) ? args[at]!.value.match(/o/gi)!.length : 0))

/** zsh has options that are digits: `-4` lets `*` find `.env`. */
const zshLetter = /^[-+]\w*\d/

const harmless = (options: readonly ShellWord[]): boolean =>
  options.every(({ value, literal }) => literal && keepsWords(value))

/** `set` sets options by `-o`, and its other words are parameters; each word of the others is an option. */
const setsHarmless = (name: string, args: readonly ShellWord[]): boolean =>
  name === 'set'
    ? args.every((word, at) => !zshLetter.test(word.value) && harmless(optionsAfter(args, at)))
    : harmless(args.filter(({ value }) => !/^-[suqpo]+$/.test(value)))

function lookAtShell(name: string, args: readonly ShellWord[]): Look {
  let script = false
  let startFile: string | undefined
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!
    if (/^-[A-Za-z]*i/.test(word.value)) startFile = `${name} -i reads a start file` // the one that ENV names, for sh
    if (!word.literal && !script) return { scripts: [], unknown: `what ${name} runs is only known when it runs` }
    if (script && !/^[-+]/.test(word.value)) {
      return word.literal
        ? { scripts: [word.value], unknown: startFile }
        : { scripts: [], unknown: `what ${name} -c runs is only known when it runs` }
    }
    if (/^-[A-Za-z]*c/.test(word.value) || word.value === '--command') script = true
    const options = optionsAfter(args, i)
    if (!harmless(options) || zshLetter.test(word.value))
      return { scripts: [], unknown: `an option of ${name} changes how words are read` }
    i += options.length
    if (options.length > 0) continue
    if (/^--(init-file|rcfile)/.test(word.value)) return { scripts: [], unknown: `${name} reads a start file` }
    else if (/^-[A-Za-z]*s/.test(word.value)) break
    else if (/^\/(dev|proc)\//.test(word.value)) break
    else if (!/^[-+]/.test(word.value))
      return { scripts: [], unknown: startFile } // a script file: a program like any other
    else if (word.value === '--version' || word.value === '--help') return { scripts: [] }
  }
  return { scripts: [], unknown: `${name} reads its commands from its input` }
}
