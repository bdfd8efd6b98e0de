/** Takes content out of the record and leaves the chain whole: what is left of a row, and its tombstone, are on record. */

import { settleArchives, unarchiveSession } from '../../store/archive/archive.ts'
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
    return erased
  })
}

const isIdle = (db: Db, sessionId: string, before: string): boolean =>
  db.get(
    `SELECT 1 FROM conversations c JOIN sessions s ON s.conversation_id = c.id
     WHERE s.session_id = ? AND c.last_active < ?`,
    ...[sessionId, before],
  ) !== undefined

/**
 * Sessions that ended before a time (`2026-10-15 00:00:00`), still hold content and are not on hold; the oldest first. A session
 * is erased as a whole, so its last entry tells whether it was, and a record that was erased long ago costs little.
 */
export const sessionsBefore = (db: Db, before: string): string[] =>
  db
    .arrays<[string]>(
      `SELECT s.session_id FROM sessions s JOIN conversations c ON c.id = s.conversation_id
       WHERE c.last_active < ? AND c.id NOT IN (SELECT conversation_id FROM ona_holds)
         AND (c.id IN (SELECT conversation_id FROM ona_archives) OR EXISTS (
           SELECT 1 FROM (SELECT id FROM transcript_entries WHERE session_id = s.session_id ORDER BY sequence DESC LIMIT 1) e
           WHERE NOT EXISTS (SELECT 1 FROM ona_tombstones o WHERE o.table_name = 'transcript_entries' AND o.row_id = e.id)))
       ORDER BY c.last_active`,
      before,
    )
    .map(([id]) => id)
