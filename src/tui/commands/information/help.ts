import { bold, paint } from '../../render/style.ts'
import { pad, width } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'
import type { SlashCommand } from '../slash-command.ts'

/** `/help`, made from the table of commands. */
export const help =
  (slashCommands: readonly SlashCommand[], find: (name: string) => SlashCommand | undefined): SlashCommand['run'] =>
  async (args, ui) => {
    const { front } = ui
    const wanted = args.replace(/^\//, '')
    const one = wanted ? find(wanted) : undefined
    if (one) {
      front.print(`${bold(`/${one.name}`)} ${one.argumentHint}`.trimEnd(), `  ${one.summary}`)
      if (one.aliases.length > 0) front.print(`  also: ${one.aliases.map((alias) => `/${alias}`).join(', ')}`)
      return
    }
    const matches = wanted
      ? slashCommands.filter(({ name, summary }) => `${name} ${summary}`.includes(wanted))
      : slashCommands
    if (matches.length === 0) return front.notice('warning', `no command is about "${wanted}"; /help lists all`)
    front.print(bold('Commands'))
    const isWide = front.columns >= 100
    const rows = matches.map(({ name, aliases, argumentHint, summary }): [string, string] => [
      [`/${[name, ...aliases].join(', /')}`, isWide ? argumentHint : ''].filter(Boolean).join(' '),
      summary,
    ])
    table(front, rows)
    const more = ui.moreCommands()
    if (more.length > 0 && !wanted) {
      front.print('', bold('Skills, custom commands and MCP prompts'))
      table(
        front,
        more.map(({ name, summary, from }) => [`/${name}`, `${summary} (${from})`]),
      )
    }
    if (wanted || !front.interactive) return
    front.print('', `${bold('One command')}  ${paint('dim', '/help NAME, with its arguments')}`)
    front.print(`${bold('Keys')}         ${paint('dim', '? on an empty line, or /keybindings')}`)
  }

function table(front: Ui['front'], rows: readonly (readonly [string, string])[]): void {
  const wide = Math.min(Math.floor(front.columns * 0.44), Math.max(...rows.map(([name]) => width(name))))
  for (const [name, about] of rows) {
    const isLong = width(name) > wide
    if (isLong) front.print(`  ${name}`)
    front.print(`  ${pad(isLong ? '' : name, wide)}  ${paint('dim', about)}`)
  }
}
