/** Takes content out of the record and leaves the chain whole: what is left of a row, and its tombstone, are on record. */

import { restoreSession, settleArchives, unarchiveSession } from '../../store/archive/archive.ts'
import { holdOf } from '../../store/archive/retention.ts'
import { chainedTables, rowText } from '../../store/chain/chain.ts'
import { type Db, StoreError } from '../../store/open.ts'
import { emptyTables } from '../inspect/data/tables.ts'

/** What stays of a row of each table: who, when and what was decided; never what was said, written or printed. */
const blanks: Readonly<Record<string, string>> = {
  transcript_entries: `payload_json = CASE entry_type
      WHEN 'tool_result' THEN json_object('_t', 'tool_result', 'tool_use_id', coalesce(tool_use_id, ''), 'content', '[erased]', 'is_error', json('false'))
      WHEN 'tool_use' THEN json_object('_t', 'tool_use', 'id', coalesce(tool_use_id, ''), 'name', 'erased', 'input', json('{}'))
      WHEN 'system' THEN json_object('_t', 'system', 'subtype', 'erased')
      WHEN 'progress' THEN json_object('_t', 'progress', 'data', json('{}'))
      WHEN 'attachment' THEN json_object('_t', 'attachment', 'attachment', json('{}'))
      WHEN 'user' THEN json_object('_t', 'user', 'uuid', 'erased', 'content', json('[{"type":"text","text":"[erased]"}]'))
      WHEN 'assistant' THEN json_object('_t', 'assistant', 'uuid', 'erased', 'content', json('[{"type":"text","text":"[erased]"}]'))
      ELSE json_object('_t', entry_type) END`,
  events: "detail = CASE WHEN event_type = 'model_reply' THEN detail ELSE json_object('erased', json('true')) END",
  hook_invocations: "input_json = '{}', stdout_text = NULL, stderr_text = NULL, command = '[erased]'",
  tool_permission_log:
    "reason_json = json_object('by', iif(json_valid(reason_json), reason_json ->> 'by', NULL), 'reason', '[erased]', 'was', iif(json_valid(reason_json), reason_json ->> 'was', NULL))",
}

/** Rows that were erased; each session is one transaction. On hold, or in use since `before`, it stays as it is. */
export function eraseSession(db: Db, sessionId: string, reason: string, before?: string): number {
  const stays = () => holdOf(db, sessionId) !== undefined || (before !== undefined && !isIdle(db, sessionId, before))
  if (stays()) return 0
  unarchiveSession(db, sessionId)
  const [problem] = settleArchives(db)
  if (problem) throw new StoreError('damaged', `${problem}; nothing of session ${sessionId} was erased`)
  return db.transaction(() => {
    if (stays()) return 0
    let erased = 0
    forgetPrompts(db, sessionId)
    for (const [table, { name }] of chainedTables.entries()) {
      const blank = blanks[name]
      if (blank === undefined) continue
      const rows = db.all<{ id: number }>(
        `SELECT id FROM ${name} t WHERE session_id = ? AND NOT EXISTS
           (SELECT 1 FROM ona_tombstones o WHERE o.table_name = '${name}' AND o.row_id = t.id)`,
        sessionId,
      )
      for (const { id } of rows) {
        db.run(`UPDATE ${name} SET ${blank} WHERE id = ?`, id)
        const { text } = db.get<{ text: string }>(`SELECT ${rowText(table)} AS text FROM ${name} WHERE id = ?`, id)!
        const digest = process.getBuiltinModule('node:crypto').hash('sha256', text, 'buffer')
        db.run(
          'INSERT INTO ona_tombstones(session_id, table_name, row_id, digest, reason) VALUES (?, ?, ?, ?, ?)',
          ...[sessionId, name, id, digest, reason],
        )
      }
      erased += rows.length
    }
    if (erased > 0) emptyTables(db)
    eraseBeside(db, sessionId)
    return erased
  })
}

/** Puts back what is archived of sessions that are to be erased: each archive is emptied once for all of them. */
export function bringBack(db: Db, sessionIds: readonly string[]): void {
  for (const id of sessionIds) {
    if (holdOf(db, id) !== undefined) continue
    try {
      restoreSession(db, id)
    } catch (error) {
      if (!(error instanceof StoreError && error.kind === 'damaged')) throw error // erasing it says so
    }
  }
  settleArchives(db)
}

