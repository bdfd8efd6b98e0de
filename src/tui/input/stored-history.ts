/** What was typed, in the database: read once, added to line by line, without secrets. */
import type { Db } from '../../store/open.ts'
import { storable } from '../../store/secrets.ts'
import type { History } from './history.ts'

/** As many as are read at start. */
const most = 1_000
/** What is longer is known until the end of the process, and kept nowhere. */
const longest = 10_000

export function openHistory(db: Db, projectDir: string): History {
  let read: string[] | undefined
  const entries = () =>
    (read ??= db
      .all<{ text: string }>(
        'SELECT text FROM ona_prompt_history WHERE project_dir = ? ORDER BY id DESC LIMIT ?',
        projectDir,
        most,
      )
      .map(({ text }) => text)
      .reverse())
  return {
    entries,
    add(text) {
      const kept = storable(text)
      if (kept.trim() === '' || entries().at(-1) === kept) return
      read!.push(kept)
      if (kept.length <= longest)
        db.run('INSERT INTO ona_prompt_history (project_dir, text) VALUES (?, ?)', projectDir, kept)
    },
  }
}
