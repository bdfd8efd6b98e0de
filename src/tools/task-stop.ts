/** TaskStop: ends a background task. */
import { optional, record, string } from '../hooks/shape.ts'
import { failed, said } from './output.ts'
import { defineTool } from './tool.ts'

export const taskStop = defineTool({
  name: 'TaskStop',
  prompt: 'Ends a background command or agent by its id.',
  input: record({
    task_id: optional(string('The id that the start answered')),
    shell_id: optional(string('An older name for task_id')),
  }),
  safety: 'mutating',
  summary: ({ task_id, shell_id }) => task_id ?? shell_id ?? '',
  async run({ task_id, shell_id }, { host, signal }) {
    const id = task_id ?? shell_id
    if (id === undefined) return failed('TaskStop: the input does not fit: task_id is missing')
    const before = await host.tasks.output(id, 0, signal)
    if (!before) return failed(`there is no task ${JSON.stringify(id)}; use the id that its start answered`)
    if (before.status !== 'running') return failed(`task ${id} is not running: it is ${before.status}`)
    await host.tasks.stop(id)
    return said(`Stopped task ${id} (${before.about})`, { kind: 'text', summary: `Stopped ${before.about}` })
  },
})
