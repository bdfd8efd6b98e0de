/**
 * What a login leaves in a shell, as text that bash prints and reads: variables, functions, options, limits. A shell that is
 * given this text is where the profile would have taken it, without running what the profile runs.
 */

/** What bash is asked to print, part by part. Nothing here starts a process. */
const parts = {
  variables: 'builtin declare -p',
  functions: 'builtin declare -f',
  aliases: 'builtin alias',
  shopts: 'builtin shopt -p',
  options: 'builtin set +o',
  mask: 'builtin umask -p',
  softLimits: 'builtin ulimit -aS',
  hardLimits: 'builtin ulimit -aH',
  hashed: 'builtin hash -l',
  completions: 'builtin complete',
  builtins: 'builtin enable -a',
  folder: 'builtin pwd -P',
  traps: 'builtin trap',
  status: 'builtin printf %s "$1"',
  words: 'builtin shift; builtin printf "%s\\n" "$#" "$@"',
  // the profile has read none of it
  input: 'IFS= builtin read -r -d \'\' -u 0; builtin printf %s "$REPLY"',
}
type PrintedName = keyof typeof parts
const printedNames = Object.keys(parts) as PrintedName[]
type PartName = PrintedName | 'descriptors'
export type LoginState = Readonly<Record<PartName, string>>

/** What a shell that prints its state finds on stdin. */
export const probe = 'probe\n'

/** Prints the state to descriptor 3 and waits there, so that its descriptors can be looked at. */
export const printState = `{ ${Object.values(parts)
  .map((part) => `${part}; builtin printf '\\0'`)
  .join('; ')}; } >&3 2>&3; builtin read -r -N 1 -u 3`

/** Latin-1 text, byte by byte as bash printed it; undefined while there is more to come. */
export function readState(printed: string): Omit<LoginState, 'descriptors'> | undefined {
  const found = printed.split('\0')
  if (found.length <= printedNames.length) return undefined
  return Object.fromEntries(printedNames.map((name, at) => [name, found[at]!])) as Record<PrintedName, string>
}

/** Different in every shell, or set by bash itself. */
const ownVariables = new Set(
  `_ BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO
  BASH_MONOSECONDS BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION COMP_WORDBREAKS DIRSTACK EPOCHREALTIME
  EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO PIPESTATUS PPID RANDOM SECONDS SHELLOPTS SRANDOM UID`.split(/\s+/),
)

/** By name; bash prints one a line. */
function variablesOf({ variables }: LoginState): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of variables.split('\n')) {
    const name = /^declare -\S+ (\w+)/.exec(line)?.[1]
    if (name !== undefined && !ownVariables.has(name)) found.set(name, line)
  }
  return found
}

export function isSameState(one: LoginState, other: LoginState): boolean {
  const rest = [...printedNames, 'descriptors' as const].filter((name) => name !== 'variables')
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
  const unchanged: PartName[] = ['builtins', 'folder', 'traps', 'words', 'input', 'descriptors']
  const changed = [...has].filter(([name, line]) => had.get(name) !== line)
  if (
    unchanged.some((name) => bare[name] !== login[name]) ||
    !/^\d+$/.test(login.status) ||
    shopts.some(([, how, name]) => name === 'expand_aliases' && how === '-s') ||
    added('options').some((line) => line.endsWith(' posix')) ||
    changed.some(([, line]) => /^declare -\w*n/.test(line)) // a reference: to unset it unsets what it refers to
  )
    return undefined
  const gone = [...had.keys()].filter((name) => !has.has(name))
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
