/** Conversations and their sessions. */
import { type Db, newId, StoreError } from './open.ts'

export const phases = ['idle', 'planning', 'implement', 'test', 'verify', 'done'] as const
export type Phase = (typeof phases)[number]

export interface Conversation {
  readonly id: string
  readonly projectDir: string
  readonly phase: Phase
  readonly createdAt: string
  readonly lastActive: string
}

export interface Session {
  readonly sessionId: string
  readonly conversationId: string
  readonly startedAt: string
}

/** Whose a sub-agent's session is. */
export interface ParentAgent {
  readonly sessionId: string
  readonly agentId: string
  readonly agentType: string
}

export function createConversation(
  db: Db,
  { projectDir, id = newId(db), phase = 'idle' }: { projectDir: string; id?: string; phase?: Phase },
): Conversation {
  db.transaction(() =>
    db.run('INSERT INTO conversations(id, project_dir, phase) VALUES (?, ?, ?)', id, projectDir, phase),
  )
  return getConversation(db, id)!
}

export const getConversation = (db: Db, id: string): Conversation | undefined =>
  db.get<Conversation>(`${conversation} WHERE id = ?`, id)

/** The one that was active last, in one project or in all. */
export function newestConversation(db: Db, projectDir?: string): Conversation | undefined {
  return projectDir === undefined
    ? db.get<Conversation>(`${conversation} WHERE ${ours} ${newestFirst}`)
    : db.get<Conversation>(`${conversation} WHERE project_dir = ? AND ${ours} ${newestFirst}`, projectDir)
}

export function touchConversation(db: Db, id: string): void {
  db.transaction(() => db.run("UPDATE conversations SET last_active = datetime('now') WHERE id = ?", id))
}

/**
 * Moves a conversation on, if it still is where the caller thinks. False: another process was quicker, nothing changed.
 * Call it inside the transaction that writes what the change rests on.
 */
export function setPhase(db: Db, id: string, from: Phase, to: Phase): boolean {
  return db.transaction(() => {
    const sql = "UPDATE conversations SET phase = ?, last_active = datetime('now') WHERE id = ? AND phase = ?"
    return db.run(sql, to, id, from).changes === 1
  })
}

export function createSession(db: Db, conversationId: string, id: string = newId(db), parent?: ParentAgent): Session {
  db.transaction(() => {
    if (!getConversation(db, conversationId))
      throw new StoreError('not-there', `there is no conversation ${conversationId} in ${db.path}`)
    db.run('INSERT INTO sessions(session_id, conversation_id) VALUES (?, ?)', id, conversationId)
    if (parent) {
      const sql = 'INSERT INTO ona_subagents(session_id, parent_session_id, agent_id, agent_type) VALUES (?, ?, ?, ?)'
      db.run(sql, id, parent.sessionId, parent.agentId, parent.agentType)
    }
  })
  return getSession(db, id)!
}

export const getSession = (db: Db, sessionId: string): Session | undefined =>
  db.get<Session>(
    'SELECT session_id AS sessionId, conversation_id AS conversationId, started_at AS startedAt FROM sessions WHERE session_id = ?',
    sessionId,
  )

/** The newest session that a user can resume. */
export function newestSession(
  db: Db,
  { projectDir, conversationId }: { projectDir?: string | null; conversationId?: string | null } = {},
): Session | undefined {
  const { where, values } = chosen({ 'c.project_dir': projectDir, 'c.id': conversationId })
  return db.get<Session>(
    `SELECT s.session_id AS sessionId, s.conversation_id AS conversationId, s.started_at AS startedAt
     ${resumableSessions} ${where} ${newestSessionFirst} LIMIT 1`,
    ...values,
  )
}

/** Only the conditions that were given: with the others in the text, SQLite would use no index. */
export function chosen(equal: Readonly<Record<string, string | null | undefined>>): {
  where: string
  values: string[]
} {
  const given = Object.entries(equal).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return { where: given.map(([column]) => `AND ${column} = ?`).join(' '), values: given.map(([, value]) => value) }
}

/** Conversations first (CROSS JOIN keeps the order), so that the newest are found by index and the rest is not read. */
export const resumableSessions = `FROM conversations c CROSS JOIN sessions s ON s.conversation_id = c.id
  WHERE NOT EXISTS (SELECT 1 FROM ona_subagents a WHERE a.session_id = s.session_id)
    AND NOT EXISTS (SELECT 1 FROM ona_imports i WHERE i.session_id = s.session_id)
    AND NOT EXISTS (SELECT 1 FROM ona_dispatcher_imports d WHERE d.session_id = s.session_id)`
export const newestSessionFirst = 'ORDER BY c.last_active DESC, s.started_at DESC, s.rowid DESC'

const conversation =
  'SELECT id, project_dir AS projectDir, phase, created_at AS createdAt, last_active AS lastActive FROM conversations'
const newestFirst = 'ORDER BY last_active DESC, rowid DESC LIMIT 1'
/** Not out of another agent's history, or a log of the dispatcher. */
const ours = `NOT EXISTS (SELECT 1 FROM ona_imports i WHERE i.session_id = conversations.id)
  AND NOT EXISTS (SELECT 1 FROM ona_dispatcher_imports d WHERE d.session_id = conversations.id)`
