/**
 * Calls that wait for the operator's answer while no user is present: a row each, with everything needed to decide.
 *
 * A page or a command that lets an operator decide needs three functions: `listApprovals` for what waits, `getApproval`
 * for one of them, and `decideApproval`, which returns why the decision was refused. Whoever serves a decision over a
 * network must first establish that the request comes from the operator: `decideApproval` only knows this process.
 */
import { addEvent } from './audit.ts'
import { type Db, newId } from './open.ts'
import { operatorProblem } from './operator.ts'
import { storable } from './secrets.ts'

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired'

export interface Approval {
  readonly id: string
  readonly conversationId: string
  readonly sessionId: string
  /** The session to resume: the call's own, or for a sub-agent the one that started it. */
  readonly resume: string
  /** The sub-agent that made the call; null: the session's own agent. */
  readonly agent: string | null
  readonly projectDir: string
  /** What the agent was last asked to do. */
  readonly prompt: string | null
  readonly toolUseId: string
  readonly tool: string
  /** JSON, as the hooks left it. */
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

export const getApproval = (db: Db, id: string): Approval | undefined =>
  db.get<Approval>(`${columns} WHERE a.id = ?`, id)

/** Newest first; without `all` those that are pending. */
export const listApprovals = (db: Db, { all = false }: { all?: boolean } = {}): Approval[] =>
  // the few that are pending are sorted, and found by an index of their own
  db.all<Approval>(
    `${columns} ${all ? 'ORDER BY a.created_at' : `WHERE ${isPending} ORDER BY +a.created_at`} DESC, a.rowid DESC LIMIT 1000`,
  )

const isPending = "a.settled = 0 AND a.decision IS NULL AND a.expires_at > datetime('now')"

/** Calls of a session that were left open for an answer, oldest first. */
export const openApprovals = (db: Db, sessionId: string): Approval[] =>
  db.all<Approval>(`${columns} WHERE a.session_id = ? AND a.settled = 0 ORDER BY a.rowid`, sessionId)

export interface Decision {
  readonly allow: boolean
  /** The operator's name: on record, and compared with the owner's. */
  readonly by: string
  readonly note?: string
}

/** Decides a pending approval. Returns undefined when it is decided, otherwise why not, in words for the operator. */
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

/**
 * Takes a call up again, once: false when another process did. Comes before the call runs, so that a crash leaves it
 * interrupted and never runs it twice.
 */
export const settleApproval = (db: Db, id: string): boolean =>
  db.transaction(() => db.run('UPDATE ona_approvals SET settled = 1 WHERE id = ? AND settled = 0', id).changes === 1)

/** A call without a result, because an agent that it started waits for an approval. */
export interface WaitingAgentCall {
  readonly sessionId: string
  readonly toolUseId: string
  readonly childSessionId: string
  /** JSON: what it takes to resume that agent. */
  readonly detail: string
}

export function keepWaitingCall(db: Db, call: WaitingAgentCall): void {
  const sql =
    'INSERT OR REPLACE INTO ona_waiting_calls(session_id, tool_use_id, child_session_id, detail) VALUES (?, ?, ?, ?)'
  db.transaction(() => db.run(sql, call.sessionId, call.toolUseId, call.childSessionId, call.detail))
}

export const waitingCalls = (db: Db, sessionId: string): WaitingAgentCall[] =>
  db.all<WaitingAgentCall>(
    `SELECT session_id AS sessionId, tool_use_id AS toolUseId, child_session_id AS childSessionId, detail
     FROM ona_waiting_calls WHERE session_id = ? ORDER BY rowid`,
    sessionId,
  )

/** Takes the row and deletes it: the caller resumes the agent. */
export const takeWaitingCall = (db: Db, sessionId: string, toolUseId: string): WaitingAgentCall | undefined =>
  db.transaction(() => {
    const found = waitingCalls(db, sessionId).find((each) => each.toolUseId === toolUseId)
    if (found) db.run('DELETE FROM ona_waiting_calls WHERE session_id = ? AND tool_use_id = ?', sessionId, toolUseId)
    return found
  })

const columns = `SELECT a.id, a.conversation_id AS conversationId, a.session_id AS sessionId,
    coalesce(s.parent_session_id, a.session_id) AS resume, s.agent_type AS agent, c.project_dir AS projectDir,
    (SELECT group_concat(json_extract(block.value, '$.text'), char(10))
       FROM transcript_entries e,
         json_each(CASE WHEN json_valid(e.payload_json) THEN e.payload_json ELSE '{}' END, '$.content') block
       WHERE e.rowid = (SELECT rowid FROM transcript_entries
         WHERE session_id = a.session_id AND entry_type = 'user' ORDER BY sequence DESC LIMIT 1)) AS prompt,
    a.tool_use_id AS toolUseId, a.tool_name AS tool, a.input_json AS input, a.summary, a.reason, a.owner,
    a.created_at AS createdAt, a.expires_at AS expiresAt,
    coalesce(a.decision, CASE WHEN a.expires_at <= datetime('now') THEN 'expired' ELSE 'pending' END) AS status,
    a.decided_by AS decidedBy, a.note
  FROM ona_approvals a JOIN conversations c ON c.id = a.conversation_id
    LEFT JOIN ona_subagents s ON s.session_id = a.session_id`
