/** `ona completion bash|zsh|fish`: completion of commands and flags, from the same tables as the help. */
import { flags } from '../flags.ts'

const usage = `Prints a script that completes ona's commands and flags in your shell.

  ona completion bash >> ~/.bashrc
  ona completion zsh > ~/.zfunc/_ona          (a folder of your fpath)
  ona completion fish > ~/.config/fish/completions/ona.fish

Example: source <(ona completion bash)
`

/** The commands that a person types, with what they are for. */
const commands: Readonly<Record<string, string>> = {
  acp: 'serve the Agent Client Protocol on stdio',
  audit: 'bring the logs of other agents into the database',
  completion: 'completion for your shell',
  demo: 'a whole cycle, offline, in a minute',
  dispatcher: 'the policy modules for VS Code and others',
  hooks: 'which hooks are in force, and what they say',
  init: "a role's hooks into every agent of this repository",
  login: 'sign in',
  logout: 'forget the login',
  mcp: 'MCP servers',
  permissions: 'why a call is allowed, asked or denied',
  plan: 'plans of a conversation',
  rehearse: 'play a script through the whole runtime',
  role: 'roles and their hooks',
  status: 'credentials and where they come from',
  verify: 'the coverage report',
}

const extra: Readonly<Record<string, string>> = {
  help: 'what ona can do',
  version: 'which ona this is',
  eval: 'one tool call, through hooks and rules',
  'init-db': 'make the database',
  transition: 'move a conversation to a phase',
  conversation: 'which conversation',
}

export function run(words: string[]): number {
  const [shell] = words
  if (words.includes('--help')) {
    process.stdout.write(usage)
    return 0
  }
  const script = shell && Object.hasOwn(scripts, shell) ? scripts[shell as keyof typeof scripts] : undefined
  if (!script || words.length !== 1) {
    process.stderr.write(`ona completion: name one shell: bash, zsh or fish\n`)
    return 2
  }
  process.stdout.write(script())
  return 0
}

interface FlagRow {
  readonly name: string
  readonly about: string
  readonly short?: string
  readonly oneOf?: readonly string[]
  readonly takesValue: boolean
}

const flagRows = (): FlagRow[] => [
  ...Object.entries(flags).map(([name, flag]) => ({
    name,
    about: flag.about,
    takesValue: flag.kind !== 'flag',
    ...('short' in flag && { short: flag.short }),
    ...('oneOf' in flag && { oneOf: flag.oneOf }),
  })),
  ...Object.entries(extra).map(([name, about]) => ({ name, about, takesValue: false })),
]

const scripts = { bash, zsh, fish }

function bash(): string {
  const rows = flagRows()
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
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _ona ona
`
}

const quoted = (text: string) => text.replaceAll("'", `'\\''`)

function zsh(): string {
  const about = (text: string) => quoted(text.replaceAll(/[[\]:]/g, '\\$&'))
  const rows = flagRows().map(({ name, about: what, oneOf, takesValue }) => {
    const value = oneOf ? `:value:(${oneOf.join(' ')})` : takesValue ? ':value:_files' : ''
    return `    '--${name}[${about(what)}]${value}'`
  })
  const names = Object.entries(commands).map(([name, what]) => `    '${name}:${about(what)}'`)
  return `#compdef ona
_ona() {
  local -a names
  names=(
${names.join('\n')}
  )
  _arguments -s \\
${rows.join(' \\\n')} \\
    '1: :{ _describe command names }' \\
    '*: :_files'
}
(( $+functions[compdef] )) && compdef _ona ona
`
}

function fish(): string {
  const rows = flagRows().map(({ name, about, short, oneOf, takesValue }) => {
    const more = [
      short ? ` -s ${short}` : '',
      takesValue ? ' -r' : '',
      oneOf ? ` -f -a '${oneOf.join(' ')}'` : '',
    ].join('')
    return `complete -c ona -l ${name}${more} -d '${quoted(about)}'`
  })
  const names = Object.entries(commands).map(
    ([name, about]) => `complete -c ona -n __fish_use_subcommand -f -a ${name} -d '${quoted(about)}'`,
  )
  return `${[...names, ...rows].join('\n')}\n`
}
