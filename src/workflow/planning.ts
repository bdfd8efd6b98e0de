/** Making a plan and having it approved. The plan's text is the row's; the phase is the conversation's. */
import { addEvent } from '../store/audit.ts'
import { getConversation } from '../store/conversations.ts'
import type { Db } from '../store/open.ts'
import { operatorProblem } from '../store/operator.ts'
import * as plans from '../store/plans.ts'
import { criteriaOf, planTemplate } from './criteria.ts'
import { transition } from './phases.ts'

export type Done<T = unknown> = ({ readonly ok: true } & T) | { readonly ok: false; readonly why: string }

/** Keeps a plan as a draft; one that could never be approved is sent back at once. */
export function draftPlan(db: Db, conversationId: string, sessionId: string, content: string): Done<{ id: number }> {
  const why = planProblem(content)
  if (why) return { ok: false, why }
  return db.transaction(() => {
    const { id } = plans.draftPlan(db, { conversationId, content })
    addEvent(db, { conversationId, sessionId, type: 'plan_draft', detail: { plan: id, criteria: criteriaOf(content) } })
    return { ok: true, id }
  })
}

export interface Approval {
  readonly planId: number
  /** The text as approved, where the operator changed it. */
  readonly content?: string
  readonly by: string
  readonly sessionId?: string | null
}

/** Approves a plan and opens the implement phase, in one commit. */
export function approvePlan(db: Db, conversationId: string, approval: Approval): Done {
  const { planId, by, sessionId = null } = approval
  const held = operatorProblem('approving a plan', { db })
  if (held) return { ok: false, why: held }
  return db.transaction(() => {
    const plan = plans.getPlan(db, planId)
    if (!plan || plan.conversationId !== conversationId)
      return { ok: false, why: `there is no plan ${planId} in this conversation` }
    const content = approval.content ?? plan.content
    const why = planProblem(content)
    if (why) return { ok: false, why }
    const { id } = content === plan.content ? plan : plans.draftPlan(db, { conversationId, content })
    if (!plans.approvePlan(db, id))
      return { ok: false, why: `plan ${id} is ${plan.status}; only a draft can be approved` }
    addEvent(db, { conversationId, sessionId, type: 'plan_approved', detail: { plan: id, by, at: Date.now() } })
    if (getConversation(db, conversationId)!.phase !== 'planning') return { ok: true }
    return transition(db, { conversationId, sessionId, to: 'implement', by })
  })
}

/** Why a plan cannot be approved, in words that say what to add. */
function planProblem(content: string): string | undefined {
  if (content.trim() === '') return 'the plan is empty'
  if (criteriaOf(content).length > 0) return undefined
  return `the plan has no success criteria, so nothing could be tested from it. Add a section such as:\n\n${planTemplate}`
}
