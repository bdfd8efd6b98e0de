/** `# text`: kept for later, where the user says. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'
import { leadsOut } from '../../files/leads-out.ts'
import { writeMemory } from '../../store/memories.ts'
import type { Ui } from './command-context.ts'

type Place = 'database' | 'project' | 'user' | 'prompt'

/** Where lines are piped in, nobody can be asked. */
const inDatabase = { value: 'database' } as const

/** 'prompt': it was meant for the agent after all. */
export async function remember(text: string, ui: Ui): Promise<'prompt' | 'done'> {
  if (text === '') return 'done'
  const { session, front } = ui
  const names = ['ONA.md', 'CLAUDE.md', 'AGENTS.md']
  const project = join(session.projectDir, names.find((name) => existsSync(join(session.projectDir, name))) ?? 'ONA.md')
  const user = join(session.runtime.home, '.ona', 'ONA.md')
  const chosen = !front.interactive
    ? inDatabase
    : await front.choose<Place>({
        title: 'Where should this be kept?',
        body: [text],
        choices: [
          { label: 'Project instructions', value: 'project', hint: project },
          { label: 'Your instructions', value: 'user', hint: user },
          { label: 'A memory of this project', value: 'database', hint: 'in the database' },
          { label: 'Nowhere: send it as a prompt', value: 'prompt' },
        ],
      })
  if (!chosen) return 'done'
  if (chosen.value === 'prompt') return 'prompt'
  if (chosen.value === 'database') {
    const memory = writeMemory(session.db, {
      type: 'note',
      title: text.slice(0, 80),
      content: text,
      projectScope: session.projectDir,
    })
    front.notice('info', `Kept as memory ${memory.id}`)
    return 'done'
  }
  const file = chosen.value === 'project' ? project : user
  if (chosen.value === 'project' && leadsOut(session.projectDir, file)) {
    front.notice('error', `${file} is a link that leads out of the project; nothing was written`)
    return 'done'
  }
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const { mkdirSync } = await import('node:fs')
  mkdirSync(join(file, '..'), { recursive: true })
  writeAtomic(file, `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}- ${text}\n`)
  session.carry([{ type: 'text', text: `The operator added to ${file}: ${text}` }])
  front.notice('info', `Added to ${file}`)
  return 'done'
}
