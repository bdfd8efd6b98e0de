/** The planning gate: while a plan is being made and none is approved, the tools that change things are shut. */
import type { Db } from '../store/open.ts'

const shut = new Set(['Write', 'Edit', 'Bash', 'NotebookEdit'])

/** Why the tool may not run now, or undefined when the gate is open. */
export function planningGate(db: Db, conversationId: string, tool: string): string | undefined {
  if (!shut.has(tool)) return undefined
  const row = db.get<{ approved: number }>(
    `SELECT EXISTS (SELECT 1 FROM plans WHERE conversation_id = c.id AND status = 'approved') AS approved
     FROM conversations c WHERE c.id = ? AND c.phase = 'planning'`,
    conversationId,
  )
  if (!row || row.approved === 1) return undefined
  return `${tool} is shut while the plan is being made: read, search and ask, then give the plan with ExitPlanMode. Once the operator approves it, ${tool} opens.`
}
