/** `ona --help`: the commands, and the flags of a run from their own table. */
import { flags } from '../flags.ts'

export function run(): number {
  process.stdout.write(`${head}\nFlags of a run:\n${flagLines()}\n`)
  return 0
}

const head = `ona governs coding agents: one you run in your terminal, and the ones you already use.

  ona                                    open the agent here
  ona "why does the build fail?"         open it with a first prompt
  ona -p "fix the failing test"          one answer on stdout, for scripts
  printf '/status\\nhello\\n' | ona        lines on a pipe are lines of the REPL
  ona --continue                         go on where the last session stopped

  ona demo                               a whole plan-to-sign-off cycle, offline, in a minute
  ona init --roles R --hooks [BRAIN…]    a role's hooks into every agent of this repository
  ona role new NAME | list               make a role with a hook and its test; the roles here
  ona hooks list|fire|log|brains|import  which hooks are in force, what they say, what they said
  ona permissions test RULE …            why a call is allowed, asked or denied
  ona plan show|approve|list             plans of a conversation
  ona verify --conversation ID           the coverage report, for sign-off
  ona mcp add|list|get|remove|serve      MCP servers, and our tools as one
  ona dispatcher install|doctor|…        the eight policy modules for VS Code and others
  ona rehearse SCRIPT                    play a script through the whole runtime
  ona audit import DIR                   other agents' logs into the database
  ona login | logout | status            credentials
  ona acp                                serve the Agent Client Protocol on stdio
  ona completion bash|zsh|fish           completion for your shell

  ona --init-db                          make the database
  ona --eval '{"tool":…,"input":…}'      one tool call, through hooks and rules
  ona --transition PHASE --conversation ID   move a conversation on

Every command has --help with an example.
`

function flagLines(): string {
  const rows = Object.entries(flags).map(([name, flag]) => {
    const short = 'short' in flag ? `-${flag.short}, ` : '    '
    return [`  ${short}--${name}${'value' in flag ? ` ${flag.value}` : ''}`, flag.about] as const
  })
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, about]) => `${left.padEnd(width)}  ${about}`).join('\n')
}
