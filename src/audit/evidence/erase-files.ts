/** Copies beside the record: files as they were before a change (for /rewind), and transcripts (for hooks of other agents). */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadDb } from '../../store/open.ts'
import { holdsContent } from './erase.ts'

/** Removes the copies of what was erased; those of another record stay. Gives what could not be removed. */
export function removeErasedFiles(db: ReadDb, home: string): string[] {
  const changed = join(home, '.ona/file-history') // a folder for each conversation
  const said = join(home, '.ona/transcripts') // a folder for each project, in it a file and a folder for each session
  const found = [
    ...namesIn(changed).map((name) => ({ path: join(changed, name), column: 'conversation_id', id: name })),
    ...namesIn(said).flatMap((project) =>
      namesIn(join(said, project)).map((name) => {
        return { path: join(said, project, name), column: 'session_id', id: name.replace(/\.jsonl$/, '') }
      }),
    ),
  ]
  return found.flatMap(({ path, column, id }) => {
    if (!isErased(db, column, id)) return []
    try {
      rmSync(path, { recursive: true, force: true })
      return []
    } catch (error) {
      return [`${path} cannot be removed: ${(error as Error).message}`]
    }
  })
}

/** An empty list where there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const isErased = (db: ReadDb, column: string, id: string): boolean =>
  db.get(
    `SELECT 1 WHERE NOT EXISTS (
         SELECT 1 FROM sessions s WHERE s.${column} = ?1
           AND (s.conversation_id IN (SELECT conversation_id FROM ona_archives) OR ${holdsContent}))
       AND EXISTS (
         SELECT 1 FROM sessions s JOIN transcript_entries e ON e.session_id = s.session_id
           JOIN ona_tombstones o ON o.table_name = 'transcript_entries' AND o.row_id = e.id
         WHERE s.${column} = ?1)`,
    id,
  ) !== undefined
