/** Entering and leaving the planning phase by the model's own tools. */
import { failed, said, type ToolOutput } from '../tools/tool.ts'
import { approvePlan, draftPlan } from '../workflow/planning.ts'
import type { Session } from './session.ts'
import { movePhase } from './workflow.ts'

export async function enterPlanMode(session: Session): Promise<ToolOutput> {
  if (session.agent) return failed('a sub-agent cannot enter plan mode')
  const moved = movePhase(session, 'planning', 'the agent')
  if (!moved.ok) return failed(moved.why)
  return said(
    'You are planning now: read, search and ask. Give the plan with ExitPlanMode; nothing can be changed before it is approved.',
  )
}

/** Shows the plan for approval; approval writes its status and the phase in one commit. */
export async function exitPlanMode(session: Session, plan: string): Promise<ToolOutput> {
  if (session.phase !== 'planning') return failed('there is no plan being made; EnterPlanMode starts one')
  const drafted = draftPlan(session.db, session.conversationId, session.id, plan)
  if (!drafted.ok) return failed(drafted.why)
  const answer = await session.runtime.person.approvePlan(plan, session.signal)
  if (!answer) {
    return failed(
      `The plan is kept as draft ${drafted.id}. Nobody is here to approve it: the operator can, with ona plan approve ${drafted.id}, or in a terminal.`,
    )
  }
  if (!answer.approve)
    return failed(`The plan was not approved. Keep planning. The operator says: ${answer.feedback || '(nothing)'}`)
  const approved = approvePlan(session.db, session.conversationId, {
    planId: drafted.id,
    content: answer.plan,
    by: 'person',
    sessionId: session.id,
  })
  if (!approved.ok) return failed(approved.why)
  if (session.mode === 'plan' || answer.acceptEdits) session.mode = answer.acceptEdits ? 'acceptEdits' : 'default'
  session.emit({ type: 'phase', from: 'planning', to: 'implement' })
  const edited = answer.plan === plan ? '' : `\n\nThe operator changed it. The plan is now:\n${answer.plan}`
  return said(`The operator approved the plan. Begin to implement it; start with the task list.${edited}`)
}
