import { clean, cleanLine } from '../../render/clean.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { front, session } = ui
  const tasks = session.tasks.list()
  const [verb, id] = args.split(/\s+/)
  if (verb === 'stop' && id) return stop(id, ui)
  if (tasks.length === 0) return front.print('Nothing runs in the background.')
  if (!front.interactive) {
    for (const task of tasks) front.print(`${task.id}  ${task.status}  ${cleanLine(task.about)}`)
    return
  }
  const chosen = await front.choose({
    title: 'Background tasks',
    choices: tasks.map((task) => ({ label: `${task.id} ${cleanLine(task.about)}`, value: task, hint: task.status })),
    keys: { x: { about: 'stops it', act: async (task) => void (task && (await stop(task.id, ui))) } },
  })
  if (chosen)
    await front.page(
      `${chosen.value.id}: ${cleanLine(chosen.value.about)}`,
      clean(chosen.value.output || '(no output yet)').split('\n'),
    )
}

async function stop(id: string, { front, session }: Ui): Promise<void> {
  const task = await session.tasks.stop(id)
  front.notice(task ? 'info' : 'error', task ? `${id} is ${task.status}` : `there is no task ${id}; /tasks lists them`)
}
