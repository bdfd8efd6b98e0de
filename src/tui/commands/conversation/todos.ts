import { todoLines } from '../../render/items.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(_args: string, { session, front }: Ui): Promise<void> {
  if (session.todos.length === 0) return front.print('No todos.')
  if (front.interactive) return front.print(...todoLines(session.todos, front.columns))
  const marks = { completed: 'x', in_progress: '>', pending: ' ' } as const
  for (const { status, content } of session.todos) front.print(`[${marks[status]}] ${content}`)
}
