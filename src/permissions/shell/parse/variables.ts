/** Variables that steer what a line does: setting one of them is more than keeping a value. */
import { HOLE } from '../../wildcard.ts'
import { byName, named } from './by-name.ts'
import type { ShellWord } from './command.ts'

/** Paths are read by their values. */
const moving = /^(HOME|PWD|OLDPWD|CDPATH)$/
/** bash runs their values, or finds other programs by them. */
const steering =
  /^(BASH_ALIASES|BASH_CMDS|BASH_ENV|BASH_FUNC_.*|PS[0-4]|PROMPT_COMMAND|LUA_INIT.*|SHELLOPTS|BASHOPTS|GLOBIGNORE|ZDOTDIR|GIT_(CONFIG.*|EXEC_PATH|TEMPLATE_DIR))$/
/** Programs run their values as commands. */
const holdsCommand = new RegExp(
  `^(${[
    ...['EDITOR', 'VISUAL', 'FCEDIT', 'PAGER', 'MANPAGER', 'BROWSER', 'SHELL', 'LESSOPEN', 'LESSCLOSE', 'LESSEDIT'],
    'GIT_(PAGER|EDITOR|SEQUENCE_EDITOR|SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)',
    ...['(SSH|SUDO)_ASKPASS', '(RSYNC|CVS)_RSH', 'SVN_SSH', '(SVN_|HG|KUBE_|GH_|SYSTEMD_)EDITOR'],
    ...['(AWS|BAT|DELTA|GH|SYSTEMD)_PAGER', 'GH_BROWSER', 'npm_config_(script_shell|shell|git|editor|viewer|browser)'],
    ...['CC|CXX|CPP|LD|AR|AS|FC|MAKE|PKG_CONFIG', '(CARGO_BUILD_)?RUSTC?(_WORKSPACE)?_WRAPPER', 'CARGO_BUILD_RUSTC'],
    ...['CARGO_TARGET_\\w+_(RUNNER|LINKER)', 'CMAKE_\\w+_(LAUNCHER|LINKER)'],
  ].join('|')})$`,
)
/** What programs are found by and loaded with. */
const loading = /^(PATH|IFS|LD_.+|DYLD_.+|NODE_.+|PYTHON.+|PERL5?.+|RUBY.+|_?JAVA_.+|TMPDIR)$/

/** Options that programs take as if they stood on the line, and those among them that run or load code. */
const options =
  /^((GNU)?MAKEFLAGS|MFLAGS|TAR_OPTIONS|NODE_OPTIONS|PERL5OPT|RUBYOPT|PYTEST_ADDOPTS|GOFLAGS|ZIP(OPT)?|RSYNC_OPTS)$/
const loadsCode = /eval|import|require|loader|exec|command|filter|program|unzip|=.*[\s;|&]|(^|\s)-[a-zA-Z]*[rIMmepfT]/

const goLoads = /exec|vettool|overlay|modfile/

export interface Setting {
  /** The value as commands, where a program runs it. */
  readonly script?: string
  readonly unknown?: string
}

/** What it means that a variable is set; `value` is undefined where it cannot be seen. */
export function setting(name: string, value: ShellWord | undefined): Setting {
  if (moving.test(name)) return { unknown: 'it sets HOME or PWD, on which its paths depend' }
  if (steering.test(name)) return { unknown: `it sets ${name}, which changes what runs` }
  if (options.test(name) && !(value?.literal && !(name === 'GOFLAGS' ? goLoads : loadsCode).test(value.value)))
    return { unknown: `it sets ${name}, which changes what runs` }
  if (!holdsCommand.test(name)) return {}
  return value?.literal ? { script: value.value } : { unknown: `it sets ${name}, which names a command to run` }
}

/** Whether setting the variable may change what an allowed command does. */
export const tells = byName((name): boolean =>
  [moving, steering, holdsCommand, loading].some((kind) => kind.test(name)),
)

/** `NAME=value`, as env, export and their like take it. */
export function assignmentIn(word: ShellWord): { name: string; value: ShellWord } | undefined {
  if (!word.value.includes('=')) return undefined
  const found = /^([A-Za-z_][\w%]*)(?:\[.*?\])?\+?=/s.exec(word.value)
  return found ? { name: found[1]!, value: { ...word, value: word.value.slice(found[0].length) } } : undefined
}

/** Builtins that set the variables which their words name. */
const setters = named(
  /^(read|printf|mapfile|readarray|getopts|unset|declare|typeset|local|export|readonly|let|wait|nameref)$/,
)

const noNames: readonly string[] = []

/** The variables that a builtin sets by name: `read HOME`, `printf -v PATH`, `declare -n x=PS4`. */
export function namedIn(command: string, words: readonly ShellWord[]): readonly string[] {
  if (!setters(command)) return noNames
  return words.slice(1).flatMap((word) => /^(?:-v)?(?:\w+=)?([A-Za-z_]\w*)/.exec(word.value)?.[1] ?? [])
}

/** Those of them whose every word may be a name, or an assignment. */
const takesNames = named(/^(read|mapfile|readarray|unset|declare|typeset|local|export|readonly)$/)
/** Their options whose value is the next word, where no value is joined to them. */
const takesValue: Readonly<Record<string, RegExp>> = {
  read: /^-[^pdnNtui]*[pdnNtui]$/,
  mapfile: /^-[^dnOsuCc]*[dnOsuCc]$/,
  readarray: /^-[^dnOsuCc]*[dnOsuCc]$/,
}

/** Whether a builtin may set a variable whose name only the run can tell: `read $x`, `export $x`, `printf $x y`. */
export function setsUnknown(command: string, words: readonly ShellWord[]): boolean {
  if (command === 'printf') return printfSetsUnknown(words)
  if (!takesNames(command)) return false
  const values = takesValue[command]
  let at = 1
  if (values) while (words[at]?.value.startsWith('-')) at += values.test(words[at]!.value) ? 2 : 1
  return words.slice(at).some(({ value }) => value.startsWith(HOLE))
}

/** `-v NAME` stands before the format; what is no text there may be it. */
function printfSetsUnknown(words: readonly ShellWord[]): boolean {
  let at = 1
  for (; words[at]?.value.startsWith('-') && words[at]!.value !== '--'; at++) {
    if (!words[at]!.literal) return true
    if (words[at]!.value === '-v' && words[++at]?.literal === false) return true
  }
  const format = words[at]
  if (!format?.value.startsWith(HOLE)) return false
  const isAlone = at === words.length - 1 && /^"[^"@]*"$/.test(format.text)
  return !isAlone // a name without a format sets nothing
}