/** What the terminal remembers of them. */
function forgetPrompts(db: Db, sessionId: string): void {
  db.run('DELETE FROM ona_prompt_history WHERE session_id = ?', sessionId)
  // the same words, typed elsewhere or written by a version that did not store the session
  db.run(
    `DELETE FROM ona_prompt_history WHERE project_dir =
         (SELECT c.project_dir FROM conversations c JOIN sessions s ON s.conversation_id = c.id WHERE s.session_id = ?1)
       AND text IN (
         SELECT iif(block.type = 'object', block.value ->> 'text', NULL) FROM transcript_entries e,
           json_each(iif(json_valid(e.payload_json), e.payload_json, '{}'), '$.content') block
         WHERE e.session_id = ?1 AND e.entry_type = 'user'
         UNION SELECT iif(json_valid(input_json), input_json ->> 'prompt', NULL) FROM hook_invocations
         WHERE session_id = ?1 AND +hook_event = 'UserPromptSubmit')`,
    sessionId,
  )
}

/** Tables that the chain does not cover. What belongs to the conversation goes with the last of its sessions. */
function eraseBeside(db: Db, sessionId: string): void {
  db.run(
    `UPDATE ona_approvals SET input_json = '{}', summary = '[erased]', reason = '[erased]', note = NULL, settled = 1
     WHERE session_id = ?`,
    sessionId,
  )
  db.run('DELETE FROM ona_waiting_calls WHERE session_id = ?', sessionId)
  const conversation = 'conversation_id = (SELECT conversation_id FROM sessions WHERE session_id = ?)'
  if (db.get(`SELECT 1 FROM sessions s WHERE ${conversation} AND (${holdsContent})`, sessionId)) return
  db.run(`DELETE FROM summaries WHERE ${conversation}`, sessionId)
  db.run(`DELETE FROM state WHERE ${conversation} AND key NOT LIKE 'working:%'`, sessionId)
}

const isIdle = (db: Db, sessionId: string, before: string): boolean =>
  db.get(
    `SELECT 1 FROM conversations c JOIN sessions s ON s.conversation_id = c.id
     WHERE s.session_id = ? AND c.last_active < ?`,
    ...[sessionId, before],
  ) !== undefined

const isKept = (table: string) =>
  `NOT EXISTS (SELECT 1 FROM ona_tombstones o WHERE o.table_name = '${table}' AND o.row_id = e.id)`
const newest = (table: string, where = '') =>
  `EXISTS (SELECT 1 FROM (SELECT max(id) AS id FROM ${table} WHERE session_id = s.session_id ${where}) e
    WHERE e.id IS NOT NULL AND ${isKept(table)})`

/**
 * Whether a session (`s`) was not erased, or went on since. It is erased as a whole, so its last entry and its last turn tell, and a
 * record that was erased long ago costs little. Without a transcript (a prompt that was blocked, a log of the dispatcher) its hooks
 * and events do.
 */
export const holdsContent = `EXISTS (
    SELECT 1 FROM (SELECT id FROM transcript_entries WHERE session_id = s.session_id ORDER BY sequence DESC LIMIT 1) e
    WHERE ${isKept('transcript_entries')})
  OR ${newest('events', "AND event_type = 'turn_end'")}
  OR (NOT EXISTS (SELECT 1 FROM transcript_entries e WHERE e.session_id = s.session_id)
    AND (${newest('hook_invocations')} OR ${newest('events', "AND event_type <> 'session_start'")}))`

/** Sessions that ended before a time (`2026-10-15 00:00:00`), still hold content and are not on hold; the oldest first. */
export const sessionsBefore = (db: Db, before: string): string[] =>
  db
    .arrays<[string]>(
      `SELECT s.session_id FROM sessions s JOIN conversations c ON c.id = s.conversation_id
       WHERE c.last_active < ? AND c.id NOT IN (SELECT conversation_id FROM ona_holds)
         AND (c.id IN (SELECT conversation_id FROM ona_archives WHERE erased = 0) OR ${holdsContent})
       ORDER BY c.last_active`,
      before,
    )
    .map(([id]) => id)
