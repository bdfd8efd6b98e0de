/** `ona completion bash|zsh|fish`: completion of commands and flags, from the same tables as the help. */
import { command, type Entry, type Run } from '../command.ts'
import { flags } from '../flags.ts'
import { said, wrong } from '../print.ts'

const help = `Prints a script that completes ona's commands and flags in your shell.

  ona completion bash >> ~/.bashrc
  ona completion zsh > ~/.zfunc/_ona          (a folder of your fpath)
  ona completion fish > ~/.config/fish/completions/ona.fish

Example: source <(ona completion bash)
`

type Table = Readonly<Record<string, Entry>>

/** The command, made from the tables of commands and of commands that are spelt as flags. */
export const completion = (commands: Table, flagCommands: Table): Run =>
  command('ona completion', { help, words: 1 }, (_, [shell]) =>
    shell && Object.hasOwn(scripts, shell)
      ? said(scripts[shell as keyof typeof scripts](commands, flagRows(flagCommands)))
      : wrong('ona completion', 'name one shell: bash, zsh or fish'),
  )

interface FlagRow {
  readonly name: string
  readonly about: string
  readonly short?: string
  readonly oneOf?: readonly string[]
  readonly takesValue: boolean
}

const flagRows = (flagCommands: Table): FlagRow[] => [
  ...Object.entries(flags).map(([name, flag]) => ({
    name,
    about: flag.about,
    takesValue: flag.kind !== 'flag',
    ...('short' in flag && { short: flag.short }),
    ...('oneOf' in flag && { oneOf: flag.oneOf }),
  })),
  ...Object.entries(flagCommands).map(([name, { about }]) => ({ name: name.slice(2), about, takesValue: false })),
  { name: 'conversation', about: 'which conversation', takesValue: true },
]

/** The commands whose next word is one of a few. */
const families = (commands: Table): [string, readonly string[]][] =>
  Object.entries(commands).flatMap(([name, { verbs }]) => (verbs ? [[name, verbs]] : []))

const scripts = { bash, zsh, fish }

function bash(commands: Table, rows: readonly FlagRow[]): string {
  const cases = rows.flatMap(({ name, oneOf }) =>
    oneOf ? [`    --${name}) COMPREPLY=($(compgen -W '${oneOf.join(' ')}' -- "$word")); return ;;`] : [],
  )
  return `_ona() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
${cases.join('\n')}
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W '${rows.map(({ name }) => `--${name}`).join(' ')}' -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${Object.keys(commands).join(' ')}' -- "$word"))
  else
    if [[ $COMP_CWORD -eq 2 ]]; then
      case "$before" in
${families(commands)
  .map(([name, verbs]) => `        ${name}) COMPREPLY=($(compgen -W '${verbs.join(' ')}' -- "$word")); return ;;`)
  .join('\n')}
      esac
    fi
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _ona ona
`
}

const quoted = (text: string) => text.replaceAll("'", `'\\''`)

function zsh(commands: Table, flags: readonly FlagRow[]): string {
  const about = (text: string) => quoted(text.replaceAll(/[[\]:]/g, '\\$&'))
  const rows = flags.map(({ name, about: what, oneOf, takesValue }) => {
    const value = oneOf ? `:value:(${oneOf.join(' ')})` : takesValue ? ':value:_files' : ''
    return `    '--${name}[${about(what)}]${value}'`
  })
  const names = Object.entries(commands).map(([name, entry]) => `    '${name}:${about(entry.about)}'`)
  const verbs = families(commands).map(([name, verbs]) => `    ${name}) compadd ${verbs.join(' ')} ;;`)
  return `#compdef ona
_ona() {
  local -a names
  names=(
${names.join('\n')}
  )
  _arguments -s \\
${rows.join(' \\\n')} \\
    '1: :{ _describe command names }' \\
    '2: :_ona_verbs' \\
    '*: :_files'
}
_ona_verbs() {
  case "$line[1]" in
${verbs.join('\n')}
    *) _files ;;
  esac
}
# zsh runs this file as the function _ona the first time that it is needed; sourced, it only defines it
if [[ "$funcstack[1]" == _ona ]]; then _ona "$@"; else compdef _ona ona; fi
`
}

function fish(commands: Table, flags: readonly FlagRow[]): string {
  const rows = flags.map(({ name, about, short, oneOf, takesValue }) => {
    const more = [
      short ? ` -s ${short}` : '',
      takesValue ? ' -r' : '',
      oneOf ? ` -f -a '${oneOf.join(' ')}'` : '',
    ].join('')
    return `complete -c ona -l ${name}${more} -d '${quoted(about)}'`
  })
  const names = Object.entries(commands).map(
    ([name, { about }]) => `complete -c ona -n __fish_use_subcommand -f -a ${name} -d '${quoted(about)}'`,
  )
  const verbs = families(commands).map(
    ([name, verbs]) =>
      `complete -c ona -n '__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${verbs.join(' ')}' -f -a '${verbs.join(' ')}'`,
  )
  return `${[...names, ...verbs, ...rows].join('\n')}\n`
}
