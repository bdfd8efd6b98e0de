/** Whether the scripts of a test phase ran in a sandbox: an event of the conversation, which the report reads. */
import { addEvent } from '../../store/audit.ts'
import type { Db } from '../../store/open.ts'

export type TestPlace = { readonly sandboxed: true } | { readonly sandboxed: false; readonly why: string }

/** `why`: there was no sandbox. */
export function addTestPlace(db: Db, session: { id: string; conversationId: string }, why: string | undefined): void {
  const detail = why === undefined ? { sandboxed: true } : { sandboxed: false, why }
  addEvent(db, { conversationId: session.conversationId, sessionId: session.id, type: 'test_place', detail })
}

/** Of the last scripts that ran; undefined before the first. */
export function testPlace(db: Pick<Db, 'get'>, conversationId: string): TestPlace | undefined {
  const row = db.get<{ detail: string }>(
    "SELECT detail FROM events WHERE conversation_id = ? AND event_type = 'test_place' ORDER BY id DESC LIMIT 1",
    conversationId,
  )
  return row && (JSON.parse(row.detail) as TestPlace)
}
