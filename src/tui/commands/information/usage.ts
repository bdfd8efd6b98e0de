import { usageByDay } from '../../../store/reports.ts'
import { money, tokens } from '../../render/format.ts'
import type { Ui } from '../../session/command-context.ts'
import { run as showCost } from './cost.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  await showCost(args, ui)
  const days = usageByDay(ui.session.db)
  ui.front.print('', 'The last seven days, all projects in this database:')
  if (days.length === 0) ui.front.print('  nothing yet')
  for (const { day, model, replies, input, output, cost } of days)
    ui.front.print(
      `  ${day}  ${model}: ${replies} ${replies === 1 ? 'reply' : 'replies'}, ${tokens(input ?? 0)} in, ${tokens(output ?? 0)} out${cost ? `, ${money(cost)}` : ''}`,
    )
}
