import { enterPlanMode } from '../../../agent/workflow/plan-mode.ts'
import { listPlans } from '../../../store/plans.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  if (!args && session.phase === 'planning') {
    const plan = listPlans(session.db, session.conversationId).at(-1)
    if (!plan) return front.notice('info', 'Planning. There is no plan yet: say what should be done.')
    front.print(`Plan ${plan.id} (${plan.status})`)
    return front.markdown(plan.content)
  }
  const entered = await enterPlanMode(session)
  ui.refresh()
  if (entered.isError) return front.notice('error', entered.content)
  if (args) await ui.submit(args)
  else front.notice('info', 'Planning: nothing is changed until you approve a plan. Say what should be done.')
}
