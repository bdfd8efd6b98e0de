/** `ona --help`, made from the tables that dispatch uses. */

import type { Entry } from '../command.ts'
import { flags } from '../flags.ts'
import { said } from '../print.ts'
import { commands, flagCommands } from '../table.ts'

export const run = (): number =>
  said(`${head}
Commands:
${columns([...Object.entries(commands), ...Object.entries(flagCommands)].map(commandRow))}

Every command has --help with an example.

Flags of a run:
${columns(Object.entries(flags).map(flagRow))}
`)

const head = `ona governs coding agents: one you run in your terminal, and the ones you already use.

  ona                                    open the agent here
  ona "why does the build fail?"         open it with a first prompt
  ona -p "fix the failing test"          one answer on stdout, for scripts
  printf '/status\\nhello\\n' | ona        piped lines are lines of the REPL
  ona --continue                         resume the last session
  ona demo                               watch a whole cycle first
`

const commandRow = ([name, { usage, verbs, about }]: [string, Entry]): readonly [string, string] => [
  `  ona ${name} ${usage ?? verbs?.join('|') ?? ''}`.trimEnd(),
  about,
]

const flagRow = ([name, flag]: [string, { short?: string; value?: string; about: string }]) =>
  [`  ${flag.short ? `-${flag.short}, ` : '    '}--${name}${flag.value ? ` ${flag.value}` : ''}`, flag.about] as const

/** A left column that is too wide gets a line of its own. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = 38
  return rows
    .map(([left, about]) =>
      left.length > width ? `${left}\n${' '.repeat(width)}  ${about}` : `${left.padEnd(width)}  ${about}`,
    )
    .join('\n')
}
