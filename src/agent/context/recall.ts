/** What is remembered of earlier sessions and fits a prompt, put beside it; the user sees what it was. */
import type { Block } from '../../hooks/steps.ts'
import { searchMemories } from '../../store/memories.ts'
import type { Session } from '../session/session.ts'

const most = 3

export function recall(session: Session, prompt: string): Block[] {
  const { db, projectDir, runtime } = session
  if (runtime.bare || session.agent || session.isolated || !db.get('SELECT 1 FROM memories LIMIT 1')) return []
  const found = searchMemories(db, prompt, { project: projectDir, limit: most })
  if (found.length === 0) return []
  session.emit({ type: 'notice', level: 'info', text: `Remembered: ${found.map(({ title }) => title).join(' · ')}` })
  const lines = found.map(({ title, content }) => `- ${title}${content ? `: ${content}` : ''}`)
  return [{ type: 'text', text: ['From memory, where it helps:', ...lines].join('\n') }]
}
