/** The prompt history, stored in the database: read once, appended to line by line, without secrets. */
import type { Db } from '../../store/open.ts'
import { storable } from '../../store/secrets.ts'
import { addPrompt, readPrompts } from '../../store/session/prompt-history.ts'
import type { History } from './history.ts'

/** How many are read at start. */
const most = 1_000
/** A longer prompt is remembered for this process only. */
const longest = 10_000

export function openHistory(db: Db, projectDir: string, sessionId: () => string): History {
  let read: string[] | undefined
  const entries = () => (read ??= readPrompts(db, projectDir, most))
  return {
    entries,
    add(text) {
      const kept = storable(text)
      if (kept.trim() === '' || entries().at(-1) === kept) return
      read!.push(kept)
      if (kept.length <= longest) addPrompt(db, { projectDir, sessionId: sessionId(), text: kept })
    },
  }
}
