import { cleanLine } from '../../render/clean.ts'
import { bold } from '../../render/style.ts'
import { clip } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  const skills = ui.moreCommands().toSorted((a, b) => a.name.localeCompare(b.name))
  if (skills.length === 0)
    return ui.front.print('No skills. A skill is .ona/skills/NAME/SKILL.md, a custom command .ona/commands/NAME.md.')
  for (const { name, summary, from } of skills)
    ui.front.print(`${bold(`/${name}`)}  ${clip(cleanLine(summary), 250)} (${from})`)
}
