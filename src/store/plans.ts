/** Plans: drafted, approved by the operator, carried out. The row is the plan; a file is only a hint to where it lay. */
import type { Db } from './open.ts'
import { storable } from './secrets.ts'

export type PlanStatus = 'draft' | 'approved' | 'completed' | 'superseded'

export interface Plan {
  readonly id: number
  readonly conversationId: string
  readonly filePath: string | null
  readonly content: string
  /** SHA-256 of the content: what was approved is what is there. */
  readonly hash: string
  readonly status: PlanStatus
  readonly createdAt: string
  readonly approvedAt: string | null
  readonly completedAt: string | null
}

/** A new draft takes the place of the drafts before it. An approved plan stays approved until another one is. */
export function draftPlan(
  db: Db,
  { conversationId, content, filePath = null }: { conversationId: string; content: string; filePath?: string | null },
): Plan {
  const text = storable(content)
  return db.transaction(() => {
    db.run("UPDATE plans SET status = 'superseded' WHERE conversation_id = ? AND status = 'draft'", conversationId)
    const sql = 'INSERT INTO plans(conversation_id, file_path, content, hash) VALUES (?, ?, ?, ?)'
    return getPlan(db, db.run(sql, conversationId, filePath, text, hashOf(text)).lastId)!
  })
}

/** Makes a draft the plan in force; the one before it is superseded in the same step. Undefined: it is no draft. */
export function approvePlan(db: Db, id: number): Plan | undefined {
  return db.transaction(() => {
    const plan = getPlan(db, id)
    if (plan?.status !== 'draft') return undefined
    db.run(
      "UPDATE plans SET status = 'superseded' WHERE conversation_id = ? AND status = 'approved'",
      plan.conversationId,
    )
    db.run("UPDATE plans SET status = 'approved', approved_at = datetime('now') WHERE id = ?", id)
    return getPlan(db, id)
  })
}

/** An approved plan has been carried out. Undefined: it is not approved. */
export function completePlan(db: Db, id: number): Plan | undefined {
  return db.transaction(() => {
    const sql =
      "UPDATE plans SET status = 'completed', completed_at = datetime('now') WHERE id = ? AND status = 'approved'"
    return db.run(sql, id).changes === 1 ? getPlan(db, id) : undefined
  })
}

/** Puts a plan aside that is not done. False: there is no such plan, or it is done. */
export function supersedePlan(db: Db, id: number): boolean {
  const sql = "UPDATE plans SET status = 'superseded' WHERE id = ? AND status IN ('draft', 'approved')"
  return db.transaction(() => db.run(sql, id).changes === 1)
}

export const getPlan = (db: Db, id: number): Plan | undefined => db.get<Plan>(`${plan} WHERE id = ?`, id)

/** The plan in force. */
export const approvedPlan = (db: Db, conversationId: string): Plan | undefined =>
  db.get<Plan>(`${plan} WHERE conversation_id = ? AND status = 'approved' ORDER BY id DESC LIMIT 1`, conversationId)

/** Oldest first. */
export const listPlans = (db: Db, conversationId: string): Plan[] =>
  db.all<Plan>(`${plan} WHERE conversation_id = ? ORDER BY id`, conversationId)

const plan = `SELECT id, conversation_id AS conversationId, file_path AS filePath, content, hash, status,
  created_at AS createdAt, approved_at AS approvedAt, completed_at AS completedAt FROM plans`

export const hashOf = (text: string): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('hex')
