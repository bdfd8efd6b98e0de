/** Copies beside the record: files as they were before a change (for /rewind), and transcripts (for hooks of other agents). */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadDb } from '../../store/open.ts'
import { holdsContent } from './erase.ts'

/** Removes the copies of what was erased; those of another record stay. Gives what could not be removed. */
export function removeErasedFiles(db: ReadDb, home: string): string[] {
  const changed = join(home, '.ona/file-history') // a folder for each conversation
  const said = join(home, '.ona/transcripts') // a folder for each project
  const found = [
    ...namesIn(changed).map((name): Copy => ({ path: join(changed, name), column: 'conversation_id', id: name })),
    ...namesIn(said).flatMap((project) => transcriptsIn(db, join(said, project))),
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

interface Copy {
  readonly path: string
  readonly column: 'conversation_id' | 'session_id'
  readonly id: string
}

/** Of a session, a file and a folder with those of its sub-agents; beside them what a process left that died as it wrote. */
const transcriptsIn = (db: ReadDb, folder: string): Copy[] =>
  namesIn(folder).flatMap((name) => {
    const session = withoutEnd(name)
    const agents = join(folder, name, 'subagents')
    return [
      { path: join(folder, name), column: 'session_id', id: session },
      ...namesIn(agents).map((file): Copy => {
        const agent = withoutEnd(file).replace(/^agent-/, '')
        const { id = '' } = db.get<{ id: string }>(agentBelow, session, agent) ?? {}
        return { path: join(agents, file), column: 'session_id', id }
      }),
    ]
  })

const withoutEnd = (name: string): string => name.replace(/\.jsonl(\.\d+\.tmp)?$/, '')

/** Sub-agents may have sub-agents. */
const agentBelow = `WITH RECURSIVE below(id, agent) AS (
    SELECT session_id, agent_id FROM ona_subagents WHERE parent_session_id = ?1
    UNION SELECT a.session_id, a.agent_id FROM ona_subagents a JOIN below ON a.parent_session_id = below.id)
  SELECT id FROM below WHERE agent = ?2`

/** An empty list where there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export const isErased = (db: ReadDb, column: Copy['column'], id: string): boolean =>
  db.get(
    `SELECT 1 WHERE NOT EXISTS (
         SELECT 1 FROM sessions s WHERE s.${column} = ?1
           AND (s.conversation_id IN (SELECT conversation_id FROM ona_archives) OR ${holdsContent}))
       AND EXISTS (
         SELECT 1 FROM sessions s CROSS JOIN transcript_entries e ON e.session_id = s.session_id
           CROSS JOIN ona_tombstones o ON o.table_name = 'transcript_entries' AND o.row_id = e.id
         WHERE s.${column} = ?1)`,
    id,
  ) !== undefined
