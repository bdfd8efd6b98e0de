import { money, tokens } from '../render/format.ts'
import type { Ui } from '../session/command-context.ts'
import { run as showCost } from './cost.ts'

interface Day {
  day: string
  model: string
  replies: number
  input: number | null
  output: number | null
  cost: number | null
}

export async function run(args: string, ui: Ui): Promise<void> {
  await showCost(args, ui)
  const days = ui.session.db.all<Day>(
    `SELECT date(timestamp) AS day, json_extract(detail, '$.model') AS model, count(*) AS replies,
            sum(coalesce(json_extract(detail, '$.inputTokens'), 0) + coalesce(json_extract(detail, '$.cacheReadTokens'), 0)
              + coalesce(json_extract(detail, '$.cacheWriteTokens'), 0)) AS input,
            sum(json_extract(detail, '$.outputTokens')) AS output, sum(json_extract(detail, '$.costUsd')) AS cost
     FROM events WHERE event_type = 'model_reply' AND timestamp > datetime('now', '-7 days')
     GROUP BY 1, 2 ORDER BY 1 DESC, 2`,
  )
  ui.front.print('', 'The last seven days, all projects in this database:')
  if (days.length === 0) ui.front.print('  nothing yet')
  for (const { day, model, replies, input, output, cost } of days)
    ui.front.print(
      `  ${day}  ${model}: ${replies} ${replies === 1 ? 'reply' : 'replies'}, ${tokens(input ?? 0)} in, ${tokens(output ?? 0)} out${cost ? `, ${money(cost)}` : ''}`,
    )
}
