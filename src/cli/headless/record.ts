/** `--record FILE`: the conversation, as a script for `ona rehearse`. */
import { resolve } from 'node:path'
import type { Session } from '../../agent/session/session.ts'
import { writeAtomic } from '../../files/atomic-write.ts'
import { redact } from '../../hooks/secrets/redact.ts'
import { cassette } from '../../rehearsal/cassette.ts'

export async function record(session: Session, file: string): Promise<void> {
  const rows = session.db.all<{ entry_type: string; payload_json: string; ofAgent: number }>(
    `SELECT entry_type, payload_json, session_id <> ? AS ofAgent
     FROM transcript_entries JOIN sessions USING (session_id) WHERE conversation_id = ? ORDER BY id`,
    session.id,
    session.conversationId,
  )
  const about = `recorded with ${session.model.wireModel}`
  const text = await cassette(
    rows.map((row) => ({ ...row, ofAgent: row.ofAgent === 1 })),
    { about, mode: session.mode, clean: redact },
  )
  try {
    writeAtomic(resolve(session.projectDir, file), text)
  } catch (cause) {
    session.emit({ type: 'notice', level: 'error', text: `--record ${file}: ${(cause as Error).message}` })
  }
}
