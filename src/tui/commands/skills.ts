import { cleanLine } from '../clean.ts'
import { bold } from '../style.ts'
import type { Ui } from '../ui.ts'
import { clip } from '../width.ts'

export async function run(_args: string, ui: Ui): Promise<void> {
  const skills = ui.moreCommands().toSorted((a, b) => a.name.localeCompare(b.name))
  if (skills.length === 0)
    return ui.front.print('No skills. A skill is .ona/skills/NAME/SKILL.md, a custom command .ona/commands/NAME.md.')
  for (const { name, summary, from } of skills)
    ui.front.print(`${bold(`/${name}`)}  ${clip(cleanLine(summary), 250)} (${from})`)
}
