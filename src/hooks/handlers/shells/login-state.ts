/**
 * What a login leaves in a shell, as text that bash prints and reads: variables, functions, options, limits. A shell that is
 * given this text is where the profile would have taken it, without running what the profile runs.
 */
import { keepsChannel } from './shell-script.ts'

/** What bash is asked to print, part by part. Nothing here starts a process. */
const parts = {
  variables: 'builtin declare -p',
  functions: 'builtin declare -f',
  aliases: 'builtin alias',
  shopts: 'builtin shopt -p',
  options: 'builtin set +o',
  flags: 'builtin printf %s "$-"', // of which one, a restricted shell, is no option
  mask: 'builtin umask -p',
  softLimits: 'builtin ulimit -aS',
  hardLimits: 'builtin ulimit -aH',
  hashed: 'builtin hash -l',
  completions: 'builtin complete',
  builtins: 'builtin enable -a',
  folder: 'builtin pwd -P; builtin dirs -l -p',
  traps: 'builtin trap',
  lastJob: 'builtin printf %s "${!+set}"',
  history: 'builtin history',
  listed: 'builtin printf %s "$BASHOPTS $SHELLOPTS"', // which some variables change without the option
  status: 'builtin printf %s "$1"',
  words: 'builtin shift; builtin printf "%s\\n" "$#" "$0" "$@"',
  // the profile has read none of it
  input: 'IFS= builtin read -r -d \'\' -u 0; builtin printf %s "$REPLY"',
}
type PrintedName = keyof typeof parts
const printedNames = Object.keys(parts) as PrintedName[]
/** `descriptors` and `process` are what the system says of the shell. */
type SystemPart = 'descriptors' | 'process'
type PartName = PrintedName | SystemPart
export type LoginState = Readonly<Record<PartName, string>>

/** What a shell that prints its state finds on stdin. */
export const probe = 'probe\n'

/** Prints the state to descriptor 3 and waits there, so that its descriptors can be looked at. */
export const printState = `${keepsChannel}; { ${Object.values(parts)
  .map((part) => `${part}; builtin printf '\\0'`)
  .join('; ')}; } >&3 2>&3; builtin read -r -N 1 -u 3`

/** Latin-1 text, byte by byte as bash printed it; undefined while there is more to come. */
export function readState(printed: string): Omit<LoginState, SystemPart> | undefined {
  const found = printed.split('\0')
  if (found.length <= printedNames.length) return undefined
  return Object.fromEntries(printedNames.map((name, at) => [name, found[at]!])) as Record<PrintedName, string>
}

/** Their values are different in every shell, or set by bash itself; what they are is not. */
const ownVariables = new Set(
  `BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO
  BASH_MONOSECONDS BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION DIRSTACK EPOCHREALTIME
  EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO PPID RANDOM SECONDS SHELLOPTS SRANDOM UID`.split(/\s+/),
)
/** Left by the last command of whatever runs. */
const lastVariables = new Set(['_', 'PIPESTATUS'])

/** By name; bash prints one a line. */
function variablesOf({ variables }: LoginState): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of variables.split('\n')) {
    const [, attributes, name] = /^declare -(\S+) (\w+)/.exec(line) ?? []
    if (name === undefined || lastVariables.has(name)) continue
    // some are integers once they have been looked at
    found.set(name, ownVariables.has(name) ? attributes!.replace(/[i-]/, '') : line)
  }
  return found
}

export function isSameState(one: LoginState, other: LoginState): boolean {
  const rest = (Object.keys(one) as PartName[]).filter((name) => name !== 'variables')
  const [ofOne, ofOther] = [variablesOf(one), variablesOf(other)]
  return (
    rest.every((name) => one[name] === other[name]) &&
    ofOne.size === ofOther.size &&
    [...ofOne].every(([name, line]) => ofOther.get(name) === line)
  )
}

export interface Restore {
  readonly text: string
  /** Options that must hold before bash reads the command. */
  readonly args: readonly string[]
}

/** How a shell that read no profile gets to the state after login; undefined where it cannot. */
export function restoreOf(bare: LoginState, login: LoginState): Restore | undefined {
  const [had, has] = [variablesOf(bare), variablesOf(login)]
  const added = (name: PartName) => newLines(bare[name], login[name])
  const shopts = added('shopts').map((line) => line.split(' '))
  const unchanged: PartName[] = [
    'builtins',
    'folder',
    'traps',
    'lastJob',
    'history',
    'words',
    'input',
    'descriptors',
    'process',
  ]
  const changed = [...has].filter(([name, line]) => had.get(name) !== line)
  const gone = [...had.keys()].filter((name) => !has.has(name))
  if (
    unchanged.some((name) => bare[name] !== login[name]) ||
    !/^\d+$/.test(login.status) ||
    shopts.some(([, how, name]) => name === 'expand_aliases' && how === '-s') ||
    added('options').some((line) => line.endsWith(' posix')) ||
    changed.some(([, line]) => /^declare -\w*n/.test(line)) || // a reference: to unset it unsets what it refers to
    [...changed.map(([name]) => name), ...gone].some((name) => ownVariables.has(name)) ||
    (bare.functions !== login.functions && knowsItsFile.test(login.functions))
  )
    return undefined
  const lines = [
    ...(bare.functions === login.functions ? [] : [login.functions]),
    ...[...gone, ...changed.map(([name]) => name).filter((name) => had.has(name))].map((name) => `unset -v ${name}`),
    ...changed.map(([, line]) => line),
    ...(bare.aliases === login.aliases ? [] : [login.aliases]),
    ...added('hashed').filter((line) => line.startsWith('builtin')),
    ...added('completions'),
    ...added('mask'),
    ...limits('S', added('softLimits')),
    ...limits('H', added('hardLimits')),
    ...added('options'),
  ]
  return {
    text: `${lines.join('\n')}\n`,
    args: shopts.flatMap(([, how, name]) => [how === '-s' ? '-O' : '+O', name!]),
  }
}

/** A function that is restored is in another file, on other lines. */
const knowsItsFile = /\b(?:BASH_SOURCE|BASH_LINENO|LINENO|caller)\b/

function newLines(before: string, now: string): string[] {
  const known = new Set(before.split('\n'))
  return now.split('\n').filter((line) => !known.has(line))
}

/** `open files   (-n) 1024` */
const limits = (kind: 'S' | 'H', lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const [, flag, value] = /-(\w)\) (\S+)/.exec(line) ?? []
    return flag === undefined ? [] : [`ulimit -${kind} -${flag} ${value}`]
  })
