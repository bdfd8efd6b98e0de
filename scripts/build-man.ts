/** Writes the manual page, ona(1), from the tables that dispatch, help and completion use. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Entry } from '../src/cli/command.ts'
import { flags } from '../src/cli/flags.ts'
import { commands, flagCommands } from '../src/cli/table.ts'

/** Text as text: no line begins a request, a hyphen can be copied, and a backslash is one. */
const text = (raw: string): string =>
  raw
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll(/^([.'])/gm, '\\&$1')

const item = (head: string, about: string): string => `.TP\n.B ${text(head)}\n${text(about)}.`

const commandItem = ([name, { usage, verbs, about }]: [string, Entry]): string =>
  item(`ona ${name} ${usage ?? verbs?.join('|') ?? ''}`.trimEnd(), about)

const flagItem = ([name, flag]: [string, { short?: string; value?: string; about: string }]): string =>
  item(`${flag.short ? `-${flag.short}, ` : ''}--${name}${flag.value ? ` ${flag.value}` : ''}`, flag.about)

export function manPage(version: string): string {
  return `.TH ONA 1 "" "ona ${version}" "User Commands"
.SH NAME
ona \\- govern coding agents: one you run in your terminal, and the ones you already use
.SH SYNOPSIS
.B ona
.RI [ FLAGS ]
.RI [ PROMPT ]
.br
.B ona
.I COMMAND
.RI [ FLAGS ]
.SH DESCRIPTION
Without a command, ona opens a coding agent in this folder. Every action of the agent passes its hooks and rules, and is a
row in one SQLite file. The commands govern the agents that you already use, and show what happened.
.PP
Every command has \\-\\-help with an example, and \\-\\-json where it prints data.
.SH COMMANDS
${[...Object.entries(commands), ...Object.entries(flagCommands)].map(commandItem).join('\n')}
.SH OPTIONS
${Object.entries(flags).map(flagItem).join('\n')}
.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
it failed
.TP
.B 2
wrong usage
.SH FILES
.TP
.I ~/.ona/agent.db
the record; AGENT_SDLC_DB names another
.TP
.I ~/.ona/settings.json, .ona/settings.json, .ona/settings.local.json
settings of the user, of the project, and of the user in the project
.SH EXAMPLES
.nf
ona
ona \\-p "fix the failing test"
ona hooks replay \\-\\-rule 'deny:Bash(git push *)'
ona inspect
.fi
`
}

export function buildMan(file: string): void {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    version: string
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, manPage(version))
}
