import { rehearsalModel } from '../../../providers/models/resolve.ts'
import { duration, money, plural, tokens } from '../../render/format.ts'
import type { Ui } from '../../session/command-context.ts'
import { cost } from '../../session/usage-facts.ts'

export async function run(_args: string, { facts, front }: Ui): Promise<void> {
  const unpriced = [...facts.models].some(([model, { costUsd }]) => costUsd === null && model !== rehearsalModel)
  const known = cost(facts)
  const total = !unpriced ? money(known) : known > 0 ? `${money(known)} + unknown` : 'unknown'
  front.print(`Total cost:            ${total}`)
  front.print(`Total duration (API):  ${duration(facts.apiMs)}`)
  front.print(`Total duration (wall): ${duration(Date.now() - facts.startedAt)}`)
  front.print(
    `Total code changes:    ${plural(facts.linesAdded, 'line')} added, ${plural(facts.linesRemoved, 'line')} removed`,
  )
  for (const [model, used] of facts.models) {
    const price =
      model === rehearsalModel ? 'costs nothing' : used.costUsd === null ? 'cost unknown' : money(used.costUsd)
    front.print(
      `  ${model}: ${tokens(used.inputTokens)} in, ${tokens(used.outputTokens)} out, ${tokens(used.cacheReadTokens)} cache read, ${tokens(used.cacheWriteTokens)} cache write (${price})`,
    )
  }
}
