/** Prompts typed in a project, kept so that a later session can recall them. */
import type { Db } from '../open.ts'
import { storable } from '../secrets.ts'

/** Oldest first. */
export const readPrompts = (db: Db, projectDir: string, limit: number): string[] =>
  db
    .all<{ text: string }>(
      'SELECT text FROM ona_prompt_history WHERE project_dir = ? ORDER BY id DESC LIMIT ?',
      projectDir,
      limit,
    )
    .map(({ text }) => text)
    .reverse()

export interface Typed {
  readonly projectDir: string
  readonly sessionId: string
  readonly text: string
}

export const addPrompt = (db: Db, { projectDir, sessionId, text }: Typed): void => {
  const sql = 'INSERT INTO ona_prompt_history (project_dir, session_id, text) VALUES (?, ?, ?)'
  db.run(sql, projectDir, sessionId, storable(text))
}
