/** Calls that wait for the operator's answer while nobody is there: a row each, with everything needed to decide. */
import { addEvent } from './audit.ts'
import { type Db, newId } from './open.ts'
import { operatorProblem } from './operator.ts'
import { storable } from './secrets.ts'

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired'

export interface Approval {
  readonly id: string
  readonly conversationId: string
  readonly sessionId: string
  readonly toolUseId: string
  readonly tool: string
  readonly input: string
  readonly summary: string
  /** Why it was not simply allowed: the rule, hook or mode. */
  readonly reason: string
  /** Who decides; null: any operator of this database. */
  readonly owner: string | null
  readonly status: ApprovalStatus
  readonly createdAt: string
  readonly expiresAt: string
  readonly decidedBy: string | null
  readonly note: string | null
}

export type NewApproval = Pick<
  Approval,
  'conversationId' | 'sessionId' | 'toolUseId' | 'tool' | 'input' | 'summary' | 'reason' | 'owner'
> & { readonly expiresInSeconds: number }

export function requestApproval(db: Db, wanted: NewApproval): string {
  const id = newId(db).slice(0, 8)
  db.transaction(() => {
    db.run(
      `INSERT INTO ona_approvals(id, conversation_id, session_id, tool_use_id, tool_name, input_json, summary, reason, owner,
         expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, datetime('now', ? || ' seconds'))`,
      id,
      wanted.conversationId,
      wanted.sessionId,
      wanted.toolUseId,
      wanted.tool,
      storable(wanted.input),
      storable(wanted.summary),
      storable(wanted.reason),
      wanted.owner,
      String(wanted.expiresInSeconds),
    )
    const { conversationId, sessionId, tool, toolUseId } = wanted
    addEvent(db, {
      conversationId,
      sessionId,
      type: 'approval_requested',
      detail: { id, tool, tool_use_id: toolUseId },
    })
  })
  return id
}

export const getApproval = (db: Db, id: string): Approval | undefined => db.get<Approval>(`${columns} WHERE id = ?`, id)

/** Newest first. */
export const listApprovals = (db: Db, { all = false }: { all?: boolean } = {}): Approval[] =>
  db
    .all<Approval>(`${columns} WHERE settled = 0 OR ?1 ORDER BY created_at DESC, rowid DESC LIMIT 1000`, all ? 1 : 0)
    .filter(({ status }) => all || status === 'pending')

/** Calls of a session that were left open for an answer, oldest first. */
export const openApprovals = (db: Db, sessionId: string): Approval[] =>
  db.all<Approval>(`${columns} WHERE session_id = ? AND settled = 0 ORDER BY rowid`, sessionId)

export interface Decision {
  readonly allow: boolean
  readonly by: string
  readonly note?: string
}

/** Undefined when decided; otherwise why not. */
export function decideApproval(db: Db, id: string, { allow, by, note }: Decision): string | undefined {
  const held = operatorProblem('deciding an approval', { db })
  if (held) return held
  return db.transaction(() => {
    const approval = getApproval(db, id)
    if (!approval) return `there is no approval ${id}; ona approvals list shows those that wait`
    if (approval.status !== 'pending') return `approval ${id} is ${approval.status}; only a pending one can be decided`
    if (approval.owner !== null && approval.owner !== by)
      return `approval ${id} belongs to ${approval.owner}, not to ${by}; decide it with --as ${JSON.stringify(approval.owner)}`
    db.run(
      "UPDATE ona_approvals SET decision = ?, decided_by = ?, decided_at = datetime('now'), note = ? WHERE id = ?",
      allow ? 'approved' : 'denied',
      by,
      note === undefined ? null : storable(note),
      id,
    )
    const { conversationId, sessionId } = approval
    const detail = { id, decision: allow ? 'approved' : 'denied', by, ...(note && { note }) }
    addEvent(db, { conversationId, sessionId, type: 'approval_decided', detail })
    return undefined
  })
}

/** The call has its result: nothing waits any more. */
export const settleApproval = (db: Db, id: string): void =>
  void db.transaction(() => db.run('UPDATE ona_approvals SET settled = 1 WHERE id = ?', id))

const columns = `SELECT id, conversation_id AS conversationId, session_id AS sessionId, tool_use_id AS toolUseId,
    tool_name AS tool, input_json AS input, summary, reason, owner, created_at AS createdAt, expires_at AS expiresAt,
    coalesce(decision, CASE WHEN expires_at <= datetime('now') THEN 'expired' ELSE 'pending' END) AS status,
    decided_by AS decidedBy, note
  FROM ona_approvals`
